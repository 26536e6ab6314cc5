//! `/v1/payments`: what a new payment looks like, what it costs, how long it lives and what is refused
//! (docs/contract.md §2.1, §2.3, §4.1, §4.3 and §8).

use std::sync::Arc;

use domain::{bank::Bank, fee::FeeOverrides, id::PaymentId, money::Rupiah, project::MerchantProfile};
use engine::{Clock, ProjectUpdate};
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{at, moved, shifted, text, with, without},
    options::base_url,
    payments::{balance, count_payments, create, fetch, fresh_key, pay_text, pending_qris, simulate_paid},
    samples::{qris, virtual_account},
};

on_every_database![
    a_payment_is_read_back_as_it_was_created,
    a_payment_whose_fee_is_all_or_nothing_of_it_can_be_paid,
    an_amount_is_a_json_integer_from_the_methods_minimum_to_the_largest,
    a_reference_of_255_characters_is_kept_as_it_is,
];

on_sqlite_alone![
    a_new_qris_payment_is_pending_and_has_every_field_of_the_long_form,
    a_checkout_url_is_under_the_configured_base with base_url("https://api.toko.example/"),
    a_new_virtual_account_payment_names_its_bank_and_has_its_own_instructions,
    an_id_is_a_prefix_and_26_crockford_characters_that_sort_by_creation,
    timestamps_are_utc_with_milliseconds_and_z,
    a_reference_may_be_used_for_several_payments,
    qris_costs_seven_tenths_of_a_percent_rounded_half_up,
    a_virtual_account_costs_a_flat_4000,
    a_projects_own_fees_replace_the_default_and_never_exceed_the_amount,
    a_payment_lives_its_methods_default_or_what_was_asked_for_up_to_the_maximum,
    a_field_that_breaks_a_rule_is_named_and_leaves_nothing_behind,
    a_field_of_the_wrong_json_type_is_an_invalid_request,
    a_project_that_is_unknown_or_another_keys_is_not_found,
    a_bank_that_the_project_does_not_offer_is_refused,
    a_payment_that_does_not_exist_or_is_another_projects_is_not_found,
    a_payment_keeps_what_it_was_made_with_when_the_project_changes,
];

const MINUTE_MILLIS: i64 = 60_000;

async fn a_new_qris_payment_is_pending_and_has_every_field_of_the_long_form(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(qris(&project, 15_000), "reference", "INV/2026-é 1");
    let payment = create(&project, &body).await;
    let now = kit.clock.now();
    let expected = json!({
        "id": payment["id"],
        "payment_link_id": null,
        "project_id": project.id.to_string(),
        "reference": "INV/2026-é 1",
        "amount": 15_000,
        "currency": "IDR",
        "fee_bearer": "merchant",
        "fee_amount": 105,
        "merchant_net": 14_895,
        "refunded_amount": 0,
        "status": "pending",
        "checkout_url": format!("http://{}/pay/{}", kit.address, text(&payment, "id")),
        "payment_method": { "type": "qris" },
        "instructions": {
            "qr_string": payment["instructions"]["qr_string"],
            "qr_image_url": payment["instructions"]["qr_image_url"],
        },
        "customer": { "name": "", "email": "", "phone": "", "address": "" },
        "checkout_context": { "location": {}, "device": {} },
        "expires_at": shifted(now, 15 * MINUTE_MILLIS),
        "paid_at": null,
        "created_at": now.to_string(),
    });
    assert_eq!(payment, expected);
}

async fn a_checkout_url_is_under_the_configured_base(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let expected = format!("https://api.toko.example/pay/{}", text(&payment, "id"));
    assert_eq!(text(&payment, "checkout_url"), expected);
}

