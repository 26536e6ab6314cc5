//! Refunds that must be refused: each gets its exact code and leaves nothing behind.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Api, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{id, text},
    payments::{paid, pending_qris, report, total},
    receipts::held_amount,
    refunds::{ask, ask_for_refund, cancel, destination, refund, simulate_end, sums},
    refusals::refused,
};

on_every_database![
    a_payment_that_is_not_paid_not_there_or_not_ours_gives_nothing_back,
    no_text_that_a_database_could_not_hold_gets_into_a_refund,
    refunds_of_another_project_are_not_found,
];

on_sqlite_alone![
    an_amount_is_a_whole_number_from_1_to_what_was_received,
    a_destination_is_a_bank_that_is_known_and_a_number_of_digits,
    other_members_have_their_rules_too,
    an_idempotency_key_is_required,
    an_outcome_that_cannot_be_is_refused,
    a_filter_that_cannot_be_is_refused,
];

/// A project with a paid payment, and what it has before anything is refused.
struct Shop {
    project: TestProject,
    payment: Value,
    before: [i64; 4],
}

impl Shop {
    async fn open(kit: &Kit) -> Shop {
        let project = kit.sandbox().await;
        let payment = paid(&project, "sold", 50_000).await;
        let before = sums(&project).await;
        Shop { project, payment, before }
    }

    /// Sends a body with the one key of all bodies here; returns the message of the refusal.
    async fn refuses(&self, body: &str, status: u16, code: &str) -> String {
        let request = self.project.api.request(Method::POST, &format!("/v1/payments/{}/refunds", id(&self.payment)));
        let request = request.header("Idempotency-Key", "spoilt").header("Content-Type", "application/json");
        refused(body, self.project.api.send(request.body(body.to_owned())).await, status, code)
    }

    /// Nothing was left behind, and the key is still unused.
    async fn left_nothing(&self) {
        assert_eq!(sums(&self.project).await, self.before);
        assert_eq!(total(&self.project.api, "/v1/refunds").await, 0);
        let whole = ask_for_refund(&self.project.api, id(&self.payment), "spoilt", &json!({})).await;
        assert_eq!(whole.header("idempotent-replayed"), None);
        assert_eq!(whole.expect(201)["amount"], 50_000);
    }
}

