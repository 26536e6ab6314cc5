//! What customers pay to: QR payloads and images, account numbers and the steps in a bank's app (docs/contract.md
//! §2.4).

use std::{collections::HashSet, io::Cursor, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    bank::Bank,
    project::MerchantProfile,
    qris::{self, Payload},
};
use engine::ProjectUpdate;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::text,
    payments::{create, fetch, fresh_key, pending_qris, report, simulate_paid},
    samples::virtual_account,
};

on_every_database![
    account_numbers_of_many_payments_are_distinct,
    an_account_number_that_is_still_payable_is_never_given_out_again,
];

on_sqlite_alone![
    a_qr_string_is_a_dynamic_qris_payload_for_this_amount_merchant_and_payment,
    any_merchant_name_fits_the_payload,
    the_qr_image_is_a_png_that_scans_to_the_payload_at_error_correction_m,
    a_qr_code_stays_the_same_for_the_life_of_its_payment,
    qr_strings_of_different_payments_differ,
    every_bank_has_its_name_an_account_number_of_its_length_and_steps,
    steps_are_indonesian_unless_english_is_preferred,
    every_bank_has_steps_in_both_languages,
    every_answer_with_a_payment_follows_accept_language,
];

/// Code, name and length of account numbers of each bank.
const BANKS: [(&str, &str, usize); 13] = [
    ("bca", "Bank Central Asia (BCA)", 16),
    ("bni", "Bank Negara Indonesia (BNI)", 16),
    ("bri", "Bank Rakyat Indonesia (BRI)", 18),
    ("mandiri", "Bank Mandiri", 17),
    ("permata", "PermataBank", 16),
    ("cimb", "CIMB Niaga", 16),
    ("bsi", "Bank Syariah Indonesia (BSI)", 16),
    ("danamon", "Bank Danamon", 16),
    ("btn", "Bank BTN", 16),
    ("maybank", "Maybank Indonesia", 16),
    ("bjb", "Bank BJB", 16),
    ("bnc", "Bank Neo Commerce", 16),
    ("bss", "Bank Sahabat Sampoerna", 16),
];

fn payload(payment: &Value) -> Payload {
    let written = text(&payment["instructions"], "qr_string");
    qris::parse(written).unwrap_or_else(|error| panic!("{written}: {error}"))
}

/// One field of the payload's top level, read without the product's own reader.
fn tag<'a>(payload: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = payload;
    while rest.len() >= 4 {
        let (name, length) = (&rest[..2], rest[2..4].parse::<usize>().unwrap());
        let (value, following) = rest[4..].split_at(length);
        if name == wanted {
            return Some(value);
        }
        rest = following;
    }
    None
}

async fn a_qr_string_is_a_dynamic_qris_payload_for_this_amount_merchant_and_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for amount in [100, 15_000, 999_999_999_999] {
        let payment = pending_qris(&project, amount).await;
        let payload = payload(&payment);
        assert_eq!(payload.amount().map(|amount| amount.get()), Some(amount));
        assert_eq!((payload.merchant_name(), payload.city()), ("TOKO KOPI", "JAKARTA"));
        assert!(payload.is_dynamic());
        let id = text(&payment, "id").to_uppercase();
        assert_eq!(payload.reference_label(), Some(&id[id.len() - 16..]));
        let written = text(&payment["instructions"], "qr_string");
        assert_eq!(tag(written, "54"), Some(amount.to_string().as_str()));
        assert_eq!((tag(written, "01"), tag(written, "53"), tag(written, "58")), (Some("12"), Some("360"), Some("ID")));
    }
}

async fn any_merchant_name_fits_the_payload(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for name in ["a".repeat(255), "É".repeat(30), "茶".repeat(12), "Kopi | Teh".to_owned()] {
        let merchant = MerchantProfile { name: name.clone(), city: name.clone(), postal_code: name };
        kit.update(project.id, ProjectUpdate { merchant: Some(merchant), ..ProjectUpdate::default() }).await;
        let payment = pending_qris(&project, 15_000).await;
        let written = text(&payment["instructions"], "qr_string");
        let (shown, city) = (tag(written, "59").unwrap(), tag(written, "60").unwrap());
        assert!((1..=25).contains(&shown.len()) && (1..=15).contains(&city.len()), "{written}");
        assert!(shown.is_ascii() && !shown.contains('|'), "{written}");
        assert_eq!(payload(&payment).merchant_name(), shown);
    }
}

