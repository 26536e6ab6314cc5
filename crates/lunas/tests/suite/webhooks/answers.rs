//! What a receiver's answer means: any 2xx delivers the event, and nothing else does.

use std::{sync::Arc, time::Duration};

use domain::delivery::{AttemptOutcome, DeliveryState, FailureClass};
use gateway::SendLimits;
use testkit::{Answer, Kit, Receiver, on_every_database, on_sqlite_alone};

use crate::support::{
    payments::paid,
    webhooks::{newest_event, wait_for_attempts},
};

on_every_database![any_bytes_of_an_answer_are_kept_as_clean_text];

on_sqlite_alone![
    any_2xx_is_success_and_no_other_status_is,
    a_redirect_is_a_failure_and_is_not_followed,
    an_interim_answer_is_not_the_answer,
    of_a_long_answer_the_beginning_is_kept_and_a_success_stays_one,
    a_receiver_that_breaks_off_or_speaks_no_http_has_not_taken_the_event,
    a_receiver_that_answers_before_it_has_read_has_taken_the_event,
    a_receiver_that_hangs_or_drips_has_not_answered_in_time,
    a_receiver_that_is_down_is_recorded_as_such_and_gets_the_event_once_it_is_up,
    an_address_that_is_not_allowed_is_never_connected_to,
];

/// Long enough for a receiver that answers, and short for a test of one that does not.
const SHORT: SendLimits = SendLimits { connect: Duration::from_secs(5), total: Duration::from_secs(3) };

/// Sends one webhook for each answer that the receiver is to give, and has `check` look at the recorded outcome.
async fn outcomes(
    kit: &Kit,
    answers: impl IntoIterator<Item = Answer>,
    limits: SendLimits,
    check: impl Fn(usize, AttemptOutcome),
) {
    let answers: Vec<Answer> = answers.into_iter().collect();
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    kit.deliver(limits);
    for (number, answer) in answers.iter().enumerate() {
        receiver.answer_next([answer.clone()]);
        paid(&project, &format!("k-{number}"), 15_000).await;
        let webhook = receiver.arrived(number + 1).await.pop().unwrap();
        let event = webhook.event_id();
        let (delivery, mut attempts) = wait_for_attempts(kit, &event, 1).await;
        let outcome = attempts.remove(0).outcome;
        assert_eq!(delivery.state == DeliveryState::Delivered, outcome.failure.is_none(), "{answer:?}");
        check(number, outcome);
    }
}

fn class(outcome: &AttemptOutcome) -> Option<FailureClass> {
    outcome.failure.as_ref().map(|failure| failure.class)
}

async fn any_2xx_is_success_and_no_other_status_is(kit: Arc<Kit>) {
    let statuses = [200, 201, 202, 204, 226, 299, 300, 301, 304, 400, 401, 404, 410, 429, 500, 502, 503, 599];
    outcomes(&kit, statuses.map(Answer::Status), SendLimits::default(), |number, outcome| {
        let status = statuses[number];
        let wanted = if (200..300).contains(&status) { None } else { Some(FailureClass::Status) };
        assert_eq!((outcome.status, class(&outcome)), (Some(status), wanted));
    })
    .await;
}

async fn a_redirect_is_a_failure_and_is_not_followed(kit: Arc<Kit>) {
    let elsewhere = Receiver::start().await;
    let statuses = [301, 302, 303, 307, 308];
    let redirects = statuses.map(|status| Answer::Header(status, "Location", elsewhere.url()));
    outcomes(&kit, redirects, SendLimits::default(), |number, outcome| {
        assert_eq!((outcome.status, class(&outcome)), (Some(statuses[number]), Some(FailureClass::Status)));
        assert!(outcome.failure.unwrap().detail.contains("redirects are not followed"));
    })
    .await;
    assert_eq!(elsewhere.count(), 0);
}

async fn an_interim_answer_is_not_the_answer(kit: Arc<Kit>) {
    let then = |status| format!("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n");
    let answers = [then(200), then(500), "HTTP/1.1 101 Switching Protocols\r\n\r\n".to_owned()];
    outcomes(&kit, answers.map(|text| Answer::Raw(text.into_bytes())), SendLimits::default(), |number, outcome| {
        match number {
            0 => assert_eq!((outcome.status, class(&outcome)), (Some(200), None)),
            1 => assert_eq!((outcome.status, class(&outcome)), (Some(500), Some(FailureClass::Status))),
            _ => assert!(outcome.failure.is_some(), "{outcome:?}"),
        }
    })
    .await;
}

