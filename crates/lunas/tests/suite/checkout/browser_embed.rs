//! The checkout over a shop's page in a real browser. The shop is another site: another host and another port.

use domain::project::Environment;
use engine::{ProjectUpdate, addresses::frame_origins};
use serde_json::{Value, json};
use testkit::{Browser, Kit, Look, TestProject, on_sqlite};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::support::{customer::link_path, links::create_link, payments::count_payments};

/// A shop whose one page has a link to pay. Its origin.
async fn shop(page: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let page = page.clone();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4_096]).await;
                let length = page.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\n\
                     connection: close\r\n\r\n{page}"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    origin
}

fn page(kit: &Kit, link: &Value) -> String {
    let (base, path) = (format!("http://{}", kit.address), link_path(link));
    format!(
        "<!doctype html><html lang=\"id\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Toko</title><link rel=\"icon\" href=\"data:,\"><main><h1>Toko</h1>\
         <p><a id=\"pay\" href=\"{base}{path}\" data-lunas>Bayar Kopi</a></p><p style=\"height:3000px\">Katalog</p></main>\
         <script src=\"{base}/embed.js\"></script><script>window.told = [];\
         ['paid', 'expired', 'failed', 'cancelled'].forEach((end) => document.addEventListener('lunas:' + end, \
         (event) => window.told.push([event.type, event.detail, event.target.id])));</script></html>"
    )
}

async fn allow(kit: &Kit, project: &TestProject, origin: &str) {
    let origins = frame_origins(&[origin.to_owned()], Environment::Sandbox).unwrap();
    let update = ProjectUpdate { frame_origins: Some(origins), ..ProjectUpdate::default() };
    kit.engine.update_project(project.id, update).await.unwrap();
}

#[tokio::test]
async fn a_shop_that_is_allowed_shows_the_checkout_over_its_page_and_learns_the_end_and_no_other_does() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
        let (origin, stranger) = (shop(page(&kit, &link)).await, shop(page(&kit, &link)).await);
        allow(&kit, &project, &origin).await;
        let browser = Browser::open(Look::phone()).await;
        browser.goto(&origin).await;
        browser.click("#pay").await;
        browser.wait_for("dialog[open][aria-label='Bayar Kopi'] iframe[title='Bayar Kopi']").await;
        assert_eq!(browser.evaluate("document.documentElement.style.overflow").await, json!("hidden"));
        assert_eq!(browser.evaluate("[innerWidth - document.querySelector('iframe').clientWidth]").await, json!([0]));

        // What others say is not heard: the shop's own page, and a frame of another window.
        let forged = "{ type: 'lunas:paid', payment_id: 'pay_1', reference: 'INV', status: 'paid' }";
        browser.evaluate(&format!("window.postMessage({forged}, '*')")).await;
        browser.evaluate("document.body.append(Object.assign(document.createElement('iframe'), { id: 'other', srcdoc: '<p>' })), 1").await;
        let from_frame = format!("document.getElementById('other').contentWindow.eval(\"parent.postMessage({forged}, '*')\")");
        browser.evaluate(&from_frame).await;

        // The customer pays in the frame, which keeps working without the cookies that browsers refuse there.
        browser.enter_frame("dialog iframe").await;
        browser.choose("input[value=qris]").await;
        browser.click("form button.main").await;
        browser.wait_for_text("h1", "Pindai QRIS").await;
        browser.leave_frame().await;
        assert_eq!(browser.evaluate("window.told").await, json!([]));

        // Closed and opened again, the pop-up goes on with the same payment.
        browser.click("dialog button").await;
        browser.wait_until_gone("dialog").await;
        assert_eq!(browser.evaluate("document.documentElement.style.overflow").await, json!(""));
        assert_eq!(browser.focused().await, "a#pay");
        browser.click("#pay").await;
        browser.enter_frame("dialog iframe").await;
        browser.wait_for_text("h1", "Pindai QRIS").await;
        assert_eq!(count_payments(&project, "").await, 1);
        browser.click("button[name=outcome][value=paid]").await;
        browser.wait_for_text("h1", "Lunas").await;
        browser.leave_frame().await;
        browser.wait_until("window.told.length === 1").await;
        let told = browser.evaluate("window.told[0]").await;
        let payment = &project.api.get("/v1/payments").await.expect(200)["data"][0];
        let detail = json!({ "payment_id": payment["id"], "reference": payment["reference"], "status": "paid" });
        assert_eq!(told, json!(["lunas:paid", detail, "pay"]));
        // Escape closes it, from inside of the frame too.
        browser.enter_frame("dialog iframe").await;
        browser.click("h1").await;
        browser.press("Escape").await;
        browser.leave_frame().await;
        browser.wait_until_gone("dialog").await;
        // A frame may not take the focus of the shop's page, and the browser says that it did not.
        let errors = browser.console_errors().await;
        assert!(errors.iter().all(|error| error.contains("autofocusing")), "{errors:?}");

        // A shop that is not allowed may not hold the frame: its customers come to the page itself.
        browser.goto(&stranger).await;
        browser.click("#pay").await;
        browser.wait_for_url(|url| url.contains("/p/") || url.contains("/pay/")).await;
        let refused = browser.console_errors().await;
        assert!(refused.iter().any(|error| error.contains("frame-ancestors")), "{refused:?}");
        browser.wait_for("main.ticket").await;

        // Without script it is a plain link.
        browser.look_with(Look::phone().without_script()).await;
        browser.goto(&origin).await;
        browser.click("#pay").await;
        browser.wait_for_url(|url| url.contains(&link_path(&link)) && !url.contains("origin=")).await;
    })
    .await;
}
