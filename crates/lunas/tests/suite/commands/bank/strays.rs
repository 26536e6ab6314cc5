//! Operators list strays and decide about them.

use domain::{
    audit::Deed,
    id::{BankAccountId, StrayId},
    money::Rupiah,
    stray::Stray,
};
use engine::{Clock, SystemClock};
use serde_json::{Value, json};
use store::BankWrite;
use testkit::Api;

use super::site::Site;
use crate::support::payments::fresh_key;

on_every_database![a_stray_is_assigned_to_a_payment_or_returned_once];

/// Lets the bank have taken money for a number that nobody was given.
pub(super) async fn receive(site: &Site, account: &str, receipt_id: &str, amount: i64) -> String {
    let (now, account_id): (_, BankAccountId) = (SystemClock.now(), account.parse().unwrap());
    let id: StrayId = domain::id::mint(now, rand::random());
    let stray = Stray {
        id,
        account_id,
        receipt_id: receipt_id.to_owned(),
        number: "8889900000000000".to_owned(),
        amount: Rupiah::new(amount),
        paid_at: now,
        received_at: now,
        decided: None,
    };
    let store = site.store().await;
    store.commit(BankWrite::StrayReceived(stray).into()).await.unwrap();
    store.close().await;
    id.to_string()
}

async fn a_stray_is_assigned_to_a_payment_or_returned_once(site: Site) {
    let (project, account) = (site.approved(), site.enabled_account());
    site.json(&["bank", "assign", &account, "--project", &project, "--method", "bca"]);
    let key = site.json(&["key", "create", "--project", &project, "--name", "server"])["key"].clone();
    let running = site.serve();
    let api = Api::new(running.address(), key.as_str());
    let method = json!({ "type": "virtual_account", "bank": "bca" });
    let body = json!({ "project_id": project, "reference": "A-1", "amount": 50_000, "payment_method": method });
    let payment = api.pay(&fresh_key(), &body).await.expect(201);
    let payment_id = payment["id"].as_str().unwrap();
    let (meant, other) = (receive(&site, &account, "r-1", 50_000).await, receive(&site, &account, "r-2", 7_000).await);

    let listed = site.json(&["bank", "strays"]);
    assert_eq!((&listed["open"], &listed["open_amount"]), (&json!(2), &json!(57_000)));
    let ids = |listed: &Value| {
        let strays = listed["strays"].as_array().unwrap().iter();
        strays.map(|stray| stray["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&listed), [other.clone(), meant.clone()]);
    let text = site.run(&["bank", "strays"]);
    assert!(text.stdout.contains("Open: 2, Rp57.000.") && text.stdout.contains("--assign PAYMENT"), "{text:?}");

    let assigned = site.json(&["bank", "stray", &meant, "--assign", payment_id, "--note", "typed a wrong number"]);
    assert_eq!((&assigned["decision"], &assigned["payment_id"]), (&json!("assigned"), &json!(payment_id)));
    assert_eq!(api.get(&format!("/v1/payments/{payment_id}")).await.expect(200)["status"], "paid");
    let returned = site.json(&["bank", "stray", &other, "--return", "--note", "called the bank"]);
    assert_eq!((&returned["decision"], &returned["note"]), (&json!("returned"), &json!("called the bank")));
    for decision in [&["--return"][..], &["--assign", payment_id]] {
        let again = site.run(&[&["bank", "stray", &meant, "--note", "x"], decision].concat());
        assert!(again.failed(1)[0].contains("decided about this money already"), "{again:?}");
    }
    assert_eq!(site.json(&["bank", "strays"]), json!({ "open": 0, "open_amount": 0, "strays": [] }));
    assert_eq!(ids(&site.json(&["bank", "strays", "--decided"])), [other, meant]);
    assert_eq!(running.terminate(), Some(0));
    let deeds: Vec<Deed> = site.audit().await.into_iter().map(|line| line.deed).collect();
    assert_eq!(deeds[..2], [Deed::StrayReturned, Deed::StrayAssigned]);
}
