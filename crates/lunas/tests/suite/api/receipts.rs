//! `/v1/receipts`: money that could not pay its payment, as it is listed and read.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use engine::ProjectUpdate;
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    api::sessions::Session,
    support::{
        customer::Customer,
        json::{id, text},
        links::create_link,
        payments::{pending_qris, simulate_paid},
        receipts::{decide, held, held_amount, held_late, receipt, receipts},
        refusals::refused,
    },
};

on_every_database![
    money_that_fits_no_payment_is_shown_with_all_that_is_known_about_it,
    each_reason_for_which_money_is_held_is_told,
    receipts_are_listed_by_state_and_payment_and_in_pages,
    receipts_are_listed_by_when_the_money_was_received,
    money_that_paid_its_payment_is_no_receipt,
    receipts_of_another_project_are_neither_listed_nor_found_nor_decided_about,
];

on_sqlite_alone![
    a_state_or_payment_that_cannot_be_is_a_validation_error,
    every_member_but_a_cashier_reads_receipts_and_only_of_an_available_project,
];

async fn money_that_fits_no_payment_is_shown_with_all_that_is_known_about_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    kit.clock.advance(Duration::from_mins(2));
    let paid_at = kit.engine.now().to_string();
    kit.clock.advance(Duration::from_mins(1));
    let report = json!({ "outcome": "paid", "amount": 14_000, "paid_at": paid_at });
    let held = held(&project, &payment, &report).await;
    let whole = json!({
        "id": held["id"], "project_id": project.id.to_string(), "payment_id": id(&payment), "amount": 14_000,
        "currency": "IDR", "reason": "wrong_amount", "state": "held", "paid_at": paid_at,
        "received_at": kit.engine.now().to_string(), "decision": null,
    });
    assert_eq!(held, whole);
    assert_eq!(receipt(&project, &held).await, whole);
    assert!(text(&held, "id").starts_with("rcp_"));
}

async fn each_reason_for_which_money_is_held_is_told(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let paid = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &paid).await;
    let twice = held(&project, &paid, &json!({ "outcome": "paid" })).await;
    let link = create_link(&project, json!({})).await;
    let first = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let second = Customer::of(&kit).pays_by(&project, &link, "virtual_account:bca").await;
    simulate_paid(&project, &first).await;
    let claimed = held(&project, &second, &json!({ "outcome": "paid", "receipt_id": "one" })).await;
    let other = pending_qris(&project, 15_000).await;
    let reused = held(&project, &other, &json!({ "outcome": "paid", "receipt_id": "one" })).await;
    let (_, late) = held_late(&kit, &project).await;
    for (held, reason) in
        [(&twice, "already_paid"), (&claimed, "link_claimed"), (&reused, "receipt_reused"), (&late, "too_late")]
    {
        assert_eq!((text(held, "reason"), text(held, "state")), (reason, "held"));
    }
    assert_eq!(receipts(&project, "state=held").await.len(), 4);
}

fn ids(receipts: &[Value]) -> Vec<&str> {
    receipts.iter().map(id).collect()
}

async fn receipts_are_listed_by_state_and_payment_and_in_pages(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, two) = (pending_qris(&project, 15_000).await, pending_qris(&project, 15_000).await);
    let mut made = Vec::new();
    for (payment, amount) in [(&one, 1), (&one, 2), (&two, 15_001), (&two, 4)] {
        kit.clock.advance(Duration::from_secs(1));
        made.push(held_amount(&project, payment, amount).await);
    }
    let [a, b, c, d] = &made[..] else { panic!("{made:?}") };
    kit.clock.advance(Duration::from_secs(1));
    decide(&project, c, "return", &json!({ "note": "x" })).await.expect(200);
    let paying = json!({ "note": "x", "payment_id": id(&two), "accept_difference": true });
    let taken = held_amount(&project, &one, 15_002).await;
    kit.clock.advance(Duration::from_secs(1));
    decide(&project, &taken, "accept", &paying).await.expect(200);
    for (query, expected) in [
        (String::new(), vec![&taken, d, c, b, a]),
        ("state=held".to_owned(), vec![d, b, a]),
        ("state=accepted".to_owned(), vec![&taken]),
        ("state=returned".to_owned(), vec![c]),
        // Money that was sent for another payment, and that pays this one.
        (format!("payment_id={}", id(&two)), vec![&taken, d, c]),
        (format!("payment_id={}", id(&one)), vec![&taken, b, a]),
        (format!("payment_id={}&state=held", id(&one)), vec![b, a]),
        (format!("payment_id={}&state=returned", id(&one)), vec![]),
        ("payment_id=pay_01kzdq3f5ve8x9m2r7t4w6y8za".to_owned(), vec![]),
    ] {
        let listed = receipts(&project, &query).await;
        assert_eq!(ids(&listed), expected.into_iter().map(id).collect::<Vec<_>>(), "{query}");
    }
    let page = project.api.get("/v1/receipts?page=2&page_size=2").await.expect(200);
    assert_eq!(ids(page["data"].as_array().unwrap()), [id(c), id(b)]);
    let pagination = json!({ "page": 2, "page_size": 2, "total_items": 5, "total_pages": 3 });
    assert_eq!(page["pagination"], pagination);
}

