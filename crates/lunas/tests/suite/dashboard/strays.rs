//! Money that fits no payment of any project, and what operators decide about it.

use std::{sync::Arc, time::Duration};

use domain::{
    audit::{Actor, Deed},
    id::{BankAccountId, StrayId},
    receipt::DECISION_NOTE,
    stray::StrayDecision,
};
use serde_json::Value;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    bank_accounts::{SERVICE_ID, account_of, stray},
    customer::is_page,
    dashboard::{audited, leads},
    json::text,
    payments::{create, events_of, pending_qris, status, unapplied},
    people::Person,
    rows::rows,
    samples,
};

on_every_database![
    open_strays_are_listed_with_their_sum_and_decided_ones_apart,
    a_stray_is_assigned_after_its_payment_was_shown_and_pays_it,
    a_stray_that_does_not_fit_its_payment_is_held_there,
    a_stray_is_returned_with_a_note,
    of_two_operators_who_decide_at_once_one_does,
];

on_sqlite_alone![a_payment_that_cannot_have_the_money_is_a_mistake_and_changes_nothing];

const STRAYS: &str = "/dashboard/operator/strays";

/// A shop that takes real money at BCA, and somebody who runs the installation.
struct World {
    project: TestProject,
    account: BankAccountId,
    operator: Person,
}

impl World {
    async fn new(kit: &Kit) -> World {
        let project = kit.production().await;
        let account = account_of(kit, project.id).await;
        World { project, account, operator: Person::operator(kit, "operator@example.com").await }
    }

    async fn payment(&self, amount: i64) -> Value {
        create(&self.project, &samples::virtual_account(&self.project, "bca", amount)).await
    }

    async fn ask(&self, id: StrayId, payment: &str) -> Reply {
        self.operator.open(&format!("{STRAYS}/{id}/assign?payment={payment}&lang=en")).await
    }

    async fn assign(&self, id: StrayId, payment: &str, note: &str) -> Reply {
        self.operator.post(&format!("{STRAYS}/{id}/assign"), &[("payment", payment), ("note", note)]).await
    }

    async fn give_back(&self, id: StrayId, note: &str) -> Reply {
        self.operator.post(&format!("{STRAYS}/{id}/return"), &[("note", note)]).await
    }
}

#[track_caller]
fn contains_all(page: &Reply, texts: &[&str]) {
    for text in texts {
        assert!(page.text.contains(text), "{text} is not in {}", page.text);
    }
}

async fn open_strays_are_listed_with_their_sum_and_decided_ones_apart(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    let operator = &world.operator;
    contains_all(&operator.open(&format!("{STRAYS}?lang=en")).await, &["No stray money"]);
    contains_all(&operator.open(&format!("{STRAYS}?tab=decided")).await, &["No decisions yet"]);
    let first = stray(&kit, world.account, "bank-1", 15_000).await;
    kit.clock.advance(Duration::from_millis(1));
    stray(&kit, world.account, "bank-2", 20_000).await;
    let page = operator.open(STRAYS).await;
    is_page("two strays", &page, 200);
    let number = format!("{SERVICE_ID}00000000000");
    contains_all(&page, &["2 to decide, Rp35.000 in total", "Rp15.000", "Rp20.000", "bank-1", "BCA utama", &number]);
    assert!(page.text.find("bank-2") < page.text.find("bank-1"), "the newest is first");
    let banks = operator.open("/dashboard/operator/banks").await;
    contains_all(&banks, &["2 receipts fit no payment: Rp35.000 in total.", &format!("href=\"{STRAYS}\"")]);
    leads(&world.give_back(first, "reference 123").await, "stray-returned");
    let page = operator.open(STRAYS).await;
    contains_all(&page, &["1 to decide, Rp20.000", "bank-2"]);
    assert!(!page.text.contains("bank-1"));
    let decided = operator.open(&format!("{STRAYS}?tab=decided")).await;
    contains_all(&decided, &["bank-1", "Returned", "reference 123"]);
    assert!(!decided.text.contains("bank-2"));
}

async fn a_stray_is_assigned_after_its_payment_was_shown_and_pays_it(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    let payment = world.payment(15_000).await;
    let (id, payment_id) = (stray(&kit, world.account, "bank-1", 15_000).await, text(&payment, "id"));
    let own = world.operator.open(&format!("{STRAYS}/{id}")).await;
    is_page("the stray", &own, 200);
    contains_all(&own, &["Rp15.000", "bank-1", "name=\"payment\"", &format!("action=\"{STRAYS}/{id}/return\"")]);
    let before = rows(&kit.database);
    let question = world.ask(id, payment_id).await;
    is_page("the question", &question, 200);
    contains_all(&question, &[payment_id, "Toko", "order-1", "Pending", "The money pays the payment"]);
    assert_eq!(rows(&kit.database), before, "asking changes nothing");
    assert_eq!(leads(&world.assign(id, payment_id, "by phone").await, "stray-assigned"), STRAYS);
    assert_eq!(status(&world.project, &payment).await, "paid");
    assert_eq!(events_of(&world.project, &payment, "payment.paid").await.len(), 1);
    let lines = audited(&kit, Deed::StrayAssigned).await;
    assert_eq!(lines.len(), 1);
    assert!(matches!(&lines[0].0, Actor::User { id, .. } if *id == world.operator.user.id));
    let own = world.operator.open(&format!("{STRAYS}/{id}")).await;
    contains_all(&own, &["Assigned", "by phone", payment_id]);
    assert!(!own.text.contains("name=\"note\""), "there is nothing left to decide");
    assert!(!world.ask(id, payment_id).await.text.contains("name=\"note\""));
    assert_eq!(kit.engine.open_strays().await.unwrap().count, 0);
}

