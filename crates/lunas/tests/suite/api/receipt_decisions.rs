//! Decisions about held money: what each does to the payment, the ledger, the events and the audit log, and what is refused.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    audit::{Actor, Deed},
    id::ReceiptId,
    receipt::{Choice, Difference, UnappliedReceipt},
};
use engine::{Desk, Error};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    api::sessions::Session,
    support::{
        customer::Customer,
        dashboard::audit_log,
        json::{id, text},
        links::create_link,
        payments::{create, events_of, fetch, pending_qris, report, simulate, simulate_paid, status},
        people::Person,
        receipts::{decide, held_amount, held_late, receipt},
        refusals::refused,
        samples,
    },
};

on_every_database![
    accepted_money_pays_its_payment_and_settles,
    money_of_another_amount_pays_when_the_difference_is_accepted_and_settles_as_what_is_left,
    money_pays_the_payment_that_it_is_assigned_to,
    a_payment_that_is_processing_may_be_paid_by_held_money,
    money_that_is_assigned_to_a_payment_of_a_link_claims_the_link,
    returned_money_leaves_the_books_and_changes_no_payment,
    a_decision_is_made_once,
    money_that_cannot_pay_a_payment_is_refused_and_stays_held,
    money_that_fitted_fits_no_longer_once_other_money_has_paid,
    several_receipts_are_decided_about_each_on_its_own,
];

on_sqlite_alone![
    a_decision_that_breaks_a_rule_is_refused_and_decides_nothing,
    owners_decide_and_other_members_do_not,
    several_receipts_are_refused_at_once_by_role_note_and_number,
];

const NOTE: &str = "Sudah dihubungi\nlewat telepon";

/// Available, pending and unapplied.
async fn balances(project: &TestProject) -> [i64; 3] {
    let balance = project.api.get("/v1/balance").await.expect(200);
    ["available", "pending", "unapplied"].map(|account| balance[account].as_i64().unwrap())
}

async fn settle(kit: &Kit) -> usize {
    kit.clock.advance(Duration::from_mins(1));
    kit.engine.settle_due().await.unwrap()
}

/// The lines of the audit log about receipts, newest first: who, what, subject and detail.
async fn audited(kit: &Kit, project: &TestProject) -> Vec<(Actor, Deed, String, String)> {
    let log = audit_log(&kit.store, Some(project.id)).await;
    let of_receipts = log.into_iter().filter(|line| line.deed.word().starts_with("receipt."));
    of_receipts.map(|line| (line.actor, line.deed, line.subject, line.detail)).collect()
}

async fn accepted_money_pays_its_payment_and_settles(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, held) = held_late(&kit, &project).await;
    assert_eq!(balances(&project).await, [0, 0, 15_000]);
    let accepted = decide(&project, &held, "accept", &json!({ "note": NOTE })).await.expect(200);
    let mut whole = held.clone();
    whole["state"] = json!("accepted");
    whole["decision"] = json!({
        "payment_id": id(&payment), "difference": 0, "refund_id": null, "note": NOTE, "decided_by": project.key_id.to_string(),
        "decided_at": kit.engine.now().to_string(),
    });
    assert_eq!(accepted, whole);
    assert_eq!(receipt(&project, &held).await, whole);
    let paid = fetch(&project, &payment).await;
    assert_eq!((text(&paid, "status"), &paid["paid_at"]), ("paid", &held["paid_at"]));
    assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
    assert_eq!(balances(&project).await, [0, 14_895, 0]);
    let detail = format!("Rp15.000 {NOTE}");
    let line = (Actor::Key(project.key_id), Deed::ReceiptAccepted, id(&payment).to_owned(), detail);
    assert_eq!(audited(&kit, &project).await, [line]);
    assert_eq!(settle(&kit).await, 1);
    assert_eq!(balances(&project).await, [14_895, 0, 0]);
    assert_eq!(settle(&kit).await, 0);
}