async fn a_new_virtual_account_payment_names_its_bank_and_has_its_own_instructions(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = create(&project, &virtual_account(&project, "mandiri", 150_000)).await;
    assert_eq!(payment["status"], "pending");
    assert_eq!(payment["payment_method"], json!({ "type": "virtual_account", "bank": "mandiri" }));
    assert_eq!((&payment["fee_amount"], &payment["merchant_net"]), (&json!(4_000), &json!(146_000)));
    let members: Vec<&String> = payment["instructions"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["bank_name", "payment_steps", "virtual_account_number"]);
    let fields = payment.as_object().unwrap().len();
    assert_eq!(fields, pending_qris(&project, 15_000).await.as_object().unwrap().len());
}

async fn a_payment_is_read_back_as_it_was_created(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for body in [qris(&project, 100), virtual_account(&project, "bni", 10_000)] {
        let payment = create(&project, &body).await;
        assert_eq!(fetch(&project, &payment).await, payment);
    }
}

async fn an_id_is_a_prefix_and_26_crockford_characters_that_sort_by_creation(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(text(&pending_qris(&project, 100).await, "id").to_owned());
        kit.clock.advance(std::time::Duration::from_millis(1));
    }
    for id in &ids {
        let characters = id.strip_prefix("pay_").unwrap();
        assert_eq!(characters.len(), 26, "{id}");
        assert!(characters.chars().all(|c| "0123456789abcdefghjkmnpqrstvwxyz".contains(c)), "{id}");
        let parsed: PaymentId = id.parse().unwrap();
        assert_eq!(parsed.uuid().get_version_num(), 7, "{id}");
    }
    assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
}

async fn timestamps_are_utc_with_milliseconds_and_z(kit: Arc<Kit>) {
    kit.clock.set(moved(kit.clock.now(), 7));
    let project = kit.sandbox().await;
    let payment = simulate_paid(&project, &pending_qris(&project, 100).await).await;
    for member in ["created_at", "expires_at", "paid_at"] {
        let written = text(&payment, member);
        let digits_as_zeros: String = written.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(digits_as_zeros, "0000-00-00T00:00:00.000Z", "{member}: {written}");
        assert!(written.ends_with(".007Z"), "{member}: {written}");
    }
}

async fn a_reference_may_be_used_for_several_payments(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(qris(&project, 100), "reference", "same");
    let (one, other) = (create(&project, &body).await, create(&project, &body).await);
    assert_ne!(one["id"], other["id"]);
    assert_eq!(count_payments(&project, "search=same").await, 2);
}

async fn check_fee(project: &TestProject, body: &Value, fee: i64) {
    let payment = create(project, body).await;
    let amount = body["amount"].as_i64().unwrap();
    let shown = (payment["fee_amount"].as_i64(), payment["merchant_net"].as_i64());
    assert_eq!(shown, (Some(fee), Some(amount - fee)), "{body}");
    assert_eq!((&payment["fee_bearer"], payment["amount"].as_i64()), (&json!("merchant"), Some(amount)), "{body}");
}

async fn qris_costs_seven_tenths_of_a_percent_rounded_half_up(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let rows =
        [(100, 1), (214, 1), (215, 2), (499, 3), (500, 4), (1_000, 7), (15_071, 105), (15_072, 106), (150_000, 1_050)];
    for (amount, fee) in rows.into_iter().chain([(999_999_999_999, 7_000_000_000)]) {
        check_fee(&project, &qris(&project, amount), fee).await;
    }
}

async fn a_virtual_account_costs_a_flat_4000(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for amount in [10_000, 150_000, 999_999_999_999] {
        check_fee(&project, &virtual_account(&project, "bca", amount), 4_000).await;
    }
}