async fn a_stray_that_does_not_fit_its_payment_is_held_there(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    let payment = world.payment(15_000).await;
    let id = stray(&kit, world.account, "bank-1", 14_000).await;
    let question = world.ask(id, text(&payment, "id")).await;
    contains_all(&question, &["The amount differs from the amount due.", "it is held there"]);
    assert!(!question.text.contains("The money pays the payment"));
    leads(&world.assign(id, text(&payment, "id"), "short").await, "stray-assigned");
    assert_eq!((status(&world.project, &payment).await.as_str(), unapplied(&world.project).await), ("pending", 14_000));
}

async fn a_payment_that_cannot_have_the_money_is_a_mistake_and_changes_nothing(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    let id = stray(&kit, world.account, "bank-1", 15_000).await;
    let sandbox = kit.sandbox().await;
    let play = pending_qris(&sandbox, 15_000).await;
    let payment = world.payment(15_000).await;
    let before = rows(&kit.database);
    for (typed, says) in [
        ("", "There is no payment with this ID."),
        ("junk", "There is no payment with this ID."),
        ("pay_01kc2m8r5gfq9t3v7x1y4z6a8b", "There is no payment with this ID."),
        (text(&play, "id"), "belongs to a sandbox project"),
    ] {
        for reply in [world.ask(id, typed).await, world.assign(id, typed, "note").await] {
            is_page(typed, &reply, 422);
            contains_all(&reply, &[says, "aria-invalid"]);
        }
    }
    for note in [String::new(), " ".to_owned(), "x".repeat(DECISION_NOTE.most + 1), "a\0b".to_owned()] {
        let reply = world.assign(id, text(&payment, "id"), &note).await;
        is_page("a bad note", &reply, 422);
        contains_all(&reply, &["aria-invalid", text(&payment, "id")]);
    }
    is_page("no payment yet", &world.operator.open(&format!("{STRAYS}/{id}/assign")).await, 200);
    for path in ["str_01kc2m8r5gfq9t3v7x1y4z6a8b", "junk"] {
        is_page(path, &world.operator.open(&format!("{STRAYS}/{path}")).await, 404);
        is_page(path, &world.operator.post(&format!("{STRAYS}/{path}/return"), &[("note", "x")]).await, 404);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_stray_is_returned_with_a_note(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    let id = stray(&kit, world.account, "bank-1", 15_000).await;
    let before = rows(&kit.database);
    for note in [String::new(), "x".repeat(DECISION_NOTE.most + 1)] {
        let reply = world.give_back(id, &note).await;
        is_page("a bad note", &reply, 422);
        contains_all(&reply, &["aria-invalid"]);
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(leads(&world.give_back(id, "told BCA, ref 9").await, "stray-returned"), STRAYS);
    let decided = kit.engine.stray(id).await.unwrap().decided.unwrap();
    assert_eq!((decided.decision, decided.note.as_str()), (StrayDecision::Returned, "told BCA, ref 9"));
    assert_eq!(audited(&kit, Deed::StrayReturned).await.len(), 1);
    let again = world.give_back(id, "twice").await;
    is_page("decided before", &again, 409);
    contains_all(&again, &["told BCA, ref 9"]);
}

async fn of_two_operators_who_decide_at_once_one_does(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    let other = Person::operator(&kit, "second@example.com").await;
    for round in 0..4 {
        let payment = world.payment(15_000).await;
        let id = stray(&kit, world.account, &format!("bank-{round}"), 15_000).await;
        let path = format!("{STRAYS}/{id}/return");
        let (assigned, returned) =
            tokio::join!(world.assign(id, text(&payment, "id"), "mine"), other.post(&path, &[("note", "theirs")]));
        let mut answers = [assigned.status.as_u16(), returned.status.as_u16()];
        answers.sort_unstable();
        assert_eq!(answers, [303, 409], "{}\n{}", assigned.text, returned.text);
        let is_paid = status(&world.project, &payment).await == "paid";
        assert_eq!(is_paid, assigned.status == 303, "what is told is what happened");
        let lines = audited(&kit, Deed::StrayAssigned).await.len() + audited(&kit, Deed::StrayReturned).await.len();
        assert_eq!(lines, round + 1);
    }
}
