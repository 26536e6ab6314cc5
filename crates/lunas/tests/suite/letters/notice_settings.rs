//! Where notices go: owners set it, with a fresh proof; a URL that is refused leaves nothing behind; the secret is shown once.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Service};
use domain::{access::Role, language::Language, letter::LetterKind, time::DAY};
use engine::OperatorUrl;
use gateway::SendLimits;
use serde_json::json;
use testkit::{Answer, Kit, Options, Receiver, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::acquired,
    customer::is_page,
    dashboard::element,
    held::held_late,
    letters::{letters, states},
    notices::{notice_to, set, verified},
    people::{Person, desk},
    rows::rows,
    wait::until,
};

on_every_database![
    a_replaced_secret_signs_for_a_day_beside_the_new_one on 2 threads,
    a_bad_url_is_named_and_leaves_nothing_behind,
];

on_sqlite_alone![
    the_secret_is_shown_once_and_only_owners_see_where_notices_go,
    a_test_notice_says_that_notices_arrive on 2 threads,
    operators_are_told_at_the_url_of_the_installation on 2 threads,
    an_operator_sends_a_test_notice_to_the_url_of_the_installation on 2 threads,
];

async fn a_bad_url_is_named_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.production().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let path = format!("{}/settings/notices", desk(project.id));
    let long = format!("https://example.com/{}", "a".repeat(2_048));
    let before = rows(&kit.database);
    for (url, why) in [
        ("", "Wajib diisi"),
        ("example.com/notices", "diawali https://"),
        ("http://93.184.216.34/notices", "hanya mengirim ke alamat https://"),
        ("https://10.0.0.7/notices", "hanya dikirim ke alamat publik"),
        ("https://127.0.0.1/notices", "hanya dikirim ke alamat publik"),
        ("https://[::ffff:192.168.1.1]/notices", "hanya dikirim ke alamat publik"),
        ("https://localhost/notices", "mesin Lunas sendiri"),
        ("https://siti@93.184.216.34/", "nama pengguna"),
        ("https://93.184.216.34/#here", "tanda #"),
        ("https://93.184.216.34:25/", "port lain"),
        ("https://93.184.216.34/a\u{202e}b", "karakter tersembunyi"),
        (&long, "terlalu panjang"),
    ] {
        let page = set(&owner, &path, url, &[("receipts", "on")]).await;
        is_page(url, &page, 422);
        let shown = element(&page.text, "url-why");
        assert!(shown.contains(why), "{url}: {shown}");
        assert!(!page.text.contains("id=\"notice-secret\""), "{url}");
    }
    for act in ["secret", "remove", "test"] {
        assert_eq!(owner.post(&format!("{path}/{act}"), &[]).await.status, 404, "{act}: there is no URL");
    }
    assert_eq!(rows(&kit.database), before);
}

async fn the_secret_is_shown_once_and_only_owners_see_where_notices_go(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[("receipts", "on"), ("summary", "weekly")]).await;
    assert!(noticed.secret.starts_with("whsec_"));
    let page = noticed.owner.open(&noticed.path).await;
    assert!(!page.text.contains(&noticed.secret) && page.text.contains(&receiver.url()), "{}", page.text);
    assert!(page.text.contains("value=\"weekly\" checked"));
    let developer = Person::member(&kit, project.id, Role::Developer, "dev@example.com").await;
    let page = developer.open(&noticed.path).await;
    is_page("of a developer", &page, 200);
    assert!(!page.text.contains(&receiver.url()), "{}", page.text);
    let stored = rows(&kit.database).join("\n");
    assert!(!stored.contains(&noticed.secret) && !stored.contains("/hook"), "URL and secret are sealed");
    let shown = noticed.owner.open(&format!("{}/audit?lang=en", desk(project.id))).await;
    let origin = receiver.url().replace("/hook", "");
    assert!(shown.text.contains("Changed where notices go") && shown.text.contains(&origin));
    assert!(!shown.text.contains(&receiver.url()), "the log names the host alone");
}

