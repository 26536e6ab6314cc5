//! What anybody may ask for without a key: what each such page and file costs the server, and how much longer the API's requests take
//! while strangers ask for it many times a second.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    net::TcpStream,
    task::{JoinHandle, JoinSet},
    time::{interval, sleep},
};

use crate::{
    bench::Bench,
    checkout::{BROWSER, links},
    load::{self, CONNECTIONS, Requests},
    open_loop,
    process::Served,
    report::{Finding, decimal, milliseconds},
    requests::{QRIS, VIRTUAL_ACCOUNT, creates, gets, ids_of},
    rounds::middle,
};

/// How often strangers ask for a page.
const FLOOD_PER_SECOND: u32 = 200;
/// How often a merchant's program meanwhile reads a payment.
const GETS_PER_SECOND: u64 = 500;
/// How many times as long the reads may take beside the flood, by the 99th percentile and in thousandths.
const COST_MOST: u64 = 3_000;
/// How much more memory the server may have after a flood than before it.
const GROWN_MIB_MOST: u64 = 16;
const P99: usize = 990;
/// Requests for pages that are made at once to see what one costs.
const PAGE_CONNECTIONS: u64 = 4;
/// How long a request that was refused waits before it is repeated, and how often it may be.
const REPEATED_AFTER: Duration = Duration::from_millis(100);
const REPEATED_MOST: u32 = 6_000;
/// Payments and links that are asked for in turn: more than the pictures that the server keeps, so that each is drawn.
const SUBJECTS: u64 = 1_000;
/// Terms that begin very many words.
const SEARCH: &str = "/docs/search?q=pa+th+in+an+re+co+de+st";

/// A page or file, or several of a kind.
struct Route {
    name: &'static str,
    /// Whether the server draws for each request, and refuses those for which it has no room.
    is_drawn: bool,
    requests: Requests,
}

/// What a flood has done, with a figure of every round.
#[derive(Default)]
struct Flooded {
    quiet: Vec<u64>,
    beside: Vec<u64>,
    /// In thousandths.
    ratios: Vec<u64>,
    grown_kib: u64,
}

impl Bench {
    pub(crate) async fn anonymous(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = Served::lunas(&prefilled.home).await?;
        let gets = gets(&product, &prefilled);
        let mut findings = Vec::new();
        for route in routes(&product, SUBJECTS.min(self.prepared())).await? {
            let micros = cost(&product, &route, self.duration).await?;
            findings.push(self.flood(&product, &gets, &route).await?.finding(route.name, micros));
        }
        Ok(findings)
    }

    async fn flood(&self, product: &Served, gets: &Requests, route: &Route) -> io::Result<Flooded> {
        let mut flooded = Flooded::default();
        // What gets themselves need is not what a flood takes.
        self.p99_of_gets(product, gets).await?;
        let before = product.resident_kib()?;
        for round in 0..self.rounds {
            let quiet = self.p99_of_gets(product, gets).await?;
            let flood = start_flood(product.address, Arc::clone(&route.requests));
            let beside = self.p99_of_gets(product, gets).await;
            flood.abort();
            let beside = beside?;
            // Pictures are drawn in the order in which they are asked for, so after this one none waits from the flood. The flood does
            // not come so far in the list, so that this one is not kept already.
            let unreached = SUBJECTS.saturating_sub(1 + round as u64);
            Asking::connect(product.address).await?.ask(unreached, &route.requests).await?;
            flooded.quiet.push(quiet);
            flooded.beside.push(beside);
            flooded.ratios.push(beside * 1_000 / quiet.max(1));
            flooded.grown_kib = flooded.grown_kib.max(product.resident_kib()?.saturating_sub(before));
        }
        Ok(flooded)
    }

    async fn p99_of_gets(&self, product: &Served, gets: &Requests) -> io::Result<u64> {
        Ok(open_loop::run(product.address, GETS_PER_SECOND, self.duration, gets).await?.latency_at(P99))
    }
}

/// The time of the server's cores for one request, in microseconds.
async fn cost(product: &Served, route: &Route, duration: Duration) -> io::Result<u128> {
    let mut asking = Asking::connect(product.address).await?;
    // What is made once for all is made now.
    asking.ask(0, &route.requests).await?;
    let (began, before) = (Instant::now(), product.processor_time()?);
    let answered = if route.is_drawn {
        asking.ask_in_turn(began + duration, &route.requests).await?
    } else {
        let rate = load::run(product.address, PAGE_CONNECTIONS, duration, &route.requests).await?;
        u128::from(rate.per_second) * began.elapsed().as_micros() / 1_000_000
    };
    Ok((product.processor_time()? - before).as_micros() / answered.max(1))
}

/// A connection on which each request waits for the answer to the one before, and is repeated while the server has no room for it.
struct Asking {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Asking {
    async fn connect(address: SocketAddr) -> io::Result<Asking> {
        Ok(Asking { stream: load::connect(address).await?, request: Vec::new(), answer: Vec::new() })
    }

    async fn ask(&mut self, index: u64, requests: &Requests) -> io::Result<()> {
        self.request.clear();
        requests(index, &mut self.request);
        for _ in 0..REPEATED_MOST {
            self.answer.clear();
            let served = load::exchange(&mut self.stream, &self.request, &mut self.answer).await;
            if served.is_ok() || !self.answer.starts_with(b"HTTP/1.1 429 ") {
                return served.map(drop);
            }
            sleep(REPEATED_AFTER).await;
        }
        Err(io::Error::other("the server has no room for a request, however often it is repeated"))
    }

