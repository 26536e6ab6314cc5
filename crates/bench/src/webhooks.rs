//! How fast webhooks are sent: many at once, and one at a time.

use std::{io, process::Stdio, time::Instant};

use domain::{event::Event, id::ProjectId, time::Timestamp};
use store::{Change, EventFilter, Store, WebhookWrite, Window};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::{
    load::{self, CONNECTIONS, Rate},
    prefill::Prefilled,
    process::{Home, Served, WORKER_THREADS},
    receiver::Receiver,
    report::{Finding, millis},
    requests::{VIRTUAL_ACCOUNT, creates, pays},
    rounds::{Measured, interleave},
};

/// Events that are sent one after the other, to measure how long each takes.
const ONE_BY_ONE: u64 = 300;
/// Events for a receiver that takes few connections at once: so many that what the sender has to learn about it counts little.
const TO_SHY: u64 = 20_000;
/// The most in flight that such a receiver takes without trouble.
const FEW: u64 = 4;

/// The product sends `most` webhooks and stores each attempt; the ceiling is a client that only sends.
pub(crate) async fn throughput(
    prefilled: &Prefilled,
    product: &Served,
    rounds: usize,
    most: u64,
) -> io::Result<Measured> {
    pay_some(product, "webhook", most).await?;
    let receiver = Receiver::start().await?;
    set_url(&prefilled.home, prefilled.project, &receiver.url()).await?;
    let store = prefilled.home.database.open().await?;
    let window = Window { offset: 0, limit: most.cast_signed() };
    let events = store.events(prefilled.project, EventFilter::default(), window).await.map_err(io::Error::other)?.items;
    let count = events.len() as u64;
    let body = body_of(product, &events.first().map(|event| event.id.to_string()).unwrap_or_default()).await?;
    let deliver = |_| async {
        receiver.reset();
        resend(&store, prefilled.project, &events).await?;
        Ok(Rate::of(count, receiver.received(count).await?.1))
    };
    let send = |_| async {
        receiver.reset();
        bare_client(&receiver.url(), count, &body).await?;
        Ok(Rate::of(count, receiver.received(count).await?.1))
    };
    let measured = interleave(rounds, deliver, send).await?;
    store.close().await;
    Ok(measured)
}

/// The product sends to a receiver that takes few connections at once; the ceiling is the product with few in flight.
pub(crate) async fn to_shy_receiver(prefilled: &Prefilled, rounds: usize) -> io::Result<Measured> {
    let home = &prefilled.home;
    let product = Served::lunas(home).await?;
    pay_some(&product, "webhook-shy", TO_SHY.min(prefilled.count)).await?;
    product.end().await?;
    let receiver = Receiver::shy()?;
    set_url(home, prefilled.project, &receiver.url()).await?;
    let store = home.database.open().await?;
    let window = Window { offset: 0, limit: TO_SHY.cast_signed() };
    let events = store.events(prefilled.project, EventFilter::default(), window).await.map_err(io::Error::other)?.items;
    let count = events.len() as u64;
    let deliver = async |product: Served| {
        receiver.reset();
        resend(&store, prefilled.project, &events).await?;
        let rate = Rate::of(count, receiver.received(count).await?.1);
        product.end().await?;
        io::Result::Ok(rate)
    };
    let by_default = |_| async { deliver(Served::lunas(home).await?).await };
    let by_few = |_| async { deliver(Served::with_in_flight(home, FEW).await?).await };
    let measured = interleave(rounds, by_default, by_few).await?;
    store.close().await;
    Ok(measured)
}

/// Makes all these events due.
async fn resend(store: &Store, project_id: ProjectId, events: &[Event]) -> io::Result<()> {
    let again = events.iter().map(|event| WebhookWrite::Resent {
        event_id: event.id,
        project_id,
        urgent: event.kind().is_urgent(),
        at: Timestamp::from_millis(0),
    });
    store.commit(Change::default().with_all(again)).await.map_err(io::Error::other)
}

/// The time from before a payment is paid until the receiver has its event.
pub(crate) async fn latency(prefilled: &Prefilled, product: &Served) -> io::Result<Vec<Finding>> {
    let receiver = Receiver::start().await?;
    set_url(&prefilled.home, prefilled.project, &receiver.url()).await?;
    let made = creates(product, VIRTUAL_ACCOUNT, &format!("latency-{}", std::process::id()));
    let answers = load::collect(product.address, CONNECTIONS, ONE_BY_ONE, &made).await?;
    let mut micros = Vec::new();
    for answer in answers {
        let pays = pays(product, vec![answer])?;
        receiver.reset();
        let began = Instant::now();
        load::collect(product.address, 1, 1, &pays).await?;
        let (arrived, _) = receiver.received(1).await?;
        micros.push((arrived - began).as_micros());
    }
    micros.sort_unstable();
    let p99 = micros.get(micros.len() * 99 / 100).copied().unwrap_or_default();
    Ok(vec![Finding {
        group: "webhook-latency",
        product: format!("p50 {}, p99 {}", millis(&micros, 50), millis(&micros, 99)),
        ceiling: format!("{ONE_BY_ONE} events, one at a time"),
        ratio: "-".to_owned(),
        goal: "p99 <= 50 ms".to_owned(),
        holds: Some(p99 <= 50_000),
    }])
}

async fn pay_some(product: &Served, run: &str, count: u64) -> io::Result<()> {
    let made = creates(product, VIRTUAL_ACCOUNT, &format!("{run}-{}", std::process::id()));
    let answers = load::collect(product.address, CONNECTIONS, count, &made).await?;
    load::collect(product.address, CONNECTIONS, count, &pays(product, answers)?).await.map(drop)
}

/// Sets a project's webhook URL with the command that operators use.
pub(crate) async fn set_url(home: &Home, project: ProjectId, url: &str) -> io::Result<()> {
    let words = ["project", "update", &project.to_string(), "--webhook-url", url];
    let done = home.lunas(&words)?.stdout(Stdio::null()).status().await?;
    if done.success() { Ok(()) } else { Err(io::Error::other("the webhook URL was not taken")) }
}

async fn body_of(product: &Served, event: &str) -> io::Result<Vec<u8>> {
    let (path, key) = (format!("/v1/events/{event}"), product.ready.api_key.clone());
    let get: load::Requests = std::sync::Arc::new(move |_, out| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
    });
    let mut bodies = load::collect(product.address, 1, 1, &get).await?;
    bodies.pop().ok_or_else(|| io::Error::other("there is no event"))
}

async fn bare_client(url: &str, count: u64, body: &[u8]) -> io::Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["ceiling", "send", url, &count.to_string()])
        .env("TOKIO_WORKER_THREADS", WORKER_THREADS)
        .stdin(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or_else(|| io::Error::other("a client has no standard input"))?;
    stdin.write_all(body).await?;
    drop(stdin);
    if child.wait().await?.success() { Ok(()) } else { Err(io::Error::other("the bare client failed")) }
}