async fn a_replaced_secret_signs_for_a_day_beside_the_new_one(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[]).await;
    let rotate = format!("{}/secret", noticed.path);
    let page = noticed.owner.post(&rotate, &[]).await;
    is_page("rotated", &page, 200);
    let new = element(&page.text, "notice-secret");
    assert_ne!(new, noticed.secret);
    let again = noticed.owner.post(&rotate, &[]).await;
    is_page("not twice a day by accident", &again, 409);
    assert!(again.text.contains("name=\"at_once\"") && !again.text.contains("id=\"notice-secret\""));
    held_late(&kit, &project, "first").await;
    kit.deliver(SendLimits::default());
    let received = receiver.arrived(1).await;
    for secret in [&noticed.secret, &new] {
        verified(&kit, &received[0], secret);
    }
    kit.clock.advance(DAY + Duration::from_mins(1));
    held_late(&kit, &project, "second").await;
    let received = receiver.arrived(2).await;
    verified(&kit, &received[1], &new);
    assert_eq!(received[1].header("X-Service-Signature").matches("v1=").count(), 1);
    until(async || states(&kit).await == ["sent", "sent"]).await;
}

async fn a_test_notice_says_that_notices_arrive(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[("language", "en")]).await;
    kit.deliver(SendLimits::default());
    assert_eq!(noticed.owner.post(&format!("{}/test", noticed.path), &[]).await.status, 303);
    let body = verified(&kit, &receiver.arrived(1).await[0], &noticed.secret);
    assert_eq!((&body["kind"], &body["subject"]), (&json!("test"), &json!("A test notice from Lunas")));
}

/// A secret, and an installation whose operators are told at the receiver.
fn operators_at(receiver: &Receiver) -> (String, Options) {
    let secret = "quiet ".repeat(6);
    let operator_url = OperatorUrl {
        url: receiver.url(),
        secret: secret.clone().into(),
        language: Language::English,
        https_only: false,
    };
    (secret, Options { operator_url: Some(operator_url), ..Options::default() })
}

async fn operators_are_told_at_the_url_of_the_installation(kit: Arc<Kit>) {
    let receiver = Receiver::start().await;
    let (secret, options) = operators_at(&receiver);
    kit.on_another(options, async |kit| {
        let acquired = acquired(&kit, "midtrans").await;
        acquired.asked.fail_every(Service::Generate, Some(Fault::Status(500)));
        for number in 0..5 {
            assert_eq!(acquired.pay(&number.to_string()).await.status, 503);
            kit.engine.save_bank_calls().await.unwrap();
        }
        receiver.answer(Answer::Status(200));
        kit.deliver(SendLimits::default());
        let body = verified(&kit, &receiver.arrived(1).await[0], &secret);
        assert_eq!((&body["kind"], &body["project_id"]), (&json!("bank_down"), &json!(null)));
        until(async || states(&kit).await == ["sent"]).await;
        assert_eq!(letters(&kit).await[0].kind, LetterKind::BankDown);
        kit.may_leave_deliveries_due();
    })
    .await;
}

async fn an_operator_sends_a_test_notice_to_the_url_of_the_installation(kit: Arc<Kit>) {
    let (page, test) = ("/dashboard/operator/letters", "/dashboard/operator/letters/test-notice");
    let operator = Person::operator(&kit, "operator@example.com").await;
    assert!(!operator.open(page).await.text.contains(test), "there is no URL");
    assert_eq!(operator.post(test, &[]).await.status, 404);
    assert_eq!(letters(&kit).await, []);
    let receiver = Receiver::start().await;
    let (secret, options) = operators_at(&receiver);
    kit.on_another(options, async |kit| {
        kit.engine.mark_development().await.unwrap();
        let operator = Person::operator(&kit, "operator@example.com").await;
        let shown = operator.open(page).await;
        let origin = receiver.url().replace("/hook", "");
        assert!(shown.text.contains(test) && shown.text.contains(&origin), "{}", shown.text);
        assert!(!shown.text.contains(&receiver.url()), "what else is in the URL may be a secret");
        kit.deliver(SendLimits::default());
        assert_eq!(operator.post(test, &[]).await.status, 303);
        let body = verified(&kit, &receiver.arrived(1).await[0], &secret);
        assert_eq!((&body["kind"], &body["project_id"]), (&json!("test"), &json!(null)));
        assert_eq!(body["subject"], json!("A test notice from Lunas"));
        until(async || states(&kit).await == ["sent"]).await;
        let log = operator.open("/dashboard/operator/audit?lang=en").await;
        assert!(log.text.contains("Sent a test notice") && log.text.contains(&origin), "{}", log.text);
    })
    .await;
}
