//! Notices: what letters say, sent to a URL. They need no mail, and a URL that fails holds up nobody.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    letter::LetterKind,
    letter_queue::{Channel, LetterState},
    time::{DAY, HOUR, Timestamp},
};
use engine::{Courier, Reconcilers};
use gateway::{AddressGuard, SendLimits, WebhookSender};
use serde_json::json;
use testkit::{Answer, Kit, Receiver, Relay, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, link_path, payment_of},
    held::held_late,
    letters::{letters, pay_as, send_to, set_up, states},
    links::create_link,
    notices::{notice_to, set, verified},
    payments::{pending_qris, simulate_paid},
    people::{Person, make},
    wait::until,
    webhooks::{newest_event, wait_for_attempts},
};

on_every_database![
    a_notice_is_signed_as_webhooks_are_and_needs_no_mail on 2 threads,
    a_url_that_fails_gets_the_same_notice_later on 2 threads,
    a_url_that_hangs_holds_up_no_letter_and_no_other_url on 2 threads,
    waiting_notices_go_to_the_url_that_is_set_now_or_nowhere on 2 threads,
    a_summary_comes_each_morning_once on 2 threads,
    webhooks_that_fail_are_told_where_there_is_no_mail on 2 threads,
];

on_sqlite_alone![
    receipts_go_there_only_where_the_owner_wants_that_with_what_the_customer_left on 2 threads,
    nothing_about_one_persons_access_becomes_a_notice on 2 threads,
    nothing_is_sent_to_a_private_address_or_after_a_redirect on 2 threads,
    a_notice_that_was_given_up_is_sent_again_by_an_operator on 2 threads,
    without_a_url_no_notice_is_queued on 2 threads,
];

async fn kinds(kit: &Kit) -> Vec<LetterKind> {
    letters(kit).await.into_iter().map(|letter| letter.kind).collect()
}

async fn a_notice_is_signed_as_webhooks_are_and_needs_no_mail(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    Person::member(&kit, project.id, Role::Owner, "second@example.com").await;
    let noticed = notice_to(&kit, project.id, &receiver, &[("language", "en")]).await;
    let held = held_late(&kit, &project, "late").await;
    kit.deliver(SendLimits::default());
    let received = receiver.arrived(1).await;
    let body = verified(&kit, &received[0], &noticed.secret);
    until(async || states(&kit).await == ["sent"]).await;
    let letter = letters(&kit).await.remove(0);
    assert_eq!((letter.channel, letter.attempts, letter.answer.as_deref()), (Channel::Notice, 1, Some("200")));
    assert_eq!(receiver.count(), 1, "one for the URL, however many owners there are");
    for (member, expected) in [
        ("id", json!(letter.id.to_string())),
        ("type", json!("notice")),
        ("kind", json!("money_held")),
        ("language", json!("en")),
        ("project_id", json!(project.id.to_string())),
        ("created_at", json!(letter.queued_at.to_string())),
    ] {
        assert_eq!(body[member], expected, "{member}");
    }
    let values = &body["values"];
    let amount = held.payment["amount"].as_i64().unwrap();
    assert_eq!((values["amount"].as_i64(), &values["payment_id"]), (Some(amount), &held.payment["id"]));
    let text = body["text"].as_str().unwrap();
    let url = format!("{}{}", kit.pages_url, held.path(&project));
    assert_eq!(values["page_url"], json!(url));
    assert!(text.contains(&url) && !text.contains("email") && !text.contains('<'), "{text}");
    let shown = noticed.owner.open(&format!("/dashboard/{}/settings/letters", project.id)).await;
    assert!(shown.text.contains(&receiver.url()), "{}", shown.text);
}

async fn a_url_that_fails_gets_the_same_notice_later(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::answering(Answer::Status(500)).await);
    let noticed = notice_to(&kit, project.id, &receiver, &[]).await;
    kit.deliver(SendLimits::default());
    held_late(&kit, &project, "late").await;
    until(async || letters(&kit).await[0].attempts == 1).await;
    let letter = letters(&kit).await.remove(0);
    assert_eq!(letter.answer.as_deref(), Some("the receiver answered 500"));
    assert!(letter.state.at() > kit.engine.now());
    receiver.answer(Answer::Close);
    kit.clock.advance(Duration::from_mins(2));
    until(async || letters(&kit).await[0].attempts == 2).await;
    receiver.answer(Answer::Status(200));
    kit.clock.advance(HOUR);
    let received = receiver.arrived(3).await;
    until(async || states(&kit).await == ["sent"]).await;
    assert!(received.iter().all(|one| one.body == received[0].body), "it stays the same");
    verified(&kit, &received[2], &noticed.secret);
    // A URL that fails for good: it is given up after a day.
    receiver.answer(Answer::Status(404));
    held_late(&kit, &project, "later").await;
    for attempt in 1..=12 {
        until(async || letters(&kit).await[1].attempts == attempt).await;
        kit.clock.advance(5 * HOUR);
    }
    assert_eq!(states(&kit).await, ["sent", "given_up"]);
}

