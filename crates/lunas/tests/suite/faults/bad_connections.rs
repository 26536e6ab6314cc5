//! Connections that are slow, broken, greedy or merely unusual. None of them may delay any other.

use std::{io::ErrorKind, sync::Arc, time::Duration};

use testkit::{Kit, Options, Socket, TestProject, on_sqlite_alone, request_bytes};

use tokio::net::TcpStream;

use crate::support::{
    options::trusted_proxy,
    refusals::{Members, totals},
    wait::until,
};

on_sqlite_alone![
    half_sent_headers_are_cut_off_and_delay_nobody with short_header_timeout(),
    a_head_that_arrives_byte_by_byte_is_cut_off_too with short_header_timeout(),
    a_body_that_does_not_arrive_is_408_and_the_connection_is_closed with short_body_timeout(),
    a_body_that_arrives_byte_by_byte_is_408_too with short_body_timeout(),
    a_request_that_takes_too_long_is_503 with short_request_timeout(),
    a_client_that_disconnects_in_the_middle_leaves_nothing_behind,
    two_lengths_that_disagree_are_refused_and_nothing_after_them_is_read,
    a_length_beside_a_transfer_encoding_smuggles_no_second_request,
    a_head_over_16_kib_or_100_headers_is_431,
    bytes_that_are_not_http_are_refused_or_cut_off with short_header_timeout(),
    bare_line_feeds_mean_the_same_as_whole_line_breaks,
    a_target_may_be_an_absolute_url_and_no_tunnel_is_opened,
    http_1_0_is_answered_and_the_connection_closed,
    pipelined_requests_are_answered_in_order,
    a_connection_goes_on_after_an_error,
    idle_and_stuck_connections_delay_nobody,
    a_client_that_does_not_read_its_answers_loses_its_connection with short_request_timeout(),
    an_idle_connection_is_kept_longer_than_a_head_may_take with short_header_timeout(),
    an_idle_connection_is_closed_in_the_end with short_idle_timeout(),
    a_head_that_begins_on_an_idle_connection_must_be_complete_soon with short_header_timeout(),
    connections_beyond_the_limit_of_an_address_are_closed_at_once_and_counted_until_they_end with few_connections(),
    connections_of_a_trusted_proxy_are_not_counted with few_connections_of_a_proxy(),
];

const SHORT: Duration = Duration::from_millis(150);
/// How often a slow client sends a byte: so often that no single pause is too long.
const DRIP: Duration = Duration::from_millis(10);

fn short_header_timeout() -> Options {
    let mut options = Options::default();
    options.timeouts.header = SHORT;
    options
}

fn short_idle_timeout() -> Options {
    let mut options = Options::default();
    options.timeouts.idle = SHORT;
    options
}

const FEW: usize = 3;

fn few_connections() -> Options {
    Options { connections_per_address: FEW, ..Options::default() }
}

fn few_connections_of_a_proxy() -> Options {
    Options { connections_per_address: FEW, ..trusted_proxy() }
}

fn short_body_timeout() -> Options {
    let mut options = Options::default();
    options.timeouts.body = SHORT;
    options
}

fn short_request_timeout() -> Options {
    let mut options = Options::default();
    options.timeouts.request = SHORT;
    options
}

fn post_head(project: &TestProject, more: &[(&str, &str)]) -> Vec<u8> {
    let authorization = format!("Bearer {}", project.key);
    let mut headers = vec![
        ("Authorization", authorization.as_str()),
        ("Idempotency-Key", "socket"),
        ("Content-Type", "application/json"),
    ];
    headers.extend_from_slice(more);
    request_bytes("POST", "/v1/payments", &headers, b"")
}

fn get(project: &TestProject, path: &str, id: &str) -> Vec<u8> {
    let authorization = format!("Bearer {}", project.key);
    request_bytes("GET", path, &[("Authorization", &authorization), ("X-Request-Id", id)], b"")
}