/// A decoded image: its width in pixels, and for each pixel whether it is white.
fn image(payment: &Value) -> (usize, Vec<bool>) {
    let uri = text(&payment["instructions"], "qr_image_url");
    let file = STANDARD.decode(uri.strip_prefix("data:image/png;base64,").unwrap()).unwrap();
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut data).unwrap();
    assert_eq!((frame.color_type, frame.bit_depth), (png::ColorType::Grayscale, png::BitDepth::Eight));
    assert_eq!(frame.width, frame.height, "a QR code is square");
    (frame.width as usize, data[..frame.buffer_size()].iter().map(|grey| *grey > 127).collect())
}

async fn the_qr_image_is_a_png_that_scans_to_the_payload_at_error_correction_m(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for amount in [100, 999_999_999_999] {
        let payment = pending_qris(&project, amount).await;
        let (width, white) = image(&payment);
        let grey = |x: usize, y: usize| if white[y * width + x] { 255 } else { 0 };
        let mut scanned = rqrr::PreparedImage::prepare_from_greyscale(width, width, grey);
        let grids = scanned.detect_grids();
        assert_eq!(grids.len(), 1);
        let (meta, content) = grids[0].decode().unwrap();
        assert_eq!(content, text(&payment["instructions"], "qr_string"));
        // The format bits of level M are 00.
        assert_eq!(meta.ecc_level, 0);
        let modules = 17 + 4 * meta.version.0;
        assert_eq!(width % (modules + 8), 0, "four modules of margin on either side");
        let margin = 4 * (width / (modules + 8));
        let inside = margin..width - margin;
        for (index, white) in white.iter().enumerate() {
            let (x, y) = (index % width, index / width);
            assert!(*white || (inside.contains(&x) && inside.contains(&y)), "the margin is black at {x}, {y}");
        }
        assert!(!white[margin * width + margin], "the code begins right after the margin");
    }
}

async fn a_qr_code_stays_the_same_for_the_life_of_its_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let paid = simulate_paid(&project, &payment).await;
    assert_eq!(paid["instructions"], payment["instructions"]);
    kit.clock.advance(Duration::from_hours(24 * 30));
    assert_eq!(fetch(&project, &payment).await["instructions"], payment["instructions"]);
}

async fn qr_strings_of_different_payments_differ(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut seen = HashSet::new();
    for _ in 0..50 {
        let payment = pending_qris(&project, 15_000).await;
        assert!(seen.insert(text(&payment["instructions"], "qr_string").to_owned()));
    }
}

async fn every_bank_has_its_name_an_account_number_of_its_length_and_steps(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    assert_eq!(BANKS.map(|(code, ..)| code), Bank::ALL.map(|bank| bank.code()));
    for (code, name, length) in BANKS {
        let payment = create(&project, &virtual_account(&project, code, 150_000)).await;
        let instructions = &payment["instructions"];
        let number = text(instructions, "virtual_account_number");
        assert_eq!(instructions["bank_name"], name);
        assert_eq!(number.len(), length, "{code} {number}");
        assert!(number.bytes().all(|byte| byte.is_ascii_digit()), "{code} {number}");
        let steps: Vec<&str> = instructions["payment_steps"].as_array().unwrap().iter().map(step).collect();
        assert!(steps.iter().all(|step| !step.trim().is_empty()), "{code} {steps:?}");
        let all = steps.join(" ");
        assert!(all.contains("ATM") && all.contains("Rp150.000"), "{code} {all}");
        // Mandiri asks for company code and customer number on two screens.
        let parts = if code == "mandiri" { vec![&number[..5], &number[5..]] } else { vec![number] };
        assert!(parts.iter().all(|part| all.contains(part)), "{code} {number} {all}");
    }
}

