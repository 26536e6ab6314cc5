//! Customers who keep a payment's page open until it is paid: what thousands of them cost, and how soon they see the
//! payment.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    bench::Bench,
    checkout::BROWSER,
    load::{self, CONNECTIONS, Requests, connect},
    process::{Home, Served},
    report::{Finding, millis},
    requests::{VIRTUAL_ACCOUNT, creates, ids_of, pay},
};

const WATCHERS: u64 = 10_000;
/// One in this many watchers shares its payment with another, like a customer with a phone and a computer.
const SHARING_PART: u64 = 10;
const BYTES_MOST: u64 = 10_000;
/// Payments that are paid one after the other, to measure how soon watchers see it: one per this many watchers, up to
/// the most.
const PAID_PART: u64 = 50;
const PAID_MOST: u64 = 50;
/// Other open files: of the runtime, the database and the load.
const OTHER_FILES: u64 = 256;
/// How long the server takes at most until it is idle again after the last watcher has connected.
const STABLE_AFTER: Duration = Duration::from_secs(2);
/// How much longer than one side of a round the idle time is: usually longer than the interval of keep-alive messages.
const IDLE_PART: u32 = 7;
const PATIENCE: Duration = Duration::from_secs(30);

impl Bench {
    pub(crate) async fn watchers(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let count = WATCHERS.min(self.prefill).max(1);
        raise_limit(count + OTHER_FILES)?;
        let ids = pending(&prefilled.home, count - count / SHARING_PART).await?;
        let mut bytes = Vec::new();
        for _ in 1..self.rounds {
            bytes.push(open(&prefilled.home, &ids, count).await?.bytes_each);
        }
        let mut opened = open(&prefilled.home, &ids, count).await?;
        bytes.push(opened.bytes_each);
        bytes.sort_unstable();
        let idle = opened.idle(self.duration * IDLE_PART).await?;
        let seen = opened.seen(&ids, PAID_MOST.min(count / PAID_PART).max(1)).await?;
        Ok(vec![memory(&bytes, count), idle, seen])
    }
}

/// Each watcher is an open file here, and another one in the server.
fn raise_limit(wanted: u64) -> io::Result<()> {
    match rlimit::increase_nofile_limit(u64::MAX)? {
        limit if limit >= wanted => Ok(()),
        limit => Err(io::Error::other(format!(
            "watchers need {wanted} open files, and this process may have only {limit}: raise its hard limit (ulimit -Hn)"
        ))),
    }
}

async fn pending(home: &Home, count: u64) -> io::Result<Arc<[String]>> {
    let served = Served::lunas(home).await?;
    let made = creates(&served, VIRTUAL_ACCOUNT, &format!("watched-{}", std::process::id()));
    let ids = ids_of(load::collect(served.address, CONNECTIONS, count, &made).await?)?;
    served.end().await?;
    Ok(ids.into())
}

/// A server with its watchers.
struct Opened {
    served: Served,
    watchers: Vec<Watcher>,
    bytes_each: u64,
}

async fn open(home: &Home, ids: &Arc<[String]>, count: u64) -> io::Result<Opened> {
    let served = Served::lunas(home).await?;
    // Reads each payment once, so that the memory for reading is not counted as the watchers'.
    let asked = Arc::clone(ids);
    let asks: Requests = Arc::new(move |index, out| get(out, &asked[index as usize], "status"));
    load::collect(served.address, CONNECTIONS, ids.len() as u64, &asks).await?;
    let before = served.resident_kib()?;
    let mut tasks = JoinSet::new();
    for first in 0..CONNECTIONS {
        let (ids, address) = (Arc::clone(ids), served.address);
        tasks.spawn(async move {
            let mut watchers = Vec::new();
            for number in (first..count).step_by(CONNECTIONS as usize) {
                let mut watcher = Watcher { number, stream: connect(address).await?, heard: Vec::new() };
                let mut request = Vec::new();
                get(&mut request, &ids[number as usize % ids.len()], "events");
                watcher.stream.write_all(&request).await?;
                watcher.hears("data: pending\n\n").await?;
                watchers.push(watcher);
            }
            io::Result::Ok(watchers)
        });
    }
    let mut watchers = Vec::new();
    while let Some(done) = tasks.join_next().await {
        watchers.extend(done.map_err(io::Error::other)??);
    }
    watchers.sort_unstable_by_key(|watcher| watcher.number);
    sleep(STABLE_AFTER).await;
    let bytes_each = served.resident_kib()?.saturating_sub(before) * 1_024 / count;
    Ok(Opened { served, watchers, bytes_each })
}

fn get(out: &mut Vec<u8>, id: &str, what: &str) {
    let head = format!("GET /pay/{id}/{what} HTTP/1.1\r\nHost: bench\r\n{BROWSER}Accept: text/event-stream\r\n\r\n");
    out.extend_from_slice(head.as_bytes());
}

struct Watcher {
    number: u64,
    stream: TcpStream,
    heard: Vec<u8>,
}

impl Watcher {
    /// Waits until the server has sent `wanted`.
    async fn hears(&mut self, wanted: &str) -> io::Result<()> {
        while !String::from_utf8_lossy(&self.heard).contains(wanted) {
            if timeout(PATIENCE, self.stream.read_buf(&mut self.heard)).await?? == 0 {
                return Err(io::Error::other(String::from_utf8_lossy(&self.heard).into_owned()));
            }
        }
        Ok(())
    }
}

impl Opened {
    /// The processor time of the server while nothing happens.
    async fn idle(&self, duration: Duration) -> io::Result<Finding> {
        let (began, before) = (Instant::now(), self.served.processor_time()?);
        sleep(duration).await;
        let spent = (self.served.processor_time()? - before).as_micros();
        let thousandths = spent * 1_000 / began.elapsed().as_micros().max(1);
        let count = self.watchers.len();
        let product = format!("{}.{} % of a core", thousandths / 10, thousandths % 10);
        Ok(orientation(product, format!("{count} watchers, nothing happens")))
    }

    /// The time from before a payment is paid until its watcher has received it.
    async fn seen(&mut self, ids: &[String], count: u64) -> io::Result<Finding> {
        let mut micros = Vec::new();
        for number in 0..count {
            // At varying moments relative to the server's polling.
            sleep(Duration::from_millis(number * 37 % 500)).await;
            let pays = pay(&self.served, ids[number as usize].clone());
            let began = Instant::now();
            load::collect(self.served.address, 1, 1, &pays).await?;
            self.watchers[number as usize].hears("data: paid\n\n").await?;
            micros.push(began.elapsed().as_micros());
        }
        micros.sort_unstable();
        let product = format!("p50 {}, p99 {}", millis(&micros, 50), millis(&micros, 99));
        Ok(orientation(product, format!("paid until seen, {count} of them, {} watchers", self.watchers.len())))
    }
}

fn memory(sorted: &[u64], count: u64) -> Finding {
    let (least, median, most) = (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    Finding {
        group: "watchers",
        product: format!("{median} bytes each"),
        ceiling: format!("{count} watchers"),
        ratio: format!("- ({least} to {most})"),
        goal: format!("<= {} KB", BYTES_MOST / 1_000),
        holds: Some(median <= BYTES_MOST),
    }
}

fn orientation(product: String, ceiling: String) -> Finding {
    let nothing = || "-".to_owned();
    Finding { group: "watchers", product, ceiling, ratio: nothing(), goal: nothing(), holds: None }
}