    /// Counts the answers.
    async fn ask_in_turn(&mut self, until: Instant, requests: &Requests) -> io::Result<u128> {
        let mut answered = 0;
        while Instant::now() < until {
            self.ask(answered, requests).await?;
            answered += 1;
        }
        Ok(answered.into())
    }
}

/// Strangers who each open a connection for one request, whether those before them are answered or not. They go away when the task is
/// aborted.
fn start_flood(address: SocketAddr, requests: Requests) -> JoinHandle<()> {
    tokio::spawn(async move {
        let (mut ticks, mut strangers) = (interval(Duration::from_secs(1) / FLOOD_PER_SECOND), JoinSet::new());
        for index in 0.. {
            ticks.tick().await;
            let requests = Arc::clone(&requests);
            strangers.spawn(async move { ask(address, index, &requests).await });
            while strangers.try_join_next().is_some() {}
        }
    })
}

/// One request on a connection of its own. Being refused is an answer too.
async fn ask(address: SocketAddr, index: u64, requests: &Requests) -> io::Result<()> {
    let (mut stream, mut out) = (load::connect(address).await?, Vec::new());
    requests(index, &mut out);
    load::exchange_any(&mut stream, &out, &mut Vec::new()).await?;
    Ok(())
}

async fn routes(product: &Served, count: u64) -> io::Result<Vec<Route>> {
    let run = |method: &str| format!("anonymous-{method}-{}", std::process::id());
    let made = |requests: Requests| async move {
        ids_of(load::collect(product.address, CONNECTIONS, count, &requests).await?)
    };
    let codes = made(creates(product, QRIS, &run("qris"))).await?;
    let accounts = made(creates(product, VIRTUAL_ACCOUNT, &run("va"))).await?;
    let links = made(links(product)).await?;
    let home = load::collect(product.address, 1, 1, &opens(vec!["/".to_owned()])).await?.concat();
    let of = |ids: &[String], before: &str, after: &str| -> Vec<String> {
        ids.iter().map(|id| format!("{before}{id}{after}")).collect()
    };
    let one = |path: &str| vec![path.to_owned()];
    let pages = [
        ("home", one("/")),
        ("sign-in", one("/dashboard/sign-in")),
        ("health", one("/healthz")),
        ("ready", one("/readyz")),
        ("style sheet", vec![style_sheet(&home)?]),
        ("embed.js", one("/embed.js")),
        ("list of guides", one("/docs")),
        ("guide", one("/docs/webhooks")),
        ("reference", one("/docs/api")),
        ("docs search", one(SEARCH)),
        ("openapi.json", one("/openapi.json")),
        ("page of a link", of(&links, "/p/", "")),
        ("page of a QR code", of(&codes, "/pay/", "")),
        ("page of an account", of(&accounts, "/pay/", "")),
        ("status", of(&codes, "/pay/", "/status")),
        ("qr.png, kept", of(&codes[..1], "/pay/", "/qr.png")),
        ("preview.png, kept", of(&links[..1], "/p/", "/preview.png")),
    ];
    let drawn =
        [("qr.png, drawn", of(&codes, "/pay/", "/qr.png")), ("preview.png, drawn", of(&links, "/p/", "/preview.png"))];
    let pages = pages.into_iter().map(|(name, paths)| Route { name, is_drawn: false, requests: opens(paths) });
    let drawn = drawn.into_iter().map(|(name, paths)| Route { name, is_drawn: true, requests: opens(paths) });
    Ok(pages.chain(drawn).collect())
}

/// The first style sheet that a page names.
fn style_sheet(page: &[u8]) -> io::Result<String> {
    let page = String::from_utf8_lossy(page);
    let path = page.split('"').find(|part| part.starts_with("/assets/"));
    path.map(str::to_owned).ok_or_else(|| io::Error::other("a page names no style sheet"))
}

/// Opens these in turn, as a browser would.
fn opens(paths: Vec<String>) -> Requests {
    Arc::new(move |index, out| {
        let path = &paths[index as usize % paths.len()];
        out.extend_from_slice(format!("GET {path} HTTP/1.1\r\nHost: bench\r\n{BROWSER}\r\n").as_bytes());
    })
}

impl Flooded {
    fn finding(mut self, name: &str, micros: u128) -> Finding {
        for figures in [&mut self.quiet, &mut self.beside, &mut self.ratios] {
            figures.sort_unstable();
        }
        let [quiet, beside] = [&self.quiet, &self.beside].map(|figures| milliseconds(middle(figures)));
        let [least, most] = [self.ratios.first(), self.ratios.last()].map(|ratio| ratio.copied().unwrap_or_default());
        let (ratio, grown_mib) = (middle(&self.ratios), self.grown_kib / 1_024);
        Finding {
            group: "anonymous",
            product: format!("{name}: {micros} µs"),
            ceiling: format!("p99 of gets {quiet} to {beside} with {FLOOD_PER_SECOND}/s, {grown_mib} MiB more"),
            ratio: format!("{} ({} to {})", decimal(ratio), decimal(least), decimal(most)),
            goal: format!("<= {}, <= {GROWN_MIB_MOST} MiB", decimal(COST_MOST)),
            holds: Some(ratio <= COST_MOST && grown_mib <= GROWN_MIB_MOST),
        }
    }
}
