//! `/v1/payments/{paymentID}/refunds` and what becomes of refunds: amounts, roads, balances (docs/contract.md, decisions §9).

use std::{sync::Arc, time::Duration};

use domain::{access::Role, key_rights::KeyRights};
use engine::NewKey;
use serde_json::{Value, json};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::{
    api::sessions::Session,
    support::{
        json::{at, id, text},
        payments::{create, fetch, paid, simulate_paid},
        receipts::{decide, held_amount},
        refunds::{ask, cancel, destination, fetch_refund, refund, refunds, simulate_end, sums},
        samples,
    },
};

on_every_database![
    a_part_of_a_payment_is_given_back_and_the_payment_shows_it,
    without_an_amount_all_that_is_left_is_given_back,
    money_leaves_when_the_refund_is_created_and_comes_back_if_it_fails_is_cancelled_or_returned,
    a_refund_of_a_whole_payment_takes_its_fee_from_what_is_available,
    money_of_a_settled_payment_comes_back_to_the_available_balance,
    only_what_remains_of_a_payment_settles,
    with_an_accepted_difference_the_money_that_was_received_is_the_ceiling,
    a_refund_above_what_there_is_says_how_much_there_is,
    a_payment_by_virtual_account_needs_the_customers_bank_account,
    a_destination_means_a_transfer_and_its_number_is_never_shown,
    a_refund_is_cancelled_until_it_has_ended,
];

on_sqlite_alone![
    the_page_for_the_customer_is_shown_to_keys_with_the_right_and_to_owners_alone,
    every_bank_that_transfers_reach_is_listed_with_its_rails,
];

async fn a_part_of_a_payment_is_given_back_and_the_payment_shows_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 15_000).await;
    assert_eq!(payment["refunded_amount"], 0);
    let body = json!({ "amount": 5_903, "reason": "Satu gelas pecah", "metadata": { "ticket": "7" } });
    let made = ask(&project, &payment, &body).await.expect(201);
    let now = kit.engine.now().to_string();
    let expected = json!({
        "id": made["id"], "payment_id": id(&payment), "receipt_id": null, "project_id": project.id.to_string(),
        "amount": 5_903, "currency": "IDR", "status": "pending", "pending_reason": "processing", "road": "qris",
        "reason": "Satu gelas pecah", "destination": null, "claim_url": null, "bank_reference": null,
        "failure_reason": null, "metadata": { "ticket": "7" }, "created_at": now, "updated_at": now, "succeeded_at": null,
    });
    assert_eq!(made, expected);
    assert!(id(&made).starts_with("rfd_"));
    assert_eq!(fetch_refund(&project, &made).await, made);
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], 0, "what is under way has not arrived");
    kit.clock.advance(Duration::from_secs(1));
    let ended = simulate_end(&project, &made, "succeeded").await.expect(200);
    assert_eq!((text(&ended, "status"), &ended["pending_reason"]), ("succeeded", &Value::Null));
    assert_eq!((at(&ended, "succeeded_at"), at(&ended, "updated_at")), (kit.engine.now(), kit.engine.now()));
    assert!(ended["bank_reference"].is_string());
    let shown = fetch(&project, &payment).await;
    assert_eq!((&shown["refunded_amount"], text(&shown, "status")), (&json!(5_903), "paid"));
}

async fn without_an_amount_all_that_is_left_is_given_back(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 15_000).await;
    for (body, amount) in [(json!({ "amount": 4_000 }), 4_000), (json!({ "amount": 1_000, "reason": "" }), 1_000)] {
        assert_eq!(ask(&project, &payment, &body).await.expect(201)["amount"], amount);
    }
    let rest = ask(&project, &payment, &json!({ "amount": null, "destination": null })).await.expect(201);
    assert_eq!((&rest["amount"], &rest["reason"], &rest["metadata"]), (&json!(10_000), &Value::Null, &Value::Null));
    for body in [json!({}), json!({ "amount": 1 })] {
        ask(&project, &payment, &body).await.refused(409, "CONFLICT");
    }
    // What failed may be asked for again.
    simulate_end(&project, &rest, "failed").await.expect(200);
    assert_eq!(ask(&project, &payment, &json!({})).await.expect(201)["amount"], 10_000);
    assert_eq!(refunds(&project, "").await.len(), 4);
}

