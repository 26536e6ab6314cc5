//! The dashboard's simulator, in which a member reports to payments as the bank would: in the sandbox alone.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use engine::ProjectUpdate;
use serde_json::Value;
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{hidden, is_page},
    dashboard::{developer_at, leads},
    json::text,
    payments::{create, events_of, fetch, pending_qris, simulate_paid, status, unapplied},
    people::{Person, desk},
    samples,
};

on_every_database![
    a_pending_payment_is_paid_refused_or_expired_by_its_buttons_once on 2 threads,
    money_after_a_payment_was_expired_by_its_button_is_late on 2 threads,
    a_page_that_was_left_open_changes_nothing_that_has_ended on 2 threads,
    another_amount_is_held_and_pays_nothing_however_often_its_form_is_sent on 2 threads,
    a_form_that_is_sent_twice_answers_the_same_and_with_another_amount_it_is_other_money on 2 threads,
];

on_sqlite_alone![
    a_code_is_found_as_a_bank_app_finds_it_and_paid on 2 threads,
    an_unknown_code_is_reported_at_its_field on 2 threads,
    in_production_there_is_no_simulator on 2 threads,
    viewers_only_look_strangers_find_nothing_and_unknown_actions_are_refused on 2 threads,
];

fn address_of(base: &str, payment: &Value) -> String {
    format!("{base}/{}", text(payment, "id"))
}

async fn find(person: &Person, base: &str, code: &str) -> Reply {
    let encoded: String = code.bytes().map(|byte| format!("%{byte:02X}")).collect();
    person.open(&format!("{base}?code={encoded}")).await
}

fn attempt_of(page: &Reply) -> String {
    hidden(page).into_iter().find(|(name, _)| name == "attempt").unwrap().1
}

async fn a_pending_payment_is_paid_refused_or_expired_by_its_buttons_once(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "simulator").await;
    assert!(person.open(&base).await.text.contains("Tidak ada yang menunggu"));
    for (outcome, becomes, events) in
        [("paid", "paid", "payment.paid"), ("failed", "failed", "payment.failed"), ("expired", "expired", "")]
    {
        let payment = pending_qris(&project, 15_000).await;
        let act = address_of(&base, &payment);
        assert!(person.open(&base).await.text.contains(&format!("action=\"{act}\"")), "{outcome}");
        let press = [("outcome", outcome)];
        let (one, two) = tokio::join!(person.post(&act, &press), person.post(&act, &press));
        assert_eq!((leads(&one, "simulated"), leads(&two, "simulated")), (base.clone(), base.clone()), "{outcome}");
        assert_eq!(status(&project, &payment).await, becomes);
        assert_eq!(leads(&person.post(&act, &press).await, "simulated"), base, "{outcome} a third time");
        if !events.is_empty() {
            assert_eq!(events_of(&project, &payment, events).await.len(), 1, "{outcome}");
        }
    }
    assert_eq!(unapplied(&project).await, 0, "pressing twice sends no money twice");
    assert!(person.open(&base).await.text.contains("Tidak ada yang menunggu"));
}

async fn money_after_a_payment_was_expired_by_its_button_is_late(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "simulator").await;
    let payment = pending_qris(&project, 15_000).await;
    kit.clock.advance(Duration::from_mins(1));
    let expired_at = kit.engine.now().to_string();
    leads(&person.post(&address_of(&base, &payment), &[("outcome", "expired")]).await, "simulated");
    assert_eq!(text(&fetch(&project, &payment).await, "expires_at"), expired_at);
    kit.clock.advance(Duration::from_millis(1));
    simulate_paid(&project, &payment).await;
    assert_eq!((status(&project, &payment).await.as_str(), unapplied(&project).await), ("expired", 15_000));
}

