//! Bodies, headers and ids that no client should send: each gets its exact error code and leaves nothing behind
//! (docs/contract.md, decisions §2).

use std::sync::Arc;

use reqwest::{Method, header::HeaderValue};
use testkit::{Kit, Reply, Socket, TestProject, on_every_database, on_sqlite_alone, request_bytes};

use crate::support::refusals::{Members, Refusals, totals};

on_every_database![
    an_id_that_cannot_exist_is_not_found,
    odd_bytes_in_a_query_break_a_rule_and_unknown_ids_match_nothing,
];

on_sqlite_alone![
    a_body_is_one_json_object_and_nothing_else,
    a_valid_body_with_anything_around_it_is_refused,
    a_member_given_twice_is_refused_at_every_depth,
    invalid_utf_8_is_refused_wherever_it_stands,
    deep_nesting_is_refused_and_does_no_harm,
    unknown_members_are_ignored_and_named,
    a_body_may_have_64_kib_and_not_a_byte_more,
    a_chunked_body_has_the_same_limit,
    a_body_is_application_json,
    an_idempotency_key_is_1_to_255_visible_ascii_characters_sent_once,
];

const BODY_BYTES_MOST: usize = 64 * 1024;
const TWO_MEGABYTES: usize = 2 * 1024 * 1024;

/// Every endpoint that takes a body.
async fn every_endpoint(project: &TestProject) -> [Refusals<'_>; 3] {
    let simulate = Refusals::simulate(project).await;
    [Refusals::payments(project), Refusals::links(project), simulate]
}

/// Sends every body to every endpoint, expects the same refusal, and shows that nothing was left behind.
async fn all_refuse(kit: &Kit, bodies: &[Vec<u8>], status: u16, code: &str) {
    let project = kit.sandbox().await;
    let endpoints = every_endpoint(&project).await;
    let before = totals(&project.api).await;
    for endpoint in &endpoints {
        for body in bodies {
            endpoint.check(body.clone(), status, code).await;
        }
    }
    let [payments, links, simulate] = endpoints;
    payments.left_nothing(before).await;
    links.left_nothing([before[0] + 1, before[1], before[2]]).await;
    simulate.left_nothing([before[0] + 1, before[1] + 1, before[2]]).await;
}

fn padded(sound: &str, bytes: usize) -> Vec<u8> {
    let mut body = sound.as_bytes().to_vec();
    body.resize(bytes, b' ');
    body
}

async fn a_body_is_one_json_object_and_nothing_else(kit: Arc<Kit>) {
    let rows = [
        "",
        " ",
        "\r\n",
        "null",
        "true",
        "1",
        "1.5",
        "\"text\"",
        "[]",
        "[{}]",
        "[[]]",
        "{",
        "}",
        "{}x",
        "{}{}",
        "{},",
        "{}\0",
        "{\"a\":1,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":undefined}",
        "// {}\n{}",
        "{\"a\":\"b",
        "\u{feff}{}",
        "project_id=1&amount=15000",
        "<xml/>",
    ];
    let bodies: Vec<Vec<u8>> = rows.iter().map(|row| row.as_bytes().to_vec()).collect();
    all_refuse(&kit, &bodies, 400, "INVALID_REQUEST").await;
}

async fn a_valid_body_with_anything_around_it_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payments = Refusals::payments(&project);
    let sound = Members::payment(&project).text();
    let utf16: Vec<u8> = sound.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let rows: [Vec<u8>; 9] = [
        format!("[{sound}]").into(),
        format!("\u{feff}{sound}").into(),
        format!("{sound}garbage").into(),
        format!("{sound}{sound}").into(),
        format!("{sound}\0").into(),
        format!("\0{sound}").into(),
        format!(")]}}',\n{sound}").into(),
        [sound.as_bytes(), b"\xff"].concat(),
        utf16,
    ];
    for row in rows {
        let message = payments.check(row, 400, "INVALID_REQUEST").await;
        assert!(message.contains("line 1") || message.contains("line 2") || message.contains("object"), "{message}");
    }
    payments.left_nothing([0, 0, 0]).await;
}