fn step(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The sandbox has a hundred numbers for each millisecond, and the clock of a test stands still.
async fn account_numbers_of_many_payments_are_distinct(kit: Arc<Kit>) {
    let projects = [kit.sandbox().await, kit.sandbox().await];
    let mut seen = HashSet::new();
    for _ in 0..120 {
        for project in &projects {
            let payment = create(project, &virtual_account(project, "bca", 10_000)).await;
            let number = text(&payment["instructions"], "virtual_account_number").to_owned();
            assert!(seen.insert(number.clone()), "{number} was given out twice");
        }
    }
}

/// The sandbox's numbers start again after exactly ten days, and a processing payment stays payable for ever.
async fn an_account_number_that_is_still_payable_is_never_given_out_again(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let began = kit.engine.now();
    let first = create(&project, &virtual_account(&project, "bca", 10_000)).await;
    report(&project, &first, "processing").await;
    let mut seen = HashSet::from([text(&first["instructions"], "virtual_account_number").to_owned()]);
    kit.clock.set(began.plus(Duration::from_hours(240)));
    for _ in 0..100 {
        let payment = create(&project, &virtual_account(&project, "bca", 10_000)).await;
        let number = text(&payment["instructions"], "virtual_account_number").to_owned();
        assert!(seen.insert(number.clone()), "{number} was given out twice");
    }
}

async fn in_language(
    project: &TestProject,
    method: Method,
    path: &str,
    accepted: Option<&str>,
    body: Option<&Value>,
) -> Reply {
    let mut request = project.api.request(method, path);
    if let Some(accepted) = accepted {
        request = request.header("Accept-Language", accepted);
    }
    if let Some(body) = body {
        request = request.header("Idempotency-Key", fresh_key()).json(body);
    }
    project.api.send(request).await
}

/// The language of the steps, recognised by words that only that language has.
fn language_of(payment: &Value) -> &'static str {
    let steps: Vec<&str> = payment["instructions"]["payment_steps"].as_array().unwrap().iter().map(step).collect();
    let all = steps.join(" ");
    match (all.contains("masukkan") && all.contains("pilih"), all.contains("enter") && all.contains("choose")) {
        (true, false) => "id",
        (false, true) => "en",
        mixed => panic!("{mixed:?}: {all}"),
    }
}

async fn steps_are_indonesian_unless_english_is_preferred(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = create(&project, &virtual_account(&project, "bca", 150_000)).await;
    let path = format!("/v1/payments/{}", text(&payment, "id"));
    for (accepted, language) in [
        (None, "id"),
        (Some("id"), "id"),
        (Some("en"), "en"),
        (Some("EN-us"), "en"),
        (Some("en-GB,en;q=0.9,id;q=0.8"), "en"),
        (Some("id-ID,id;q=0.9,en;q=0.8"), "id"),
        (Some("en;q=0.5, id;q=0.6"), "id"),
        (Some("fr, en;q=0.5"), "en"),
        (Some("fr"), "id"),
        (Some("*"), "id"),
        (Some(""), "id"),
        (Some("english"), "id"),
        (Some(";;;q=,,"), "id"),
    ] {
        let shown = in_language(&project, Method::GET, &path, accepted, None).await.expect(200);
        assert_eq!(language_of(&shown), language, "{accepted:?}");
        assert_eq!(shown["instructions"]["bank_name"], "Bank Central Asia (BCA)");
    }
}

async fn every_bank_has_steps_in_both_languages(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (code, ..) in BANKS {
        for language in ["id", "en"] {
            let body = virtual_account(&project, code, 150_000);
            let reply = in_language(&project, Method::POST, "/v1/payments", Some(language), Some(&body)).await;
            assert_eq!(language_of(&reply.expect(201)), language, "{code}");
        }
    }
}

async fn every_answer_with_a_payment_follows_accept_language(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = virtual_account(&project, "bca", 150_000);
    let payment = in_language(&project, Method::POST, "/v1/payments", Some("en"), Some(&body)).await.expect(201);
    assert_eq!(language_of(&payment), "en");
    let listed = in_language(&project, Method::GET, "/v1/payments", Some("en"), None).await.expect(200);
    assert_eq!(language_of(&listed["data"][0]), "en");
    let path = format!("/v1/sandbox/payments/{}/simulate", text(&payment, "id"));
    let report = json!({ "outcome": "paid" });
    let paid = in_language(&project, Method::POST, &path, Some("en"), Some(&report)).await.expect(200);
    assert_eq!(language_of(&paid), "en");
    // An event has the same text for every reader.
    let events = in_language(&project, Method::GET, "/v1/events", Some("en"), None).await.expect(200);
    assert_eq!(language_of(&events["data"][0]["data"]), "id");
}