async fn of_a_long_answer_the_beginning_is_kept_and_a_success_stays_one(kit: Arc<Kit>) {
    let long = vec![b'a'; 100_000];
    let answers = [Answer::Body(200, long.clone()), Answer::Endless, Answer::Body(500, long)];
    outcomes(&kit, answers, SendLimits::default(), |number, outcome| {
        assert_eq!(outcome.answer.len(), 4_096);
        assert_eq!(class(&outcome), (number == 2).then_some(FailureClass::Status));
    })
    .await;
}

async fn any_bytes_of_an_answer_are_kept_as_clean_text(kit: Arc<Kit>) {
    let answers = [b"ok \xff\xfe\0 ok".to_vec(), vec![0xff; 5_000], "baik ☕".as_bytes().to_vec(), Vec::new()];
    outcomes(&kit, answers.map(|body| Answer::Body(200, body)), SendLimits::default(), |number, outcome| {
        assert_eq!(class(&outcome), None);
        match number {
            0 => assert_eq!(outcome.answer, "ok \u{fffd}\u{fffd}\u{fffd} ok"),
            1 => assert_eq!(outcome.answer, "\u{fffd}".repeat(1_365)),
            2 => assert_eq!(outcome.answer, "baik ☕"),
            _ => assert_eq!(outcome.answer, ""),
        }
    })
    .await;
}

async fn a_receiver_that_breaks_off_or_speaks_no_http_has_not_taken_the_event(kit: Arc<Kit>) {
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".as_bytes().to_vec();
    let rows = [
        (Answer::Close, None, FailureClass::Closed),
        (Answer::Raw(b"220 mail.example ESMTP\r\n".to_vec()), None, FailureClass::NotHttp),
        (Answer::Raw(cut), Some(200), FailureClass::Closed),
    ];
    outcomes(&kit, rows.iter().map(|row| row.0.clone()), SendLimits::default(), |number, outcome| {
        let (answer, status, wanted) = &rows[number];
        assert_eq!((outcome.status, class(&outcome)), (*status, Some(*wanted)), "{answer:?}: {outcome:?}");
    })
    .await;
}

async fn a_receiver_that_answers_before_it_has_read_has_taken_the_event(kit: Arc<Kit>) {
    outcomes(&kit, [Answer::BeforeReading(200)], SendLimits::default(), |_, outcome| {
        assert_eq!((outcome.status, class(&outcome)), (Some(200), None), "{outcome:?}");
    })
    .await;
}

async fn a_receiver_that_hangs_or_drips_has_not_answered_in_time(kit: Arc<Kit>) {
    outcomes(&kit, [Answer::Hang, Answer::Drip], SHORT, |number, outcome| {
        assert_eq!(class(&outcome), Some(FailureClass::Timeout), "{outcome:?}");
        assert_eq!(outcome.status, (number == 1).then_some(200));
        assert!(outcome.latency >= SHORT.total, "{outcome:?}");
        assert!(outcome.failure.unwrap().detail.contains("no complete answer within"));
    })
    .await;
}

async fn a_receiver_that_is_down_is_recorded_as_such_and_gets_the_event_once_it_is_up(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    let down = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    kit.set_webhook_url(project.id, Some(&format!("http://{down}/"))).await;
    kit.deliver(SendLimits::default());
    paid(&project, "k-1", 15_000).await;
    let event = newest_event(&project).await;
    let (delivery, attempts) = wait_for_attempts(&kit, &event, 1).await;
    assert_eq!(class(&attempts[0].outcome), Some(FailureClass::Connect), "{attempts:?}");
    kit.set_webhook_url(project.id, Some(&receiver.url())).await;
    let DeliveryState::Pending { due_at } = delivery.state else { panic!("{delivery:?}") };
    kit.clock.set(due_at);
    assert_eq!(receiver.arrived(1).await[0].event_id(), event);
}

/// A URL may have been saved when the installation allowed it, so it is checked again at every attempt.
async fn an_address_that_is_not_allowed_is_never_connected_to(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    let guard = gateway::AddressGuard::new(Vec::new(), false);
    let sender = gateway::WebhookSender::new(guard, SendLimits::default()).unwrap();
    let courier = engine::Courier { sender, ..kit.courier(SendLimits::default()) };
    let reconcilers = engine::Reconcilers::start(&kit.engine, courier);
    paid(&project, "k-1", 15_000).await;
    let (_, attempts) = wait_for_attempts(&kit, &newest_event(&project).await, 1).await;
    assert_eq!(class(&attempts[0].outcome), Some(FailureClass::BlockedAddress), "{attempts:?}");
    reconcilers.stop().await;
    assert_eq!(receiver.count(), 0);
}
