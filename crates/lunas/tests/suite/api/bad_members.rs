//! Members of a body that are missing, of the wrong type, out of range or full of odd characters
//! (docs/contract.md, decisions §2, checks 7 to 10).

use std::sync::Arc;

use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::refusals::{Members, Refusals, totals};

on_every_database![control_characters_and_too_many_characters_break_a_rule];

on_sqlite_alone![
    an_amount_is_a_json_integer,
    an_integer_too_large_for_the_machine_is_an_amount_out_of_range,
    expires_in_minutes_is_an_integer_of_at_least_one_and_lowered_to_the_maximum,
    a_text_of_another_type_is_the_wrong_shape,
    a_required_member_that_is_missing_null_or_empty_breaks_a_rule,
    a_lone_surrogate_is_not_json,
    a_payment_method_is_an_object_with_a_known_type_and_bank,
    allowed_methods_are_an_array_of_distinct_method_objects,
    booleans_and_customer_fields_have_their_shape,
    times_are_rfc_3339_and_a_links_expiry_is_in_the_future,
    a_simulation_that_makes_no_sense_changes_nothing,
    null_on_an_optional_member_is_the_same_as_leaving_it_out,
];

const NOT_TEXT: [&str; 7] = ["1", "1.5", "true", "false", "[]", "{}", "[\"x\"]"];
const NOT_OBJECT: [&str; 7] = ["[]", "[{}]", "[[\"type\",\"qris\"]]", "\"qris\"", "1", "true", "1.5"];
/// None of them is a JSON integer; some are not JSON either.
const NOT_INTEGER: [&str; 22] = [
    "15000.0",
    "15000.5",
    "1e4",
    "1E4",
    "1.5e4",
    "150000e-1",
    "1e30",
    "1e999",
    "-0.0",
    "\"15000\"",
    "\"\"",
    "true",
    "false",
    "[15000]",
    "{}",
    "015000",
    "+15000",
    "0x3A98",
    "15_000",
    "NaN",
    "Infinity",
    "15000.",
];
const ODD_TEXT: [&str; 9] = [
    r#""a\u0000b""#,
    r#""\u0000""#,
    r#""a\r\nb""#,
    r#""a\nb""#,
    r#""a\rb""#,
    r#""a\tb""#,
    r#""a\u001bb""#,
    r#""a\u007fb""#,
    r#""a\u0085b""#,
];
const LONE_SURROGATES: [&str; 5] =
    [r#""\ud800""#, r#""\udc00""#, r#""\ud800\ud800""#, r#""\ud800x""#, r#""\udc00\ud800""#];

fn long(characters: usize) -> String {
    format!("\"{}\"", "é".repeat(characters))
}

async fn an_amount_is_a_json_integer(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    for literal in NOT_INTEGER {
        payments.check(Members::payment(&project).with("amount", literal), 400, "INVALID_REQUEST").await;
        links.check(Members::link(&project).with("amount", literal), 400, "INVALID_REQUEST").await;
    }
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
}

async fn an_integer_too_large_for_the_machine_is_an_amount_out_of_range(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    let (forty, negative) = ("9".repeat(40), format!("-{}", "9".repeat(40)));
    // 309 digits are beyond a double.
    let (wide, negative_wide, widest) = ("9".repeat(309), format!("-{}", "9".repeat(309)), "9".repeat(30_000));
    let out_of_range = [
        "null",
        "0",
        "-0",
        "-1",
        "99",
        "1000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        &forty,
        &negative,
        &wide,
        &negative_wide,
        &widest,
    ];
    payments.member(&Members::payment(&project), "amount", &out_of_range, "VALIDATION_ERROR").await;
    links.member(&Members::link(&project), "amount", &out_of_range, "VALIDATION_ERROR").await;
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
    let largest = payments_with_key(&project, "largest", "amount", "999999999999").await;
    assert_eq!(largest["amount"], 999_999_999_999_i64);
}

async fn payments_with_key(project: &TestProject, key: &str, name: &'static str, literal: &str) -> serde_json::Value {
    let body = Members::payment(project).with(name, literal);
    let request = project.api.request(reqwest::Method::POST, "/v1/payments").header("Idempotency-Key", key);
    project.api.send(request.header("Content-Type", "application/json").body(body)).await.expect(201)
}

async fn expires_in_minutes_is_an_integer_of_at_least_one_and_lowered_to_the_maximum(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payments = Refusals::payments(&project);
    for literal in NOT_INTEGER {
        let body = Members::payment(&project).with("expires_in_minutes", literal);
        payments.check(body, 400, "INVALID_REQUEST").await;
    }
    let (negative, negative_wide) = (format!("-{}", "9".repeat(40)), format!("-{}", "9".repeat(309)));
    let too_few = ["0", "-1", "-9223372036854775809", &negative, &negative_wide];
    payments.member(&Members::payment(&project), "expires_in_minutes", &too_few, "VALIDATION_ERROR").await;
    payments.left_nothing([0, 0, 0]).await;

    let hour = payments_with_key(&project, "hour", "expires_in_minutes", "60").await;
    let (forty, wide) = ("9".repeat(40), "9".repeat(309));
    let too_many = ["61", "9223372036854775807", "9223372036854775808", "18446744073709551616", &forty, &wide];
    for (index, literal) in too_many.into_iter().enumerate() {
        let key = format!("lowered-{index}");
        let lowered = payments_with_key(&project, &key, "expires_in_minutes", literal).await;
        assert_eq!(lowered["expires_at"], hour["expires_at"], "{literal}");
    }
}

async fn a_text_of_another_type_is_the_wrong_shape(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    let (payment, link) = (Members::payment(&project), Members::link(&project));
    for name in ["project_id", "reference"] {
        payments.member(&payment, name, &NOT_TEXT, "INVALID_REQUEST").await;
    }
    for name in ["project_id", "title", "reference", "description", "expires_at"] {
        links.member(&link, name, &NOT_TEXT, "INVALID_REQUEST").await;
    }
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
    let simulate = Refusals::simulate(&project).await;
    for name in ["outcome", "paid_at", "receipt_id"] {
        simulate.member(&Members::simulate(), name, &NOT_TEXT, "INVALID_REQUEST").await;
    }
    simulate.left_nothing([2, 1, 0]).await;
}

async fn a_required_member_that_is_missing_null_or_empty_breaks_a_rule(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    let (payment, link) = (Members::payment(&project), Members::link(&project));
    for name in ["project_id", "reference", "amount", "payment_method"] {
        let message = payments.check(payment.without(name), 400, "VALIDATION_ERROR").await;
        assert!(message.contains(name), "{message}");
        payments.member(&payment, name, &["null"], "VALIDATION_ERROR").await;
    }
    for name in ["project_id", "title", "amount"] {
        let message = links.check(link.without(name), 400, "VALIDATION_ERROR").await;
        assert!(message.contains(name), "{message}");
        links.member(&link, name, &["null"], "VALIDATION_ERROR").await;
    }
    for name in ["project_id", "reference"] {
        payments.member(&payment, name, &["\"\""], "VALIDATION_ERROR").await;
    }
    for name in ["project_id", "title", "reference", "expires_at"] {
        links.member(&link, name, &["\"\""], "VALIDATION_ERROR").await;
    }
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
    let simulate = Refusals::simulate(&project).await;
    simulate.check("{}", 400, "VALIDATION_ERROR").await;
    simulate.member(&Members::simulate(), "outcome", &["null", "\"\""], "VALIDATION_ERROR").await;
    simulate.left_nothing([2, 1, 0]).await;
}

async fn control_characters_and_too_many_characters_break_a_rule(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    let (payment, link) = (Members::payment(&project), Members::link(&project));
    payments.member(&payment, "reference", &ODD_TEXT, "VALIDATION_ERROR").await;
    payments.member(&payment, "reference", &[&long(256)], "VALIDATION_ERROR").await;
    for name in ["title", "reference"] {
        links.member(&link, name, &ODD_TEXT, "VALIDATION_ERROR").await;
        links.member(&link, name, &[&long(256)], "VALIDATION_ERROR").await;
    }
    // Line breaks belong in a description; the rest does not.
    let odd = ODD_TEXT.map(|text| if text.contains("\\n") || text.contains("\\r") { r#""\u000b""# } else { text });
    links.member(&link, "description", &odd, "VALIDATION_ERROR").await;
    links.member(&link, "description", &[&long(2_001)], "VALIDATION_ERROR").await;
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
    let simulate = Refusals::simulate(&project).await;
    simulate.member(&Members::simulate(), "receipt_id", &ODD_TEXT, "VALIDATION_ERROR").await;
    simulate.member(&Members::simulate(), "receipt_id", &["\"\"", &long(256)], "VALIDATION_ERROR").await;
    simulate.left_nothing([2, 1, 0]).await;

    let longest = payments_with_key(&project, "longest", "reference", &long(255)).await;
    assert_eq!(longest["reference"], "é".repeat(255));
    let lines = Refusals { sound: (link.with("description", r#""a\r\nb\nc""#), 201), ..links };
    let made = lines.api.post("/v1/payment-links", &serde_json::from_str(&lines.sound.0).unwrap()).await;
    assert_eq!(made.expect(201)["description"], "a\r\nb\nc");
}

async fn a_lone_surrogate_is_not_json(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    for literal in LONE_SURROGATES {
        for name in ["reference", "project_id", "metadata"] {
            payments.check(Members::payment(&project).with(name, literal), 400, "INVALID_REQUEST").await;
        }
        for name in ["title", "description", "metadata"] {
            links.check(Members::link(&project).with(name, literal), 400, "INVALID_REQUEST").await;
        }
    }
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
    let pair = payments_with_key(&project, "pair", "reference", r#""\ud83d\ude00""#).await;
    assert_eq!(pair["reference"], "😀");
}

async fn a_payment_method_is_an_object_with_a_known_type_and_bank(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payments = Refusals::payments(&project);
    let payment = Members::payment(&project);
    payments.member(&payment, "payment_method", &NOT_OBJECT, "INVALID_REQUEST").await;
    let wrong_shape = [
        r#"{"type":1}"#,
        r#"{"type":["qris"]}"#,
        r#"{"type":{}}"#,
        r#"{"type":true}"#,
        r#"{"type":"qris","bank":1}"#,
        r#"{"type":"virtual_account","bank":["bca"]}"#,
        r#"{"type":"virtual_account","bank":{"code":"bca"}}"#,
    ];
    payments.member(&payment, "payment_method", &wrong_shape, "INVALID_REQUEST").await;
    let wrong_value = [
        "{}",
        r#"{"type":null}"#,
        r#"{"type":""}"#,
        r#"{"type":"QRIS"}"#,
        r#"{"type":"qris "}"#,
        r#"{"type":"qris\u0000"}"#,
        r#"{"type":"card"}"#,
        r#"{"bank":"bca"}"#,
        r#"{"type":"qris","bank":"bca"}"#,
        r#"{"type":"qris","bank":""}"#,
        r#"{"type":"virtual_account"}"#,
        r#"{"type":"virtual_account","bank":null}"#,
        r#"{"type":"virtual_account","bank":""}"#,
        r#"{"type":"virtual_account","bank":"BCA"}"#,
        r#"{"type":"virtual_account","bank":"bca\u0000"}"#,
        r#"{"type":"virtual_account","bank":"nowhere"}"#,
    ];
    payments.member(&payment, "payment_method", &wrong_value, "VALIDATION_ERROR").await;
    payments.left_nothing([0, 0, 0]).await;
    payments_with_key(&project, "null-bank", "payment_method", r#"{"type":"qris","bank":null}"#).await;
}

async fn allowed_methods_are_an_array_of_distinct_method_objects(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let links = Refusals::links(&project);
    let link = Members::link(&project);
    let wrong_shape = [
        "{}",
        r#"{"type":"qris"}"#,
        "\"qris\"",
        "1",
        "true",
        "[\"qris\"]",
        "[[]]",
        r#"[["type","qris"]]"#,
        "[null]",
        "[1]",
        r#"[{"type":"qris"},"virtual_account"]"#,
        r#"[{"type":1}]"#,
        r#"[{"type":"virtual_account","bank":["bca"]}]"#,
    ];
    links.member(&link, "allowed_payment_methods", &wrong_shape, "INVALID_REQUEST").await;
    let wrong_value = [
        "[{}]",
        r#"[{"type":"card"}]"#,
        r#"[{"type":"qris"},{"type":"qris"}]"#,
        r#"[{"type":"virtual_account"},{"type":"virtual_account","bank":"bca"}]"#,
        r#"[{"type":"qris","bank":"bca"}]"#,
        r#"[{"type":"virtual_account","bank":"nowhere"}]"#,
    ];
    links.member(&link, "allowed_payment_methods", &wrong_value, "VALIDATION_ERROR").await;
    links.left_nothing([0, 0, 0]).await;
}

async fn booleans_and_customer_fields_have_their_shape(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let links = Refusals::links(&project);
    let link = Members::link(&project);
    let not_boolean = ["0", "1", "\"true\"", "\"\"", "[]", "{}", "1.0"];
    links.member(&link, "allow_multiple_payments", &not_boolean, "INVALID_REQUEST").await;
    let wrong_fields =
        ["[]", "[true,true,false,false]", "true", "\"name\"", "1", r#"{"name":1}"#, r#"{"email":"true"}"#];
    links.member(&link, "customer_fields", &wrong_fields, "INVALID_REQUEST").await;
    let nested = [r#"{"phone":[]}"#, r#"{"address":{}}"#];
    links.member(&link, "customer_fields", &nested, "INVALID_REQUEST").await;
    links.left_nothing([0, 0, 0]).await;
}

async fn times_are_rfc_3339_and_a_links_expiry_is_in_the_future(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let links = Refusals::links(&project);
    let now = format!("\"{}\"", kit.engine.now());
    let malformed =
        ["\"tomorrow\"", "\"2099-01-01\"", "\"2099-01-01T00:00:00\"", "\"2099-13-01T00:00:00Z\"", "\"4070908800\""];
    let odd = [r#""2099-01-01T00:00:00Z\u0000""#, "\"2000-01-01T00:00:00Z\"", &now];
    links.member(&Members::link(&project), "expires_at", &malformed, "VALIDATION_ERROR").await;
    links.member(&Members::link(&project), "expires_at", &odd, "VALIDATION_ERROR").await;
    links.left_nothing([0, 0, 0]).await;
    let simulate = Refusals::simulate(&project).await;
    simulate.member(&Members::simulate(), "paid_at", &malformed, "VALIDATION_ERROR").await;
    simulate.left_nothing([1, 1, 0]).await;
}

async fn a_simulation_that_makes_no_sense_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let simulate = Refusals::simulate(&project).await;
    let members = Members::simulate();
    for literal in NOT_INTEGER {
        simulate.check(members.with("amount", literal), 400, "INVALID_REQUEST").await;
    }
    let forty = "9".repeat(40);
    simulate.member(&members, "amount", &["0", "-1", "1000000000000", &forty], "VALIDATION_ERROR").await;
    let outcomes = ["\"PAID\"", "\"succeeded\"", "\"cancelled\"", r#""paid\u0000""#];
    simulate.member(&members, "outcome", &outcomes, "VALIDATION_ERROR").await;
    simulate.left_nothing([1, 0, 0]).await;
    assert_eq!(totals(&project.api).await, [1, 0, 1], "the one sound simulation is the only event");
    let balance = project.api.get("/v1/balance").await.expect(200);
    assert_eq!(balance["unapplied"], 0);
}

async fn null_on_an_optional_member_is_the_same_as_leaving_it_out(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let plain = payments_with_key(&project, "plain", "reference", "\"order-1\"").await;
    let nulled = payments_with_key(&project, "nulled", "expires_in_minutes", "null").await;
    assert_eq!(plain["expires_at"], nulled["expires_at"]);
    let link = Members::link(&project).without("nothing");
    let nulls = r#""reference":null,"description":null,"expires_at":null,"allowed_payment_methods":null,"#;
    let more = r#""allow_multiple_payments":null,"customer_fields":null"#;
    let body = format!("{},{nulls}{more}}}", link.strip_suffix('}').unwrap());
    let links = Refusals::links(&project);
    let (mut bare, mut full) = (links.send(link).await.expect(201), links_without_key(&project, body).await);
    for made in [&mut bare, &mut full] {
        for own in ["id", "url", "reference"] {
            made[own] = "its own".into();
        }
    }
    assert_eq!(bare, full);
}

async fn links_without_key(project: &TestProject, body: String) -> serde_json::Value {
    let request = project.api.request(reqwest::Method::POST, "/v1/payment-links");
    project.api.send(request.header("Content-Type", "application/json").body(body)).await.expect(201)
}