async fn a_projects_own_fees_replace_the_default_and_never_exceed_the_amount(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let before = pending_qris(&project, 15_000).await;
    let fees = FeeOverrides { qris_basis_points: Some(0), virtual_account: Some(Rupiah::new(20_000)) };
    kit.update(project.id, ProjectUpdate { fees: Some(fees), ..ProjectUpdate::default() }).await;
    check_fee(&project, &qris(&project, 15_000), 0).await;
    check_fee(&project, &virtual_account(&project, "bca", 20_001), 20_000).await;
    check_fee(&project, &virtual_account(&project, "bca", 10_000), 10_000).await;
    let fees = FeeOverrides { qris_basis_points: Some(10_000), virtual_account: None };
    kit.update(project.id, ProjectUpdate { fees: Some(fees), ..ProjectUpdate::default() }).await;
    check_fee(&project, &qris(&project, 15_000), 15_000).await;
    check_fee(&project, &virtual_account(&project, "bca", 10_000), 4_000).await;
    assert_eq!(fetch(&project, &before).await, before, "a fee is fixed when the payment is made");
}

async fn a_payment_whose_fee_is_all_or_nothing_of_it_can_be_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (basis_points, net) in [(10_000, 0), (0, 15_000)] {
        let fees = FeeOverrides { qris_basis_points: Some(basis_points), virtual_account: None };
        kit.update(project.id, ProjectUpdate { fees: Some(fees), ..ProjectUpdate::default() }).await;
        let pending = balance(&project, "pending").await;
        let paid = simulate_paid(&project, &pending_qris(&project, 15_000).await).await;
        assert_eq!(paid["status"], "paid");
        assert_eq!(balance(&project, "pending").await, pending + net);
    }
}

async fn check_lifetime(project: &TestProject, method: &str, minutes: &str, expected: i64) {
    let sample = if method == "qris" { qris(project, 10_000) } else { virtual_account(project, "bca", 10_000) };
    // As text, since the largest numbers here do not fit any integer type.
    let body = sample.to_string().replacen('{', &format!("{{{minutes}"), 1);
    let payment = pay_text(project, &fresh_key(), &body).await.expect(201);
    let lived = at(&payment, "expires_at").as_millis() - at(&payment, "created_at").as_millis();
    assert_eq!(lived, expected * MINUTE_MILLIS, "{method} {minutes}");
}