async fn a_page_that_was_left_open_changes_nothing_that_has_ended(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "simulator").await;
    let paid = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &paid).await;
    let expired = pending_qris(&project, 15_000).await;
    kit.clock.advance(Duration::from_mins(16));
    for (payment, outcome, is) in [
        (&paid, "failed", "paid"),
        (&paid, "expired", "paid"),
        (&expired, "paid", "expired"),
        (&expired, "failed", "expired"),
    ] {
        let refused = person.post(&address_of(&base, payment), &[("outcome", outcome)]).await;
        is_page(outcome, &refused, 409);
        assert!(refused.text.contains("jadi tidak ada yang diubah"), "{outcome}");
        assert_eq!(status(&project, payment).await, is);
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn a_code_is_found_as_a_bank_app_finds_it_and_paid(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "simulator").await;
    let qris = pending_qris(&project, 15_000).await;
    let account = create(&project, &samples::virtual_account(&project, "bca", 25_000)).await;
    let number = text(&account["instructions"], "virtual_account_number");
    let spaced: Vec<&str> = (0..4).map(|group| &number[group * 4..group * 4 + 4]).collect();
    let payload = text(&qris["instructions"], "qr_string");
    for (payment, code, amount) in [
        (&account, format!(" {} ", spaced.join(" ")), "Rp25.000"),
        (&account, spaced.join("-"), "Rp25.000"),
        (&account, number.to_owned(), "Rp25.000"),
        (&qris, format!(" {payload}\r\n"), "Rp15.000"),
    ] {
        let found = find(&person, &base, &code).await;
        is_page(&code, &found, 200);
        assert!(found.text.contains("Toko Kopi") && found.text.contains(amount), "{code}");
        assert!(found.text.contains(&address_of(&base, payment)), "{code}");
        assert_eq!(status(&project, payment).await, "pending", "looking changes nothing");
    }
    for (payment, code) in [(&account, number), (&qris, payload)] {
        let page = find(&person, &base, code).await;
        let form = [("outcome", "paid"), ("attempt", &attempt_of(&page)), ("amount", "")];
        assert_eq!(leads(&person.post(&address_of(&base, payment), &form).await, "simulated"), base);
        assert_eq!(status(&project, payment).await, "paid");
        is_page("paid", &find(&person, &base, code).await, 422);
    }
}

async fn another_amount_is_held_and_pays_nothing_however_often_its_form_is_sent(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "simulator").await;
    let payment = pending_qris(&project, 15_000).await;
    let page = find(&person, &base, text(&payment["instructions"], "qr_string")).await;
    let (act, attempt) = (address_of(&base, &payment), attempt_of(&page));
    for amount in ["0", "-5", "abc", "10,5", "99999999999999"] {
        let refused = person.post(&act, &[("outcome", "paid"), ("attempt", &attempt), ("amount", amount)]).await;
        is_page(amount, &refused, 422);
        assert!(refused.text.contains("id=\"amount-why\"") && refused.text.contains(&format!("value=\"{amount}\"")));
        assert_eq!(attempt_of(&refused), attempt);
    }
    assert_eq!(unapplied(&project).await, 0);
    let under = [("outcome", "paid"), ("attempt", attempt.as_str()), ("amount", "Rp10.000")];
    let held = person.post(&act, &under).await;
    is_page("under", &held, 200);
    assert!(held.text.contains("Rp10.000 masuk, tetapi tidak melunasi"), "{}", held.text);
    is_page("under again", &person.post(&act, &under).await, 200);
    assert_eq!((status(&project, &payment).await.as_str(), unapplied(&project).await), ("pending", 10_000));
    let again = find(&person, &base, text(&payment["instructions"], "qr_string")).await;
    let over = [("outcome", "paid"), ("attempt", &attempt_of(&again)), ("amount", "20000")];
    is_page("over", &person.post(&act, &over).await, 200);
    assert_eq!((status(&project, &payment).await.as_str(), unapplied(&project).await), ("pending", 30_000));
    leads(&person.post(&act, &[("outcome", "paid")]).await, "simulated");
    assert_eq!((status(&project, &payment).await.as_str(), unapplied(&project).await), ("paid", 30_000));
}

