use std::{
    future::Future,
    net::{IpAddr, TcpListener as PlainListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::*;
use crate::{
    lookups::{BoxFuture, Resolve},
    self_signed::self_signed,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

const BODY: &[u8] = br#"{"id":"evt_1"}"#;
/// Long enough for every answer that arrives.
const PATIENT: SendLimits = SendLimits { connect: Duration::from_secs(20), total: Duration::from_secs(60) };
/// Short, for answers that never arrive.
const HASTY: SendLimits = SendLimits { total: Duration::from_secs(1), ..PATIENT };

fn development() -> AddressGuard {
    AddressGuard::new(Vec::new(), true)
}

fn webhook(url: &str) -> Webhook<'_> {
    let signature = "t=1794648600,v1=00";
    Webhook {
        project: None,
        url,
        https_only: false,
        signature_header: "X-Service-Signature",
        signature,
        body: BODY.to_vec(),
    }
}

async fn send(limits: SendLimits, url: &str) -> AttemptOutcome {
    WebhookSender::new(development(), limits).unwrap().send(webhook(url)).await
}

fn failure(outcome: &AttemptOutcome) -> (Option<u16>, FailureClass) {
    (outcome.status, outcome.failure.as_ref().unwrap().class)
}

/// A receiver for one connection, and how to reach it.
async fn receiver<Talk, Said>(talk: Talk) -> (String, JoinHandle<Said::Output>)
where
    Talk: FnOnce(TcpStream) -> Said + Send + 'static,
    Said: Future<Output: Send + 'static> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let talking = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        talk(stream).await
    });
    (format!("http://{address}/hook?token=quiet"), talking)
}

/// Reads up to the end of the request's body.
async fn read_request(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut request = Vec::new();
    while !request.ends_with(BODY) {
        assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0, "the request ends with its body");
    }
    String::from_utf8(request).unwrap()
}

/// A receiver that reads the request and answers `bytes`, then closes.
async fn answering(bytes: Vec<u8>) -> (String, JoinHandle<String>) {
    receiver(|mut stream| async move {
        let request = read_request(&mut stream).await;
        stream.write_all(&bytes).await.unwrap();
        request
    })
    .await
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Whether no client has connected to the listener.
fn nobody_came(listener: &PlainListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    listener.accept().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[tokio::test]
async fn a_webhook_is_a_signed_json_post_and_a_2xx_delivers_it() {
    let (url, request) = answering(answer("202 Accepted", b"thanks")).await;
    let outcome = send(PATIENT, &url).await;
    assert!(outcome.delivered(), "{outcome:?}");
    assert_eq!((outcome.status, outcome.answer.as_str()), (Some(202), "thanks"));
    let request = request.await.unwrap();
    assert!(request.starts_with("POST /hook?token=quiet HTTP/1.1\r\n"), "{request}");
    let lower = request.to_lowercase();
    let agent = format!("user-agent: lunas/{}\r\n", env!("CARGO_PKG_VERSION"));
    for header in [
        "content-type: application/json\r\n",
        "x-service-signature: t=1794648600,v1=00\r\n",
        &agent,
        "host: 127.0.0.1:",
    ] {
        assert!(lower.contains(header), "{header} in {request}");
    }
    assert!(!lower.contains("accept-encoding"), "nothing packed is asked for");
}

#[tokio::test]
async fn other_answers_are_failures_that_keep_their_status() {
    for status in ["500 Oops", "404 Not Found", "304 Not Modified"] {
        let (url, _) = answering(answer(status, b"")).await;
        let outcome = send(PATIENT, &url).await;
        assert_eq!(failure(&outcome), (status[..3].parse().ok(), FailureClass::Status));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = PlainListener::bind("127.0.0.1:0").unwrap();
    let location = format!("Location: http://{}/\r\n", elsewhere.local_addr().unwrap());
    for status in ["301", "302", "303", "307", "308"] {
        let (url, _) = answering(format!("HTTP/1.1 {status} Away\r\n{location}Content-Length: 0\r\n\r\n").into()).await;
        assert_eq!(failure(&send(PATIENT, &url).await), (status.parse().ok(), FailureClass::Status));
    }
    assert!(nobody_came(&elsewhere));
}

#[tokio::test]
async fn a_receiver_that_hangs_times_out() {
    let (url, _hanging) = receiver(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let outcome = send(HASTY, &url).await;
    assert_eq!(failure(&outcome), (None, FailureClass::Timeout));
    assert!(outcome.latency >= HASTY.total);
    assert_eq!(outcome.failure.unwrap().detail, "no complete answer within 1s");
}

/// Writes byte after byte until the sender has closed the connection.
async fn drip(stream: &mut TcpStream, byte: &[u8]) {
    while stream.write_all(byte).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_receiver_that_sends_byte_by_byte_times_out_in_the_head_and_in_the_body() {
    let (url, head) = receiver(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ").await.unwrap();
        drip(&mut stream, b"a").await;
    })
    .await;
    assert_eq!(failure(&send(HASTY, &url).await), (None, FailureClass::Timeout));
    let (url, body) = receiver(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 16000\r\n\r\n").await.unwrap();
        drip(&mut stream, b"b").await;
    })
    .await;
    let outcome = send(HASTY, &url).await;
    assert_eq!(failure(&outcome), (Some(200), FailureClass::Timeout));
    assert!(outcome.answer.starts_with('b'), "what came is kept");
    head.await.unwrap();
    body.await.unwrap();
}

#[tokio::test]
async fn an_endless_answer_is_read_to_the_limit_and_dropped_and_its_2xx_counts() {
    for head in ["", "Content-Length: 1000000000000\r\n", "Transfer-Encoding: chunked\r\n"] {
        let (url, flood) = receiver(move |mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes()).await.unwrap();
            let chunk = [b"4000\r\n".as_slice(), &[b'x'; 0x4000], b"\r\n"].concat();
            while stream.write_all(&chunk).await.is_ok() {}
        })
        .await;
        let outcome = send(PATIENT, &url).await;
        assert!(outcome.delivered(), "{outcome:?}");
        assert_eq!(outcome.answer.len(), 4_096);
        // It ends only because the connection was dropped.
        flood.await.unwrap();
    }
}

#[tokio::test]
async fn endless_headers_are_refused() {
    let (url, flood) = receiver(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        while stream.write_all(format!("X-More: {}\r\n", "x".repeat(1_000)).as_bytes()).await.is_ok() {}
    })
    .await;
    assert_eq!(failure(&send(PATIENT, &url).await), (None, FailureClass::NotHttp));
    flood.await.unwrap();
}