async fn a_payment_lives_its_methods_default_or_what_was_asked_for_up_to_the_maximum(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let asked = |minutes: &str| format!(r#""expires_in_minutes": {minutes},"#);
    for (method, default, most) in [("qris", 15, 60), ("virtual_account", 1_440, 10_080)] {
        check_lifetime(&project, method, "", default).await;
        check_lifetime(&project, method, &asked("null"), default).await;
        for minutes in [1, 2, default - 1, default + 1, most - 1, most] {
            check_lifetime(&project, method, &asked(&minutes.to_string()), minutes).await;
        }
        for minutes in [&(most + 1).to_string(), "9223372036854775807", "100000000000000000000000000"] {
            check_lifetime(&project, method, &asked(minutes), most).await;
        }
    }
}

/// Sends a body that must be refused, and checks that the message names what is wrong.
async fn check_refused(project: &TestProject, body: &str, code: &str, named: &str) {
    let reply = pay_text(project, &fresh_key(), body).await;
    assert_eq!(reply.header("idempotent-replayed"), None, "{body}");
    let status = if code == "PROJECT_NOT_FOUND" { 404 } else { 400 };
    assert_eq!(reply.status.as_u16(), status, "{body} {}", reply.text);
    let message = reply.refused(status, code);
    assert!(message.contains(named), "{body}: {message:?} does not name {named:?}");
}

async fn an_amount_is_a_json_integer_from_the_methods_minimum_to_the_largest(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let samples = [(qris(&project, 7_777_777), 100), (virtual_account(&project, "bca", 7_777_777), 10_000)];
    for (sample, least) in samples {
        let amount = |literal: &str| sample.to_string().replace("7777777", literal);
        for (literal, code) in [
            ((least - 1).to_string().as_str(), "VALIDATION_ERROR"),
            ("1", "VALIDATION_ERROR"),
            ("0", "VALIDATION_ERROR"),
            ("-0", "VALIDATION_ERROR"),
            ("-15000", "VALIDATION_ERROR"),
            ("null", "VALIDATION_ERROR"),
            ("1000000000000", "VALIDATION_ERROR"),
            ("9223372036854775807", "VALIDATION_ERROR"),
            ("9223372036854775808", "VALIDATION_ERROR"),
            ("-9223372036854775809", "VALIDATION_ERROR"),
            ("1000000000000000000000000000000", "VALIDATION_ERROR"),
            ("15000.0", "INVALID_REQUEST"),
            ("15000.5", "INVALID_REQUEST"),
            ("15e3", "INVALID_REQUEST"),
            (r#""15000""#, "INVALID_REQUEST"),
            ("true", "INVALID_REQUEST"),
            ("[15000]", "INVALID_REQUEST"),
        ] {
            check_refused(&project, &amount(literal), code, "`amount`").await;
        }
        assert_eq!(count_payments(&project, "").await, 0, "a refused request leaves nothing behind");
    }
    for (body, least) in [(qris(&project, 0), 100), (virtual_account(&project, "bca", 0), 10_000)] {
        for amount in [least, 999_999_999_999_i64] {
            assert_eq!(create(&project, &with(body.clone(), "amount", amount)).await["amount"], amount);
        }
    }
}

async fn a_field_that_breaks_a_rule_is_named_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (code, account) = (qris(&project, 15_000), virtual_account(&project, "bca", 15_000));
    let method = |method: Value| with(code.clone(), "payment_method", method);
    let reference = |reference: Value| with(code.clone(), "reference", reference);
    let minutes = |minutes: i64| with(account.clone(), "expires_in_minutes", minutes);
    let rows = [
        (without(code.clone(), "project_id"), "`project_id`"),
        (with(code.clone(), "project_id", Value::Null), "`project_id`"),
        (with(code.clone(), "project_id", ""), "`project_id`"),
        (without(code.clone(), "reference"), "`reference`"),
        (reference(Value::Null), "`reference`"),
        (reference(json!("")), "`reference`"),
        (reference(json!("é".repeat(256))), "`reference`"),
        (reference(json!("a\nb")), "`reference`"),
        (reference(json!("a\u{0}b")), "`reference`"),
        (reference(json!("a\u{7f}")), "`reference`"),
        (without(code.clone(), "amount"), "`amount`"),
        (without(code.clone(), "payment_method"), "`payment_method`"),
        (method(Value::Null), "`payment_method`"),
        (method(json!({})), "type`"),
        (method(json!({ "type": null })), "type`"),
        (method(json!({ "type": "" })), "type`"),
        (method(json!({ "type": "QRIS" })), "type`"),
        (method(json!({ "type": "card" })), "type`"),
        (method(json!({ "type": "qris", "bank": "bca" })), "bank`"),
        (method(json!({ "type": "virtual_account" })), "bank`"),
        (method(json!({ "type": "virtual_account", "bank": null })), "bank`"),
        (method(json!({ "type": "virtual_account", "bank": "" })), "bank`"),
        (method(json!({ "type": "virtual_account", "bank": "BCA" })), "bank`"),
        (method(json!({ "type": "virtual_account", "bank": "bank_jago" })), "bank`"),
        (minutes(0), "`expires_in_minutes`"),
        (minutes(-1), "`expires_in_minutes`"),
        (minutes(i64::MIN), "`expires_in_minutes`"),
    ];
    for (body, named) in rows {
        check_refused(&project, &body.to_string(), "VALIDATION_ERROR", named).await;
    }
    assert_eq!(count_payments(&project, "").await, 0);
}

async fn a_field_of_the_wrong_json_type_is_an_invalid_request(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let sample = qris(&project, 15_000);
    let rows = [
        (with(sample.clone(), "project_id", 1), "`project_id`"),
        (with(sample.clone(), "reference", 1), "`reference`"),
        (with(sample.clone(), "payment_method", "qris"), "`payment_method`"),
        (with(sample.clone(), "payment_method", json!([{ "type": "qris" }])), "`payment_method`"),
        (with(sample.clone(), "payment_method", json!({ "type": 1 })), "type`"),
        (with(sample.clone(), "payment_method", json!({ "type": "qris", "bank": 1 })), "bank`"),
        (with(sample.clone(), "expires_in_minutes", "15"), "`expires_in_minutes`"),
        (with(sample.clone(), "expires_in_minutes", 1.5), "`expires_in_minutes`"),
        (with(sample.clone(), "expires_in_minutes", false), "`expires_in_minutes`"),
    ];
    for (body, named) in rows {
        check_refused(&project, &body.to_string(), "INVALID_REQUEST", named).await;
    }
    assert_eq!(count_payments(&project, "").await, 0);
}

async fn a_reference_of_255_characters_is_kept_as_it_is(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for reference in ["é".repeat(255), "x".to_owned(), " spaced ".to_owned(), "🍵\"\\/<b>&amp;".to_owned()] {
        let payment = create(&project, &with(qris(&project, 100), "reference", reference.as_str())).await;
        assert_eq!(text(&fetch(&project, &payment).await, "reference"), reference);
    }
}

async fn a_project_that_is_unknown_or_another_keys_is_not_found(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let unknown = format!("prj_{}", "0".repeat(26));
    for id in [other.id.to_string(), unknown, "junk".to_owned(), project.id.to_string().to_uppercase()] {
        let body = with(qris(&project, 15_000), "project_id", id.as_str());
        check_refused(&project, &body.to_string(), "PROJECT_NOT_FOUND", "`project_id`").await;
    }
    assert_eq!((count_payments(&project, "").await, count_payments(&other, "").await), (0, 0));
}

async fn a_bank_that_the_project_does_not_offer_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    kit.update(project.id, ProjectUpdate { banks: Some(vec![Bank::Bni]), ..ProjectUpdate::default() }).await;
    let body = virtual_account(&project, "bca", 15_000);
    check_refused(&project, &body.to_string(), "VALIDATION_ERROR", "bank`").await;
    assert_eq!(count_payments(&project, "").await, 0);
    create(&project, &virtual_account(&project, "bni", 15_000)).await;
    create(&project, &qris(&project, 15_000)).await;
}

