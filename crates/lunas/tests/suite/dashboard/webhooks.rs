//! The log of webhooks in the dashboard, with real webhooks to a real receiver, and sending them again.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use gateway::SendLimits;
use testkit::{Answer, Kit, TestProject, on_every_database};

use crate::support::{
    customer::{hidden, is_page},
    dashboard::{beside_owner, element, leads},
    payments::{paid, total},
    people::{Person, desk},
    wait::until,
    webhooks::{newest_event, wait_for_attempts},
};

on_every_database![
    a_test_is_a_real_payment_and_a_real_webhook_however_often_its_form_is_sent on 2 threads,
    without_a_url_nothing_is_tested_or_sent_again on 2 threads,
    a_delivery_shows_what_was_sent_byte_for_byte_and_what_came_back on 2 threads,
    a_failed_event_is_resent_with_the_same_id on 2 threads,
    all_events_that_failed_since_a_moment_are_resent_and_counted on 2 threads,
    another_projects_event_is_not_found_and_a_viewer_resends_nothing on 2 threads,
    the_log_comes_page_by_page_and_has_the_snippets_beside_it on 2 threads,
];

async fn developer(kit: &Kit, project: &TestProject) -> (Person, String) {
    let person = beside_owner(kit, project, Role::Developer).await;
    (person, format!("{}/notifications", desk(project.id)))
}

async fn a_test_is_a_real_payment_and_a_real_webhook_however_often_its_form_is_sent(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    kit.deliver(SendLimits::default());
    let (person, base) = developer(&kit, &project).await;
    let page = person.open(&base).await;
    let attempt = hidden(&page).into_iter().find(|(name, _)| name == "attempt").unwrap().1;
    let test = format!("{base}/test");
    for _ in 0..2 {
        assert_eq!(leads(&person.post(&test, &[("attempt", &attempt)]).await, "tested"), base);
    }
    let received = receiver.arrived(1).await.remove(0);
    assert_eq!(received.json()["type"], "payment.paid");
    assert_eq!(total(&project.api, "/v1/payments").await, 1);
    let reference = received.json()["data"]["reference"].as_str().unwrap().to_owned();
    wait_for_attempts(&kit, &received.event_id(), 1).await;
    let log = person.open(&base).await;
    for part in ["payment.paid", &reference, "Terkirim"] {
        assert!(log.text.contains(part), "{part} in {}", log.text);
    }
    assert_eq!(leads(&person.post(&test, &[]).await, "tested"), base);
    assert_eq!(total(&project.api, "/v1/payments").await, 2, "another form is another test");
    let second = receiver.arrived(2).await.remove(1).event_id();
    wait_for_attempts(&kit, &second, 1).await;
}

async fn without_a_url_nothing_is_tested_or_sent_again(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (person, base) = developer(&kit, &project).await;
    let refused = person.post(&format!("{base}/test"), &[]).await;
    is_page("test", &refused, 409);
    assert!(refused.text.contains("Isi dulu URL webhook-nya"));
    assert_eq!(total(&project.api, "/v1/payments").await, 0);
    paid(&project, "k-1", 15_000).await;
    let log = person.open(&base).await;
    assert!(log.text.contains("Tidak dikirim") && log.text.contains("payment.paid"), "{}", log.text);
    let delivery = format!("{base}/deliveries/{}", newest_event(&project).await);
    let page = person.open(&delivery).await;
    is_page("event", &page, 200);
    assert!(page.text.contains("Belum ada URL webhook.") && !page.text.contains("/resend"));
    is_page("resend", &person.post(&format!("{delivery}/resend"), &[]).await, 409);
    is_page("recover", &person.post(&format!("{base}/recover"), &[("since", "2026-11-14T00:00")]).await, 409);
}

async fn a_delivery_shows_what_was_sent_byte_for_byte_and_what_came_back(kit: Arc<Kit>) {
    let answer = "<script>alert(1)</script> & \"busy\"".as_bytes().to_vec();
    let (project, receiver) = kit.hooked(Answer::Body(503, answer)).await;
    kit.deliver(SendLimits::default());
    let (person, base) = developer(&kit, &project).await;
    paid(&project, "k-1", 15_000).await;
    let received = receiver.arrived(1).await.remove(0);
    let event = received.event_id();
    wait_for_attempts(&kit, &event, 1).await;
    let log = person.open(&base).await;
    for part in ["Dicoba lagi", "order-1", "class=\"banner\""] {
        assert!(log.text.contains(part), "{part} in {}", log.text);
    }
    assert!(person.open(&format!("{base}?show=failing")).await.text.contains("payment.paid"));
    let page = person.open(&format!("{base}/deliveries/{event}")).await;
    is_page("delivery", &page, 200);
    assert_eq!(element(&page.text, "body").as_bytes(), received.body, "the same bytes as were sent");
    let headers = element(&page.text, "headers");
    for name in ["content-type", "user-agent"] {
        let line = headers.lines().find(|line| line.to_ascii_lowercase().starts_with(name)).unwrap();
        assert_eq!(line.split_once(": ").unwrap().1, received.header(name));
    }
    assert!(headers.contains("X-Service-Signature:") && page.text.contains("tidak kami simpan"));
    for part in [&receiver.url(), "dijawab 503", "tidak menjawab dengan 2xx", "&#60;script&#62;alert(1)", "Percobaan 1"]
    {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    assert!(!page.text.contains("<script>alert"), "what receivers answer is text");
}

async fn a_failed_event_is_resent_with_the_same_id(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Close).await;
    kit.deliver(SendLimits::default());
    let (person, base) = developer(&kit, &project).await;
    paid(&project, "k-1", 15_000).await;
    let event = newest_event(&project).await;
    wait_for_attempts(&kit, &event, 1).await;
    let delivery = format!("{base}/deliveries/{event}");
    assert!(person.open(&delivery).await.text.contains("tidak dijawab"));
    receiver.answer(Answer::Status(200));
    assert_eq!(leads(&person.post(&format!("{delivery}/resend"), &[]).await, "resent"), delivery);
    until(async || person.open(&delivery).await.text.contains("Terkirim")).await;
    let ids: Vec<String> = receiver.arrived(2).await.iter().map(testkit::Received::event_id).collect();
    assert_eq!(ids, [event.clone(), event]);
    assert!(person.open(&format!("{base}?show=failing")).await.text.contains("Tidak ada yang gagal"));
}

