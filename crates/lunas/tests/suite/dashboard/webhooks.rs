//! The log of webhooks in the dashboard, with real webhooks to a real receiver, and sending them again.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    delivery::{ATTEMPTS_MOST, DeliveryState},
    rules::changes_direction,
};
use gateway::SendLimits;
use serde_json::Value;
use testkit::{Answer, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{hidden, is_page},
    dashboard::{beside_owner, element, leads},
    payments::{paid, pending_qris, report, total},
    people::{Person, desk},
    wait::until,
    webhooks::{newest_event, wait_for_attempts},
};

on_every_database![
    a_test_is_a_real_payment_and_a_real_webhook_however_often_its_form_is_sent on 2 threads,
    what_is_not_retried_any_more_has_its_own_banner_and_its_own_part_of_the_log on 2 threads,
    the_log_shows_status_and_latency_and_is_filtered_by_kind on 2 threads,
    all_events_that_failed_since_a_moment_are_resent_and_counted on 2 threads,
    the_log_comes_page_by_page_and_has_the_snippets_beside_it on 2 threads,
];

on_sqlite_alone![
    without_a_url_nothing_is_tested_or_sent_again on 2 threads,
    a_delivery_shows_what_was_sent_byte_for_byte_and_what_came_back on 2 threads,
    what_an_answer_hides_is_shown_by_its_number on 2 threads,
    a_failed_event_is_resent_with_the_same_id on 2 threads,
    another_projects_event_is_not_found_and_a_viewer_resends_nothing on 2 threads,
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
    let banner = "class=\"banner warn\"><p>Webhook ke server Anda sedang gagal terkirim";
    for part in ["Dicoba lagi", "order-1", banner, "/notifications?show=failing\">Lihat penyebabnya"] {
        assert!(log.text.contains(part), "{part} in {}", log.text);
    }
    assert!(person.open(&format!("{base}?show=failing")).await.text.contains("payment.paid"));
    let page = person.open(&format!("{base}/deliveries/{event}")).await;
    is_page("delivery", &page, 200);
    assert_eq!(element(&page.text, "body").as_bytes(), received.body, "the same bytes as were sent");
    let pretty = element(&page.text, "pretty-body");
    assert!(pretty.starts_with("{\n  \"id\": \"evt_"), "{pretty}");
    let same: Value = serde_json::from_str(&pretty).unwrap();
    assert_eq!(same, received.json());
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

async fn what_an_answer_hides_is_shown_by_its_number(kit: Arc<Kit>) {
    let answer = "sibuk \u{202e}diap\u{202c}\u{1b}[31m\u{9b}m\u{7}\u{200b}<b>\nbaris dua";
    let (project, receiver) = kit.hooked(Answer::Body(503, answer.as_bytes().to_vec())).await;
    kit.deliver(SendLimits::default());
    let (person, base) = developer(&kit, &project).await;
    paid(&project, "k-1", 15_000).await;
    let text = receiver.arrived(1).await.remove(0).event_id();
    wait_for_attempts(&kit, &text, 1).await;
    receiver.answer(Answer::Body(503, "{\"status\":\"\u{2067}diap\"}".as_bytes().to_vec()));
    kit.clock.advance(Duration::from_millis(1));
    paid(&project, "k-2", 15_000).await;
    let json = newest_event(&project).await;
    wait_for_attempts(&kit, &json, 1).await;

    let mark = |code: &str| format!("<span class=\"hidden-mark\">\\u{{{code}}}</span>");
    let page = person.open(&format!("{base}/deliveries/{text}")).await;
    let shown = format!(
        "<code>sibuk {}diap{}{}[31m{}m{}{}&#60;b&#62;\nbaris dua</code>",
        mark("202e"),
        mark("202c"),
        mark("1b"),
        mark("9b"),
        mark("7"),
        mark("200b")
    );
    assert!(page.text.contains(&shown), "{shown} is not in {}", page.text);
    assert!(!page.text.contains(|character: char| changes_direction(character) || character == '\u{1b}'));
    let page = person.open(&format!("{base}/deliveries/{json}")).await;
    assert_eq!(page.text.matches(&mark("2067")).count(), 2, "in lines, and as it came: {}", page.text);
    assert!(!page.text.contains(changes_direction));
    kit.may_leave_deliveries_due();
}

/// Moves the clock from attempt to attempt until there are no more.
async fn exhaust(kit: &Kit, event: &str) {
    for made in 1..=ATTEMPTS_MOST {
        let (delivery, _) = wait_for_attempts(kit, event, made).await;
        if let DeliveryState::Pending { due_at } = delivery.state {
            kit.clock.set(due_at);
        }
    }
}

async fn what_is_not_retried_any_more_has_its_own_banner_and_its_own_part_of_the_log(kit: Arc<Kit>) {
    let answer = br#"{"error":{"code":"db_down"}}"#.to_vec();
    let (project, receiver) = kit.hooked(Answer::Body(503, answer)).await;
    kit.deliver(SendLimits::default());
    paid(&project, "k-1", 15_000).await;
    let stopped = newest_event(&project).await;
    exhaust(&kit, &stopped).await;
    paid(&project, "k-2", 15_000).await;
    let retried = newest_event(&project).await;
    wait_for_attempts(&kit, &retried, 1).await;
    let (person, base) = developer(&kit, &project).await;
    let home = person.open(&desk(project.id)).await;
    for part in [
        "class=\"banner\"><p>Ada webhook yang tidak sampai ke server Anda dan tidak dicoba lagi",
        "/notifications?show=exhausted\">Lihat penyebabnya",
        "<b>1 webhook tidak sampai dan dihentikan</b>",
        "<b>1 webhook gagal terkirim dan dicoba lagi</b>",
    ] {
        assert!(home.text.contains(part), "{part} in {}", home.text);
    }
    for (show, is_stopped, is_retried) in [("exhausted", true, false), ("failing", true, true), ("nothing", true, true)]
    {
        let log = person.open(&format!("{base}?show={show}")).await;
        is_page(show, &log, 200);
        assert_eq!((log.text.contains(&stopped), log.text.contains(&retried)), (is_stopped, is_retried), "{show}");
    }
    let page = person.open(&format!("{base}/deliveries/{stopped}")).await;
    let answers = [13, 1].map(|number| page.text.find(&format!("id=\"answer-{number}\"")).unwrap());
    assert!(answers[0] < answers[1], "the latest attempt comes first");
    assert!(page.text.contains("&#34;error&#34;: {\n    &#34;code&#34;: &#34;db_down&#34;\n"), "{}", page.text);
    assert!(page.text.contains("<code>{&#34;error&#34;:{&#34;code&#34;:&#34;db_down&#34;}}</code>"), "as it came");
    receiver.answer(Answer::Status(200));
    assert_eq!(person.post(&format!("{base}/deliveries/{stopped}/resend"), &[]).await.status, 303);
    until(async || person.open(&base).await.text.contains("class=\"banner warn\"")).await;
    assert!(person.open(&format!("{base}?show=exhausted")).await.text.contains("Tidak ada yang gagal"));
}

async fn the_log_shows_status_and_latency_and_is_filtered_by_kind(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(204)).await;
    kit.deliver(SendLimits::default());
    let (person, base) = developer(&kit, &project).await;
    paid(&project, "k-1", 15_000).await;
    let delivered = newest_event(&project).await;
    wait_for_attempts(&kit, &delivered, 1).await;
    receiver.answer(Answer::Close);
    kit.clock.advance(Duration::from_secs(1));
    let payment = pending_qris(&project, 15_000).await;
    report(&project, &payment, "failed").await;
    let unanswered = newest_event(&project).await;
    wait_for_attempts(&kit, &unanswered, 1).await;
    let log = person.open(&base).await;
    let row = |event: &str| {
        let (before, after) = log.text.split_once(event).unwrap();
        format!("{}{}", before.rsplit("<tr>").next().unwrap(), after.split("</tr>").next().unwrap())
    };
    for (event, parts) in [
        (&delivered, ["payment.paid", "Terkirim", "<span>204</span>", " ms</td>", ">1</td>"]),
        (
            &unanswered,
            ["payment.failed", "Dicoba lagi", "<span class=\"quiet\">tidak dijawab</span>", " ms</td>", ">1</td>"],
        ),
    ] {
        for part in parts {
            assert!(row(event).contains(part), "{part} in {}", row(event));
        }
    }
    for (query, is_paid, is_failed) in [
        ("type=payment.paid", true, false),
        ("type=payment.failed", false, true),
        ("type=payment.failed&show=failing", false, true),
        ("type=payment.paid&show=failing", false, false),
        ("type=apikey.deleted", false, false),
        ("type=nothing", true, true),
    ] {
        let log = person.open(&format!("{base}?{query}")).await;
        is_page(query, &log, 200);
        assert_eq!((log.text.contains(&delivered), log.text.contains(&unanswered)), (is_paid, is_failed), "{query}");
    }
    let chosen = person.open(&format!("{base}?type=payment.failed&show=failing")).await;
    for part in [
        "<option selected>payment.failed</option>",
        "name=\"show\" value=\"failing\"",
        "/notifications?show=exhausted&#38;type=payment.failed",
    ] {
        assert!(chosen.text.contains(part), "{part} in {}", chosen.text);
    }
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