async fn is_served(kit: &Kit, project: &TestProject) {
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&get(project, "/v1/balance", "other")).await;
    socket.answer().await.unwrap().expect(200);
}

/// Sends one byte after another until the server closes the connection.
async fn drip(socket: &mut Socket, byte: &[u8]) {
    let mut drips = 0;
    while !socket.hears_within(DRIP).await {
        drips += 1;
        assert!(drips < 2_000, "the server waits for ever");
        socket.send(byte).await;
    }
}

async fn half_sent_headers_are_cut_off_and_delay_nobody(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let whole = post_head(&project, &[("Content-Length", "2")]);
    let mut held = Vec::new();
    for bytes in [0, 1, 4, 20, 60, whole.len() - 4, whole.len() - 2, whole.len() - 1] {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&whole[..bytes]).await;
        held.push(socket);
    }
    is_served(&kit, &project).await;
    for mut socket in held {
        socket.closed().await;
    }
    is_served(&kit, &project).await;
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
}

async fn a_head_that_arrives_byte_by_byte_is_cut_off_too(kit: Arc<Kit>) {
    let mut socket = Socket::connect(kit.address).await;
    socket.send(b"GET /healthz HTTP/1.1\r\nHost: lunas.test\r\nX-Slow: ").await;
    drip(&mut socket, b"a").await;
    socket.closed().await;
}

async fn a_body_that_does_not_arrive_is_408_and_the_connection_is_closed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let sound = Members::payment(&project).text();
    let length = sound.len().to_string();
    for (framing, part) in [
        (("Content-Length", length.as_str()), &sound.as_bytes()[..10]),
        (("Content-Length", length.as_str()), b""),
        (("Content-Length", "99999999999999"), sound.as_bytes()),
        (("Transfer-Encoding", "chunked"), b"5\r\n{\"a\":"),
        (("Transfer-Encoding", "chunked"), b""),
    ] {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&post_head(&project, &[framing])).await;
        socket.send(part).await;
        is_served(&kit, &project).await;
        socket.answer().await.unwrap().refused(408, "INVALID_REQUEST");
        socket.closed().await;
    }
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
}

async fn a_body_that_arrives_byte_by_byte_is_408_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&post_head(&project, &[("Content-Length", "60000")])).await;
    drip(&mut socket, b" ").await;
    socket.answer().await.unwrap().refused(408, "INVALID_REQUEST");
    socket.closed().await;
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
}

async fn a_request_that_takes_too_long_is_503(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&post_head(&project, &[("Content-Length", "100")])).await;
    let reply = socket.answer().await.unwrap();
    assert!(reply.header("retry-after").is_some());
    reply.refused(503, "SERVICE_UNAVAILABLE");
    socket.closed().await;
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
}

async fn a_client_that_disconnects_in_the_middle_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let sound = Members::payment(&project).text();
    let length = sound.len().to_string();
    for bytes in [0, 1, sound.len() - 1] {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&post_head(&project, &[("Content-Length", &length)])).await;
        socket.send(&sound.as_bytes()[..bytes]).await;
    }
    is_served(&kit, &project).await;
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
    let body = serde_json::from_str(&sound).unwrap();
    project.api.pay("socket", &body).await.expect(201);
}