async fn a_member_given_twice_is_refused_at_every_depth(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    let (payment, link) = (Members::payment(&project), Members::link(&project));
    for name in ["project_id", "reference", "amount", "payment_method"] {
        let message = payments.check(payment.repeating(name), 400, "INVALID_REQUEST").await;
        assert!(message.contains(name) && message.contains("line 1"), "{message}");
    }
    for name in ["project_id", "title", "amount"] {
        let message = links.check(link.repeating(name), 400, "INVALID_REQUEST").await;
        assert!(message.contains(name) && message.contains("line 1"), "{message}");
    }
    let rows = [
        payment.with("payment_method", r#"{"type":"qris","type":"qris"}"#),
        payment.with("payment_method", r#"{"type":"qris","\u0074ype":"virtual_account"}"#),
        payment.with("metadata", r#"{"a":1,"a":1}"#),
        payment.with("metadata", r#"[[{"a":{"b":null,"b":null}}]]"#),
    ];
    for row in rows {
        payments.check(row, 400, "INVALID_REQUEST").await;
    }
    for row in [
        link.with("customer_fields", r#"{"name":true,"name":false}"#),
        link.with("allowed_payment_methods", r#"[{"type":"qris","type":"qris"}]"#),
    ] {
        links.check(row, 400, "INVALID_REQUEST").await;
    }
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
}

async fn invalid_utf_8_is_refused_wherever_it_stands(kit: Arc<Kit>) {
    let sequences: [&[u8]; 6] = [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80"];
    let mut bodies = Vec::new();
    for bytes in sequences {
        bodies.push([b"{\"reference\":\"", bytes, b"\"}"].concat());
        bodies.push([b"{\"", bytes, b"\":1}"].concat());
        bodies.push([b"{\"metadata\":{\"deep\":[\"", bytes, b"\"]}}"].concat());
    }
    all_refuse(&kit, &bodies, 400, "INVALID_REQUEST").await;
}

async fn deep_nesting_is_refused_and_does_no_harm(kit: Arc<Kit>) {
    let depth = 5_000;
    let arrays = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let bodies = [
        arrays.clone(),
        objects.clone(),
        "[".repeat(BODY_BYTES_MOST),
        format!("{{\"metadata\":{arrays}}}"),
        format!("{{\"metadata\":{objects}}}"),
        format!("{{\"payment_method\":{arrays}}}"),
    ];
    all_refuse(&kit, &bodies.map(String::into_bytes), 400, "INVALID_REQUEST").await;
}

async fn unknown_members_are_ignored_and_named(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payments = Refusals::payments(&project);
    let odd = payments.send(Members::payment(&project).with("a\\r\\nSet-Cookie: b", "1")).await;
    assert_eq!(odd.header("x-ignored-members"), Some("a%0D%0ASet-Cookie:%20b"));
    assert_eq!(odd.header("set-cookie"), None);
    odd.expect(201);
    let link =
        Refusals::links(&project).send(Members::link(&project).with("customer_fields", r#"{"nmae":true}"#)).await;
    assert_eq!(link.header("x-ignored-members"), Some("customer_fields.nmae"));
    assert_eq!(link.expect(201)["customer_fields"]["name"], false);
}

async fn a_body_may_have_64_kib_and_not_a_byte_more(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for endpoint in every_endpoint(&project).await {
        let before = totals(&project.api).await;
        for bytes in [BODY_BYTES_MOST + 1, TWO_MEGABYTES] {
            let reply = endpoint.send(padded(&endpoint.sound.0, bytes)).await;
            reply.refused(413, "INVALID_REQUEST");
            let reply = endpoint.send(vec![b'x'; bytes]).await;
            reply.refused(413, "INVALID_REQUEST");
        }
        assert_eq!(totals(&project.api).await, before);
        endpoint.send(padded(&endpoint.sound.0, BODY_BYTES_MOST)).await.expect(endpoint.sound.1);
    }
}

async fn a_chunked_body_has_the_same_limit(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let sound = Members::payment(&project).text();
    for (bytes, status) in [(BODY_BYTES_MOST + 1, 413), (TWO_MEGABYTES, 413), (BODY_BYTES_MOST, 201)] {
        let reply = chunked(&kit, &project, &padded(&sound, bytes)).await;
        match status {
            201 => drop(reply.expect(201)),
            _ => drop(reply.refused(413, "INVALID_REQUEST")),
        }
    }
    assert_eq!(totals(&project.api).await, [1, 0, 0]);
}

/// Sends a body in chunks of a thousand bytes.
async fn chunked(kit: &Kit, project: &TestProject, body: &[u8]) -> Reply {
    let authorization = format!("Bearer {}", project.key);
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Idempotency-Key", "chunked"),
        ("Content-Type", "application/json"),
        ("Transfer-Encoding", "chunked"),
    ];
    let mut bytes = request_bytes("POST", "/v1/payments", &headers, b"");
    for chunk in body.chunks(1_000) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&bytes).await;
    socket.answer().await.unwrap()
}

async fn a_body_is_application_json(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for endpoint in every_endpoint(&project).await {
        let before = totals(&project.api).await;
        let wrong = [
            None,
            Some(""),
            Some("text/plain"),
            Some("text/json"),
            Some("application/jsonx"),
            Some("application/json-patch+json"),
            Some("application/vnd.api+json"),
            Some("application/x-www-form-urlencoded"),
            Some("multipart/form-data; boundary=x"),
            Some("json"),
            Some("application/xml; x=application/json"),
        ];
        for content_type in wrong {
            typed(&endpoint, content_type).await.refused(415, "INVALID_REQUEST");
        }
        assert_eq!(totals(&project.api).await, before);
        typed(&endpoint, Some("Application/JSON ; charset=utf-8")).await.expect(endpoint.sound.1);
    }
}

async fn typed(endpoint: &Refusals<'_>, content_type: Option<&str>) -> Reply {
    let request = endpoint.api.request(Method::POST, &endpoint.path).header("Idempotency-Key", "typed");
    let request = request.body(endpoint.sound.0.clone());
    let request = match content_type {
        Some(content_type) => request.header("Content-Type", content_type),
        None => request,
    };
    endpoint.api.send(request).await
}

async fn an_idempotency_key_is_1_to_255_visible_ascii_characters_sent_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (long, accents) = ("k".repeat(256), "é".repeat(200));
    let rows: [(&[&[u8]], &str); 10] = [
        (&[], "IDEMPOTENCY_KEY_REQUIRED"),
        (&[b""], "IDEMPOTENCY_KEY_REQUIRED"),
        (&[long.as_bytes()], "VALIDATION_ERROR"),
        (&[b"two words"], "VALIDATION_ERROR"),
        (&[b"tab\tbed"], "VALIDATION_ERROR"),
        (&["kunci-é".as_bytes()], "VALIDATION_ERROR"),
        (&[b"\xff"], "VALIDATION_ERROR"),
        (&[accents.as_bytes()], "VALIDATION_ERROR"),
        (&[b"one", b"two"], "VALIDATION_ERROR"),
        (&[b"one", b"one"], "VALIDATION_ERROR"),
    ];
    for (keys, code) in rows {
        keyed(&project, "/v1/payments", keys).await.refused(400, code);
        if code == "VALIDATION_ERROR" {
            keyed(&project, "/v1/payment-links", keys).await.refused(400, code);
        }
    }
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
    for key in [&long[..255], "!", "~\"{}%\\"] {
        keyed(&project, "/v1/payments", &[key.as_bytes()]).await.expect(201);
    }
    assert_eq!(totals(&project.api).await, [3, 0, 0]);
}

async fn keyed(project: &TestProject, path: &str, keys: &[&[u8]]) -> Reply {
    let body = if path == "/v1/payments" { Members::payment(project) } else { Members::link(project) };
    let mut request = project.api.request(Method::POST, path).header("Content-Type", "application/json");
    for key in keys {
        request = request.header("Idempotency-Key", HeaderValue::from_bytes(key).unwrap());
    }
    project.api.send(request.body(body.text())).await
}

async fn an_id_that_cannot_exist_is_not_found(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = project.api.pay("k", &crate::support::samples::qris(&project, 15_000)).await.expect(201);
    let real = payment["id"].as_str().unwrap();
    let ids = [
        "%00".to_owned(),
        format!("{real}%00"),
        "%FF%FE".to_owned(),
        "%ED%A0%80".to_owned(),
        "%".to_owned(),
        "%zz".to_owned(),
        "a".repeat(10_000),
        real.to_uppercase(),
        real.replace("pay_", "PAY_"),
        real[..real.len() - 1].to_owned(),
        format!("{real}0"),
        real.replace("pay_", ""),
        format!("%20{real}"),
        format!("{real}%0d%0aX-Injected:%201"),
        "..%2f..%2fetc%2fpasswd".to_owned(),
        "'%20OR%201=1--".to_owned(),
        "-1".to_owned(),
        "null".to_owned(),
    ];
    for id in &ids {
        for (method, path) in [
            ("GET", format!("/v1/payments/{id}")),
            ("GET", format!("/v1/payment-links/{id}")),
            ("GET", format!("/v1/events/{id}")),
            ("POST", format!("/v1/payment-links/{id}/cancel")),
            ("DELETE", format!("/v1/api-keys/{id}")),
            ("POST", format!("/v1/sandbox/payments/{id}/simulate")),
        ] {
            let reply = raw(&kit, &project, method, &path).await;
            assert_eq!(reply.header("x-injected"), None);
            assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
            reply.refused(404, "RESOURCE_NOT_FOUND");
        }
    }
    let unchanged = project.api.get(&format!("/v1/payments/{real}")).await.expect(200);
    assert_eq!(unchanged, payment);
    assert_eq!(totals(&project.api).await, [1, 0, 0]);
}

/// Sends the path unchanged; an HTTP client would normalise it.
async fn raw(kit: &Kit, project: &TestProject, method: &str, path: &str) -> Reply {
    let authorization = format!("Bearer {}", project.key);
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    let body: &[u8] = if method == "POST" { b"{\"outcome\":\"paid\"}" } else { b"" };
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&request_bytes(method, path, &headers, body)).await;
    socket.answer().await.unwrap()
}

async fn odd_bytes_in_a_query_break_a_rule_and_unknown_ids_match_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    project.api.pay("k", &crate::support::samples::qris(&project, 15_000)).await.expect(201);
    for query in [
        "search=%00",
        "search=%0d%0a",
        "search=%FF",
        "page=%00",
        "page=1%00",
        "page=1.0",
        "page=1e0",
        "page=",
        "page=+1",
        "page=99999999999999999999",
        "page_size=9223372036854775808",
        "page=-9223372036854775809",
        "status=%00",
        "method=%FF",
        "status=PAID",
        "page=1&page=2",
    ] {
        let reply = raw(&kit, &project, "GET", &format!("/v1/payments?{query}")).await;
        assert_eq!(reply.status, 400, "{query}: {}", reply.text);
        reply.refused(400, "VALIDATION_ERROR");
    }
    for query in ["after=%00", "after=evt_1", "type=%00", "type=payment.PAID"] {
        raw(&kit, &project, "GET", &format!("/v1/events?{query}")).await.refused(400, "VALIDATION_ERROR");
    }
    for query in ["payment_link_id=%00", "payment_link_id=pl_1", "search=%25", "search=_", "page=9007199254740991"] {
        let list = raw(&kit, &project, "GET", &format!("/v1/payments?{query}")).await.expect(200);
        assert_eq!(list["data"], serde_json::json!([]), "{query}");
    }
}