async fn a_form_that_is_sent_twice_answers_the_same_and_with_another_amount_it_is_other_money(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "simulator").await;
    let payment = pending_qris(&project, 15_000).await;
    let page = find(&person, &base, text(&payment["instructions"], "qr_string")).await;
    let (act, attempt) = (address_of(&base, &payment), attempt_of(&page));
    for (amount, shown, held) in
        [("10000", "Rp10.000", 10_000), ("10000", "Rp10.000", 10_000), ("12000", "Rp12.000", 22_000)]
    {
        let page = person.post(&act, &[("outcome", "paid"), ("attempt", &attempt), ("amount", amount)]).await;
        is_page(amount, &page, 200);
        assert!(page.text.contains(&format!("{shown} masuk, tetapi tidak melunasi")), "{}", page.text);
        assert_eq!(unapplied(&project).await, held);
    }
    let pay = [("outcome", "paid"), ("attempt", attempt.as_str()), ("amount", "")];
    let (one, two) = tokio::join!(person.post(&act, &pay), person.post(&act, &pay));
    assert_eq!((leads(&one, "simulated"), leads(&two, "simulated")), (base.clone(), base));
    assert_eq!((status(&project, &payment).await.as_str(), unapplied(&project).await), ("paid", 22_000));
}

async fn an_unknown_code_is_reported_at_its_field(kit: Arc<Kit>) {
    let (_, person, base) = developer_at(&kit, "simulator").await;
    let other = kit.sandbox().await;
    let theirs = create(&other, &samples::virtual_account(&other, "bca", 25_000)).await;
    let number = text(&theirs["instructions"], "virtual_account_number");
    for code in [number, "1234", "   ", "-", "00020101", "a\u{0}b", "<script>", &"9".repeat(2_000)] {
        let refused = find(&person, &base, code).await;
        is_page(code, &refused, 422);
        assert!(refused.text.contains("id=\"code-why\"") && !refused.text.contains("<script>a"), "{code:.40}");
    }
    assert_eq!(status(&other, &theirs).await, "pending");
}

async fn in_production_there_is_no_simulator(kit: Arc<Kit>) {
    let (sandbox, production) = (kit.sandbox().await, kit.production().await);
    let person = Person::member(&kit, production.id, Role::Owner, "owner@example.com").await;
    kit.engine.add_member(sandbox.id, &person.user, Role::Owner).await.unwrap();
    let base = format!("{}/simulator", desk(production.id));
    let payment = pending_qris(&sandbox, 15_000).await;
    is_page("page", &person.open(&base).await, 404);
    is_page("code", &find(&person, &base, "1234").await, 404);
    is_page("act", &person.post(&address_of(&base, &payment), &[("outcome", "paid")]).await, 404);
    assert_eq!(status(&sandbox, &payment).await, "pending");
}

async fn viewers_only_look_strangers_find_nothing_and_unknown_actions_are_refused(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "simulator").await;
    let other = kit.sandbox().await;
    let (payment, theirs) = (pending_qris(&project, 15_000).await, pending_qris(&other, 15_000).await);
    let viewer = Person::member(&kit, project.id, Role::Viewer, "viewer@example.com").await;
    let act = address_of(&base, &payment);
    let page = viewer.open(&base).await;
    is_page("viewer", &page, 200);
    assert!(page.text.contains("order-1") && !page.text.contains("name=\"outcome\""));
    for outcome in ["paid", "failed", "expired"] {
        is_page("viewer", &viewer.post(&act, &[("outcome", outcome)]).await, 403);
        is_page("theirs", &person.post(&address_of(&base, &theirs), &[("outcome", outcome)]).await, 404);
    }
    for outcome in ["", "processing", "PAID"] {
        is_page("odd", &person.post(&act, &[("outcome", outcome)]).await, 422);
    }
    is_page("no token", &person.browser.post(&act, &[("outcome", "paid")]).await, 403);
    is_page("malformed", &person.post(&format!("{base}/x"), &[("outcome", "paid")]).await, 404);
    assert_eq!(fetch(&project, &payment).await["status"], "pending");
    assert_eq!(fetch(&other, &theirs).await["status"], "pending");
    kit.update(project.id, ProjectUpdate { active: Some(false), ..ProjectUpdate::default() }).await;
    let refused = person.post(&act, &[("outcome", "paid")]).await;
    is_page("inactive", &refused, 409);
    kit.update(project.id, ProjectUpdate { active: Some(true), ..ProjectUpdate::default() }).await;
    assert_eq!(fetch(&project, &payment).await["status"], "pending");
}