async fn money_of_another_amount_pays_when_the_difference_is_accepted_and_settles_as_what_is_left(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut available = 0;
    // The fee of 15000 is 105; of money that is no more than the fee nothing is left.
    for (amount, settled) in [(14_000, 1), (15_001, 1), (40_000, 1), (106, 1), (105, 0)] {
        let payment = pending_qris(&project, 15_000).await;
        let held = held_amount(&project, &payment, amount).await;
        for body in [json!({ "note": "x" }), json!({ "note": "x", "accept_difference": false })] {
            let reply = decide(&project, &held, "accept", &body).await;
            let message = refused(&amount.to_string(), reply, 400, "VALIDATION_ERROR");
            assert!(message.contains("`accept_difference`"), "{message}");
        }
        assert_eq!(receipt(&project, &held).await, held);
        let body = json!({ "note": "x", "accept_difference": true });
        let accepted = decide(&project, &held, "accept", &body).await.expect(200);
        assert_eq!(accepted["decision"]["difference"], amount - 15_000);
        let paid = fetch(&project, &payment).await;
        // What the merchant asked for stays as it was.
        let asked = json!(["paid", 15_000, 105, 14_895]);
        assert_eq!(json!([paid["status"], paid["amount"], paid["fee_amount"], paid["merchant_net"]]), asked);
        assert_eq!(balances(&project).await, [available, amount - 105, 0], "{amount}");
        assert_eq!(settle(&kit).await, settled, "{amount}");
        available += amount - 105;
        assert_eq!(balances(&project).await, [available, 0, 0], "{amount}");
        assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
    }
    assert!(audited(&kit, &project).await.iter().any(|line| line.3 == "Rp14.000 / Rp15.000 x"));
}

async fn statuses(project: &TestProject, payments: [&Value; 2]) -> [String; 2] {
    [status(project, payments[0]).await, status(project, payments[1]).await]
}

async fn money_pays_the_payment_that_it_is_assigned_to(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (sender, held) = held_late(&kit, &project).await;
    let wanted = create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
    let body = json!({ "note": "Pesanan yang sama", "payment_id": id(&wanted) });
    let accepted = decide(&project, &held, "accept", &body).await.expect(200);
    let told = json!([accepted["payment_id"], accepted["state"], accepted["decision"]["payment_id"]]);
    assert_eq!(told, json!([id(&sender), "accepted", id(&wanted)]));
    assert_eq!(statuses(&project, [&wanted, &sender]).await, ["paid", "expired"]);
    assert_eq!(events_of(&project, &wanted, "payment.paid").await.len(), 1);
    assert!(events_of(&project, &sender, "payment.paid").await.is_empty());
    let detail = format!("Rp15.000 {} Pesanan yang sama", id(&sender));
    let line = (Actor::Key(project.key_id), Deed::ReceiptAssigned, id(&wanted).to_owned(), detail);
    assert_eq!(audited(&kit, &project).await, [line]);
    // The fee is that of the payment which is paid.
    assert_eq!(balances(&project).await, [0, 11_000, 0]);
    assert_eq!(settle(&kit).await, 1);
    assert_eq!(balances(&project).await, [11_000, 0, 0]);
}

async fn a_payment_that_is_processing_may_be_paid_by_held_money(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (own, other) = (pending_qris(&project, 15_000).await, pending_qris(&project, 14_000).await);
    let wrong = held_amount(&project, &own, 14_000).await;
    report(&project, &own, "processing").await;
    report(&project, &other, "processing").await;
    let body = json!({ "note": NOTE, "payment_id": id(&other) });
    decide(&project, &wrong, "accept", &body).await.expect(200);
    assert_eq!(statuses(&project, [&own, &other]).await, ["processing", "paid"]);
    assert_eq!(events_of(&project, &other, "payment.paid").await.len(), 1);
}

async fn money_that_is_assigned_to_a_payment_of_a_link_claims_the_link(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let chosen = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let rival = Customer::of(&kit).pays_by(&project, &link, "virtual_account:bca").await;
    let more = held_amount(&project, &pending_qris(&project, 15_000).await, 51_000).await;
    let body = json!({ "note": "x", "payment_id": id(&chosen), "accept_difference": true });
    assert_eq!(decide(&project, &more, "accept", &body).await.expect(200)["decision"]["difference"], 1_000);
    assert_eq!(statuses(&project, [&chosen, &rival]).await, ["paid", "cancelled"]);
    assert_eq!(settle(&kit).await, 1);
    assert_eq!(balances(&project).await, [51_000 - 350, 0, 0]);
}

