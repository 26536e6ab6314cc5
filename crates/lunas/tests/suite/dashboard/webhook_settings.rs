//! The webhook URL and the secret that webhooks are signed with, as set in the dashboard.

use std::sync::Arc;

use domain::{access::Role, audit::Deed, event::EventKind};
use engine::Window;
use futures_util::future::join_all;
use secrecy::ExposeSecret;
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::{beside_owner, developer_at, element, leads},
    people::{Person, desk},
};

on_every_database![of_many_who_replace_a_secret_at_once_one_succeeds on 2 threads];

on_sqlite_alone![
    a_url_is_saved_and_taken_away_again on 2 threads,
    a_url_that_is_refused_is_refused_with_its_reason on 2 threads,
    production_sends_to_https_only on 2 threads,
    showing_the_secret_is_audited on 2 threads,
    a_replaced_secret_stays_good_for_a_day_unless_it_is_ended_at_once on 2 threads,
    a_viewer_and_a_stranger_change_nothing_about_webhooks on 2 threads,
    further_events_are_asked_for_and_given_up_again on 2 threads,
];

const PUBLIC: &str = "https://93.184.216.34/hook";

async fn url_of(kit: &Kit, project: &TestProject) -> Option<String> {
    kit.engine.project(project.id).await.unwrap().webhook_url
}

async fn secret_of(kit: &Kit, project: &TestProject) -> String {
    kit.engine.webhook_secret(project.id).await.unwrap().expose_secret().to_owned()
}

/// How often a deed is in the project's audit log.
async fn times_audited(kit: &Kit, person: &Person, project: &TestProject, deed: Deed) -> usize {
    let visit = kit.engine.visit(&person.token().unwrap(), "127.0.0.1".to_owned(), false).await.unwrap().unwrap();
    let desk = kit.engine.desk(&visit, project.id).await.unwrap();
    let lines = desk.audit(Window { offset: 0, limit: 100 }).await.unwrap().items;
    lines.iter().filter(|audited| audited.line.deed == deed).count()
}

async fn a_url_is_saved_and_taken_away_again(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "notifications").await;
    let (save, remove) = (format!("{base}/url"), format!("{base}/url/remove"));
    is_page("nothing to remove", &person.open(&remove).await, 409);
    assert_eq!(leads(&person.post(&save, &[("url", &format!(" {PUBLIC} "))]).await, "url-saved"), base);
    assert_eq!(url_of(&kit, &project).await.as_deref(), Some(PUBLIC));
    assert!(person.open(&base).await.text.contains(&format!("value=\"{PUBLIC}\"")));
    let question = person.open(&remove).await;
    is_page("question", &question, 200);
    assert!(question.text.contains(PUBLIC) && question.text.contains("tidak diberi tahu lagi"));
    assert_eq!(leads(&person.post(&remove, &[]).await, "url-removed"), base);
    assert_eq!(url_of(&kit, &project).await, None);
    assert_eq!(times_audited(&kit, &person, &project, Deed::WebhookUrlChanged).await, 2);
}