#[tokio::test]
async fn a_receiver_that_closes_too_early_did_not_answer() {
    let (url, _) = receiver(|stream| async move { drop(stream) }).await;
    assert_eq!(failure(&send(PATIENT, &url).await), (None, FailureClass::Closed));
    let (url, _) = answering(b"HTTP/1.1 200 OK\r\nContent-".to_vec()).await;
    assert_eq!(failure(&send(PATIENT, &url).await), (None, FailureClass::Closed));
    let (url, _) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()).await;
    let outcome = send(PATIENT, &url).await;
    assert_eq!(failure(&outcome), (Some(200), FailureClass::Closed));
    assert_eq!(outcome.answer, "half");
}

#[tokio::test]
async fn a_receiver_may_answer_before_it_reads() {
    let (url, _) = receiver(|mut stream| async move {
        stream.peek(&mut [0]).await.unwrap();
        stream.write_all(&answer("200 OK", b"early")).await.unwrap();
    })
    .await;
    let outcome = send(PATIENT, &url).await;
    assert!(outcome.delivered(), "{outcome:?}");
    assert_eq!(outcome.answer, "early");
}

#[tokio::test]
async fn a_server_that_sends_before_the_request_does_not_speak_http() {
    let (url, _) = receiver(|mut stream| async move {
        stream.write_all(b"220 mail.example ESMTP\r\n").await.unwrap();
        stream.peek(&mut [0]).await
    })
    .await;
    assert_eq!(failure(&send(PATIENT, &url).await), (None, FailureClass::NotHttp));
}