async fn returned_money_leaves_the_books_and_changes_no_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, held) = held_late(&kit, &project).await;
    let before = fetch(&project, &payment).await;
    let returned = decide(&project, &held, "return", &json!({ "note": NOTE })).await.expect(200);
    let decision = json!({
        "payment_id": null, "difference": null, "refund_id": null, "note": NOTE, "decided_by": project.key_id.to_string(),
        "decided_at": kit.engine.now().to_string(),
    });
    assert_eq!((text(&returned, "state"), &returned["decision"]), ("returned", &decision));
    assert_eq!(fetch(&project, &payment).await, before);
    assert_eq!(balances(&project).await, [0, 0, 0]);
    assert!(events_of(&project, &payment, "payment.paid").await.is_empty());
    let line = (Actor::Key(project.key_id), Deed::ReceiptReturned, id(&payment).to_owned(), format!("Rp15.000 {NOTE}"));
    assert_eq!(audited(&kit, &project).await, [line]);
    assert_eq!(settle(&kit).await, 0);
}

async fn a_decision_is_made_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let other = pending_qris(&project, 15_000).await;
    for act in ["accept", "return"] {
        let (_, held) = held_late(&kit, &project).await;
        let decided = decide(&project, &held, act, &json!({ "note": "first" })).await.expect(200);
        let before = (balances(&project).await, audited(&kit, &project).await);
        for (act, body) in [
            ("accept", json!({ "note": "again" })),
            ("return", json!({ "note": "again" })),
            ("accept", json!({ "note": "again", "payment_id": id(&other) })),
        ] {
            let message = decide(&project, &held, act, &body).await.refused(409, "CONFLICT");
            assert_eq!(message, "somebody has decided about this money already");
        }
        assert_eq!(receipt(&project, &held).await, decided);
        assert_eq!((balances(&project).await, audited(&kit, &project).await), before);
    }
}

/// A payment of a single-use link that another payment has paid.
async fn loser_of_a_link(kit: &Kit, project: &TestProject) -> Value {
    let link = create_link(project, json!({})).await;
    let winner = Customer::of(kit).pays_by(project, &link, "qris").await;
    let loser = Customer::of(kit).pays_by(project, &link, "virtual_account:bca").await;
    simulate_paid(project, &winner).await;
    loser
}

async fn money_that_cannot_pay_a_payment_is_refused_and_stays_held(kit: Arc<Kit>) {
    let (project, foreign) = (kit.sandbox().await, kit.sandbox().await);
    let paid = simulate_paid(&project, &pending_qris(&project, 15_000).await).await;
    let second = loser_of_a_link(&kit, &project).await;
    let dear = create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
    let elsewhere = pending_qris(&foreign, 15_000).await;
    let held = held_amount(&project, &pending_qris(&project, 15_000).await, 3_999).await;
    let before = (balances(&project).await, audited(&kit, &project).await);
    let unknown = json!({ "id": "pay_01kzdq3f5ve8x9m2r7t4w6y8za" });
    for (payment, status, code, word) in [
        (&paid, 409, "PAYMENT_NOT_EDITABLE", "paid already"),
        (&second, 409, "PAYMENT_NOT_EDITABLE", "single-use link"),
        (&dear, 409, "CONFLICT", "less than the fee"),
        (&elsewhere, 404, "RESOURCE_NOT_FOUND", "payment"),
        (&unknown, 404, "RESOURCE_NOT_FOUND", "payment"),
    ] {
        let body = json!({ "note": "x", "payment_id": id(payment), "accept_difference": true });
        let message = refused(word, decide(&project, &held, "accept", &body).await, status, code);
        assert!(message.contains(word), "{message}");
    }
    assert_eq!(receipt(&project, &held).await, held);
    assert_eq!((balances(&project).await, audited(&kit, &project).await), before);
    assert_eq!([status(&foreign, &elsewhere).await, status(&project, &dear).await], ["pending", "pending"]);
}