async fn a_url_that_is_refused_is_refused_with_its_reason(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "notifications").await;
    let save = format!("{base}/url");
    assert_eq!(person.post(&save, &[("url", PUBLIC)]).await.status, 303);
    let long = format!("https://shop.example/{}", "a".repeat(2_100));
    // A label of this length is invalid, so no DNS server is asked.
    let unknown = format!("https://{}.invalid/", "a".repeat(64));
    let rows = [
        ("", "Wajib diisi"),
        ("shop.example/hook", "alamat lengkap"),
        ("ftp://shop.example/", "alamat lengkap"),
        ("https://", "tidak bisa dibaca"),
        ("https://shop.example:99999/", "tidak bisa dibaca"),
        ("https://shop.example/a b", "berisi spasi"),
        ("https://shop.example\\@evil.example/", "berisi spasi"),
        ("https://user:secret@shop.example/", "sebelum tanda @"),
        ("https://shop.example/#hook", "sesudah tanda #"),
        ("http://localhost:3000/hook", "mesin Lunas sendiri"),
        ("http://127.0.0.1/hook", "alamat publik"),
        ("http://2130706433/", "alamat publik"),
        ("http://[::ffff:10.0.0.1]/", "alamat publik"),
        ("http://169.254.169.254/latest/meta-data", "alamat publik"),
        (&unknown, "tidak mengarah ke alamat publik, atau belum ada"),
        (&long, "terlalu panjang"),
    ];
    for (url, reason) in rows {
        let refused = person.post(&save, &[("url", url)]).await;
        is_page(url, &refused, 422);
        assert!(element(&refused.text, "url-why").contains(reason), "{url}: {}", element(&refused.text, "url-why"));
    }
    let kept = person.post(&save, &[("url", "x\"><script>")]).await;
    assert!(kept.text.contains("value=\"x&#34;&#62;&#60;script&#62;\""), "what was typed is kept");
    assert_eq!(url_of(&kit, &project).await.as_deref(), Some(PUBLIC), "the one before stays");
}

async fn production_sends_to_https_only(kit: Arc<Kit>) {
    let project = kit.production().await;
    let person = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let base = format!("{}/notifications", desk(project.id));
    let refused = person.post(&format!("{base}/url"), &[("url", "http://93.184.216.34/hook")]).await;
    is_page("http", &refused, 422);
    assert!(element(&refused.text, "url-why").contains("hanya mengirim ke alamat https://"));
    assert_eq!(person.post(&format!("{base}/url"), &[("url", PUBLIC)]).await.status, 303);
    let page = person.open(&base).await;
    assert!(!page.text.contains("/notifications/test"), "there is no test where money is real");
    is_page("test", &person.post(&format!("{base}/test"), &[]).await, 403);
}

async fn showing_the_secret_is_audited(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "notifications").await;
    let secret = secret_of(&kit, &project).await;
    assert!(!person.open(&base).await.text.contains(&secret), "it is in no page by itself");
    let shown = person.post(&format!("{base}/secret/show"), &[]).await;
    is_page("shown", &shown, 200);
    assert_eq!(element(&shown.text, "webhook-secret"), secret);
    assert_eq!(times_audited(&kit, &person, &project, Deed::WebhookSecretShown).await, 1);
    let opened = person.open(&format!("{base}/secret/show")).await;
    is_page("without a form", &opened, 200);
    assert!(!opened.text.contains(&secret));
    assert_eq!(times_audited(&kit, &person, &project, Deed::WebhookSecretShown).await, 1);
}

async fn a_replaced_secret_stays_good_for_a_day_unless_it_is_ended_at_once(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "notifications").await;
    let (roll, first) = (format!("{base}/secret/roll"), secret_of(&kit, &project).await);
    let question = person.open(&roll).await;
    is_page("question", &question, 200);
    assert!(question.text.contains("Selama 24 jam") && !question.text.contains("at_once"));
    assert_eq!(secret_of(&kit, &project).await, first, "looking changes nothing");
    let rolled = person.post(&roll, &[]).await;
    is_page("rolled", &rolled, 200);
    let second = secret_of(&kit, &project).await;
    assert_ne!(second, first);
    assert_eq!(element(&rolled.text, "webhook-secret"), second);
    assert!(rolled.text.contains("15 November 2026 pukul 16.30 WIB"), "until when both are good");

    let warned = person.open(&roll).await;
    assert!(warned.text.contains("name=\"at_once\"") && warned.text.contains("Ganti sekarang juga"));
    is_page("again", &person.post(&roll, &[]).await, 409);
    assert_eq!(secret_of(&kit, &project).await, second, "not twice a day by accident");
    let at_once = person.post(&roll, &[("at_once", "1")]).await;
    is_page("at once", &at_once, 200);
    assert_eq!(element(&at_once.text, "webhook-secret"), secret_of(&kit, &project).await);
    assert_ne!(secret_of(&kit, &project).await, second);
    assert_eq!(times_audited(&kit, &person, &project, Deed::WebhookSecretRotated).await, 2);
}

