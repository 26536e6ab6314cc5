//! How an open page learns that its payment has a new status, and the QR code as a file.

use std::{sync::Arc, time::Duration};

use engine::WATCHERS_MOST;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use testkit::{Kit, Options, Reply, decode_qr, on_every_database, on_postgres, on_sqlite_alone};

use crate::support::{
    customer::{
        Customer, begin_payment, is_page, is_protected, is_protected_and_cached, led_to, link_path, pay_path, unknown,
    },
    json::text,
    links::cancel_link,
    nodes::Node,
    payments::{fetch, pending_qris, report, simulate, simulate_paid},
    samples,
    wait::PATIENCE,
};

on_every_database![
    a_stream_sends_the_current_status_and_then_each_new_one,
    a_stream_sends_cancellation_expiry_and_late_money,
];

on_sqlite_alone![
    the_status_is_json_and_exact_at_the_instant,
    open_streams_end_at_once_when_the_server_stops with long_drain_timeout(),
    with_too_many_watchers_a_stream_is_503_and_the_status_is_still_answered,
    an_unknown_payment_cannot_be_watched,
    the_qr_file_decodes_to_what_is_paid_and_is_named_by_the_reference,
    there_is_a_qr_file_only_while_it_can_be_paid,
];

/// An event stream as a browser receives it.
struct StatusStream {
    response: Response,
    unread: String,
}

impl StatusStream {
    async fn at(customer: &Customer, payment: &Value) -> StatusStream {
        let path = format!("{}/events", pay_path(payment));
        let response = customer.begin(customer.request(Method::GET, &path)).await;
        assert_eq!(response.status(), 200);
        let head = Reply {
            status: response.status(),
            headers: response.headers().clone(),
            json: Value::Null,
            text: String::new(),
        };
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert_eq!(head.header("x-accel-buffering"), Some("no"));
        is_protected("events", &head);
        StatusStream { response, unread: String::new() }
    }

    /// The next status, or `None` when the stream ends. Keep-alive comments are skipped.
    async fn next(&mut self) -> Option<String> {
        tokio::time::timeout(PATIENCE, self.next_word()).await.expect("nothing is told")
    }

    async fn next_word(&mut self) -> Option<String> {
        loop {
            if let Some((event, rest)) = self.unread.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.unread = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                if let Some(status) = field("data: ") {
                    assert_eq!(field("event: ").as_deref(), Some("status"), "{event}");
                    return Some(status);
                }
                continue;
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.unread.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn hears(&mut self, status: &str) {
        assert_eq!(self.next().await.as_deref(), Some(status));
    }
}

async fn the_status_is_json_and_exact_at_the_instant(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
    let (customer, path) = (Customer::of(&kit), format!("{}/status", pay_path(&payment)));
    let check = async |status: &str| {
        let reply = customer.open(&path).await;
        is_protected(status, &reply);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.expect(200), json!({ "status": status }));
    };
    check("pending").await;
    kit.clock.advance(Duration::from_mins(15));
    check("pending").await;
    kit.clock.advance(Duration::from_millis(1));
    check("expired").await;
    let (_, _, other) = begin_payment(&kit, &project, json!({})).await;
    for outcome in ["processing", "failed"] {
        report(&project, &other, outcome).await;
        let reply = customer.open(&format!("{}/status", pay_path(&other))).await;
        assert_eq!(reply.expect(200), json!({ "status": outcome }));
    }
}

async fn a_stream_sends_the_current_status_and_then_each_new_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for outcomes in [&["paid"][..], &["failed"], &["processing", "paid"], &["processing", "failed"]] {
        let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
        let (customer, mut heard) = (Customer::of(&kit), Vec::new());
        for _ in 0..3 {
            heard.push(StatusStream::at(&customer, &payment).await);
        }
        for status in ["pending"].iter().chain(outcomes) {
            if *status != "pending" {
                report(&project, &payment, status).await;
            }
            for heard in &mut heard {
                heard.hears(status).await;
            }
        }
        StatusStream::at(&customer, &payment).await.hears(outcomes.last().unwrap()).await;
    }
}

async fn a_stream_sends_cancellation_expiry_and_late_money(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let customer = Customer::of(&kit);
    let (link, _, cancelled) = begin_payment(&kit, &project, json!({})).await;
    let mut heard = StatusStream::at(&customer, &cancelled).await;
    heard.hears("pending").await;
    cancel_link(&project, &link).await;
    heard.hears("cancelled").await;

    let (_, _, expired) = begin_payment(&kit, &project, json!({})).await;
    let mut heard = StatusStream::at(&customer, &expired).await;
    heard.hears("pending").await;
    let in_time = kit.engine.now().to_string();
    kit.clock.advance(Duration::from_mins(16));
    heard.hears("expired").await;
    simulate(&project, &expired, &json!({ "outcome": "paid", "paid_at": in_time })).await.expect(200);
    heard.hears("paid").await;

    let (link, _, replaced) = begin_payment(&kit, &project, json!({})).await;
    let mut heard = StatusStream::at(&customer, &replaced).await;
    heard.hears("pending").await;
    let change = [("replaces", text(&replaced, "id")), ("method", "virtual_account:bca")];
    led_to(&customer.post(&link_path(&link), &change).await);
    heard.hears("cancelled").await;
}