async fn a_url_that_hangs_holds_up_no_letter_and_no_other_url(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (slow, quick) = (kit.sandbox().await, kit.sandbox().await);
    let (hanging, receiver) = (Receiver::answering(Answer::Hang).await, Receiver::start().await);
    notice_to(&kit, slow.id, &hanging, &[]).await;
    notice_to(&kit, quick.id, &receiver, &[]).await;
    send_to(&kit, &relay);
    for number in 0..5 {
        held_late(&kit, &slow, &format!("slow-{number}")).await;
    }
    hanging.arrived(2).await;
    held_late(&kit, &quick, "quick").await;
    receiver.arrived(1).await;
    relay.has(6).await;
    assert_eq!((hanging.waiting_most(), hanging.count()), (2, 2), "a URL has two under way at once");
    hanging.answer(Answer::Status(200));
    hanging.release();
    until(async || states(&kit).await.iter().all(|state| *state == "sent")).await;
    assert_eq!(hanging.count(), 5);
}

async fn waiting_notices_go_to_the_url_that_is_set_now_or_nowhere(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (old, new) = (Receiver::start().await, Receiver::start().await);
    let noticed = notice_to(&kit, project.id, &old, &[]).await;
    held_late(&kit, &project, "first").await;
    let owner = Person::signed_in(&kit, noticed.owner.user.clone()).await;
    assert_eq!(set(&owner, &noticed.path, &new.url(), &[]).await.status, 303);
    kit.deliver(SendLimits::default());
    verified(&kit, &new.arrived(1).await[0], &noticed.secret);
    until(async || states(&kit).await == ["sent"]).await;
    let shown = kit.engine.shown_letter(letters(&kit).await[0].id).await.unwrap();
    assert_eq!(shown.address, Some(new.url()), "it says where it went");
    new.answer(Answer::Status(503));
    held_late(&kit, &project, "second").await;
    until(async || letters(&kit).await[1].attempts == 1).await;
    let owner = Person::signed_in(&kit, noticed.owner.user.clone()).await;
    assert_eq!(owner.post(&format!("{}/remove", noticed.path), &[]).await.status, 303);
    held_late(&kit, &project, "third").await;
    kit.clock.advance(HOUR);
    until(async || states(&kit).await == ["sent", "dropped"]).await;
    assert_eq!(letters(&kit).await[1].answer.as_deref(), Some("no URL for notices is set any more"));
    assert_eq!((old.count(), new.count()), (0, 2));
}

async fn a_summary_comes_each_morning_once(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[("summary", "daily")]).await;
    let payment = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &payment).await;
    kit.deliver(SendLimits::default());
    kit.clock.set(Timestamp::parse("2026-11-15T07:00:01+07:00").unwrap());
    let body = verified(&kit, &receiver.arrived(1).await[0], &noticed.secret);
    assert_eq!((&body["kind"], &body["values"]["paid_sum"]), (&json!("summary"), &json!(15_000)));
    kit.stop_delivering().await;
    kit.deliver(SendLimits::default());
    kit.clock.advance(DAY);
    receiver.arrived(2).await;
    until(async || states(&kit).await == ["sent", "sent"]).await;
    assert_eq!(kinds(&kit).await, [LetterKind::Summary; 2]);
}

async fn webhooks_that_fail_are_told_where_there_is_no_mail(kit: Arc<Kit>) {
    let (project, hook) = kit.hooked(Answer::Status(500)).await;
    let receiver = Receiver::start().await;
    let noticed = notice_to(&kit, project.id, &receiver, &[]).await;
    kit.may_leave_deliveries_due();
    kit.deliver(SendLimits::default());
    let payment = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &payment).await;
    wait_for_attempts(&kit, &newest_event(&project).await, 1).await;
    kit.clock.advance(HOUR + Duration::from_mins(1));
    let body = verified(&kit, &receiver.arrived(1).await[0], &noticed.secret);
    assert_eq!((&body["kind"], &body["values"]["webhook_url"]), (&json!("webhook_failing"), &json!(hook.url())));
    // The second attempt was due meanwhile, and the third one is after the next hour.
    wait_for_attempts(&kit, &newest_event(&project).await, 2).await;
    kit.clock.advance(HOUR);
    wait_for_attempts(&kit, &newest_event(&project).await, 3).await;
    assert_eq!(kinds(&kit).await, [LetterKind::WebhookFailing], "once for the stretch");
}

