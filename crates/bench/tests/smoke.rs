//! Every group runs and reports, so that none can rot unnoticed. No figure is judged here.

use std::process::Command;

/// All groups but `peers`, which installs other people's programs.
const GROUPS: [&str; 12] = [
    "create-va",
    "create-qris",
    "get",
    "list",
    "list-deep",
    "search",
    "paid",
    "replay",
    "webhook",
    "webhook-latency",
    "idle",
    "start",
];

#[test]
fn every_group_reports_what_it_measured() {
    let small = ["--json", "--seconds", "1", "--rounds", "1", "--prefill", "1000", "--large", "5000"];
    let run = Command::new(env!("CARGO_BIN_EXE_bench")).args(GROUPS).args(small).output().unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    let lines = String::from_utf8(run.stdout).unwrap();
    let reported: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for group in GROUPS {
        assert!(reported.iter().any(|finding| finding["group"] == group), "{group} is missing in {lines}");
    }
}