async fn an_amount_is_a_whole_number_from_1_to_what_was_received(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    for (literal, code) in [
        ("0", "VALIDATION_ERROR"),
        ("-0", "VALIDATION_ERROR"),
        ("-1", "VALIDATION_ERROR"),
        ("50001", "VALIDATION_ERROR"),
        ("1000000000000", "VALIDATION_ERROR"),
        ("9223372036854775808", "VALIDATION_ERROR"),
        ("-9223372036854775809", "VALIDATION_ERROR"),
        ("1.5", "VALIDATION_ERROR"),
        ("15e-1", "VALIDATION_ERROR"),
        ("0.1", "VALIDATION_ERROR"),
        ("1000.0", "INVALID_REQUEST"),
        ("1e4", "INVALID_REQUEST"),
        ("\"1000\"", "INVALID_REQUEST"),
        ("\"\"", "INVALID_REQUEST"),
        ("\"all\"", "INVALID_REQUEST"),
        ("true", "INVALID_REQUEST"),
        ("[1000]", "INVALID_REQUEST"),
        ("{}", "INVALID_REQUEST"),
    ] {
        let message = shop.refuses(&format!(r#"{{"amount":{literal}}}"#), 400, code).await;
        assert!(message.contains("`amount`"), "{literal}: {message}");
    }
    for body in ["", "[", "[]", "null", "5000", r#"{"amount":1000,"amount":1000}"#] {
        shop.refuses(body, 400, "INVALID_REQUEST").await;
    }
    shop.left_nothing().await;
}

async fn a_destination_is_a_bank_that_is_known_and_a_number_of_digits(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    for (literal, code, named) in [
        (r#""014 0123456789""#, "INVALID_REQUEST", "`destination`"),
        ("[]", "INVALID_REQUEST", "`destination`"),
        ("{}", "VALIDATION_ERROR", "`destination.bank`"),
        (r#"{"bank":"","account_number":"0123456789"}"#, "VALIDATION_ERROR", "`destination.bank`"),
        (r#"{"bank":"999","account_number":"0123456789"}"#, "VALIDATION_ERROR", "`destination.bank`"),
        (r#"{"bank":"BCA","account_number":"0123456789"}"#, "VALIDATION_ERROR", "`destination.bank`"),
        (r#"{"bank":"DEUTDEFF","account_number":"0123456789"}"#, "VALIDATION_ERROR", "`destination.bank`"),
        (r#"{"bank":14,"account_number":"0123456789"}"#, "INVALID_REQUEST", "`destination.bank`"),
        (r#"{"bank":"014"}"#, "VALIDATION_ERROR", "`destination.account_number`"),
        (r#"{"bank":"014","account_number":null}"#, "VALIDATION_ERROR", "`destination.account_number`"),
        (r#"{"bank":"014","account_number":""}"#, "VALIDATION_ERROR", "`destination.account_number`"),
        (r#"{"bank":"014","account_number":"1234"}"#, "VALIDATION_ERROR", "`destination.account_number`"),
        (r#"{"bank":"014","account_number":"12ab567890"}"#, "VALIDATION_ERROR", "`destination.account_number`"),
        (r#"{"bank":"014","account_number":"１２３４５６７"}"#, "VALIDATION_ERROR", "`destination.account_number`"),
        (
            r#"{"bank":"014","account_number":"DE89370400440532013000"}"#,
            "VALIDATION_ERROR",
            "`destination.account_number`",
        ),
        (r#"{"bank":"014","account_number":123456789}"#, "INVALID_REQUEST", "`destination.account_number`"),
        (
            r#"{"bank":"014","account_number":"0123456789","account_name":""}"#,
            "VALIDATION_ERROR",
            "`destination.account_name`",
        ),
        (
            r#"{"bank":"014","account_number":"0123456789","account_name":"a\nb"}"#,
            "VALIDATION_ERROR",
            "`destination.account_name`",
        ),
    ] {
        let message = shop.refuses(&format!(r#"{{"destination":{literal}}}"#), 400, code).await;
        assert!(message.contains(named), "{literal}: {message}");
        assert!(!message.contains("56789"), "a number is not repeated: {message}");
    }
    let digits = json!({ "destination": { "bank": "014", "account_number": "9".repeat(40) } });
    shop.refuses(&digits.to_string(), 400, "VALIDATION_ERROR").await;
    shop.left_nothing().await;
}

async fn other_members_have_their_rules_too(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    for (body, code, named) in [
        (json!({ "reason": "x".repeat(256) }), "VALIDATION_ERROR", "`reason`"),
        (json!({ "reason": "a\u{0}b" }), "VALIDATION_ERROR", "`reason`"),
        (json!({ "reason": "a\nb" }), "VALIDATION_ERROR", "`reason`"),
        (json!({ "reason": "a\u{202e}b" }), "VALIDATION_ERROR", "`reason`"),
        (json!({ "reason": 1 }), "INVALID_REQUEST", "`reason`"),
        (json!({ "metadata": { "x": 1 } }), "INVALID_REQUEST", "`metadata.x`"),
        (json!({ "metadata": { "": "1" } }), "VALIDATION_ERROR", "`metadata."),
        (json!({ "metadata": "x" }), "INVALID_REQUEST", "`metadata`"),
    ] {
        let message = shop.refuses(&body.to_string(), 400, code).await;
        assert!(message.contains(named), "{body}: {message}");
    }
    shop.left_nothing().await;
    let longest = json!({ "reason": "é".repeat(255), "amount": 1_000 });
    let other = paid(&shop.project, "other", 50_000).await;
    let reply = ask(
        &shop.project,
        &other,
        &json!({ "amont": 1, "destination": { "bank": "014", "account_number": "12345", "x": 1 } }),
    )
    .await;
    assert_eq!(reply.header("x-ignored-members"), Some("amont, destination.x"));
    cancel(&shop.project, &reply.expect(201)).await.expect(200);
    assert_eq!(text(&ask(&shop.project, &other, &longest).await.expect(201), "reason"), "é".repeat(255));
}

async fn an_idempotency_key_is_required(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    let path = format!("/v1/payments/{}/refunds", id(&shop.payment));
    let api: &Api = &shop.project.api;
    api.post(&path, &json!({})).await.refused(400, "IDEMPOTENCY_KEY_REQUIRED");
    ask_for_refund(api, id(&shop.payment), "", &json!({})).await.refused(400, "IDEMPOTENCY_KEY_REQUIRED");
    ask_for_refund(api, id(&shop.payment), &"x".repeat(256), &json!({})).await.refused(400, "VALIDATION_ERROR");
    let plain = api.request(Method::POST, &path).header("Idempotency-Key", "k").header("Content-Type", "text/plain");
    api.send(plain.body("{}")).await.refused(415, "INVALID_REQUEST");
    shop.left_nothing().await;
}

async fn a_payment_that_is_not_paid_not_there_or_not_ours_gives_nothing_back(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    let api = &shop.project.api;
    let pending = pending_qris(&shop.project, 50_000).await;
    ask(&shop.project, &pending, &json!({})).await.refused(409, "CONFLICT");
    for outcome in ["processing", "failed"] {
        let payment = pending_qris(&shop.project, 50_000).await;
        report(&shop.project, &payment, outcome).await;
        for body in [json!({}), json!({ "amount": 100 })] {
            ask(&shop.project, &payment, &body).await.refused(409, "CONFLICT");
        }
    }
    // Money that is held has paid nothing.
    held_amount(&shop.project, &pending, 49_999).await;
    ask(&shop.project, &pending, &json!({ "amount": 100 })).await.refused(409, "CONFLICT");
    let other = kit.sandbox().await;
    let foreign = paid(&other, "foreign", 50_000).await;
    for unknown in [
        id(&foreign),
        "pay_01kzdq3f5ve8x9m2r7t4w6y8za",
        "pay_",
        "x",
        "%00",
        id(&shop.payment).strip_prefix("pay_").unwrap(),
    ] {
        ask_for_refund(api, unknown, "unknown", &json!({})).await.refused(404, "RESOURCE_NOT_FOUND");
        ask_for_refund(api, unknown, "unknown", &json!({ "amount": 0 })).await.refused(400, "VALIDATION_ERROR");
    }
    assert_eq!(total(&other.api, "/v1/refunds").await, 0);
    assert_eq!(sums(&other).await, [0, 49_650, 0, 0]);
    assert_eq!(total(api, "/v1/refunds").await, 0);
}

async fn no_text_that_a_database_could_not_hold_gets_into_a_refund(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    for body in [
        json!({ "reason": "a\u{0}" }),
        json!({ "destination": { "bank": "0\u{0}4", "account_number": "0123456789" } }),
        json!({ "destination": { "bank": "014", "account_number": "01234567\u{0}9" } }),
        json!({ "destination": { "bank": "014", "account_number": "0123456789", "account_name": "\u{0}" } }),
        json!({ "metadata": { "a\u{0}": "b" } }),
    ] {
        shop.refuses(&body.to_string(), 400, "VALIDATION_ERROR").await;
    }
    shop.left_nothing().await;
    let whole = "😀".repeat(255);
    let other = paid(&shop.project, "other", 50_000).await;
    let body = json!({ "reason": whole, "metadata": { "😀": "ÿ\u{fffd}" } });
    let made = ask(&shop.project, &other, &body).await.expect(201);
    assert_eq!((text(&made, "reason"), &made["metadata"]), (whole.as_str(), &body["metadata"]));
}

async fn refunds_of_another_project_are_not_found(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    let other = kit.sandbox().await;
    let made = refund(&shop.project, &shop.payment, 10_903).await;
    for (project, unknown) in
        [(&other, id(&made)), (&shop.project, "rfd_01kzdq3f5ve8x9m2r7t4w6y8za"), (&other, "x"), (&other, "%00")]
    {
        let row = json!({ "id": unknown });
        project.api.get(&format!("/v1/refunds/{unknown}")).await.refused(404, "RESOURCE_NOT_FOUND");
        cancel(project, &row).await.refused(404, "RESOURCE_NOT_FOUND");
        simulate_end(project, &row, "succeeded").await.refused(404, "RESOURCE_NOT_FOUND");
    }
    assert_eq!(total(&other.api, "/v1/refunds").await, 0);
    assert_eq!(total(&other.api, &format!("/v1/refunds?payment_id={}", id(&shop.payment))).await, 0);
    assert_eq!(total(&shop.project.api, "/v1/refunds?status=pending").await, 1);
}

async fn an_outcome_that_cannot_be_is_refused(kit: Arc<Kit>) {
    let shop = Shop::open(&kit).await;
    let made = refund(&shop.project, &shop.payment, 10_903).await;
    for (body, code) in [
        (json!({}), "VALIDATION_ERROR"),
        (json!({ "outcome": "" }), "VALIDATION_ERROR"),
        (json!({ "outcome": "paid" }), "VALIDATION_ERROR"),
        (json!({ "outcome": "Succeeded" }), "VALIDATION_ERROR"),
        (json!({ "outcome": 1 }), "INVALID_REQUEST"),
        (json!([]), "INVALID_REQUEST"),
    ] {
        let path = format!("/v1/sandbox/refunds/{}/simulate", id(&made));
        refused(&body.to_string(), shop.project.api.post(&path, &body).await, 400, code);
    }
    // What has not succeeded cannot come back, and what has ended cannot end otherwise.
    simulate_end(&shop.project, &made, "returned").await.refused(409, "CONFLICT");
    simulate_end(&shop.project, &made, "failed").await.expect(200);
    for outcome in ["succeeded", "returned"] {
        simulate_end(&shop.project, &made, outcome).await.refused(409, "CONFLICT");
    }
    assert_eq!(sums(&shop.project).await, shop.before);
    let production = kit.production().await;
    simulate_end(&production, &made, "succeeded").await.refused(403, "FORBIDDEN");
    ask(&shop.project, &shop.payment, &json!({ "destination": destination() })).await.expect(201);
}

async fn a_filter_that_cannot_be_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (query, field) in [
        ("status=", "status"),
        ("status=paid", "status"),
        ("status=PENDING", "status"),
        ("status=failed&status=failed", "status"),
        ("payment_id=", "payment_id"),
        ("payment_id=x&payment_id=x", "payment_id"),
        ("created_from=yesterday", "created_from"),
        ("created_from=2026-01-02T00:00:00Z&created_to=2026-01-01T00:00:00Z", "created_to"),
        ("page=0", "page"),
        ("page_size=101", "page_size"),
    ] {
        let reply = project.api.get(&format!("/v1/refunds?{query}")).await;
        let message = refused(query, reply, 400, "VALIDATION_ERROR");
        assert!(message.contains(&format!("`{field}`")), "{query}: {message}");
    }
    for query in ["payment_id=x", "payment_id=%00", "unknown=1&%ff=1"] {
        assert_eq!(total(&project.api, &format!("/v1/refunds?{query}")).await, 0, "{query}");
    }
    for query in ["page=0", "page_size=0", "page=x"] {
        refused(query, project.api.get(&format!("/v1/banks?{query}")).await, 400, "VALIDATION_ERROR");
    }
}
