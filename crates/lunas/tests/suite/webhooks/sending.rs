//! Webhooks as receivers see them: which events arrive, what they contain, and at which URL.

use std::sync::Arc;

use domain::{
    delivery::{Delivery, DeliveryState, FailureClass},
    project::SuccessWord,
};
use engine::ProjectUpdate;
use gateway::SendLimits;
use testkit::{Answer, Kit, Received, Receiver, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::id,
    payments::{paid, report, simulate_paid, total},
    samples,
    webhooks::{check_signature, events, failure, newest_event, wait_for_attempts},
};

on_every_database![
    each_kind_of_event_is_posted_once_signed_and_byte_for_byte_as_the_api_shows_it,
    events_that_waited_while_nobody_delivered_are_sent_at_the_next_start,
    a_backlog_of_one_project_arrives_whole_and_each_event_once,
];

on_sqlite_alone![
    webhook_texts_are_indonesian_and_keep_the_success_word_of_their_moment,
    without_a_url_events_are_visible_and_none_is_sent_even_when_a_url_comes_later,
    an_attempt_goes_to_the_url_that_is_set_when_it_is_made,
];

async fn three_kinds(kit: &Kit, project: &TestProject) {
    paid(project, "k-1", 15_000).await;
    let payment = project.api.pay("k-2", &samples::virtual_account(project, "bca", 15_000)).await.expect(201);
    report(project, &payment, "failed").await;
    let (key, _) = kit.engine.create_key(project.id, "Kasir depan ☕".to_owned()).await.unwrap();
    project.api.delete(&format!("/v1/api-keys/{}", key.id)).await.expect(200);
}

async fn each_kind_of_event_is_posted_once_signed_and_byte_for_byte_as_the_api_shows_it(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    kit.deliver(SendLimits::default());
    three_kinds(&kit, &project).await;
    let webhooks = receiver.arrived(3).await;
    let mut kinds = Vec::new();
    for webhook in &webhooks {
        assert_eq!((webhook.method.as_str(), webhook.path.as_str()), ("POST", "/hook"));
        assert_eq!(webhook.header("Content-Type"), "application/json");
        let version = webhook.header("User-Agent").strip_prefix("Lunas/").unwrap();
        assert!(version.starts_with(|character: char| character.is_ascii_digit()), "{version}");
        check_signature(&kit, &project, webhook).await;
        let shown = project.api.get(&format!("/v1/events/{}", webhook.event_id())).await;
        assert_eq!(shown.text.as_bytes(), webhook.body);
        assert_eq!(wait_for_attempts(&kit, &webhook.event_id(), 1).await.0.state, DeliveryState::Delivered);
        kinds.push(webhook.json()["type"].as_str().unwrap().to_owned());
    }
    kinds.sort();
    assert_eq!(kinds, ["apikey.deleted", "payment.failed", "payment.paid"]);
    kit.stop_delivering().await;
    assert_eq!(receiver.count(), 3);
}

async fn webhook_texts_are_indonesian_and_keep_the_success_word_of_their_moment(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    let say = |word| kit.update(project.id, ProjectUpdate { success_word: Some(word), ..Default::default() });
    say(SuccessWord::Succeeded).await;
    let payment = project.api.pay("k-1", &samples::virtual_account(&project, "bca", 15_000)).await.expect(201);
    let payment = simulate_paid(&project, &payment).await;
    assert_eq!(payment["status"], "succeeded");
    say(SuccessWord::Paid).await;
    kit.deliver(SendLimits::default());
    let webhook = receiver.arrived(1).await[0].json();
    assert_eq!(webhook["type"], "payment.paid");
    assert_eq!(webhook["data"], payment, "as the payment was shown to a reader who asked for no language");
    let path = format!("/v1/payments/{}", id(&payment));
    let request = project.api.request(reqwest::Method::GET, &path).header("Accept-Language", "en");
    let english = project.api.send(request).await.expect(200);
    assert_ne!(english["instructions"]["payment_steps"], webhook["data"]["instructions"]["payment_steps"]);
}

async fn without_a_url_events_are_visible_and_none_is_sent_even_when_a_url_comes_later(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    kit.deliver(SendLimits::default());
    paid(&project, "k-1", 15_000).await;
    let before = newest_event(&project).await;
    assert_eq!(kit.engine.delivery(before.parse().unwrap()).await.unwrap(), None);
    let receiver = Receiver::start().await;
    kit.set_webhook_url(project.id, Some(&receiver.url())).await;
    paid(&project, "k-2", 15_000).await;
    let webhooks = receiver.arrived(1).await;
    assert_ne!(webhooks[0].event_id(), before);
    kit.stop_delivering().await;
    assert_eq!((total(&project.api, "/v1/events").await, receiver.count()), (2, 1));
}

async fn an_attempt_goes_to_the_url_that_is_set_when_it_is_made(kit: Arc<Kit>) {
    let (project, first) = kit.hooked(Answer::Status(500)).await;
    let second = Receiver::start().await;
    kit.deliver(SendLimits::default());
    paid(&project, "k-1", 15_000).await;
    let event = first.arrived(1).await[0].event_id();
    let next = |delivery: Delivery| match delivery.state {
        DeliveryState::Pending { due_at } => kit.clock.set(due_at),
        other => panic!("{other:?}"),
    };
    let (tried, _) = wait_for_attempts(&kit, &event, 1).await;
    kit.set_webhook_url(project.id, None).await;
    next(tried);
    let (untold, attempts) = wait_for_attempts(&kit, &event, 2).await;
    assert_eq!((failure(&attempts), attempts[1].outcome.status), (Some(FailureClass::NoUrl), None));
    kit.set_webhook_url(project.id, Some(&second.url())).await;
    next(untold);
    assert_eq!(second.arrived(1).await[0].event_id(), event);
    let (told, _) = wait_for_attempts(&kit, &event, 3).await;
    assert_eq!(told.state, DeliveryState::Delivered);
    assert_eq!((first.count(), second.count()), (1, 1));
}

async fn events_that_waited_while_nobody_delivered_are_sent_at_the_next_start(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    three_kinds(&kit, &project).await;
    kit.deliver(SendLimits::default());
    let mut told: Vec<String> = receiver.arrived(3).await.iter().map(Received::event_id).collect();
    let mut known: Vec<String> = events(&project).await.iter().map(|event| id(event).to_owned()).collect();
    told.sort();
    known.sort();
    assert_eq!(told, known);
}

/// More events than the limit of four in flight, with no notification to the sender in between.
async fn a_backlog_of_one_project_arrives_whole_and_each_event_once(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(204)).await;
    for number in 0..40 {
        paid(&project, &format!("k-{number}"), 15_000).await;
    }
    kit.deliver(SendLimits::default());
    let mut told: Vec<String> = receiver.arrived(40).await.iter().map(Received::event_id).collect();
    kit.stop_delivering().await;
    assert_eq!(receiver.count(), 40);
    assert!(receiver.waiting_most() <= 4, "{}", receiver.waiting_most());
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 40);
}