async fn money_that_fitted_fits_no_longer_once_other_money_has_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (late, held) = held_late(&kit, &project).await;
    let in_time = json!({ "outcome": "paid", "paid_at": text(&late, "created_at"), "receipt_id": "in time" });
    simulate(&project, &late, &in_time).await.expect(200);
    for body in [json!({ "note": "x" }), json!({ "note": "x", "accept_difference": true })] {
        decide(&project, &held, "accept", &body).await.refused(409, "PAYMENT_NOT_EDITABLE");
    }
    assert_eq!(balances(&project).await, [0, 14_895, 15_000]);
    decide(&project, &held, "return", &json!({ "note": "x" })).await.expect(200);
    assert_eq!(balances(&project).await, [0, 14_895, 0]);
}

async fn a_decision_that_breaks_a_rule_is_refused_and_decides_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, held) = held_late(&kit, &project).await;
    let long = format!(r#"{{"note":"{}"}}"#, "é".repeat(501));
    let send = async |act: &str, body: &str| {
        let request = project.api.request(Method::POST, &format!("/v1/receipts/{}/{act}", id(&held)));
        project.api.send(request.header("content-type", "application/json").body(body.to_owned())).await
    };
    for (body, code, word) in [
        ("{}", "VALIDATION_ERROR", "`note` is required"),
        (r#"{"note":null}"#, "VALIDATION_ERROR", "`note` is required"),
        (r#"{"note":""}"#, "VALIDATION_ERROR", "`note` must not be empty"),
        (long.as_str(), "VALIDATION_ERROR", "`note` must be at most 500"),
        (r#"{"note":"a\u0000b"}"#, "VALIDATION_ERROR", "`note` must not contain"),
        (r#"{"note":"a\u202eb"}"#, "VALIDATION_ERROR", "`note` must not contain"),
        (r#"{"note":1}"#, "INVALID_REQUEST", "`note` must be a string"),
        ("", "INVALID_REQUEST", ""),
        ("[]", "INVALID_REQUEST", "object"),
    ] {
        for act in ["accept", "return"] {
            let message = refused(body, send(act, body).await, 400, code);
            assert!(message.contains(word), "{message}");
        }
    }
    for (body, code, word) in [
        (r#"{"note":"x","payment_id":"x"}"#, "VALIDATION_ERROR", "`payment_id` must be the id of a payment"),
        (r#"{"note":"x","payment_id":""}"#, "VALIDATION_ERROR", "`payment_id`"),
        (r#"{"note":"x","payment_id":7}"#, "INVALID_REQUEST", "`payment_id`"),
        (r#"{"note":"x","accept_difference":"true"}"#, "INVALID_REQUEST", "`accept_difference`"),
    ] {
        let message = refused(body, send("accept", body).await, 400, code);
        assert!(message.contains(word), "{message}");
    }
    // Errors of the body come before those of the path, and unknown members are named.
    let path = "/v1/receipts/rcp_1/accept";
    project.api.post(path, &json!({})).await.refused(400, "VALIDATION_ERROR");
    let reply = decide(&project, &held, "return", &json!({ "note": "", "nota": "x" })).await;
    assert_eq!(reply.header("x-ignored-members"), Some("nota"));
    assert_eq!(receipt(&project, &held).await, held);
    assert_eq!(balances(&project).await, [0, 0, 15_000]);
    assert!(audited(&kit, &project).await.is_empty());
    let fits = json!({ "note": "é".repeat(500), "other": 1 });
    let reply = decide(&project, &held, "accept", &fits).await;
    assert_eq!(reply.header("x-ignored-members"), Some("other"));
    reply.expect(200);
}

async fn owners_decide_and_other_members_do_not(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, held) = held_late(&kit, &project).await;
    let decided = async |session: &Session, act: &str, body: &Value| {
        session.send(session.request(Method::POST, &format!("/v1/receipts/{}/{act}", id(&held))).json(body)).await
    };
    for role in [Role::Viewer, Role::Developer] {
        let session = Session::member(&kit, &project, role).await;
        for act in ["accept", "return"] {
            // The role is checked before the body.
            for body in [json!({ "note": "mine" }), json!({})] {
                decided(&session, act, &body).await.refused(403, "FORBIDDEN");
            }
        }
    }
    assert_eq!(receipt(&project, &held).await, held);
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let session = Session::of(&kit, &owner);
    let foreign = session.request(Method::POST, &format!("/v1/receipts/{}/accept", id(&held)));
    let foreign = foreign.json(&json!({ "note": "x" })).header("sec-fetch-site", "cross-site");
    session.send(foreign).await.refused(403, "CORS_ORIGIN_FORBIDDEN");
    let accepted = decided(&session, "accept", &json!({ "note": "mine" })).await.expect(200);
    assert_eq!(accepted["decision"]["decided_by"], owner.user.id.to_string());
    assert_eq!(status(&project, &payment).await, "paid");
    let [(Actor::User { id: by, .. }, Deed::ReceiptAccepted, ..)] = &audited(&kit, &project).await[..] else {
        panic!("one line");
    };
    assert_eq!(*by, owner.user.id);
}

async fn desk_of(kit: &Kit, project: &TestProject, role: Role) -> Desk {
    let person = Person::member(kit, project.id, role, &format!("{}@example.com", role.word())).await;
    let visit = kit.engine.visit(&person.token().unwrap(), String::new(), true).await.unwrap().unwrap();
    kit.engine.desk(&visit, project.id).await.unwrap()
}

fn outcome(outcome: &Result<UnappliedReceipt, Error>) -> String {
    match outcome {
        Ok(decided) => decided.state().word().to_owned(),
        Err(error) => error.to_string(),
    }
}

const ACCEPT: Choice = Choice::Accept { payment_id: None, difference: Difference::Refused };

async fn several_receipts_are_decided_about_each_on_its_own(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (_, foreign) = held_late(&kit, &other).await;
    let (first, late) = held_late(&kit, &project).await;
    let (_, gone) = held_late(&kit, &project).await;
    decide(&project, &gone, "return", &json!({ "note": "x" })).await.expect(200);
    let wrong = held_amount(&project, &pending_qris(&project, 15_000).await, 14_000).await;
    let (last, too) = held_late(&kit, &project).await;
    let ids = [&late, &foreign, &gone, &wrong, &late, &too].map(|held| id(held).parse().unwrap());
    let desk = desk_of(&kit, &project, Role::Owner).await;
    let outcomes = desk.decide_receipts(&ids, ACCEPT, "sekaligus".to_owned()).await.unwrap();
    assert_eq!(outcomes.iter().map(|outcome| outcome.0).collect::<Vec<_>>(), ids);
    let already = "somebody has decided about this money already";
    let differs = "this money is not the amount of the payment, and the difference was not accepted";
    let told: Vec<String> = outcomes.iter().map(|(_, decided)| outcome(decided)).collect();
    assert_eq!(told, ["accepted", "there is no such receipt", already, differs, already, "accepted"]);
    assert_eq!(statuses(&project, [&first, &last]).await, ["paid", "paid"]);
    assert_eq!(balances(&project).await, [0, 2 * 14_895, 14_000]);
    assert_eq!(receipt(&other, &foreign).await, foreign);
}

async fn several_receipts_are_refused_at_once_by_role_note_and_number(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, held) = held_late(&kit, &project).await;
    let ids: Vec<ReceiptId> = vec![id(&held).parse().unwrap(); 101];
    let owner = desk_of(&kit, &project, Role::Owner).await;
    for (ids, note) in [(&ids[..1], String::new()), (&ids[..1], "x".repeat(501)), (&ids[..], "x".to_owned())] {
        assert!(matches!(owner.decide_receipts(ids, ACCEPT, note).await, Err(Error::Invalid(_))));
    }
    let viewer = desk_of(&kit, &project, Role::Viewer).await;
    let refused = viewer.decide_receipts(&ids[..1], Choice::Return, "x".to_owned()).await;
    assert!(matches!(refused, Err(Error::RoleForbids)));
    assert_eq!(receipt(&project, &held).await, held);
}
