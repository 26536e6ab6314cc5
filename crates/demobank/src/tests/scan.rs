//! The screens on which codes are scanned and paid.

use std::{io::Write, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response, StatusCode},
};
use qrcodegen::{QrCode, QrCodeEcc};
use serde_json::json;
use tower::ServiceExt;

use super::shop::{Shop, received_notices};
use crate::{CodeState, Habits, Service, screens_with_codes};

struct Desk {
    shop: Shop,
    router: Router,
}

impl Desk {
    async fn open() -> Desk {
        let shop = Shop::open(Habits::GENERIC).await;
        let router = screens_with_codes(Arc::clone(&shop.kit.bank), Arc::clone(&shop.asked), "/dev/bank", "/dev/bank");
        Desk { shop, router }
    }

    async fn ask(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        text(self.ask(Request::get(path).body(Body::empty()).unwrap()).await).await
    }

    async fn post(&self, path: &str, kind: &str, body: Vec<u8>) -> Response<Body> {
        let request = Request::post(path).header("host", "localhost").header("sec-fetch-site", "same-origin");
        self.ask(request.header("content-type", kind).body(Body::from(body)).unwrap()).await
    }

    async fn upload(&self, text: &str, picture: &[u8]) -> Response<Body> {
        let mut body = Vec::new();
        write!(body, "--xy\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n{text}\r\n--xy\r\n").unwrap();
        write!(body, "Content-Disposition: form-data; name=\"picture\"; filename=\"a.png\"\r\n\r\n").unwrap();
        body.extend_from_slice(picture);
        body.extend_from_slice(b"\r\n--xy--\r\n");
        self.post("/dev/bank/scan", "multipart/form-data; boundary=xy", body).await
    }

    /// What a form that cannot be used is answered with.
    async fn refused(&self, text_of_code: &str, picture: &[u8]) -> String {
        let (status, page) = text(self.upload(text_of_code, picture).await).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        let (_, rest) = page.split_once("role=\"alert\">").unwrap();
        rest.split_once('<').unwrap().0.to_owned()
    }

    /// Presses a button of a code's page, and follows the redirect.
    async fn press(&self, path: &str, form: &str) -> String {
        let response = self.post(path, "application/x-www-form-urlencoded", form.into()).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{form}");
        assert_eq!(location(&response), format!("{path}#result"));
        self.get(path).await.1
    }
}