async fn all_events_that_failed_since_a_moment_are_resent_and_counted(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(500)).await;
    kit.deliver(SendLimits::default());
    let (person, base) = developer(&kit, &project).await;
    paid(&project, "k-1", 15_000).await;
    wait_for_attempts(&kit, &newest_event(&project).await, 1).await;
    kit.stop_delivering().await;
    kit.clock.advance(Duration::from_mins(20));
    paid(&project, "k-2", 15_000).await;
    receiver.answer_next([Answer::Status(500), Answer::Status(500)]);
    receiver.answer(Answer::Status(200));
    kit.deliver(SendLimits::default());
    wait_for_attempts(&kit, &newest_event(&project).await, 1).await;
    let recover = format!("{base}/recover");
    for (since, why) in [("", "tanggal dan jam"), ("kemarin", "tanggal dan jam"), ("2026-11-14T16:51", "belum tiba")] {
        let refused = person.post(&recover, &[("since", since)]).await;
        is_page(since, &refused, 422);
        assert!(element(&refused.text, "since-why").contains(why), "{since}");
    }
    let later = person.post(&recover, &[("since", "2026-11-14T16:40")]).await;
    is_page("later", &later, 200);
    assert!(later.text.contains("1 webhook yang gagal sedang dikirim ulang"), "{}", later.text);
    until(async || person.open(&base).await.text.contains("Terkirim")).await;
    let all = person.post(&recover, &[("since", "2026-11-14T00:00")]).await;
    assert!(all.text.contains("1 webhook yang gagal"), "the other one, and not the one that got through");
    until(async || person.open(&format!("{base}?show=failing")).await.text.contains("Tidak ada yang gagal")).await;
    let none = person.post(&recover, &[("since", "2026-11-14T00:00")]).await;
    assert!(none.text.contains("Tidak ada webhook yang gagal sejak waktu itu."));
}

async fn another_projects_event_is_not_found_and_a_viewer_resends_nothing(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    let other = kit.sandbox().await;
    kit.deliver(SendLimits::default());
    let person = beside_owner(&kit, &project, Role::Viewer).await;
    let stranger = Person::member(&kit, other.id, Role::Owner, "owner@example.com").await;
    paid(&project, "k-1", 15_000).await;
    let event = newest_event(&project).await;
    wait_for_attempts(&kit, &event, 1).await;
    let own = format!("{}/notifications/deliveries/{event}", desk(project.id));
    let page = person.open(&own).await;
    is_page("viewer", &page, 200);
    assert!(!page.text.contains("/resend"));
    is_page("viewer", &person.post(&format!("{own}/resend"), &[]).await, 403);
    for project in [project.id, other.id] {
        let path = format!("{}/notifications/deliveries/{event}", desk(project));
        is_page("stranger", &stranger.open(&path).await, 404);
        is_page("stranger", &stranger.post(&format!("{path}/resend"), &[]).await, 404);
    }
    is_page("malformed", &person.open(&format!("{}/notifications/deliveries/x", desk(project.id))).await, 404);
    assert_eq!(receiver.count(), 1);
}

async fn the_log_comes_page_by_page_and_has_the_snippets_beside_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (person, base) = developer(&kit, &project).await;
    assert!(person.open(&base).await.text.contains("Belum ada peristiwa"));
    for number in 0..21 {
        paid(&project, &format!("k-{number}"), 15_000).await;
    }
    let first = person.open(&base).await;
    assert!(first.text.contains("1–20 dari 21") && first.text.contains("page=2"));
    assert!(person.open(&format!("{base}?page=2")).await.text.contains("21–21 dari 21"));
    for (id, word) in
        [("verify-js", "createHmac"), ("verify-python", "hmac"), ("verify-php", "hash_hmac"), ("verify-go", "hmac")]
    {
        assert!(element(&first.text, id).contains(word), "{id}");
    }
}
