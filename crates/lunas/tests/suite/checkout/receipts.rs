//! The receipt of a paid payment: on the screen, on A4 and on the strip of a counter printer.

use std::sync::Arc;

use serde_json::json;
use testkit::{Browser, Kit, Look, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::{Customer, attribute, begin_payment, is_page, pay_path},
    held::contains_all,
    json::text,
    payments::{pending_qris, report, simulate_paid},
    printed::printed,
    samples,
};

on_sqlite_alone![a_paid_payment_has_a_slip_with_everything_on_it_and_others_have_none];

fn slip_path(payment: &serde_json::Value) -> String {
    format!("{}?print=80mm", pay_path(payment))
}

async fn a_paid_payment_has_a_slip_with_everything_on_it_and_others_have_none(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, customer, payment) = begin_payment(&kit, &project, json!({ "title": "Kopi susu" })).await;
    contains_all(&customer.open(&slip_path(&payment)).await, &["Pindai QRIS untuk membayar"]);
    simulate_paid(&project, &payment).await;
    let receipt = customer.open(&pay_path(&payment)).await;
    contains_all(&receipt, &[&format!("href=\"{}\"", slip_path(&payment)), "Cetak bukti (A4)"]);
    let slip = customer.open(&slip_path(&payment)).await;
    is_page("slip", &slip, 200);
    let id = text(&payment, "id");
    let facts =
        ["Bukti pembayaran", "Toko Kopi", "Rp50.000", "Kopi susu", "QRIS", text(&payment, "reference"), id, "WIB"];
    contains_all(&slip, &facts);
    contains_all(&slip, &["/assets/slip.", "Mode uji coba"]);
    let english = attribute(slip.text.split("class=\"lang\"").nth(1).unwrap(), "href").replace("&#38;", "&");
    contains_all(&customer.open(&english).await, &["<html lang=\"en\"", "Payment receipt", "Paid at"]);
    for other in ["", "?print=", "?print=58mm", "?print=80mm&print=80mm"] {
        let page = Customer::of(&kit).open(&format!("{}{other}", pay_path(&payment))).await;
        contains_all(&page, &["Lunas. Terima kasih!"]);
    }
    let failed = pending_qris(&project, 15_000).await;
    report(&project, &failed, "failed").await;
    contains_all(&Customer::of(&kit).open(&slip_path(&failed)).await, &["Pembayaran gagal"]);
}

/// The sizes of the sheets that the page is printed on, in millimetres.
async fn sheets(browser: &Browser) -> Vec<(u32, u32)> {
    printed(browser).await.iter().map(|sheet| sheet.size).collect()
}

#[tokio::test]
async fn a_receipt_prints_on_one_page_of_a4_and_its_slip_on_one_strip_of_80_millimetres_in_a_browser() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let order = samples::virtual_account(&project, "mandiri", 75_000);
        let payment = project.api.pay("direct", &order).await.expect(201);
        simulate_paid(&project, &payment).await;
        // Without script, and in the dark theme: what is printed is black on white.
        let browser = Browser::open(Look::phone().dark().without_script()).await;
        browser.goto(text(&payment, "checkout_url")).await;
        assert_eq!(sheets(&browser).await, [(210, 297)]);
        browser.click(&format!("a[href='{}']", slip_path(&payment))).await;
        browser.wait_for_text("h1", "Bukti pembayaran").await;
        assert_eq!(sheets(&browser).await, [(80, 200)]);
        browser.check_page().await;
        let print = json!({ "media": "print", "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
        browser.devtools("Emulation.setEmulatedMedia", print).await;
        for hidden in [".lang", "nav"] {
            assert!(!browser.is_shown(hidden).await, "{hidden} is not printed");
        }
        let colours =
            "(style => [style.color, style.backgroundColor].join())(getComputedStyle(document.querySelector('main')))";
        assert_eq!(browser.evaluate(colours).await, json!("rgb(0, 0, 0),rgb(255, 255, 255)"));
        let wide = "Math.ceil(document.querySelector('main').getBoundingClientRect().width / 96 * 25.4)";
        assert!(browser.evaluate(wide).await.as_f64().unwrap() <= 72.0);
    })
    .await;
}