async fn receipts_are_listed_by_when_the_money_was_received(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, two) = (pending_qris(&project, 15_000).await, pending_qris(&project, 15_000).await);
    let mut made = Vec::new();
    for (payment, amount) in [(&one, 1), (&two, 2), (&one, 3)] {
        kit.clock.advance(Duration::from_secs(1));
        made.push(held_amount(&project, payment, amount).await);
    }
    let [a, b, c] = &made[..] else { panic!("{made:?}") };
    kit.clock.advance(Duration::from_mins(5));
    for (receipt, note) in [(a, "x"), (c, "y")] {
        decide(&project, receipt, "return", &json!({ "note": note })).await.expect(200);
        kit.clock.advance(Duration::from_secs(1));
    }
    let (from, to) = (
        |receipt| format!("created_from={}", text(receipt, "received_at")),
        |receipt| format!("created_to={}", text(receipt, "received_at")),
    );
    for (query, expected) in [
        (from(b), vec![c, b]),
        (to(b), vec![a]),
        (format!("{}&{}", from(a), to(c)), vec![b, a]),
        ("created_from=0001-01-01T00:00:00Z&created_to=9999-12-31T23:59:59Z".to_owned(), vec![c, b, a]),
        // The time of the decision does not count.
        (format!("{}&state=returned", to(c)), vec![a]),
        (format!("{}&state=returned", from(a)), vec![c, a]),
        (format!("{}&state=held", from(b)), vec![b]),
        (format!("{}&payment_id={}", from(b), id(&one)), vec![c]),
        ("created_from=9999-01-01T00:00:00Z".to_owned(), vec![]),
    ] {
        let listed = receipts(&project, &query).await;
        assert_eq!(ids(&listed), expected.into_iter().map(id).collect::<Vec<_>>(), "{query}");
    }
    let page = project.api.get(&format!("/v1/receipts?{}&page_size=1&page=2", to(c))).await.expect(200);
    assert_eq!((ids(page["data"].as_array().unwrap()), &page["pagination"]["total_items"]), (vec![id(a)], &json!(2)));
}

async fn a_state_or_payment_that_cannot_be_is_a_validation_error(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (query, field) in [
        ("state=", "state"),
        ("state=open", "state"),
        ("state=HELD", "state"),
        ("state=held&state=held", "state"),
        ("payment_id=", "payment_id"),
        ("payment_id=x", "payment_id"),
        ("payment_id=%00", "payment_id"),
        ("payment_id=rcp_01kzdq3f5ve8x9m2r7t4w6y8za", "payment_id"),
        ("page=0", "page"),
        ("page_size=101", "page_size"),
    ] {
        let reply = project.api.get(&format!("/v1/receipts?{query}")).await;
        let message = refused(query, reply, 400, "VALIDATION_ERROR");
        assert!(message.contains(&format!("`{field}`")), "{query}: {message}");
    }
}

async fn money_that_paid_its_payment_is_no_receipt(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    simulate_paid(&project, &pending_qris(&project, 15_000).await).await;
    assert!(receipts(&project, "").await.is_empty());
    for id in ["rcp_01kzdq3f5ve8x9m2r7t4w6y8za", "rcp_1", "x", "%00"] {
        project.api.get(&format!("/v1/receipts/{id}")).await.refused(404, "RESOURCE_NOT_FOUND");
        for act in ["accept", "return"] {
            let path = format!("/v1/receipts/{id}/{act}");
            project.api.post(&path, &json!({ "note": "x" })).await.refused(404, "RESOURCE_NOT_FOUND");
        }
    }
}

async fn receipts_of_another_project_are_neither_listed_nor_found_nor_decided_about(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (payment, held) = held_late(&kit, &project).await;
    assert!(receipts(&other, "").await.is_empty());
    assert!(receipts(&other, &format!("payment_id={}", id(&payment))).await.is_empty());
    other.api.get(&format!("/v1/receipts/{}", id(&held))).await.refused(404, "RESOURCE_NOT_FOUND");
    let own = pending_qris(&other, 15_000).await;
    for body in [json!({ "note": "x" }), json!({ "note": "x", "payment_id": id(&own) })] {
        for act in ["accept", "return"] {
            decide(&other, &held, act, &body).await.refused(404, "RESOURCE_NOT_FOUND");
        }
    }
    assert_eq!(receipt(&project, &held).await, held);
}

async fn make_unavailable(kit: &Kit, project: &TestProject) {
    kit.update(project.id, ProjectUpdate { active: Some(false), ..Default::default() }).await;
}

async fn every_member_but_a_cashier_reads_receipts_and_only_of_an_available_project(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, held) = held_late(&kit, &project).await;
    let path = format!("/v1/receipts/{}", id(&held));
    let mut sessions = Vec::new();
    Session::member(&kit, &project, Role::Cashier).await.get(&path).await.refused(403, "FORBIDDEN");
    for role in [Role::Owner, Role::Developer, Role::Viewer] {
        let session = Session::member(&kit, &project, role).await;
        assert_eq!(session.get(&path).await.expect(200), held);
        assert_eq!(session.get("/v1/receipts?state=held").await.expect(200)["data"], json!([held]));
        sessions.push(session);
    }
    make_unavailable(&kit, &project).await;
    for session in &sessions {
        session.get(&path).await.refused(403, "PROJECT_UNAVAILABLE");
    }
    project.api.get(&path).await.refused(403, "PROJECT_UNAVAILABLE");
    project.api.get("/v1/receipts").await.refused(403, "PROJECT_UNAVAILABLE");
    for act in ["accept", "return"] {
        decide(&project, &held, act, &json!({ "note": "x" })).await.refused(403, "PROJECT_UNAVAILABLE");
    }
}
