//! Errors that the web framework finds by itself carry the envelope, a code of the table and a request id too
//! (docs/contract.md, decisions §2).

use std::{collections::BTreeSet, sync::Arc};

use reqwest::Method;
use testkit::{Kit, Reply, Socket, TestProject, on_sqlite_alone, request_bytes};

use crate::support::{
    refusals::{Members, totals},
    samples::qris,
};

on_sqlite_alone![
    an_unknown_path_is_404_before_401,
    a_method_that_an_address_does_not_take_is_405_and_allow_names_those_it_takes,
    head_answers_as_get_does_without_a_body,
    errors_of_size_and_media_type_carry_the_envelope_and_a_request_id,
    a_chunk_that_cannot_be_read_is_a_bad_request,
    a_database_that_takes_no_writes_is_503_and_reads_go_on,
    a_well_formed_request_id_is_kept_and_any_other_replaced,
];

/// Every address, with the methods it takes.
fn addresses(project: &TestProject, payment: &str) -> Vec<(String, &'static [&'static str])> {
    vec![
        ("/v1/payments".to_owned(), &["GET", "HEAD", "POST"]),
        (format!("/v1/payments/{payment}"), &["GET", "HEAD"]),
        ("/v1/payment-links".to_owned(), &["GET", "HEAD", "POST"]),
        ("/v1/payment-links/pl_1".to_owned(), &["GET", "HEAD"]),
        ("/v1/payment-links/pl_1/cancel".to_owned(), &["POST"]),
        ("/v1/balance".to_owned(), &["GET", "HEAD"]),
        ("/v1/audit".to_owned(), &["GET", "HEAD"]),
        ("/v1/api-keys".to_owned(), &["GET", "HEAD", "POST"]),
        (format!("/v1/api-keys/{}", project.key_id), &["DELETE"]),
        ("/v1/project".to_owned(), &["GET", "HEAD"]),
        ("/v1/events".to_owned(), &["GET", "HEAD"]),
        ("/v1/events/evt_1".to_owned(), &["GET", "HEAD"]),
        ("/v1/receipts".to_owned(), &["GET", "HEAD"]),
        ("/v1/receipts/rcp_1".to_owned(), &["GET", "HEAD"]),
        ("/v1/receipts/rcp_1/accept".to_owned(), &["POST"]),
        ("/v1/receipts/rcp_1/return".to_owned(), &["POST"]),
        (format!("/v1/sandbox/payments/{payment}/simulate"), &["POST"]),
        ("/healthz".to_owned(), &["GET", "HEAD"]),
        ("/readyz".to_owned(), &["GET", "HEAD"]),
        ("/openapi.json".to_owned(), &["GET", "HEAD"]),
    ]
}

/// What every error has, no matter which layer found it.
fn is_complete_error(reply: &Reply) {
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert!(reply.header("x-request-id").is_some_and(|id| !id.is_empty()));
}

async fn an_unknown_path_is_404_before_401(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let authorization = format!("Bearer {}", project.key);
    let with_key = [("Authorization", authorization.as_str())];
    for path in [
        "//",
        "/v1",
        "/v1/",
        "/v2/payments",
        "/v1/payment",
        "/v1/Payments",
        "/V1/payments",
        "/v1/payments/",
        "/v1/payments//",
        "//v1/payments",
        "/v1//payments",
        "/v1/payments/pay_1/",
        "/v1/payments/pay_1/refund",
        "/v1/payment-links/pl_1/cancel/",
        "/v1/balance/",
        "/v1/./payments",
        "/v1/x/../payments",
        "/v1/payments%2f",
        "/v1%2fpayments",
        "/v1/sandbox",
        "/v1/sandbox/payments/pay_1",
        "/healthz/",
        "/.env",
        "/*",
    ] {
        for headers in [&[][..], &with_key[..]] {
            for method in ["GET", "POST", "DELETE", "PATCH", "OPTIONS"] {
                let mut socket = Socket::connect(kit.address).await;
                socket.send(&request_bytes(method, path, headers, b"")).await;
                let reply = socket.answer().await.unwrap();
                assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
                assert_eq!(reply.header("location"), None, "nothing redirects");
                is_complete_error(&reply);
                reply.refused(404, "RESOURCE_NOT_FOUND");
            }
        }
    }
}