#[tokio::test]
async fn what_is_not_http_says_so() {
    let broken_chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    for (bytes, status) in
        [(&b"SSH-2.0-OpenSSH_9.9\r\n"[..], None), (b"\0\xff\0\xff\r\n\r\n", None), (broken_chunk, Some(200))]
    {
        let (url, _) = answering(bytes.to_vec()).await;
        let outcome = send(PATIENT, &url).await;
        assert_eq!(failure(&outcome), (status, FailureClass::NotHttp), "{outcome:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_text_is_stored_as_clean_text() {
    let (url, _) = answering(answer("200 OK", b"\xff\xfeok\0\x1f\x8b")).await;
    let outcome = send(PATIENT, &url).await;
    assert!(outcome.delivered());
    assert_eq!(outcome.answer, "\u{fffd}\u{fffd}ok\u{fffd}\u{1f}\u{fffd}");
    // An answer with a Content-Encoding is not decompressed.
    let (url, _) =
        answering(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain".to_vec()).await;
    assert_eq!(send(PATIENT, &url).await.answer, "plain");
}

#[tokio::test]
async fn a_port_that_nobody_listens_on_cannot_be_connected_to_and_the_url_stays_private() {
    let listener = PlainListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook?token=quiet", listener.local_addr().unwrap());
    drop(listener);
    let outcome = send(PATIENT, &url).await;
    assert_eq!(failure(&outcome), (None, FailureClass::Connect));
    let detail = outcome.failure.unwrap().detail;
    assert!(detail.contains("refused") && !detail.contains("quiet"), "{detail}");
}

#[tokio::test]
async fn https_to_a_port_that_speaks_plain_http_is_a_failure_of_tls() {
    for reply in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b""] {
        let (url, _) = receiver(move |mut stream| async move {
            let mut hello = [0; 5];
            stream.read_exact(&mut hello).await.unwrap();
            stream.write_all(reply).await.unwrap();
        })
        .await;
        let outcome = send(PATIENT, &url.replace("http:", "https:")).await;
        assert_eq!(failure(&outcome), (None, FailureClass::Tls), "{outcome:?}");
    }
    let (url, _hanging) = receiver(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let hasty = SendLimits { connect: Duration::from_millis(200), ..PATIENT };
    let outcome = send(hasty, &url.replace("http:", "https:")).await;
    assert_eq!(failure(&outcome), (None, FailureClass::Connect));
    assert_eq!(outcome.failure.unwrap().detail, "no connection within 200ms");
}

/// A receiver with a self-signed certificate for 127.0.0.1, and that certificate.
async fn secure_receiver() -> (String, Certificate, JoinHandle<()>) {
    let (acceptor, certificate) = self_signed("127.0.0.1");
    let (url, talking) = receiver(|stream| async move {
        // Clients that do not trust it abort the handshake.
        let Ok(mut stream) = acceptor.accept(stream).await else { return };
        read_request(&mut stream).await;
        stream.write_all(&answer("200 OK", b"safe")).await.unwrap();
        stream.shutdown().await.unwrap();
    })
    .await;
    (url.replace("http:", "https:"), Certificate::from_der(&certificate).unwrap(), talking)
}

#[tokio::test]
async fn https_delivers_to_trusted_receivers_only() {
    let (url, certificate, _) = secure_receiver().await;
    let sender = WebhookSender::trusting(vec![certificate], development(), PATIENT).unwrap();
    let outcome = sender.send(Webhook { https_only: true, ..webhook(&url) }).await;
    assert!(outcome.delivered(), "{outcome:?}");
    assert_eq!(outcome.answer, "safe");
    let (url, _, _) = secure_receiver().await;
    let outcome = send(PATIENT, &url).await;
    assert_eq!(failure(&outcome), (None, FailureClass::Tls));
    let detail = outcome.failure.unwrap().detail;
    assert!(detail.contains("certificate"), "{detail}");
}

#[tokio::test]
async fn the_sender_never_connects_to_a_blocked_address() {
    let listener = PlainListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sender = WebhookSender::new(AddressGuard::new(Vec::new(), false), PATIENT).unwrap();
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "017700000001", "[::ffff:127.0.0.1]", "localhost"] {
        let outcome = sender.send(webhook(&format!("http://{host}:{port}/"))).await;
        assert_eq!(failure(&outcome), (None, FailureClass::BlockedAddress), "{host}");
    }
    let outcome = sender.send(Webhook { https_only: true, ..webhook("http://shop.example/") }).await;
    assert_eq!(outcome.failure.unwrap().detail, "the URL must start with https://");
    assert!(nobody_came(&listener));
}

/// Answers each query with the next address, and with the last one from then on.
struct Turning {
    addresses: Vec<&'static str>,
    asked: AtomicUsize,
}

impl Resolve for Turning {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let turn = self.asked.fetch_add(1, Ordering::Relaxed).min(self.addresses.len() - 1);
        Box::pin(std::future::ready(Ok(vec![self.addresses[turn].parse().unwrap()])))
    }
}

fn turning(addresses: &[&'static str]) -> Arc<Turning> {
    Arc::new(Turning { addresses: addresses.to_vec(), asked: AtomicUsize::new(0) })
}

#[tokio::test]
async fn the_sender_does_not_connect_to_a_name_that_resolves_to_a_blocked_address_after_it_was_saved() {
    let listener = PlainListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://shop.example:{}/hook", listener.local_addr().unwrap().port());
    let guard = AddressGuard::new(Vec::new(), false).with_resolver(turning(&["8.8.8.8", "127.0.0.1"]));
    assert!(guard.check_target(&url, false).await.is_ok(), "it is saved");
    let outcome = WebhookSender::new(guard, PATIENT).unwrap().send(webhook(&url)).await;
    // As if the name did not exist: a merchant could otherwise find out which names do in the operator's network.
    assert_eq!(failure(&outcome), (None, FailureClass::Dns));
    let blocked = outcome.failure.unwrap().detail;
    let unknown = AddressGuard::new(Vec::new(), false).with_resolver(Arc::new(Nothing));
    let outcome = WebhookSender::new(unknown, PATIENT).unwrap().send(webhook(&url)).await;
    assert_eq!(outcome.failure.unwrap().detail, blocked);
    assert!(nobody_came(&listener));
}

#[tokio::test]
async fn the_sender_connects_to_the_address_that_was_checked() {
    let (url, request) = answering(answer("200 OK", b"")).await;
    // A second query would be answered with an address that cannot be reached.
    let resolver = turning(&["127.0.0.1", "240.0.0.1"]);
    let guard = development().with_resolver(Arc::clone(&resolver) as Arc<dyn Resolve>);
    let outcome =
        WebhookSender::new(guard, PATIENT).unwrap().send(webhook(&url.replace("127.0.0.1", "shop.example"))).await;
    assert!(outcome.delivered(), "{outcome:?}");
    assert_eq!(resolver.asked.load(Ordering::Relaxed), 1);
    assert!(request.await.unwrap().to_lowercase().contains("host: shop.example:"));
}

/// DNS servers of names that begin with `silent` never answer; all others are this machine's.
struct SilentNames;

impl Resolve for SilentNames {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            if host.starts_with("silent") {
                std::future::pending::<()>().await;
            }
            Ok(vec![IpAddr::from([127, 0, 0, 1])])
        })
    }
}