async fn money_leaves_when_the_refund_is_created_and_comes_back_if_it_fails_is_cancelled_or_returned(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 100_000).await;
    assert_eq!(sums(&project).await, [0, 99_300, 0, 0]);
    let made = refund(&project, &payment, 10_903).await;
    assert_eq!(sums(&project).await, [0, 88_397, 0, 10_903]);
    simulate_end(&project, &made, "failed").await.expect(200);
    assert_eq!(sums(&project).await, [0, 99_300, 0, 0]);
    let made = refund(&project, &payment, 10_903).await;
    cancel(&project, &made).await.expect(200);
    assert_eq!(sums(&project).await, [0, 99_300, 0, 0]);
    let made = refund(&project, &payment, 10_903).await;
    simulate_end(&project, &made, "succeeded").await.expect(200);
    assert_eq!(sums(&project).await, [0, 88_397, 0, 0]);
    let returned = simulate_end(&project, &made, "returned").await.expect(200);
    assert_eq!((text(&returned, "status"), returned["succeeded_at"].is_string()), ("returned", true));
    assert_eq!(sums(&project).await, [0, 99_300, 0, 0]);
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], 0);
}

async fn a_refund_of_a_whole_payment_takes_its_fee_from_what_is_available(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 100_000).await;
    // The fee is money of the payment too, which may take what is available below 0.
    let whole = ask(&project, &payment, &json!({})).await.expect(201);
    assert_eq!((&whole["amount"], sums(&project).await), (&json!(100_000), [-700, 0, 0, 100_000]));
    simulate_end(&project, &whole, "succeeded").await.expect(200);
    assert_eq!(sums(&project).await, [-700, 0, 0, 0]);
}

async fn settle(kit: &Kit) {
    kit.clock.advance(Duration::from_mins(1));
    kit.engine.settle_due().await.unwrap();
}

async fn money_of_a_settled_payment_comes_back_to_the_available_balance(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 100_000).await;
    let early = refund(&project, &payment, 20_903).await;
    assert_eq!(sums(&project).await, [0, 78_397, 0, 20_903]);
    settle(&kit).await;
    assert_eq!(sums(&project).await, [78_397, 0, 0, 20_903]);
    // It was taken from what was pending, and nothing is pending any more.
    simulate_end(&project, &early, "failed").await.expect(200);
    assert_eq!(sums(&project).await, [99_300, 0, 0, 0]);
    let late = refund(&project, &payment, 30_903).await;
    assert_eq!(sums(&project).await, [68_397, 0, 0, 30_903]);
    cancel(&project, &late).await.expect(200);
    assert_eq!(sums(&project).await, [99_300, 0, 0, 0]);
}

async fn only_what_remains_of_a_payment_settles(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (part, whole) = (paid(&project, "part", 100_000).await, paid(&project, "whole", 50_000).await);
    for (payment, amount) in [(&part, 40_903), (&whole, 49_650)] {
        let made = refund(&project, payment, amount).await;
        if payment == &part {
            simulate_end(&project, &made, "succeeded").await.expect(200);
        }
    }
    assert_eq!(sums(&project).await, [0, 58_397, 0, 49_650]);
    settle(&kit).await;
    assert_eq!(sums(&project).await, [58_397, 0, 0, 49_650]);
    settle(&kit).await;
    assert_eq!(sums(&project).await, [58_397, 0, 0, 49_650], "nothing settles twice");
}

