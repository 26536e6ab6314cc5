//! Operators compare days with banks, and settle what differs.

use std::{net::SocketAddr, sync::Arc};

use demobank::{NotifyHabit, PayOrder};
use domain::{
    audit::Deed,
    bank::Bank,
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::{day_text, jakarta_day},
    method::Method,
    money::Rupiah,
    time::DAY_MILLIS,
};
use engine::{Clock, SystemClock};
use serde_json::{Value, json};
use store::OpeningWrite;
use testkit::{Api, Ran, TestProject};

use super::{examined::change, site::Site};
use crate::support::acquirers::{AMOUNT, Acquired, contract_of};

on_every_database![
    a_day_is_compared_and_shown_as_text_json_and_csv,
    a_difference_is_listed_and_settled_once_with_a_note,
];

/// Runs a command without blocking the bank, which answers from this thread.
async fn run(site: &Site, arguments: &[&str]) -> Ran {
    let mut command = site.command(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap().into()).await.unwrap()
}

/// An account at a bank that hosts virtual accounts and has a report, ten days old. `address` is where the API is.
async fn acquired(site: &Site, address: SocketAddr) -> Acquired {
    let project = site.approved();
    let key = site.json(&["key", "create", "--project", &project, "--name", "server"]);
    let text = key["key"].as_str().unwrap().to_owned();
    let project = TestProject {
        id: project.parse().unwrap(),
        key_id: key["id"].as_str().unwrap().parse().unwrap(),
        api: Api::new(address, Some(&text)),
        key: text,
    };
    let (store, engine) = site.engine().await;
    engine.mark_development().await.unwrap();
    let method = Method::VirtualAccount(Bank::Bri);
    let acquired = contract_of(&engine, Arc::new(SystemClock), project, "briva-ws", method, &[]).await;
    store.close().await;
    acquired
}

/// Moves the account's creation ten days back.
fn age(site: &Site) {
    change(site, &format!("UPDATE bank_accounts SET created_at = created_at - {}", 10 * DAY_MILLIS));
}

fn nowhere() -> SocketAddr {
    ([127, 0, 0, 1], 9).into()
}

async fn a_day_is_compared_and_shown_as_text_json_and_csv(site: Site) {
    let running = site.serve();
    let acquired = acquired(&site, running.address()).await;
    let payment = acquired.payment().await;
    // By the bank's clock, somebody has paid at this time yesterday.
    let paid_at_ms = Some(SystemClock.now().as_millis() - DAY_MILLIS);
    let receipt_id = Some("=R,1".to_owned());
    let order =
        PayOrder { paid_at_ms, receipt_id, fee: Some(9_000), notice: NotifyHabit::Never, ..PayOrder::default() };
    acquired.pays_as(&payment, order).await;
    assert_eq!(running.terminate(), Some(0));
    age(&site);
    let (account, today) = (acquired.account.to_string(), jakarta_day(SystemClock.now()));
    let date = day_text(today - 1);
    let compared = run(&site, &["bank", "reconcile", &account, "--json"]).await.json(0);
    assert_eq!(
        (&compared["date"], &compared["compared_by"]),
        (&json!(date), &json!("report")),
        "yesterday is the default"
    );
    let tally = |count: i64, amount: i64| json!({ "count": count, "amount": amount });
    assert_eq!((&compared["matched"], &compared["missing_here"]), (&tally(0, 0), &tally(1, AMOUNT)));
    assert_eq!((&compared["missing_there"], &compared["differing"]), (&tally(0, 0), &tally(0, 0)));
    assert_eq!(compared["bank_fees"], tally(1, 9_000));
    let line = &compared["transactions"][0];
    assert_eq!((&line["class"], &line["difference"]), (&json!("missing_here"), &json!("fee")));
    assert_eq!((&line["payment_id"], &line["receipt_id"]), (&payment["id"], &json!("=R,1")));
    assert_eq!((&line["our_amount"], &line["bank_amount"]), (&json!(AMOUNT), &json!(AMOUNT)));
    assert_eq!((&line["our_fee"], &line["bank_fee"]), (&json!(4_000), &json!(9_000)));

    let csv = run(&site, &["bank", "reconcile", &account, "--date", &date, "--csv"]).await;
    assert_eq!(csv.code, 0, "{csv:?}");
    let lines: Vec<&str> = csv.stdout.lines().collect();
    assert_eq!(lines[0], "class,difference,receipt_id,payment_id,our_amount,bank_amount,our_fee,bank_fee,paid_at");
    let id = payment["id"].as_str().unwrap();
    let begin = format!("missing_here,fee,\"'=R,1\",{id},{AMOUNT},{AMOUNT},4000,9000,");
    assert!(lines.len() == 2 && lines[1].starts_with(&begin), "{lines:?}");

    let text = run(&site, &["bank", "reconcile", &account, "--date", &date]).await;
    assert!(text.stdout.contains("missing here") && text.stdout.contains("next: lunas bank differences"), "{text:?}");
    let deeds: Vec<Deed> = site.audit().await.into_iter().map(|line| line.deed).collect();
    assert_eq!(deeds[..3], [Deed::BankDayCompared; 3]);
    assert_eq!(run(&site, &["verify"]).await.code, 0);
}

