//! Requests that are answered before their body is read: the next request on the connection is answered, or the answer before
//! it says `Connection: close` (RFC 9112, 9.6). No database decides about that.

use std::{sync::Arc, time::Duration};

use engine::ProjectUpdate;
use testkit::{Kit, Options, Socket, TestProject, on_sqlite, on_sqlite_with, request_bytes};

use crate::support::{
    options::rate_limit,
    refusals::{Members, totals},
};

/// The longest body that is read and dropped.
const DRAINED: usize = 64 * 1024;
/// So many requests that a fault which shows up in few of them shows up here.
const ROUNDS: usize = 20;
const SHORT: Duration = Duration::from_millis(150);
const DRIP: Duration = Duration::from_millis(10);

/// A request that is refused, or at least answered, before its body is read.
struct Refusal {
    status: u16,
    method: &'static str,
    path: &'static str,
    /// The value of `Authorization`.
    key: Option<String>,
}

impl Refusal {
    fn new(status: u16, method: &'static str, path: &'static str) -> Refusal {
        Refusal { status, method, path, key: None }
    }

    fn with_key(self, project: &TestProject) -> Refusal {
        Refusal { key: Some(format!("Bearer {}", project.key)), ..self }
    }

    fn head(&self, framing: (&str, &str), more: &[(&str, &str)]) -> Vec<u8> {
        let authorization = self.key.iter().map(|key| ("Authorization", key.as_str()));
        let usual = [("Content-Type", "application/json"), framing];
        let headers: Vec<_> = usual.into_iter().chain(authorization).chain(more.iter().copied()).collect();
        request_bytes(self.method, self.path, &headers, b"")
    }

    /// Sends the head and then the body, as clients do, and checks the answer. Returns whether the connection is kept.
    async fn send(&self, socket: &mut Socket, body: &[u8]) -> bool {
        let what = format!("{} {} with {} bytes", self.method, self.path, body.len());
        let sent = socket.send(&self.head(("Content-Length", &body.len().to_string()), &[])).await;
        assert!(sent, "{what}: the connection is gone");
        tokio::task::yield_now().await;
        socket.send(body).await;
        let reply = socket.answer().await.unwrap_or_else(|| panic!("{what}: closed without an answer"));
        assert_eq!(reply.status, self.status, "{what}: {}", reply.text);
        reply.header("connection") != Some("close")
    }
}

async fn refusals(kit: &Kit, project: &TestProject) -> Vec<Refusal> {
    let inactive = kit.sandbox().await;
    kit.update(inactive.id, ProjectUpdate { active: Some(false), ..ProjectUpdate::default() }).await;
    vec![
        Refusal::new(400, "POST", "/v1/payments").with_key(project),
        Refusal::new(401, "POST", "/v1/payments"),
        Refusal::new(403, "POST", "/v1/payments").with_key(&inactive),
        Refusal::new(404, "POST", "/v1/nowhere").with_key(project),
        Refusal::new(405, "PUT", "/v1/payments").with_key(project),
        Refusal::new(405, "PUT", "/dashboard/sign-in"),
        Refusal::new(405, "POST", "/docs"),
        Refusal::new(404, "POST", "/nowhere"),
        Refusal::new(200, "GET", "/v1/payments").with_key(project),
        Refusal::new(200, "GET", "/healthz"),
    ]
}

fn payment(project: &TestProject, idempotency_key: &str) -> Vec<u8> {
    let authorization = format!("Bearer {}", project.key);
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Idempotency-Key", idempotency_key),
        ("Content-Type", "application/json"),
    ];
    request_bytes("POST", "/v1/payments", &headers, Members::payment(project).text().as_bytes())
}

/// The answer to `request` on the same connection.
async fn status_of(socket: &mut Socket, request: &[u8]) -> u16 {
    assert!(socket.send(request).await, "the connection is gone");
    socket.answer().await.expect("closed without saying so").status.as_u16()
}

async fn hears_that_it_is_refused_and_closed(mut socket: Socket) {
    let reply = socket.answer().await.unwrap();
    assert_eq!(reply.header("connection"), Some("close"));
    reply.refused(401, "UNAUTHORIZED");
    socket.closed().await;
}