async fn with_an_accepted_difference_the_money_that_was_received_is_the_ceiling(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (received, too_much) in [(14_000, 14_001), (16_000, 16_001)] {
        let payment = create(&project, &samples::qris(&project, 15_000)).await;
        let held = held_amount(&project, &payment, received).await;
        decide(&project, &held, "accept", &json!({ "note": "x", "accept_difference": true })).await.expect(200);
        ask(&project, &payment, &json!({ "amount": too_much })).await.refused(400, "VALIDATION_ERROR");
        let whole = ask(&project, &payment, &json!({})).await.expect(201);
        assert_eq!(whole["amount"], received);
        simulate_end(&project, &whole, "succeeded").await.expect(200);
        assert_eq!(fetch(&project, &payment).await["refunded_amount"], received);
    }
}

async fn a_refund_above_what_there_is_says_how_much_there_is(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (first, second) = (paid(&project, "first", 100_000).await, paid(&project, "second", 100_000).await);
    settle(&kit).await;
    assert_eq!(sums(&project).await, [198_600, 0, 0, 0]);
    // The fees are not there any more, and a payment may use no other's.
    ask(&project, &first, &json!({})).await.expect(201);
    assert_eq!(sums(&project).await, [98_600, 0, 0, 100_000]);
    for body in [json!({}), json!({ "amount": 99_301 })] {
        let message = ask(&project, &second, &body).await.refused(409, "CONFLICT");
        assert!(message.contains("99300") || message.contains("99.300"), "{message}");
    }
    ask(&project, &second, &json!({ "amount": 99_300 })).await.expect(201);
    assert_eq!(sums(&project).await, [-700, 0, 0, 199_300]);
    let message = ask(&project, &second, &json!({ "amount": 701 })).await.refused(409, "CONFLICT");
    assert!(message.contains("700"), "what is left is told: {message}");
}

async fn a_payment_by_virtual_account_needs_the_customers_bank_account(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
    simulate_paid(&project, &payment).await;
    let made = refund(&project, &payment, 20_000).await;
    assert_eq!((text(&made, "status"), text(&made, "road")), ("requires_action", "transfer"));
    assert_eq!((&made["destination"], &made["pending_reason"]), (&Value::Null, &Value::Null));
    let claim_url = text(&made, "claim_url");
    assert!(claim_url.starts_with(&format!("http://{}/r/", kit.address)), "{claim_url}");
    assert!(!claim_url.contains(id(&made)) && !claim_url.contains(id(&payment)), "the page cannot be guessed");
    assert_eq!(fetch_refund(&project, &made).await["claim_url"], claim_url, "it can be read again");
    assert_eq!(refunds(&project, "status=requires_action").await[0]["claim_url"], claim_url);
    assert_eq!(sums(&project).await, [0, 26_000, 0, 20_000], "its money is reserved");
    simulate_end(&project, &made, "succeeded").await.refused(409, "CONFLICT");
    let cancelled = cancel(&project, &made).await.expect(200);
    assert_eq!((text(&cancelled, "status"), &cancelled["claim_url"]), ("cancelled", &Value::Null));
    let named = ask(&project, &payment, &json!({ "destination": destination() })).await.expect(201);
    assert_eq!((text(&named, "status"), &named["claim_url"]), ("pending", &Value::Null));
}

async fn a_destination_means_a_transfer_and_its_number_is_never_shown(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 50_000).await;
    let body = json!({ "amount": 20_903, "destination": destination() });
    let reply = ask(&project, &payment, &body).await;
    assert!(!reply.text.contains("0123456789"), "{}", reply.text);
    let made = reply.expect(201);
    let shown = json!({ "bank": "014", "last_four": "6789", "account_name": made["destination"]["account_name"] });
    assert_eq!((text(&made, "road"), &made["destination"]), ("transfer", &shown));
    assert_eq!(text(&made, "pending_reason"), "processing", "in the sandbox nobody has to approve it");
    let listed = project.api.get("/v1/refunds").await;
    assert!(!listed.text.contains("0123456789") && listed.text.contains("6789"));
    // The codes of virtual accounts name the same banks, and people put characters between digits.
    let other = json!({ "amount": 10_000, "destination": { "bank": "mandiri", "account_number": "123 456-7890.1" } });
    let other = ask(&project, &payment, &other).await.expect(201);
    assert_eq!((&other["destination"]["bank"], &other["destination"]["last_four"]), (&json!("008"), &json!("8901")));
    simulate_end(&project, &made, "succeeded").await.expect(200);
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], 20_903);
}