async fn two_lengths_that_disagree_are_refused_and_nothing_after_them_is_read(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let sound = Members::payment(&project).text();
    let length = sound.len().to_string();
    let longer = (sound.len() + 1).to_string();
    let list = format!("{length}, {longer}");
    for lengths in [
        &[("Content-Length", length.as_str()), ("Content-Length", longer.as_str())][..],
        &[("Content-Length", list.as_str())],
        &[("Content-Length", "-1")],
        &[("Content-Length", "+10")],
        &[("Content-Length", "0x10")],
        &[("Content-Length", "1e3")],
        &[("Content-Length", "")],
        &[("Content-Length", "99999999999999999999999999")],
        &[("Transfer-Encoding", "chunked, identity")],
        &[("Transfer-Encoding", "gzip")],
        &[("Transfer-Encoding", "xchunked")],
    ] {
        let mut socket = Socket::connect(kit.address).await;
        let smuggled = get(&project, "/v1/payments", "smuggled");
        socket.send(&[post_head(&project, lengths), sound.clone().into_bytes(), smuggled].concat()).await;
        // The HTTP library answers these itself, so there may be no body.
        let reply = socket.answer().await;
        assert_eq!(reply.map(|reply| reply.status.as_u16()), Some(400), "{lengths:?}");
        socket.closed().await;
    }
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
    is_served(&kit, &project).await;
}

async fn a_length_beside_a_transfer_encoding_smuggles_no_second_request(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let sound = Members::payment(&project).text();
    let chunked = format!("{:x}\r\n{sound}\r\n0\r\n\r\n", sound.len());
    let whole = chunked.len().to_string();
    let smuggled = get(&project, "/v1/payments", "smuggled");
    for lengths in [
        [("Content-Length", "4"), ("Transfer-Encoding", "chunked")],
        [("Transfer-Encoding", "chunked"), ("Content-Length", "4")],
        [("Content-Length", whole.as_str()), ("Transfer-Encoding", "chunked")],
    ] {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&[post_head(&project, &lengths), chunked.clone().into_bytes(), smuggled.clone()].concat()).await;
        // RFC 9112, 6.1: only the transfer encoding counts, and the connection is closed after the answer.
        let reply = socket.answer().await.unwrap();
        assert!(matches!(reply.status.as_u16(), 200 | 201), "{lengths:?}: {}", reply.text);
        assert_ne!(reply.header("x-request-id"), Some("smuggled"));
        socket.closed().await;
    }
    assert_eq!(totals(&project.api).await, [1, 0, 0]);
}

async fn a_head_over_16_kib_or_100_headers_is_431(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let large = "a".repeat(17 * 1024);
    let many: Vec<String> = (0..200).map(|number| format!("X-{number}")).collect();
    let headers =
        |count: usize| -> Vec<(&str, &str)> { many[..count].iter().map(|name| (name.as_str(), "1")).collect() };
    // Host is a header too.
    for (name, bytes) in [
        ("a large header", request_bytes("GET", "/healthz", &[("X-Large", &large)], b"")),
        ("a large path", request_bytes("GET", &format!("/v1/payments/{large}"), &[], b"")),
        ("101 headers", request_bytes("GET", "/healthz", &headers(100), b"")),
        ("201 headers", request_bytes("GET", "/healthz", &headers(200), b"")),
    ] {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&bytes).await;
        let reply = socket.answer().await.unwrap_or_else(|| panic!("{name}: closed without an answer"));
        assert_eq!(reply.status, 431, "{name}");
        socket.closed().await;
    }
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&request_bytes("GET", "/healthz", &headers(99), b"")).await;
    socket.answer().await.unwrap().expect(200);
    let fits = "a".repeat(15 * 1024);
    socket.send(&request_bytes("GET", "/healthz", &[("X-Large", &fits)], b"")).await;
    socket.answer().await.unwrap().expect(200);
    is_served(&kit, &project).await;
}

async fn bytes_that_are_not_http_are_refused_or_cut_off(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for bytes in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /healthz\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nBad Name: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
        b"GET /health\0z HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /health z HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n",
    ] {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(bytes).await;
        if let Some(reply) = socket.answer().await {
            assert_eq!(reply.status, 400, "{}", bytes.escape_ascii());
        }
        socket.closed().await;
    }
    is_served(&kit, &project).await;
}