async fn text(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

fn location(response: &Response<Body>) -> String {
    response.headers()["location"].to_str().unwrap().to_owned()
}

#[track_caller]
fn contains(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
}

/// A picture of a QR code, with a margin around it and a scale.
fn picture(content: &str) -> Vec<u8> {
    let (margin, scale) = (4, 4);
    let code = QrCode::encode_text(content, QrCodeEcc::Medium).unwrap();
    let width = (code.size() + 2 * margin) * scale;
    let cells = (0..width * width).map(|at| (at % width / scale - margin, at / width / scale - margin));
    let pixels = cells.map(|(x, y)| if code.get_module(x, y) { 0 } else { 255 }).collect::<Vec<u8>>();
    encoded(width.unsigned_abs(), width.unsigned_abs(), &pixels)
}

fn encoded(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    file
}

#[tokio::test]
async fn a_code_is_found_by_its_text_and_by_its_picture_and_paid() {
    let desk = Desk::open().await;
    contains(&desk.get("/dev/bank").await.1, &["href=\"/dev/bank/scan\""]);
    contains(&desk.get("/dev/bank/scan").await.1, &["multipart/form-data", "<textarea", "type=\"file\""]);
    let content = desk.shop.qr("R1").await["qrContent"].as_str().unwrap().to_owned();
    let path = format!("/dev/bank/codes/{}", desk.shop.asked.code("R1").unwrap().bank_reference);
    for response in [
        desk.upload(&format!(" {content} "), b"").await,
        desk.upload("", &picture(&content)).await,
        desk.post(
            "/dev/bank/scan",
            "application/x-www-form-urlencoded",
            format!("text={}", content.replace(' ', "+")).into(),
        )
        .await,
    ] {
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert_eq!(location(&response), path);
    }
    let (status, page) = desk.get(&path).await;
    assert_eq!(status, StatusCode::OK);
    contains(
        &page,
        &["Toko Uji Coba", "Rp150.000", "Waits for money", "2026-01-15 11:20:30 WIB", "R1", "Pay Rp150.000"],
    );
    let page = desk.press(&path, "action=pay").await;
    contains(&page, &["took the notification", "Pay a second time", "qr-mpm-notify", ">Paid<"]);
    assert!(!page.contains("token1"), "the access token is not shown");
    // Reloading the page pays nothing.
    desk.get(&path).await;
    assert_eq!(received_notices(&desk.shop).len(), 1);
    assert_eq!(desk.shop.status("R1").await.0, "00");
    contains(&desk.get("/dev/bank").await.1, &["notification about Rp150.000"]);
}

#[tokio::test]
async fn the_other_buttons_pay_in_other_ways() {
    let desk = Desk::open().await;
    let press = async |reference: &str, form: &str| {
        desk.shop.qr(reference).await;
        let code = desk.shop.asked.code(reference).unwrap();
        let page = desk.press(&format!("/dev/bank/codes/{}", code.bank_reference), form).await;
        let statuses: Vec<String> = received_notices(&desk.shop)
            .iter()
            .map(|(_, body)| body["latestTransactionStatus"].as_str().unwrap().into())
            .collect();
        (page, desk.shop.asked.code(reference).unwrap(), statuses.join(" "))
    };
    let (_, code, statuses) = press("R1", "action=twice").await;
    assert_eq!((code.payments.len(), statuses.as_str()), (1, "00 00"));
    let (page, code, statuses) = press("R2", "action=quiet").await;
    assert_eq!((code.state, statuses.as_str()), (CodeState::Paid, ""));
    contains(&page, &["The merchant was not told."]);
    let (_, code, _) = press("R3", "action=late&minutes=90").await;
    assert_eq!(code.payments[0].paid_at_ms, desk.shop.now_ms() + 90 * 60_000);
    let (_, code, _) = press("R4", "action=amount&amount=1.000").await;
    assert_eq!(code.payments[0].amount, 1_000);
    let (page, code, statuses) = press("R5", "action=fail").await;
    assert_eq!((code.state, code.payments.len(), statuses.as_str()), (CodeState::Failed, 0, "06"));
    contains(&page, &["Failed to pay"]);
    let (_, code, statuses) = press("R6", "action=begin").await;
    assert_eq!((code.state, statuses.as_str()), (CodeState::Processing, "02"));
    desk.shop.kit.door.reply(500, json!({ "responseCode": "5005200" }));
    let (page, _, _) = press("R7", "action=pay").await;
    contains(&page, &["refused the notification", "5005200"]);
}

#[tokio::test]
async fn the_number_of_an_account_that_this_bank_hosts_leads_to_its_page() {
    let desk = Desk::open().await;
    let order = json!({
        "partnerServiceId": "   77777", "virtualAccountName": "<b>Budi", "trxId": "T1",
        "totalAmount": { "value": "150000.00", "currency": "IDR" },
    });
    desk.shop.code(Service::CreateVa, &order).await;
    let number = desk.shop.asked.code("T1").unwrap().content;
    let form = format!("contract=&number={number}");
    let response = desk.post("/dev/bank/visits", "application/x-www-form-urlencoded", form.into()).await;
    let path = location(&response);
    let page = desk.get(&path).await.1;
    contains(&page, &[&format!("Virtual account {number}"), "&#60;b&#62;Budi", "Rp150.000"]);
    assert!(!page.contains("Fail to pay"));
    contains(&desk.press(&path, "action=pay").await, &["took the notification"]);
    let refused = desk.post(&path, "application/x-www-form-urlencoded", "action=fail".into()).await;
    contains(&text(refused).await.1, &["Banks do not tell of virtual accounts that nobody paid."]);
}

#[tokio::test]
async fn what_cannot_be_scanned_is_told_in_a_sentence() {
    let desk = Desk::open().await;
    assert!(desk.refused("", b"").await.starts_with("Paste the text"));
    assert_eq!(desk.refused("<script>", b"").await, "This is not a QRIS code.");
    assert!(desk.refused("", b"no picture").await.contains("not a PNG"));
    assert!(desk.refused("", &encoded(8, 8, &[255; 64])).await.contains("no QR code"));
    assert_eq!(desk.refused("", &picture("https://lunas.example")).await, "This is not a QRIS code.");
    // A picture whose head promises more pixels than are read, and which is short for all that.
    assert!(desk.refused("", &encoded(4_001, 4_000, &vec![255; 4_001 * 4_000])).await.contains("16 million pixels"));
    let whole = picture(desk.shop.qr("R1").await["qrContent"].as_str().unwrap());
    assert!(desk.refused("", &whole[..whole.len() / 2]).await.ends_with('.'));
    let other = Desk::open().await;
    let content = other.shop.qr("R9").await["qrContent"].as_str().unwrap().to_owned();
    let sentence = desk.refused(&content, b"").await;
    assert_eq!(sentence, "This bank did not issue this code. It is for Rp150.000 to TOKO UJI COBA in JAKARTA.");
    let (status, page) = text(desk.upload("", &vec![0; 5 << 20]).await).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    contains(&page, &["longer than 4 MB"]);
    let (status, page) = desk.get("/dev/bank/codes/none").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    contains(&page, &["This bank has no such code."]);
    let path = format!("/dev/bank/codes/{}", desk.shop.asked.code("R1").unwrap().bank_reference);
    for form in ["action=late&minutes=x", "action=amount&amount=0", "action=none", ""] {
        let (status, page) = text(desk.post(&path, "application/x-www-form-urlencoded", form.into()).await).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        contains(&page, &["role=\"alert\""]);
    }
    assert!(desk.shop.asked.code("R1").unwrap().payments.is_empty());
    assert!(received_notices(&desk.shop).is_empty());
}

#[tokio::test]
async fn forms_of_other_sites_pay_nothing_and_pages_carry_their_policy() {
    let desk = Desk::open().await;
    desk.shop.qr("R1").await;
    let path = format!("/dev/bank/codes/{}", desk.shop.asked.code("R1").unwrap().bank_reference);
    let request = Request::post(&path).header("host", "localhost").header("sec-fetch-site", "cross-site");
    let response = desk.ask(request.body(Body::from("action=pay")).unwrap()).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert!(desk.shop.asked.code("R1").unwrap().payments.is_empty());
    let response = desk.ask(Request::get(&path).body(Body::empty()).unwrap()).await;
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    contains(policy, &["default-src 'none'", "form-action 'self'"]);
}