async fn receipts_go_there_only_where_the_owner_wants_that_with_what_the_customer_left(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (receiver, unasked) = (Receiver::start().await, Receiver::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[("receipts", "on")]).await;
    notice_to(&kit, other.id, &unasked, &[]).await;
    kit.deliver(SendLimits::default());
    let fields = json!({ "allow_multiple_payments": true, "customer_fields": { "phone": true, "name": true } });
    let pay = async |link: &serde_json::Value, answers: &[(&str, &str)]| {
        let reply = Customer::of(&kit).choose_at(&link_path(link), answers).await;
        payment_of(&project, &reply).await
    };
    let link = create_link(&project, fields).await;
    let payment = pay(&link, &[("method", "qris"), ("phone", "0812-3456-7890"), ("name", "Siti")]).await;
    simulate_paid(&project, &payment).await;
    let body = verified(&kit, &receiver.arrived(1).await[0], &noticed.secret);
    assert_eq!(body["kind"], json!("receipt"));
    let customer = &body["values"]["customer"];
    assert_eq!((&customer["name"], &customer["email"]), (&json!("Siti"), &json!("")));
    assert!(customer["phone"].as_str().unwrap().contains("7890"), "{customer}");
    assert!(body["text"].as_str().unwrap().contains(payment["id"].as_str().unwrap()));
    // Nobody can be reached: there is nobody to pass it on to.
    simulate_paid(&project, &pending_qris(&project, 20_000).await).await;
    let link = create_link(&other, json!({ "customer_fields": { "email": true } })).await;
    pay_as(&kit, &other, &link, "siti@example.com").await;
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!((receiver.count(), unasked.count()), (1, 0));
}

async fn nothing_about_one_persons_access_becomes_a_notice(kit: Arc<Kit>) {
    let (project, receiver, relay) = (kit.sandbox().await, Receiver::start().await, Relay::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[("receipts", "on"), ("summary", "daily")]).await;
    set_up(&kit, relay.mailer());
    let members = format!("/dashboard/{}/settings/members", project.id);
    assert_eq!(noticed.owner.post(&members, &[("email", "budi@example.com"), ("role", "viewer")]).await.status, 200);
    kit.engine.reset_password(&noticed.owner.user, "another long one".into()).await.unwrap();
    let user = make(&kit, "siti@example.com", false).await;
    kit.engine.reset_password(&user, "another long one".into()).await.unwrap();
    held_late(&kit, &project, "late").await;
    let notices = letters(&kit).await.into_iter().filter(|letter| letter.channel == Channel::Notice);
    assert_eq!(notices.map(|letter| letter.kind).collect::<Vec<_>>(), [LetterKind::MoneyHeld]);
    assert!(kinds(&kit).await.contains(&LetterKind::Invitation));
}

async fn nothing_is_sent_to_a_private_address_or_after_a_redirect(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    notice_to(&kit, project.id, &receiver, &[]).await;
    held_late(&kit, &project, "late").await;
    // As a server that is not for development sends.
    let sender = WebhookSender::new(AddressGuard::new(Vec::new(), false), SendLimits::default()).unwrap();
    let guarded = Reconcilers::start(&kit.engine, Courier { sender, ..kit.courier(SendLimits::default()) });
    until(async || letters(&kit).await[0].attempts == 1).await;
    guarded.stop().await;
    let answer = letters(&kit).await.remove(0).answer.unwrap();
    assert!(answer.contains("is a loopback address"), "{answer}");
    assert_eq!(receiver.count(), 0);
    let elsewhere = Receiver::start().await;
    receiver.answer(Answer::Header(302, "Location", elsewhere.url()));
    kit.clock.advance(HOUR);
    kit.deliver(SendLimits::default());
    until(async || letters(&kit).await[0].attempts == 2).await;
    assert_eq!((receiver.count(), elsewhere.count()), (1, 0));
    receiver.answer(Answer::Endless);
    kit.clock.advance(HOUR);
    until(async || states(&kit).await == ["sent"]).await;
}

async fn a_notice_that_was_given_up_is_sent_again_by_an_operator(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::answering(Answer::Status(500)).await);
    notice_to(&kit, project.id, &receiver, &[]).await;
    held_late(&kit, &project, "late").await;
    kit.clock.advance(5 * DAY);
    let operator = Person::operator(&kit, "operator@example.com").await;
    kit.deliver(SendLimits::default());
    until(async || states(&kit).await == ["given_up"]).await;
    assert_eq!(receiver.count(), 0, "it was out of date");
    receiver.answer(Answer::Status(200));
    let id = letters(&kit).await[0].id;
    assert_eq!(operator.post(&format!("/dashboard/operator/letters/{id}/again"), &[]).await.status, 303);
    receiver.arrived(1).await;
    until(async || matches!(letters(&kit).await[0].state, LetterState::Sent { .. })).await;
}

async fn without_a_url_no_notice_is_queued(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    held_late(&kit, &project, "late").await;
    assert_eq!(letters(&kit).await, []);
}