async fn a_refund_is_cancelled_until_it_has_ended(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 50_000).await;
    let made = refund(&project, &payment, 20_903).await;
    let cancelled = cancel(&project, &made).await.expect(200);
    assert_eq!((text(&cancelled, "status"), &cancelled["succeeded_at"]), ("cancelled", &Value::Null));
    assert_eq!(fetch_refund(&project, &made).await, cancelled);
    for (outcome, ended) in [("succeeded", "succeeded"), ("failed", "failed")] {
        let made = refund(&project, &payment, 10_903).await;
        simulate_end(&project, &made, outcome).await.expect(200);
        cancel(&project, &made).await.refused(409, "CONFLICT");
        assert_eq!(text(&fetch_refund(&project, &made).await, "status"), ended);
    }
    cancel(&project, &made).await.refused(409, "CONFLICT");
}

async fn the_page_for_the_customer_is_shown_to_keys_with_the_right_and_to_owners_alone(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = create(&project, &samples::virtual_account(&project, "bni", 50_000)).await;
    simulate_paid(&project, &payment).await;
    let made = refund(&project, &payment, 20_000).await;
    let path = format!("/v1/refunds/{}", id(&made));
    let usual = NewKey { rights: KeyRights::USUAL, ..NewKey::from("usual".to_owned()) };
    let (_, secret) = kit.engine.create_key(project.id, usual).await.unwrap();
    let reader = project.api.with_key(secret.reveal());
    let check = |one: Value, list: Value, sees: bool, who: &str| {
        let expected = if sees { &made["claim_url"] } else { &Value::Null };
        assert_eq!([&one["claim_url"], &list["data"][0]["claim_url"]], [expected, expected], "{who}");
    };
    for (api, sees) in [(&project.api, true), (&reader, false)] {
        check(api.get(&path).await.expect(200), api.get("/v1/refunds").await.expect(200), sees, "a key");
    }
    for (role, sees) in [(Role::Owner, true), (Role::Developer, false), (Role::Viewer, false)] {
        let session = Session::member(&kit, &project, role).await;
        let (one, list) = (session.get(&path).await.expect(200), session.get("/v1/refunds").await.expect(200));
        check(one, list, sees, role.word());
    }
    let cashier = Session::member(&kit, &project, Role::Cashier).await;
    cashier.get(&path).await.refused(403, "FORBIDDEN");
}

async fn every_bank_that_transfers_reach_is_listed_with_its_rails(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let list = project.api.get("/v1/banks?page_size=2").await.expect(200);
    let total = list["pagination"]["total_items"].as_u64().unwrap();
    assert!(total > 50, "{total}");
    assert_eq!(
        (&list["data"][0]["code"], &list["data"][0]["name"]),
        (&json!("014"), &json!("Bank Central Asia (BCA)"))
    );
    assert_eq!(list["data"][0]["rails"][0], json!({ "rail": "bi_fast", "least": 1, "most": 250_000_000 }));
    assert_eq!(list["data"].as_array().unwrap().len(), 2);
    let whole = [1, 2].map(|page| format!("/v1/banks?page_size=100&page={page}"));
    let mut codes = Vec::new();
    for path in &whole {
        let page = project.api.get(path).await.expect(200);
        codes.extend(page["data"].as_array().unwrap().iter().map(|bank| text(bank, "code").to_owned()));
    }
    assert_eq!(codes.len() as u64, total);
    let past_the_end = project.api.get("/v1/banks?page=9007199254740991&page_size=100").await.expect(200);
    assert_eq!(past_the_end["data"], json!([]));
}