#[tokio::test]
async fn after_any_refusal_the_next_payment_on_the_connection_is_taken_if_the_body_was_short() {
    on_sqlite(async |kit: Arc<Kit>| {
        let project = kit.sandbox().await;
        let mut taken = 0;
        for refusal in refusals(&kit, &project).await {
            let mut socket = Socket::connect(kit.address).await;
            for bytes in [1, 1_000, 17_000, 60 * 1024, DRAINED] {
                for _ in 0..ROUNDS {
                    assert!(refusal.send(&mut socket, &vec![b' '; bytes]).await, "{} {bytes}", refusal.path);
                }
                taken += 1;
                assert_eq!(status_of(&mut socket, &payment(&project, &format!("k-{taken}"))).await, 201);
            }
        }
        assert_eq!(totals(&project.api).await, [taken, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn after_a_longer_body_the_answer_reaches_its_client_and_says_that_the_connection_is_closed() {
    on_sqlite(async |kit: Arc<Kit>| {
        let project = kit.sandbox().await;
        for refusal in refusals(&kit, &project).await {
            for bytes in [DRAINED + 1, 300 * 1024, 2 * 1024 * 1024] {
                let mut socket = Socket::connect(kit.address).await;
                assert!(!refusal.send(&mut socket, &vec![b' '; bytes]).await, "{} {bytes}", refusal.path);
                socket.closed().await;
            }
        }
        assert_eq!(totals(&project.api).await, [0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_rate_limited_request_leaves_its_connection_usable() {
    on_sqlite_with(rate_limit(1), async |kit: Arc<Kit>| {
        let project = kit.sandbox().await;
        let mut socket = Socket::connect(kit.address).await;
        let limited = Refusal::new(429, "POST", "/v1/payments").with_key(&project);
        while status_of(&mut socket, &payment(&project, "k")).await != 429 {}
        for bytes in [1_000, 60 * 1024] {
            assert!(limited.send(&mut socket, &vec![b' '; bytes]).await);
        }
        assert_eq!(status_of(&mut socket, &request_bytes("GET", "/healthz", &[], b"")).await, 200);
        assert!(!limited.send(&mut socket, &vec![b' '; DRAINED + 1]).await);
        socket.closed().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_waits_for_100_continue_is_refused_at_once_and_told_that_the_connection_is_closed() {
    on_sqlite(async |kit: Arc<Kit>| {
        let refusal = Refusal::new(401, "POST", "/v1/payments");
        for framing in [("Content-Length", "10"), ("Content-Length", "100000"), ("Transfer-Encoding", "chunked")] {
            let mut socket = Socket::connect(kit.address).await;
            socket.send(&refusal.head(framing, &[("Expect", "100-continue")])).await;
            hears_that_it_is_refused_and_closed(socket).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_chunked_body_is_dropped_up_to_its_end_and_one_without_end_closes_the_connection() {
    on_sqlite(async |kit: Arc<Kit>| {
        let refusal = Refusal::new(401, "POST", "/v1/payments");
        let head = refusal.head(("Transfer-Encoding", "chunked"), &[]);
        let chunk = [&b"3e8\r\n"[..], &[b' '; 1_000], b"\r\n"].concat();
        let mut socket = Socket::connect(kit.address).await;
        for chunks in [0, 1, 60] {
            assert!(socket.send(&head).await);
            for _ in 0..chunks {
                assert!(socket.send(&chunk).await);
            }
            socket.send(b"0\r\n\r\n").await;
            let reply = socket.answer().await.unwrap();
            assert_eq!(reply.header("connection"), None);
            reply.refused(401, "UNAUTHORIZED");
        }
        socket.send(&head).await;
        while !socket.hears_within(Duration::ZERO).await {
            socket.send(&chunk).await;
        }
        hears_that_it_is_refused_and_closed(socket).await;
    })
    .await;
}

#[tokio::test]
async fn a_refusal_waits_neither_for_a_body_that_drips_nor_for_one_that_never_comes() {
    let mut options = Options::default();
    options.timeouts.body = SHORT;
    on_sqlite_with(options, async |kit: Arc<Kit>| {
        let refusal = Refusal::new(401, "POST", "/v1/payments");
        for framing in [("Content-Length", "60000"), ("Transfer-Encoding", "chunked")] {
            for drips in [false, true] {
                let mut socket = Socket::connect(kit.address).await;
                socket.send(&refusal.head(framing, &[])).await;
                while !socket.hears_within(DRIP).await {
                    if drips {
                        socket.send(if framing.0 == "Content-Length" { b" " } else { b"1\r\n \r\n" }).await;
                    }
                }
                hears_that_it_is_refused_and_closed(socket).await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn requests_behind_a_refused_one_are_answered_in_order() {
    on_sqlite(async |kit: Arc<Kit>| {
        let project = kit.sandbox().await;
        let mut pipelined = Vec::new();
        for number in 0..ROUNDS {
            pipelined.extend(request_bytes("POST", "/v1/payments", &[], &vec![b' '; 100 * number]));
            pipelined.extend(payment(&project, &format!("k-{number}")));
        }
        let mut socket = Socket::connect(kit.address).await;
        socket.send(&pipelined).await;
        for _ in 0..ROUNDS {
            socket.answer().await.unwrap().refused(401, "UNAUTHORIZED");
            socket.answer().await.unwrap().expect(201);
        }
    })
    .await;
}
