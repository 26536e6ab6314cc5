//! A merchant's whole way in a real browser: from an installation with nobody but its operator to a paid payment and a
//! delivered webhook, and from a failed webhook to a delivered one.

use std::{sync::Arc, time::Duration};

use gateway::SendLimits;
use testkit::{Answer, Api, Browser, Kit, Look, Receiver, TestProject, on_sqlite, on_sqlite_alone};

use crate::support::{
    dashboard_browser::{BROKEN, at, enter, owner_of},
    payments::paid,
    people::{PASSWORD, desk, make},
    webhooks::{newest_event, wait_for_attempts},
};

on_sqlite_alone![from_nothing_to_a_delivered_webhook_takes_a_minute_of_pages_alone];

const OPERATOR: &str = "operator@lunas.test";
/// How long the way from an empty installation to a delivered webhook may take.
const ROAD_LONGEST: Duration = Duration::from_secs(60);
const DONE_STEPS: &str = "document.querySelectorAll('#guide .done .quiet, #guide li.done').length";

/// Presses the copy button beside a text, and checks and returns what it copied.
async fn copied(browser: &Browser, text: &str, button: &str) -> String {
    let shown = browser.text(text).await;
    browser.click(button).await;
    browser.wait_for_text("#said", "Tersalin").await;
    let copied = browser.clipboard().await;
    assert_eq!(copied, shown, "what is copied is what is shown");
    copied
}

/// The operator creates a project for somebody else; returns the invitation's link.
async fn found(operator: &Browser, kit: &Kit, owner: &str) -> String {
    enter(operator, kit, OPERATOR, "/dashboard").await;
    operator.click(".side .last a[href='/dashboard/operator']").await;
    operator.click(".head a.main").await;
    operator.fill("#name", "Kopi Senja").await;
    operator.fill("#owner", owner).await;
    operator.click("form.card button.main").await;
    copied(operator, "#invite-link", ".secret button").await
}

/// Creates a key on its page, where it is shown once, copied, and gone when the page is opened again.
async fn make_key(merchant: &Browser) -> String {
    merchant.click(".side nav a[href$='/keys']").await;
    merchant.fill("#name", "Server toko").await;
    merchant.click("form.card button.main").await;
    let key = copied(merchant, "#new-key", ".secret button").await;
    merchant.click(".side nav a[href$='/keys']").await;
    merchant.wait_until_gone("#new-key").await;
    merchant.wait_for_text("#keys", "Server toko").await;
    assert!(!merchant.evaluate("document.documentElement.outerHTML").await.to_string().contains(&key));
    key
}

/// The digits of each cell of the preview's first row: what is received, what is paid, the fee.
async fn preview(merchant: &Browser) -> Vec<i64> {
    let cells = "[...document.querySelectorAll('#fees tbody tr:first-child .num')].map(cell => cell.innerText.replace(/\\D/g, ''))";
    let cells = merchant.evaluate(cells).await;
    cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().parse().unwrap()).collect()
}

/// Creates a link by its form, whose preview follows what is typed; returns the address for the customer.
async fn make_link(merchant: &Browser) -> String {
    merchant.click(".side nav a[href$='/links']").await;
    merchant.click(".head a.main").await;
    merchant.fill("#title", "Kopi susu gula aren").await;
    merchant.fill("#amount", "100").await;
    merchant.wait_for_text("#fees", "paling sedikit").await;
    merchant.fill("#amount", "25.000").await;
    merchant.wait_for_text("#fees", "Rp25.000").await;
    let row = preview(merchant).await;
    assert_eq!(row[1], 25_000);
    assert!(row[2] > 0 && row[0] == row[1] - row[2], "what is received is what is paid without the fee: {row:?}");
    merchant.click("form.cols button.main").await;
    merchant.wait_for_text(".flash", "siap dibagikan").await;
    copied(merchant, ".copy .id", ".copy button").await
}

async fn set_url(merchant: &Browser, receiver: &Receiver) {
    merchant.click(".side nav a[href$='/notifications']").await;
    merchant.fill("#url", &receiver.url()).await;
    merchant.click("form[action$='/notifications/url'] button.main").await;
    merchant.wait_for_text(".flash", "URL webhook disimpan").await;
}

/// The customer pays by the sandbox's panel.
async fn pay(customer: &Browser, link: &str) {
    customer.goto(link).await;
    customer.choose("input[value=qris]").await;
    customer.click("form button.main").await;
    customer.wait_for_url(|url| url.contains("/pay/")).await;
    customer.click("button[value=paid]").await;
    customer.wait_for_text("h1", "Lunas").await;
}

/// Opens the delivery that just arrived: the log, the request and the answer.
async fn look_at_delivery(merchant: &Browser, receiver: &Receiver) {
    merchant.click(".side nav a[href$='/notifications']").await;
    merchant.wait_for_text("#log", "Terkirim").await;
    merchant.click("#log a.row").await;
    merchant.wait_for_text("h1", "payment.paid").await;
    merchant.wait_for_text("#attempts", "dijawab 200").await;
    let received = receiver.arrived(1).await.remove(0);
    merchant.click("#raw-body > summary").await;
    assert_eq!(merchant.text("#body").await, received.text());
    assert!(merchant.text("main").await.contains(&receiver.url()));
}