#[tokio::test]
async fn a_day_that_cannot_be_compared_is_refused_with_a_sentence() {
    let site = Site::on_sqlite();
    let ours = site.enabled_account();
    let acquired = acquired(&site, nowhere()).await;
    let account = acquired.account.to_string();
    let today = jakarta_day(SystemClock.now());
    let (yesterday, tomorrow) = (day_text(today - 1), day_text(today + 1));
    for (arguments, code, words) in [
        (vec![&*account, "--date", &*tomorrow], 1, "is not over in Jakarta yet"),
        (vec![&*account, "--date", &*yesterday], 1, "lies before the account was created"),
        (vec![&*ours], 1, "not supported: the numbers of this account live here"),
        (vec!["bac_01kc2m8r5gfq9t3v7x1y4z6a8b"], 1, "there is no bank account"),
        (vec![&*account, "--csv", "--json"], 1, "cannot be given together"),
        (vec![&*account, "--date", "yesterday"], 2, "it must be a day, such as 2026-11-14"),
        (vec![&*account, "--date", "2026-02-30"], 2, "it must be a day"),
        (vec![&*account, "--date", "14/11/2026"], 2, "it must be a day"),
    ] {
        let ran = run(&site, &[&["bank", "reconcile"], &arguments[..]].concat()).await;
        assert_eq!(ran.code, code, "{arguments:?} {ran:?}");
        assert!(ran.stderr.contains(words), "{arguments:?} {ran:?}");
    }
    age(&site);
    acquired.doors.close().await;
    let ran = run(&site, &["bank", "reconcile", &account]).await;
    assert!(ran.failed(1).join("\n").contains("the bank could not be asked"), "{ran:?}");
    let (store, engine) = site.engine().await;
    assert_eq!(engine.reconciliations(acquired.account, 10).await.unwrap(), []);
    store.close().await;
}

async fn a_difference_is_listed_and_settled_once_with_a_note(site: Site) {
    let account = site.bare_account();
    let now = SystemClock.now();
    let key =
        |subject: &str, kind| DifferenceKey { account_id: account.parse().unwrap(), subject: subject.to_owned(), kind };
    let store = site.store().await;
    for key in [key("R-1", DifferenceKind::MissingThere), key("R-1", DifferenceKind::Fee)] {
        let found = Difference {
            key,
            day: jakarta_day(now) - 1,
            payment_id: None,
            ours: Some(Rupiah::new(15_000)),
            theirs: None,
            found_at: now,
            settled: None,
        };
        store.commit(OpeningWrite::DifferenceFound(found).into()).await.unwrap();
    }
    store.close().await;
    let listed = site.json(&["bank", "differences"]);
    assert_eq!(listed["open"], 2);
    let kinds = |listed: &Value| {
        let all = listed["differences"].as_array().unwrap().iter();
        all.map(|one| one["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&listed), ["fee", "missing_there"]);
    let text = site.run(&["bank", "differences"]);
    assert!(text.stdout.contains("Open: 2.") && text.stdout.contains("Rp15.000"), "{text:?}");

    let doctor = site.run(&["doctor"]);
    assert!(doctor.stdout.contains("2 wait for somebody to see to them"), "{doctor:?}");

    let settle = ["bank", "settle", &account, "R-1", "missing_there", "--note", "the bank found it"];
    let settled = site.json(&settle);
    assert_eq!((&settled["kind"], &settled["note"]), (&json!("missing_there"), &json!("the bank found it")));
    let again = site.run(&settle);
    assert!(again.failed(1)[0].contains("settled this difference already"), "{again:?}");
    assert_eq!(kinds(&site.json(&["bank", "differences"])), ["fee"]);
    assert_eq!(kinds(&site.json(&["bank", "differences", "--settled"])), ["missing_there"]);
    for (arguments, code, words) in [
        (["R-2", "fee", "--note", "x"], 1, "there is no difference fee of R-2"),
        (["R-1", "price", "--note", "x"], 2, "it must be one of missing_there, amount, fee, refunded, unanswered"),
        (["R-1", "fee", "--note", ""], 1, "note"),
    ] {
        let ran = site.run(&[&["bank", "settle", &account], &arguments[..]].concat());
        assert!(ran.code == code && ran.stderr.contains(words), "{ran:?}");
    }
    let lines = site.audit().await;
    assert_eq!((lines[0].deed, lines[0].subject.as_str()), (Deed::DifferenceSettled, "R-1"));
    assert_eq!(lines.iter().filter(|line| line.deed == Deed::DifferenceSettled).count(), 1);
}
