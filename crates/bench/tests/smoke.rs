//! Runs the groups with very little data and checks that each reports a result, so that none breaks unnoticed. The
//! results are not compared with their goals. `peers` is left out, as it installs other programs, and so is
//! `dashboard`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::Command;

/// The groups on SQLite.
const EMBEDDED: [&str; 27] = [
    "create-va",
    "create-qris",
    "create-random",
    "get",
    "list",
    "list-deep",
    "search",
    "paid",
    "refund",
    "refund-list",
    "snap-pay",
    "snap-issue",
    "snap-silent",
    "replay",
    "webhook",
    "webhook-latency",
    "webhook-shy",
    "deliver",
    "latency",
    "checkout",
    "anonymous",
    "attempts",
    "watchers",
    "growth",
    "disk",
    "idle",
    "start",
];
const POSTGRES: [&str; 11] = [
    "pg-create",
    "pg-get",
    "pg-hot",
    "pg-list",
    "pg-refund-list",
    "pg-webhook",
    "pg-deliver",
    "pg-latency",
    "pg-growth",
    "pg-disk",
    "pg-nodes",
];
const SMALL: [&str; 11] =
    ["--json", "--seconds", "0.1", "--rounds", "1", "--prefill", "300", "--large", "2500", "--growth-most", "100"];

fn check(groups: &[&str]) {
    let run = Command::new(env!("CARGO_BIN_EXE_bench")).args(groups).args(SMALL).output().unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    let lines = String::from_utf8(run.stdout).unwrap();
    let reported: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // These groups report more figures than one.
    let names = groups.iter().flat_map(|group| match *group {
        "attempts" => vec!["attempts-page", "attempts-start"],
        "search" => vec!["search", "search-words"],
        "pg-list" => vec!["pg-list", "pg-list-deep", "pg-search", "pg-search-words"],
        group => vec![group],
    });
    for group in names {
        assert!(reported.iter().any(|finding| finding["group"] == group), "{group} is missing in {lines}");
    }
}

#[test]
fn every_group_reports_what_it_measured() {
    check(&EMBEDDED);
}

#[test]
fn every_group_on_postgresql_reports_what_it_measured() {
    check(&POSTGRES);
}