async fn a_payment_that_does_not_exist_or_is_another_projects_is_not_found(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let payment = pending_qris(&other, 15_000).await;
    let own = pending_qris(&project, 15_000).await;
    let id = text(&own, "id");
    let rows = [
        text(&payment, "id").to_owned(),
        format!("pay_{}", "0".repeat(26)),
        id.replace("pay_", "pl_"),
        id.to_uppercase(),
        id[..id.len() - 1].to_owned(),
        format!("{id}0"),
        format!("{id}%00"),
        "pay_".to_owned(),
        "%ff".to_owned(),
        "1".to_owned(),
        project.id.to_string(),
    ];
    for id in rows {
        let reply = project.api.get(&format!("/v1/payments/{id}")).await;
        assert_eq!(reply.status.as_u16(), 404, "{id}");
        reply.refused(404, "RESOURCE_NOT_FOUND");
    }
    assert_eq!(fetch(&other, &payment).await, payment);
}

async fn a_payment_keeps_what_it_was_made_with_when_the_project_changes(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let merchant =
        MerchantProfile { name: "Warung Baru".to_owned(), city: "BANDUNG".to_owned(), postal_code: "40111".to_owned() };
    kit.update(project.id, ProjectUpdate { merchant: Some(merchant), ..ProjectUpdate::default() }).await;
    assert_eq!(fetch(&project, &payment).await, payment);
    let newer = pending_qris(&project, 15_000).await;
    let payload = domain::qris::parse(text(&newer["instructions"], "qr_string")).unwrap();
    assert_eq!((payload.merchant_name(), payload.city()), ("WARUNG BARU", "BANDUNG"));
}