/// Checks that the payment's page shows all that happened, in order.
async fn look_at_payment(merchant: &Browser) {
    merchant.click(".side nav a[href$='/payments']").await;
    merchant.click("#rows a.row").await;
    let story = merchant.wait_for_text("#timeline", "payment.paid terkirim").await;
    let parts = ["Dibuat", "Halaman bayar dibuka pelanggan", "Dibayar", "Notifikasi payment.paid terkirim", "200"];
    let places: Vec<Option<usize>> = parts.iter().map(|part| story.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {story}");
}

async fn from_nothing_to_a_delivered_webhook_takes_a_minute_of_pages_alone(kit: Arc<Kit>) {
    make(&kit, OPERATOR, true).await;
    // An installation for development may send webhooks to this machine.
    kit.engine.mark_development().await.unwrap();
    kit.deliver(SendLimits::default());
    let receiver = Receiver::answering(Answer::Hang).await;
    let (merchant, other) = Browser::open_two(Look::desktop(), Look::desktop()).await;
    let road = async {
        let invitation = found(&other, &kit, "sari@kopisenja.test").await;
        merchant.goto(&invitation).await;
        merchant.fill("#password", PASSWORD).await;
        merchant.click("form button.main").await;
        merchant.wait_for("#guide .now").await;
        assert_eq!(merchant.count("#guide .guide > li").await, 4);
        assert!(merchant.text(".side .switch summary").await.contains("Kopi Senja"));
        let key = make_key(&merchant).await;
        Api::new(kit.address, Some(&key)).get("/v1/balance").await.expect(200);
        set_url(&merchant, &receiver).await;
        let link = make_link(&merchant).await;
        merchant.click(".side .brand").await;
        merchant.wait_until(&format!("{DONE_STEPS} === 2 * 2")).await;
        merchant.evaluate("window.stayed = true").await;

        other.forget().await;
        other.look_with(Look::phone()).await;
        pay(&other, &link).await;
        merchant.wait_until(&format!("{DONE_STEPS} === 2 * 3")).await;
        merchant.wait_for_text("#recent", "Rp25.000").await;
        // A page whose figures were read before the payment and its list after it is followed by another one.
        merchant.wait_for_text("#stats", "Rp25.000").await;
        receiver.release();
        merchant.wait_until("document.querySelector('#guide').childElementCount === 0").await;
        assert_eq!(merchant.evaluate("window.stayed").await, true, "nobody loaded the page again");
        look_at_delivery(&merchant, &receiver).await;
        look_at_payment(&merchant).await;
    };
    tokio::time::timeout(ROAD_LONGEST, road).await.expect("within a minute");
    for browser in [&merchant, &other] {
        assert_eq!(browser.console_errors().await, [""; 0]);
    }
}

/// A project whose receiver fails, with its owner on the home page.
async fn broken(kit: &Kit) -> (TestProject, Receiver, Browser) {
    let (project, receiver) = kit.hooked(Answer::Body(500, BROKEN.as_bytes().to_vec())).await;
    owner_of(kit, project.id, "sari@kopisenja.test").await;
    kit.deliver(SendLimits::default());
    let browser = Browser::open(Look::desktop()).await;
    enter(&browser, kit, "sari@kopisenja.test", &desk(project.id)).await;
    (project, receiver, browser)
}

#[tokio::test]
async fn a_page_shows_why_a_webhook_failed_and_resends_it() {
    on_sqlite(|kit| async move {
        let (project, receiver, browser) = broken(&kit).await;
        assert!(!browser.is_shown("#failing .banner").await);
        paid(&project, "k-1", 15_000).await;
        browser.wait_for_text("#failing", "gagal terkirim").await;
        browser.wait_for_text("#attention", "1 webhook gagal terkirim").await;
        browser.click("#failing a").await;
        let row = browser.wait_for_text("#log tbody tr", "Dicoba lagi").await;
        assert!(row.contains("Percobaan berikutnya:") && row.contains("WIB"), "{row}");
        browser.click("#log a.row").await;
        let attempt = browser.wait_for_text("#attempts", "dijawab 500").await;
        assert!(attempt.contains(" ms") && attempt.contains("tidak menjawab dengan 2xx"), "{attempt}");
        browser.click("#answer-1 > summary").await;
        assert!(browser.text("#answer-1 > pre").await.starts_with("{\n  \"error\": "), "a line for each member");
        browser.click("#raw-answer-1 > summary").await;
        assert_eq!(browser.text("#raw-answer-1 pre").await, BROKEN);

        receiver.answer(Answer::Status(200));
        browser.evaluate("window.stayed = true").await;
        browser.click("form[action$='/resend'] button").await;
        browser.wait_for_text(".flash", "dikirim ulang").await;
        browser.wait_for_text("#state", "Terkirim").await;
        browser.wait_for_text("#attempts", "dijawab 200").await;
        browser.wait_until_gone("#failing .banner").await;
        let ids: Vec<String> = receiver.arrived(2).await.iter().map(testkit::Received::event_id).collect();
        assert_eq!(ids[0], ids[1], "it is the same event");
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_test_event_is_sent_and_all_failed_events_are_resent_by_a_button() {
    on_sqlite(|kit| async move {
        let (project, receiver, browser) = broken(&kit).await;
        let page = at(&kit, &format!("{}/notifications", desk(project.id)));
        browser.goto(&page).await;
        browser.click("form[action$='/test'] button").await;
        browser.wait_for_text(".flash", "Pembayaran uji coba dibuat dan dibayar").await;
        browser.wait_for_text("#log", "Dicoba lagi").await;
        paid(&project, "k-1", 15_000).await;
        wait_for_attempts(&kit, &newest_event(&project).await, 1).await;
        browser.wait_until("document.querySelectorAll('#log .retrying').length === 2").await;

        receiver.answer(Answer::Status(200));
        browser.click("form[action$='/recover'] button").await;
        browser.wait_for_text("main .note", "2 webhook yang gagal sedang dikirim ulang").await;
        browser.wait_until("document.querySelectorAll('#log .delivered').length === 2").await;
        browser.wait_until_gone("#failing .banner").await;
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}