#[tokio::test]
async fn a_stream_sends_what_another_node_commits() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let node = Node::beside(&kit).await;
        let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
        let mut heard = StatusStream::at(&Customer::at(node.address), &payment).await;
        heard.hears("pending").await;
        simulate_paid(&project, &payment).await;
        heard.hears("paid").await;
        drop(heard);
        node.stop().await;
    })
    .await;
}

fn long_drain_timeout() -> Options {
    let mut options = Options::default();
    options.timeouts.drain = Duration::from_secs(3_600);
    options
}

async fn open_streams_end_at_once_when_the_server_stops(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let customer = Customer::of(&kit);
    let mut heard = Vec::new();
    for outcome in ["pending", "processing", "paid"] {
        let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
        if outcome != "pending" {
            report(&project, &payment, outcome).await;
        }
        let mut stream = StatusStream::at(&customer, &payment).await;
        stream.hears(outcome).await;
        heard.push(stream);
    }
    kit.ask_to_stop();
    for stream in &mut heard {
        assert_eq!(stream.next().await, None);
    }
    tokio::time::timeout(PATIENCE, kit.stopped()).await.expect("open pages hold up the stop");
}

async fn with_too_many_watchers_a_stream_is_503_and_the_status_is_still_answered(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
    let stored = kit.store.payment(text(&payment, "id").parse().unwrap()).await.unwrap().unwrap();
    let mut watches: Vec<_> = (0..WATCHERS_MOST).map(|_| kit.engine.watch(&stored).unwrap()).collect();
    let customer = Customer::of(&kit);
    let refused = customer.open(&format!("{}/events", pay_path(&payment))).await;
    is_protected("too many", &refused);
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    let status = customer.open(&format!("{}/status", pay_path(&payment))).await;
    assert_eq!(status.expect(200), json!({ "status": "pending" }));
    watches.pop();
    StatusStream::at(&customer, &payment).await.hears("pending").await;
}

async fn an_unknown_payment_cannot_be_watched(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
    for id in [unknown(&payment).as_str(), "junk", "pay_", "%FF"] {
        for more in ["", "/status", "/events", "/qr.png"] {
            let path = format!("/pay/{id}{more}");
            is_page(&path, &Customer::of(&kit).open(&path).await, 404);
        }
    }
}

/// The file and its suggested name.
async fn qr_file(kit: &Kit, payment: &Value) -> (Vec<u8>, String) {
    let customer = Customer::of(kit);
    let response = customer.begin(customer.request(Method::GET, &format!("{}/qr.png", pay_path(payment)))).await;
    let head = Reply {
        status: response.status(),
        headers: response.headers().clone(),
        json: Value::Null,
        text: String::new(),
    };
    assert_eq!(head.status, 200);
    assert_eq!(head.header("content-type"), Some("image/png"));
    is_protected_and_cached("qr.png", &head, "private, no-cache");
    (response.bytes().await.unwrap().to_vec(), head.header("content-disposition").unwrap().to_owned())
}

async fn the_qr_file_decodes_to_what_is_paid_and_is_named_by_the_reference(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let long = "x".repeat(255);
    for (reference, name) in [
        ("INV-2026_001", "INV-2026_001"),
        ("faktur 1/2026", "faktur-1-2026"),
        ("a\"; filename=\"evil.exe", "a---filename--evil-exe"),
        ("../../etc/passwd", "------etc-passwd"),
        ("kopi\\☕%0d%0aSet-Cookie: a=b", "kopi---0d-0aSet-Cookie--a-b"),
        (long.as_str(), &long[..64]),
    ] {
        let mut order = samples::qris(&project, 15_000);
        order["reference"] = json!(reference);
        let payment = project.api.pay(&crate::support::payments::fresh_key(), &order).await.expect(201);
        let (png, disposition) = qr_file(&kit, &payment).await;
        assert_eq!(decode_qr(&png).as_deref(), payment["instructions"]["qr_string"].as_str());
        assert_eq!(disposition, format!("attachment; filename=\"QRIS-{name}.png\""));
    }
}

async fn there_is_a_qr_file_only_while_it_can_be_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let customer = Customer::of(&kit);
    let gone = async |row: &str, payment: &Value| {
        is_page(row, &customer.open(&format!("{}/qr.png", pay_path(payment))).await, 404);
    };
    let account = project.api.pay("va", &samples::virtual_account(&project, "bca", 15_000)).await.expect(201);
    gone("virtual account", &account).await;
    for outcome in ["processing", "paid", "failed"] {
        let payment = pending_qris(&project, 15_000).await;
        qr_file(&kit, &payment).await;
        report(&project, &payment, outcome).await;
        gone(outcome, &payment).await;
    }
    let (link, _, cancelled) = begin_payment(&kit, &project, json!({})).await;
    cancel_link(&project, &link).await;
    gone("cancelled", &cancelled).await;
    let expired = pending_qris(&project, 15_000).await;
    kit.clock.advance(Duration::from_hours(1));
    assert_eq!(fetch(&project, &expired).await["status"], "expired");
    gone("expired", &expired).await;
}