/// Two replacements in a row would leave no secret that the merchant's server knows.
async fn of_many_who_replace_a_secret_at_once_one_succeeds(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "notifications").await;
    let roll = format!("{base}/secret/roll");
    let replies = join_all((0..8).map(|_| person.post(&roll, &[]))).await;
    let (done, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert!(refused.iter().all(|reply| reply.status == 409), "{refused:?}");
    let [done] = done[..] else { panic!("{} were done", done.len()) };
    assert_eq!(element(&done.text, "webhook-secret"), secret_of(&kit, &project).await);
    assert_eq!(times_audited(&kit, &person, &project, Deed::WebhookSecretRotated).await, 1);
}

async fn a_viewer_and_a_stranger_change_nothing_about_webhooks(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = beside_owner(&kit, &project, Role::Viewer).await;
    let (base, theirs) = (format!("{}/notifications", desk(project.id)), format!("{}/notifications", desk(other.id)));
    let (secret, their_secret) = (secret_of(&kit, &project).await, secret_of(&kit, &other).await);
    let page = person.open(&base).await;
    is_page("viewer", &page, 200);
    for part in ["/notifications/url", "/secret/", "/recover", "/notifications/test", "/notifications/events"] {
        assert!(!page.text.contains(part), "{part}");
    }
    let forms = [
        ("/url", vec![("url", PUBLIC)]),
        ("/url/remove", vec![]),
        ("/secret/show", vec![]),
        ("/secret/roll", vec![("at_once", "1")]),
        ("/test", vec![]),
        ("/events", vec![("payment.held", "on")]),
        ("/recover", vec![("since", "2026-11-14T00:00")]),
    ];
    for (rest, fields) in forms {
        is_page(rest, &person.post(&format!("{base}{rest}"), &fields).await, 403);
        is_page(rest, &person.post(&format!("{theirs}{rest}"), &fields).await, 404);
    }
    is_page("roll", &person.open(&format!("{base}/secret/roll")).await, 403);
    is_page("remove", &person.open(&format!("{base}/url/remove")).await, 403);
    is_page("theirs", &person.open(&theirs).await, 404);
    assert_eq!((url_of(&kit, &project).await, url_of(&kit, &other).await), (None, None));
    assert_eq!(kit.engine.project(project.id).await.unwrap().extra_events, []);
    assert_eq!((secret_of(&kit, &project).await, secret_of(&kit, &other).await), (secret, their_secret));
}

async fn further_events_are_asked_for_and_given_up_again(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "notifications").await;
    let save = format!("{base}/events");
    let asked = async || kit.engine.project(project.id).await.unwrap().extra_events;
    let ticked = async || person.open(&base).await.text.matches("value=\"on\" checked").count();
    assert_eq!((asked().await, ticked().await), (vec![], 0));
    let sent = [("payment.held", "on"), ("payment.expired", "on"), ("payment.paid", "on"), ("other", "on")];
    assert_eq!(leads(&person.post(&save, &sent).await, "events-saved"), base);
    assert_eq!(asked().await, [EventKind::PaymentExpired, EventKind::PaymentHeld], "and nothing that is no extra one");
    assert_eq!(ticked().await, 2);
    assert_eq!(times_audited(&kit, &person, &project, Deed::SettingsChanged).await, 1);
    // The same again changes nothing.
    assert_eq!(person.post(&save, &sent).await.status, 303);
    assert_eq!(times_audited(&kit, &person, &project, Deed::SettingsChanged).await, 1);
    assert_eq!(leads(&person.post(&save, &[]).await, "events-saved"), base);
    assert_eq!((asked().await, ticked().await), (vec![], 0));
    let audit = person.open(&format!("{}/audit", desk(project.id))).await;
    assert!(audit.text.contains("Peristiwa lain"), "the log names the setting");
}
