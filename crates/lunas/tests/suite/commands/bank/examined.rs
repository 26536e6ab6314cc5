//! What `lunas doctor` says about bank accounts.

use std::collections::BTreeMap;

use domain::bank_account::KEY_AGE_MOST;
use engine::{Clock, SystemClock};
use serde_json::Value;
use store::{BankCall, BankWrite};
use testkit::{Cluster, Database, Ran};

use super::{site::Site, strays::receive};

on_every_database![doctor_and_show_tell_of_calls_to_a_bank_that_fail];

/// The points about banks, with their verdicts and findings.
fn points(ran: &Ran) -> BTreeMap<String, (String, String)> {
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |point: &Value, member: &str| point[member].as_str().unwrap().to_owned();
    let about_banks = |point: &str| {
        point.starts_with("bank") || ["public URL", "production methods", "strays", "calls to banks"].contains(&point)
    };
    let points = said["points"].as_array().unwrap().iter();
    let points = points.map(|point| (text(point, "point"), (text(point, "verdict"), text(point, "finding"))));
    points.filter(|(point, _)| about_banks(point)).collect()
}

/// The points about banks that are not fine.
fn unwell(site: &Site) -> BTreeMap<String, (String, String)> {
    let mut points = points(&site.run(&["doctor", "--json"]));
    points.retain(|_, (verdict, _)| verdict != "ok");
    points
}

fn names(points: &BTreeMap<String, (String, String)>) -> Vec<(&str, &str)> {
    points.iter().map(|(point, (verdict, _))| (point.as_str(), verdict.as_str())).collect()
}