async fn a_method_that_an_address_does_not_take_is_405_and_allow_names_those_it_takes(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = project.api.pay("k", &qris(&project, 15_000)).await.expect(201);
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "BREW"];
    for (path, taken) in addresses(&project, payment["id"].as_str().unwrap()) {
        let taken: BTreeSet<&str> = taken.iter().copied().collect();
        for method in methods.into_iter().filter(|method| !taken.contains(method)) {
            let request = project.api.request(method.parse::<Method>().unwrap(), &path);
            let reply = project.api.send(request).await;
            assert_eq!(reply.status, 405, "{method} {path}: {}", reply.text);
            let allow = reply.header("allow").unwrap_or_else(|| panic!("{method} {path}: no Allow")).to_owned();
            let allowed: BTreeSet<&str> = allow.split(',').map(str::trim).collect();
            assert_eq!(allowed, taken, "{method} {path}");
            // An answer to HEAD has no body for the envelope to be in.
            if method != "HEAD" {
                is_complete_error(&reply);
                reply.refused(405, "INVALID_REQUEST");
            }
        }
    }
    assert_eq!(totals(&project.api).await, [1, 0, 0]);
}

async fn head_answers_as_get_does_without_a_body(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for path in ["/v1/payments", "/v1/balance", "/healthz", "/readyz", "/openapi.json"] {
        let reply = project.api.send(project.api.request(Method::HEAD, path)).await;
        assert_eq!((reply.status.as_u16(), reply.text.as_str()), (200, ""), "{path}");
    }
    let anonymous = kit.anonymous();
    let reply = anonymous.send(anonymous.request(Method::HEAD, "/v1/payments")).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (401, ""));
}

async fn errors_of_size_and_media_type_carry_the_envelope_and_a_request_id(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let post = || project.api.request(Method::POST, "/v1/payments").header("Idempotency-Key", "k");
    let too_large = post().header("Content-Type", "application/json").body(vec![b' '; 70_000]);
    let reply = project.api.send(too_large).await;
    is_complete_error(&reply);
    let message = reply.refused(413, "INVALID_REQUEST");
    assert!(message.contains("64 KiB") || message.contains("65536"), "{message}");
    let reply = project.api.send(post().header("Content-Type", "text/plain").body("{}")).await;
    is_complete_error(&reply);
    let message = reply.refused(415, "INVALID_REQUEST");
    assert!(message.contains("application/json"), "{message}");
}

async fn a_chunk_that_cannot_be_read_is_a_bad_request(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let authorization = format!("Bearer {}", project.key);
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Idempotency-Key", "k"),
        ("Content-Type", "application/json"),
        ("Transfer-Encoding", "chunked"),
    ];
    let sound = Members::payment(&project).text();
    for chunks in [
        format!("zz\r\n{sound}\r\n0\r\n\r\n"),
        format!("-1\r\n{sound}\r\n0\r\n\r\n"),
        format!("fffffffffffffffff\r\n{sound}\r\n0\r\n\r\n"),
        format!("{:x}\r\n{sound}no line break\r\n0\r\n\r\n", sound.len()),
    ] {
        let mut socket = Socket::connect(kit.address).await;
        let head = request_bytes("POST", "/v1/payments", &headers, b"");
        socket.send(&[head, chunks.clone().into_bytes()].concat()).await;
        let reply = socket.answer().await.unwrap();
        assert_eq!(reply.status, 400, "{chunks}: {}", reply.text);
        is_complete_error(&reply);
        reply.refused(400, "INVALID_REQUEST");
        socket.closed().await;
    }
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
}

async fn a_database_that_takes_no_writes_is_503_and_reads_go_on(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    kit.store.close().await;
    let reply = project.api.pay("k", &qris(&project, 15_000)).await;
    is_complete_error(&reply);
    assert!(reply.header("retry-after").is_some_and(|after| after.parse::<u32>().is_ok_and(|after| after >= 1)));
    let message = reply.refused(503, "SERVICE_UNAVAILABLE");
    assert!(!message.to_lowercase().contains("database is closed"), "details stay in the log: {message}");
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
}

async fn a_well_formed_request_id_is_kept_and_any_other_replaced(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let longest = "a".repeat(128);
    for id in ["abc", "A-1_b.c:d", "0", &longest] {
        for path in ["/v1/payments", "/v1/payments/pay_1", "/nowhere", "/healthz"] {
            let reply = project.api.send(project.api.request(Method::GET, path).header("X-Request-Id", id)).await;
            assert_eq!(reply.header("x-request-id"), Some(id), "{path}");
        }
    }
    let too_long = "a".repeat(129);
    let mut made = BTreeSet::new();
    for id in ["", "two words", "<script>", "a\tb", "kunci-é", "a,b", &too_long] {
        let reply = project.api.send(project.api.request(Method::GET, "/healthz").header("X-Request-Id", id)).await;
        let fresh = reply.header("x-request-id").unwrap().to_owned();
        assert!(fresh.starts_with("req_") && fresh.len() > 20, "{id:?} became {fresh}");
        made.insert(fresh);
    }
    assert_eq!(made.len(), 7, "each request has an id of its own");
}