async fn bare_line_feeds_mean_the_same_as_whole_line_breaks(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let request = String::from_utf8(get(&project, "/v1/balance", "bare")).unwrap();
    let mut socket = Socket::connect(kit.address).await;
    socket.send(request.as_bytes()).await;
    let usual = socket.answer().await.unwrap().expect(200);
    socket.send(request.replace("\r\n", "\n").as_bytes()).await;
    assert_eq!(socket.answer().await.unwrap().expect(200), usual);
}

async fn a_target_may_be_an_absolute_url_and_no_tunnel_is_opened(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&get(&project, "http://lunas.test/v1/balance?x=1", "whole")).await;
    socket.answer().await.unwrap().expect(200);
    for (method, target) in [("OPTIONS", "*"), ("CONNECT", "lunas.test:443"), ("GET", "http://lunas.test/nothing")] {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&request_bytes(method, target, &[], b"")).await;
        let reply = socket.answer().await.unwrap();
        assert_eq!(reply.status, 404, "{method} {target}: {}", reply.text);
        reply.refused(404, "RESOURCE_NOT_FOUND");
    }
}

async fn http_1_0_is_answered_and_the_connection_closed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let request = String::from_utf8(get(&project, "/v1/balance", "old")).unwrap();
    let mut socket = Socket::connect(kit.address).await;
    socket.send(request.replace("HTTP/1.1", "HTTP/1.0").as_bytes()).await;
    let balance = socket.answer().await.unwrap().expect(200);
    assert_eq!(balance["project_id"], project.id.to_string());
    socket.closed().await;
}

async fn pipelined_requests_are_answered_in_order(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let sound = Members::payment(&project).text();
    let create = post_head(&project, &[("Content-Length", &sound.len().to_string()), ("X-Request-Id", "create")]);
    let mut pipelined = Vec::new();
    for number in 0..10 {
        pipelined.extend_from_slice(&get(&project, "/v1/payments", &format!("before-{number}")));
    }
    pipelined.extend_from_slice(&create);
    pipelined.extend_from_slice(sound.as_bytes());
    pipelined.extend_from_slice(&get(&project, "/nowhere", "lost"));
    pipelined.extend_from_slice(&get(&project, "/v1/payments", "after"));
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&pipelined).await;
    let mut seen = Vec::new();
    for _ in 0..13 {
        let reply = socket.answer().await.unwrap();
        let id = reply.header("x-request-id").unwrap().to_owned();
        let items = reply.json["pagination"]["total_items"].as_i64();
        seen.push((id, reply.status.as_u16(), items));
    }
    let mut expected: Vec<_> = (0..10).map(|number| (format!("before-{number}"), 200, Some(0))).collect();
    expected.push(("create".to_owned(), 201, None));
    expected.push(("lost".to_owned(), 404, None));
    expected.push(("after".to_owned(), 200, Some(1)));
    assert_eq!(seen, expected);
}