/// Changes rows that no command changes.
pub(super) fn change(site: &Site, sql: &str) {
    match &site.database {
        Database::Sqlite(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
        Database::Postgres { url } => drop(Cluster::shared().run(url, sql).unwrap()),
    }
}

#[tokio::test]
async fn doctor_looks_at_every_enabled_account() {
    let site = Site::on_sqlite();
    assert_eq!(points(&site.run(&["doctor", "--json"])), BTreeMap::new(), "there is nothing to say without accounts");
    let disabled = site.bare_account();
    assert_eq!(names(&unwell(&site)), [("", ""); 0], "a disabled account needs nothing");
    let account = site.enabled_account();
    let found = unwell(&site);
    assert_eq!(names(&found), [("bank calls", "warning"), ("bank projects", "warning")]);
    assert!(found["bank calls"].1.contains("has never called"), "{found:?}");
    assert!(found["bank projects"].1.contains("lunas bank assign"), "{found:?}");
    assert!(!format!("{found:?}").contains(&disabled), "{found:?}");

    let project = site.approved();
    site.json(&["bank", "assign", &account, "--project", &project, "--method", "bca"]);
    let now = SystemClock.now();
    let call = BankCall {
        id: "1".to_owned(),
        at: now,
        service: 24,
        code: "2002400".to_owned(),
        latency_ms: 7,
        outbound: false,
        proved: true,
    };
    let called = BankWrite::Called { account_id: account.parse().unwrap(), calls: vec![call], keep: 10 };
    let store = site.store().await;
    store.commit(called.into()).await.unwrap();
    store.close().await;
    let all = points(&site.run(&["doctor", "--json"]));
    assert_eq!(names(&unwell(&site)), [("", ""); 0], "{all:?}");
    assert_eq!(all["bank accounts"].1, "1 enabled of 2");
    assert!(all["bank calls"].1.contains(&now.to_string()), "{all:?}");
    assert_eq!(all["strays"].1, "none is open");
    let shown = site.show(&account);
    assert_eq!(
        (&shown["last_call_at"], &shown["calls"][0]["code"]),
        (&Value::from(now.to_string()), &"2002400".into())
    );

    let old = now.minus(KEY_AGE_MOST).as_millis() - 1;
    change(&site, &format!("UPDATE bank_credentials SET set_at = {old} WHERE kind = 'inbound'"));
    receive(&site, &account, "r-1", 50_000).await;
    let found = unwell(&site);
    assert_eq!(names(&found), [("bank keys", "warning"), ("strays", "warning")]);
    assert!(found["bank keys"].1.contains("older than 365 days: inbound; "), "{found:?}");
    assert!(found["strays"].1.starts_with("1 of Rp50.000 in all wait for a decision"), "{found:?}");
    let text = site.run(&["doctor"]);
    assert!(text.stdout.contains(&format!("BCA Toko ({account})")), "{text:?}");
}

#[tokio::test]
async fn doctor_wants_an_https_address_for_banks() {
    let site = Site::on_sqlite();
    site.enabled_account();
    let url = |url: Option<&str>| {
        let mut command = site.command(&["doctor", "--json"]);
        match url {
            Some(url) => command.env("LUNAS_BASE_URL", url),
            None => command.env_remove("LUNAS_BASE_URL"),
        };
        let ran: Ran = command.output().unwrap().into();
        (points(&ran).remove("public URL").unwrap(), ran.code)
    };
    let ((verdict, finding), _) = url(Some("https://api.lunas.test"));
    assert_eq!((verdict.as_str(), finding.contains("https://api.lunas.test/snap")), ("ok", true), "{finding}");
    let ((verdict, finding), _) = url(None);
    assert_eq!((verdict.as_str(), finding.contains("LUNAS_BASE_URL is not set")), ("warning", true), "{finding}");
    let ((verdict, finding), code) = url(Some("http://api.lunas.test"));
    assert_eq!((verdict.as_str(), code), ("failure", 1), "{finding}");
}

#[tokio::test]
async fn doctor_reports_approved_projects_that_can_take_no_money() {
    let site = Site::on_sqlite();
    let (waiting, sandbox) = (site.project("production"), site.project("sandbox"));
    assert_eq!(names(&unwell(&site)), [("", ""); 0]);
    let approved = site.approved();
    let found = unwell(&site);
    assert_eq!(names(&found), [("production methods", "warning")]);
    let finding = &found["production methods"].1;
    assert!(finding.contains(&approved) && !finding.contains(&waiting) && !finding.contains(&sandbox), "{finding}");
    let account = site.enabled_account();
    site.json(&["bank", "assign", &account, "--project", &approved, "--method", "bca"]);
    assert!(!unwell(&site).contains_key("production methods"));
    site.json(&["bank", "disable", &account]);
    assert_eq!(names(&unwell(&site)), [("production methods", "warning")]);
}

async fn doctor_and_show_tell_of_calls_to_a_bank_that_fail(site: Site) {
    let account = site.enabled_account();
    assert!(!points(&site.run(&["doctor", "--json"])).contains_key("calls to banks"), "this bank only calls us");
    site.json(&["bank", "key", &account, "--make"]);
    site.told_json("a secret of the bank", &["bank", "outbound", &account, "--client-id", "us", "--secret-file", "-"]);
    site.json(&["bank", "set", &account, "base_url=https://bank.example"]);
    assert_eq!(points(&site.run(&["doctor", "--json"]))["calls to banks"].0, "ok");
    let now = SystemClock.now();
    let call = |number: i64, outbound, code: &str| BankCall {
        id: number.to_string(),
        at: now,
        service: 26,
        code: code.to_owned(),
        latency_ms: number,
        outbound,
        proved: true,
    };
    let mut calls: Vec<BankCall> = (1..=5).map(|number| call(number, true, "timeout")).collect();
    calls.push(call(6, false, "2002400"));
    let store = site.store().await;
    store.commit(BankWrite::Called { account_id: account.parse().unwrap(), calls, keep: 10 }.into()).await.unwrap();
    store.close().await;
    let found = &points(&site.run(&["doctor", "--json"]))["calls to banks"];
    assert_eq!(found.0, "warning");
    assert!(found.1.contains("the latest 5 failed") && found.1.contains("lunas bank test"), "{found:?}");
    let health = &site.show(&account)["health"];
    assert_eq!((&health["failing_calls"], &health["calls_suspended"]), (&5.into(), &true.into()), "{health}");
    assert_eq!(health["groups"][0]["median_ms"], 3, "{health}");
    assert_eq!(health["groups"][0]["longest_ms"], 5, "{health}");
    let text = site.run(&["bank", "show", &account]);
    for words in ["calls suspended", "LONGEST", "timeout"] {
        assert!(text.stdout.contains(words), "{words}: {text:?}");
    }
}

#[tokio::test]
async fn calls_without_proof_are_shown_apart_and_are_no_call_of_the_bank() {
    let site = Site::on_sqlite();
    let account = site.enabled_account();
    let call = BankCall {
        id: "1".to_owned(),
        at: SystemClock.now(),
        service: 25,
        code: "4012500".to_owned(),
        latency_ms: 7,
        outbound: false,
        proved: false,
    };
    let store = site.store().await;
    let called = BankWrite::Called { account_id: account.parse().unwrap(), calls: vec![call], keep: 10 };
    store.commit(called.into()).await.unwrap();
    store.close().await;
    let shown = site.show(&account);
    assert_eq!((&shown["last_call_at"], &shown["calls"]), (&Value::Null, &Value::Array(Vec::new())));
    assert_eq!(shown["unproved_calls"][0]["code"], "4012500");
    let text = site.run(&["bank", "show", &account]).stdout;
    assert!(text.contains("last call     never") && text.contains("CALL WITHOUT PROOF"), "{text}");
    let found = unwell(&site);
    assert!(found["bank calls"].1.contains("has never called (calls at its doors without proof: 1)"), "{found:?}");
}