#[tokio::test]
async fn a_project_whose_names_do_not_resolve_delays_no_other_projects_webhooks() {
    let project = |number: u8| Some(domain::id::mint(domain::time::Timestamp::from_millis(1), [number; 10]));
    let guard = development().with_resolver(Arc::new(SilentNames));
    let sender = WebhookSender::new(guard, PATIENT).unwrap();
    // Far more than may be looked up at once, each under another name.
    let urls: Vec<String> = (0..200).map(|number| format!("http://silent{number}.example/")).collect();
    let silent = urls.into_iter().map(|url| {
        let sender = sender.clone();
        tokio::spawn(async move { sender.send(Webhook { project: project(1), ..webhook(&url) }).await })
    });
    let silent: Vec<_> = silent.collect();
    let (url, _request) = answering(answer("200 OK", b"")).await;
    let url = url.replace("127.0.0.1", "shop.example");
    let outcome = sender.send(Webhook { project: project(2), ..webhook(&url) }).await;
    assert!(outcome.delivered(), "{outcome:?}");
    assert!(silent.iter().all(|sending| !sending.is_finished()), "it did not wait for them");
    silent.iter().for_each(JoinHandle::abort);
}

/// Names have no address.
struct Nothing;

impl Resolve for Nothing {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

#[tokio::test]
async fn a_name_without_an_address_is_a_failure_of_dns() {
    let guard = development().with_resolver(Arc::new(Nothing));
    let outcome = WebhookSender::new(guard, PATIENT).unwrap().send(webhook("https://shop.example/")).await;
    assert_eq!(failure(&outcome), (None, FailureClass::Dns));
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_fails_the_attempt_and_nothing_else() {
    let sender = WebhookSender::new(development(), PATIENT).unwrap();
    let bad_name = Webhook { signature_header: "X Signature", ..webhook("http://127.0.0.1:8080/") };
    let bad_value = Webhook { signature: "t=1\r\nX-More: 1", ..webhook("http://127.0.0.1:8080/") };
    for webhook in [bad_name, bad_value] {
        assert_eq!(failure(&sender.send(webhook).await), (None, FailureClass::Other));
    }
}
