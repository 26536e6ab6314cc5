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

on_every_database![
    a_stray_is_assigned_to_a_payment_or_returned_once,
    a_notice_that_cannot_be_read_is_shown_until_its_amount_is_stated,
];

/// Lets the bank have taken money for a number that nobody was given.
pub(super) async fn receive(site: &Site, account: &str, receipt_id: &str, amount: i64) -> String {
    keep(site, account, receipt_id, Ok(amount)).await
}

/// Keeps a stray of this amount, or a notice that cannot be read.
async fn keep(site: &Site, account: &str, receipt_id: &str, amount: Result<i64, &str>) -> String {
    let (now, account_id): (_, BankAccountId) = (SystemClock.now(), account.parse().unwrap());
    let id: StrayId = domain::id::mint(now, rand::random());
    let stray = Stray {
        id,
        account_id,
        receipt_id: receipt_id.to_owned(),
        number: "8889900000000000".to_owned(),
        amount: amount.ok().map(Rupiah::new),
        paid_at: now,
        received_at: now,
        decided: None,
        body: amount.err().map(str::to_owned),
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

async fn a_notice_that_cannot_be_read_is_shown_until_its_amount_is_stated(site: Site) {
    let account = site.enabled_account();
    let body = "{\"amount\":\"\u{202e}plenty\"}";
    let id = keep(&site, &account, "unreadable:1", Err(body)).await;
    let listed = site.json(&["bank", "strays"]);
    assert_eq!((&listed["open"], &listed["open_amount"]), (&json!(1), &json!(0)));
    let stray = &listed["strays"][0];
    assert_eq!((&stray["amount"], &stray["body"]), (&Value::Null, &json!(body)));
    let text = site.run(&["bank", "strays"]).stdout;
    assert!(text.contains("unreadable") && text.contains("plenty") && text.contains("--amount RUPIAH"), "{text}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
    for (amount, words) in [("0", "at least 1"), ("1000000000000", "at most 999999999999")] {
        let refused = site.run(&["bank", "stray", &id, "--amount", amount, "--note", "x"]);
        assert!(refused.failed(1)[0].contains(words), "{refused:?}");
    }
    let stated = site.json(&["bank", "stray", &id, "--amount", "50000", "--note", "the bank's letter"]);
    assert_eq!((&stated["amount"], &stated["decision"], &stated["body"]), (&json!(50_000), &Value::Null, &json!(body)));
    let again = site.run(&["bank", "stray", &id, "--amount", "50000", "--note", "x"]);
    assert!(again.failed(1)[0].contains("known already"), "{again:?}");
    assert_eq!(site.json(&["bank", "strays"])["open_amount"], json!(50_000));
    let deeds: Vec<Deed> = site.audit().await.into_iter().map(|line| line.deed).collect();
    assert_eq!(deeds[0], Deed::StrayStated);
}