async fn a_connection_goes_on_after_an_error(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut socket = Socket::connect(kit.address).await;
    let large = vec![b' '; 100_000];
    let post = |content_type: &str, body: &[u8]| {
        let authorization = format!("Bearer {}", project.key);
        let headers =
            [("Authorization", authorization.as_str()), ("Idempotency-Key", "k"), ("Content-Type", content_type)];
        request_bytes("POST", "/v1/payments", &headers, body)
    };
    for (request, status) in [
        (get(&project, "/nowhere", "1"), 404),
        (get(&project, "/v1/payments/pay_1", "2"), 404),
        (request_bytes("GET", "/v1/payments", &[], b""), 401),
        (request_bytes("PUT", "/healthz", &[], b""), 405),
        (get(&project, "/v1/payments?page=0", "3"), 400),
        (post("application/json", b"not json"), 400),
        (post("application/json", b"{}"), 400),
        (post("text/plain", b"{}"), 415),
        (post("application/json", &large), 413),
        (get(&project, "/v1/payments", "4"), 200),
    ] {
        assert!(socket.send(&request).await, "the connection is gone before {status}");
        let reply = socket.answer().await.unwrap_or_else(|| panic!("closed instead of {status}"));
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert_eq!(totals(&project.api).await, [0, 0, 0]);
}

async fn idle_and_stuck_connections_delay_nobody(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (mut idle, mut stuck) = (Vec::new(), Vec::new());
    for number in 0..150 {
        let mut socket = Socket::connect(kit.address).await;
        match number % 3 {
            0 => {}
            1 => drop(socket.send(b"POST /v1/payments HT").await),
            _ => drop(socket.send(&post_head(&project, &[("Content-Length", "1000")])).await),
        }
        if number % 3 == 0 { idle.push(socket) } else { stuck.push(socket) }
    }
    let body = serde_json::from_str(&Members::payment(&project).text()).unwrap();
    for number in 0..50 {
        project.api.pay(&format!("k-{number}"), &body).await.expect(201);
    }
    assert_eq!(totals(&project.api).await, [50, 0, 0]);
    for mut socket in idle {
        socket.send(&get(&project, "/v1/balance", "late")).await;
        socket.answer().await.unwrap().expect(200);
    }
}

async fn a_client_that_does_not_read_its_answers_loses_its_connection(kit: Arc<Kit>) {
    let stream = TcpStream::connect(kit.address).await.unwrap();
    let request = b"GET /openapi.json HTTP/1.1\r\nHost: lunas\r\n\r\n";
    // Sends as much as the socket takes and reads nothing, until the server closes the connection.
    let refused = async {
        loop {
            stream.writable().await.unwrap();
            match stream.try_write(request) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => tokio::task::yield_now().await,
                Err(_) => break,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), refused).await.expect("the connection is still there");
}

async fn healthy(socket: &mut Socket) {
    socket.send(&request_bytes("GET", "/healthz", &[], b"")).await;
    assert_eq!(socket.answer().await.unwrap().status, 200);
}

async fn an_idle_connection_is_kept_longer_than_a_head_may_take(kit: Arc<Kit>) {
    let mut idle = Socket::connect(kit.address).await;
    healthy(&mut idle).await;
    for _ in 0..3 {
        // A connection without a request is closed after the time for a head, so that much has passed.
        Socket::connect(kit.address).await.closed().await;
    }
    healthy(&mut idle).await;
}

async fn an_idle_connection_is_closed_in_the_end(kit: Arc<Kit>) {
    let mut idle = Socket::connect(kit.address).await;
    for _ in 0..3 {
        healthy(&mut idle).await;
    }
    idle.closed().await;
}

async fn a_head_that_begins_on_an_idle_connection_must_be_complete_soon(kit: Arc<Kit>) {
    for begun in [&b"G"[..], b"GET /healthz HTTP/1.1\r\nX-Slow: "] {
        let mut socket = Socket::connect(kit.address).await;
        healthy(&mut socket).await;
        socket.send(begun).await;
        drip(&mut socket, b"a").await;
        socket.closed().await;
    }
}

async fn connections_beyond_the_limit_of_an_address_are_closed_at_once_and_counted_until_they_end(kit: Arc<Kit>) {
    let mut held = Vec::new();
    for _ in 0..FEW {
        let mut socket = Socket::connect(kit.address).await;
        healthy(&mut socket).await;
        held.push(socket);
    }
    for _ in 0..2 * FEW {
        Socket::connect(kit.address).await.closed().await;
    }
    for socket in &mut held {
        healthy(socket).await;
    }
    held.pop();
    // The server notices the end of a connection a moment later.
    until(async || {
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&request_bytes("GET", "/healthz", &[], b"")).await;
        socket.answer().await.is_some_and(|reply| reply.status == 200)
    })
    .await;
}

async fn connections_of_a_trusted_proxy_are_not_counted(kit: Arc<Kit>) {
    let mut held = Vec::new();
    for _ in 0..4 * FEW {
        let mut socket = Socket::connect(kit.address).await;
        healthy(&mut socket).await;
        held.push(socket);
    }
}
