//! What is measured. Each group is a product, what it is held against, and a goal.

use std::{io, sync::Arc, time::Duration};

use clap::ValueEnum;
use serde::Deserialize;

use crate::{
    load::{self, Requests},
    peers,
    prefill::Prefilled,
    process::Served,
    receiver::Receiver,
    report::{Finding, decimal},
    rounds::{Measured, interleave},
    webhooks,
};

pub(crate) const CONNECTIONS: u64 = 64;
const LIST_CONNECTIONS: u64 = 8;
/// The small lists hold this part of what the large ones hold.
const SMALL_PART: u64 = 1_000;
/// Payments made before each round that pays or replays them.
pub(crate) const READIED: u64 = 8_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    CreateVa,
    CreateQris,
    Get,
    List,
    ListDeep,
    Search,
    Paid,
    Replay,
    Webhook,
    WebhookLatency,
    Idle,
    Start,
    Peers,
}

impl Group {
    pub(crate) const ALL: [Group; 13] = [
        Group::CreateVa,
        Group::CreateQris,
        Group::Get,
        Group::List,
        Group::ListDeep,
        Group::Search,
        Group::Paid,
        Group::Replay,
        Group::Webhook,
        Group::WebhookLatency,
        Group::Idle,
        Group::Start,
        Group::Peers,
    ];
}

/// The settings of a run, and the databases that its groups share.
pub(crate) struct Bench {
    pub(crate) duration: Duration,
    pub(crate) rounds: usize,
    pub(crate) prefill: u64,
    pub(crate) large: u64,
    pub(crate) prefilled: Option<Arc<Prefilled>>,
    pub(crate) lists: Option<Arc<(Prefilled, Prefilled)>>,
}

impl Bench {
    pub(crate) async fn run(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        match group {
            Group::CreateVa => self.create("create-va", VIRTUAL_ACCOUNT, 600).await,
            Group::CreateQris => self.create("create-qris", QRIS, 450).await,
            Group::Get => self.get().await,
            Group::List => self.list().await,
            Group::ListDeep => self.list_deep().await,
            Group::Search => self.search().await,
            Group::Paid => self.paid().await,
            Group::Replay => self.replay().await,
            Group::Webhook => {
                let prefilled = self.prefilled().await?;
                let product = Served::lunas_sending_freely(prefilled.directory.path()).await?;
                webhooks::throughput(&prefilled, &product, self.rounds).await
            }
            Group::WebhookLatency => {
                let prefilled = self.prefilled().await?;
                webhooks::latency(&prefilled, &self.product().await?).await
            }
            Group::Idle => self.idle().await,
            Group::Start => self.start().await,
            Group::Peers => peers::run(&self.product().await?, self.duration, self.rounds).await,
        }
    }

    async fn prefilled(&mut self) -> io::Result<Arc<Prefilled>> {
        if self.prefilled.is_none() {
            self.prefilled = Some(Arc::new(Prefilled::new(self.prefill).await?));
        }
        self.prefilled.clone().ok_or_else(|| io::Error::other("nothing was prefilled"))
    }

    async fn lists(&mut self) -> io::Result<Arc<(Prefilled, Prefilled)>> {
        if self.lists.is_none() {
            let small = Prefilled::new((self.large / SMALL_PART).max(1)).await?;
            self.lists = Some(Arc::new((small, Prefilled::new(self.large).await?)));
        }
        self.lists.clone().ok_or_else(|| io::Error::other("nothing was prefilled"))
    }

    async fn product(&mut self) -> io::Result<Served> {
        Served::lunas(self.prefilled().await?.directory.path()).await
    }

    async fn create(&mut self, name: &'static str, method: &'static str, goal: u64) -> io::Result<Vec<Finding>> {
        let (product, ceiling) = (self.product().await?, Served::ceiling("create").await?);
        let duration = self.duration;
        let run = |served: &Served, round: u64| {
            let requests = creates(served, method, &format!("{name}-{round}-{}", std::process::id()));
            let address = served.address;
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(self.rounds, |round| run(&product, round), |round| run(&ceiling, round)).await?;
        Ok(vec![at_least(name, &measured, goal)])
    }

    async fn get(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let (product, ceiling) = (self.product().await?, Served::ceiling("get").await?);
        let ids = Arc::clone(&prefilled);
        let requests = reads(&product, move |index| format!("/v1/payments/{}", ids.id(index.wrapping_mul(7_919))));
        let duration = self.duration;
        let run = |served: &Served| {
            let (address, requests) = (served.address, Arc::clone(&requests));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(self.rounds, |_| run(&product), |_| run(&ceiling)).await?;
        Ok(vec![at_least("get", &measured, 550)])
    }

    async fn list(&mut self) -> io::Result<Vec<Finding>> {
        let path = |_| "/v1/payments?page=1&page_size=20".to_owned();
        self.compare_sizes("list", path, path, 2_000).await
    }

    async fn search(&mut self) -> io::Result<Vec<Finding>> {
        // A part of exactly one reference in each.
        let lists = self.lists().await?;
        let few = |count: u64| format!("/v1/payments?search=order-{}-", count / 2);
        let (small, large) = (few(lists.0.count), few(lists.1.count));
        self.compare_sizes("search", move |_| small.clone(), move |_| large.clone(), 10_000).await
    }

    /// What a read costs on the large list, in terms of what it costs on the small one.
    async fn compare_sizes(
        &mut self,
        name: &'static str,
        small_path: impl Fn(u64) -> String + Send + Sync + 'static,
        large_path: impl Fn(u64) -> String + Send + Sync + 'static,
        most: u64,
    ) -> io::Result<Vec<Finding>> {
        let lists = self.lists().await?;
        let small = Served::lunas(lists.0.directory.path()).await?;
        let large = Served::lunas(lists.1.directory.path()).await?;
        let (small_reads, large_reads) = (reads(&small, small_path), reads(&large, large_path));
        let (address, other) = (small.address, large.address);
        let measured = interleave(
            self.rounds,
            |_| load::run(address, LIST_CONNECTIONS, self.duration, &small_reads),
            |_| load::run(other, LIST_CONNECTIONS, self.duration, &large_reads),
        )
        .await?;
        Ok(vec![cost(name, &measured, most)])
    }

    async fn list_deep(&mut self) -> io::Result<Vec<Finding>> {
        let lists = self.lists().await?;
        let large = Served::lunas(lists.1.directory.path()).await?;
        let middle = lists.1.count / 20 / 2;
        let first = reads(&large, |_| "/v1/payments?page=1&page_size=20".to_owned());
        let deep = reads(&large, move |_| format!("/v1/payments?page={middle}&page_size=20"));
        let address = large.address;
        let measured = interleave(
            self.rounds,
            |_| load::run(address, LIST_CONNECTIONS, self.duration, &first),
            |_| load::run(address, LIST_CONNECTIONS, self.duration, &deep),
        )
        .await?;
        Ok(vec![cost("list-deep", &measured, 5_000)])
    }

    async fn paid(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = self.product().await?;
        // With a webhook URL, so that each event owes a delivery, which is sent meanwhile.
        let receiver = Receiver::start().await?;
        webhooks::set_url(&prefilled, &receiver.url()).await?;
        let (duration, run_id) = (self.duration, std::process::id());
        let pay = |round: u64| {
            let made = creates(&product, VIRTUAL_ACCOUNT, &format!("pay-{round}-{run_id}"));
            let product = &product;
            async move {
                let answers = load::collect(product.address, CONNECTIONS, READIED, &made).await?;
                load::count(product.address, CONNECTIONS, READIED, &pays(product, answers)?).await
            }
        };
        let create = |round: u64| {
            let requests = creates(&product, VIRTUAL_ACCOUNT, &format!("beside-{round}-{run_id}"));
            let address = product.address;
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(self.rounds, pay, create).await?;
        Ok(vec![at_least("paid", &measured, 500)])
    }

    async fn replay(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = self.product().await?;
        let made = creates(&product, VIRTUAL_ACCOUNT, &format!("replay-{}", std::process::id()));
        load::collect(product.address, CONNECTIONS, READIED, &made).await?;
        let again: Requests = Arc::new(move |index, out| made(index % READIED, out));
        let ids = Arc::clone(&prefilled);
        let gets = reads(&product, move |index| format!("/v1/payments/{}", ids.id(index.wrapping_mul(7_919))));
        let address = product.address;
        let measured = interleave(
            self.rounds,
            |_| load::run(address, CONNECTIONS, self.duration, &again),
            |_| load::run(address, CONNECTIONS, self.duration, &gets),
        )
        .await?;
        Ok(vec![at_least("replay", &measured, 600)])
    }

    /// Memory of a new installation, before and after it has been busy.
    async fn idle(&mut self) -> io::Result<Vec<Finding>> {
        let directory = tempfile::tempdir()?;
        let product = Served::lunas(directory.path()).await?;
        let before = product.resident_kib()?;
        let requests = creates(&product, VIRTUAL_ACCOUNT, "idle");
        load::run(product.address, CONNECTIONS, self.duration * 3, &requests).await?;
        let after = product.resident_kib()?;
        Ok(vec![memory("idle", "after start", before, 30), memory("idle", "after creates", after, 100)])
    }

    async fn start(&mut self) -> io::Result<Vec<Finding>> {
        let lists = self.lists().await?;
        let mut millis = Vec::new();
        for _ in 0..self.rounds {
            let served = Served::lunas(lists.1.directory.path()).await?;
            millis.push(served.ready_after.as_millis());
            served.end().await?;
        }
        millis.sort_unstable();
        let median = millis[millis.len() / 2];
        Ok(vec![Finding {
            group: "start",
            product: format!("{median} ms"),
            ceiling: format!("{} payments", lists.1.count),
            ratio: "-".to_owned(),
            goal: "<= 500 ms".to_owned(),
            holds: Some(median <= 500),
        }])
    }
}

pub(crate) const VIRTUAL_ACCOUNT: &str = r#"{"type":"virtual_account","bank":"bca"}"#;
const QRIS: &str = r#"{"type":"qris"}"#;

/// New payments, each with a key of its own.
pub(crate) fn creates(served: &Served, method: &'static str, run: &str) -> Requests {
    let (project, key) = (served.ready.project_id.clone(), served.ready.api_key.clone());
    let run = run.to_owned();
    Arc::new(move |index, out| {
        let body = format!(
            r#"{{"project_id":"{project}","reference":"order-{index}","amount":15000,"payment_method":{method}}}"#
        );
        post(out, "/v1/payments", &key, &format!("Idempotency-Key: {run}-{index}\r\n"), &body);
    })
}

/// Pays the payments that `answers` tell of having been made.
pub(crate) fn pays(served: &Served, answers: Vec<Vec<u8>>) -> io::Result<Requests> {
    let key = served.ready.api_key.clone();
    let ids = answers.iter().map(|answer| id_of(answer)).collect::<io::Result<Vec<_>>>()?;
    Ok(Arc::new(move |index, out| {
        let path = format!("/v1/sandbox/payments/{}/simulate", ids[index as usize]);
        post(out, &path, &key, "", r#"{"outcome":"paid"}"#);
    }))
}

fn reads(served: &Served, path: impl Fn(u64) -> String + Send + Sync + 'static) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |index, out| {
        let path = path(index);
        out.extend_from_slice(
            format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\r\n").as_bytes(),
        );
    })
}

fn post(out: &mut Vec<u8>, path: &str, key: &str, headers: &str, body: &str) {
    let length = body.len();
    out.extend_from_slice(
        format!(
            "POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             {headers}Content-Length: {length}\r\n\r\n{body}"
        )
        .as_bytes(),
    );
}

fn id_of(answer: &[u8]) -> io::Result<String> {
    #[derive(Deserialize)]
    struct Made {
        id: String,
    }
    serde_json::from_slice::<Made>(answer).map(|made| made.id).map_err(io::Error::other)
}

pub(crate) fn spread(measured: &Measured) -> String {
    let (least, most) = (measured.ratios.first().copied(), measured.ratios.last().copied());
    let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
    format!("{} ({} to {})", decimal(measured.median()), decimal(least), decimal(most))
}

pub(crate) fn at_least(group: &'static str, measured: &Measured, goal: u64) -> Finding {
    Finding {
        group,
        product: format!("{}/s", measured.product),
        ceiling: format!("{}/s", measured.ceiling),
        ratio: spread(measured),
        goal: format!(">= {}", decimal(goal)),
        holds: Some(measured.median() >= goal),
    }
}

/// The first side is the cheap one; the ratio of rates is the ratio of costs.
fn cost(group: &'static str, measured: &Measured, most: u64) -> Finding {
    Finding {
        group,
        product: format!("{}/s", measured.ceiling),
        ceiling: format!("{}/s", measured.product),
        ratio: spread(measured),
        goal: format!("<= {}", decimal(most)),
        holds: Some(measured.median() <= most),
    }
}

fn memory(group: &'static str, when: &str, kib: u64, mib_most: u64) -> Finding {
    Finding {
        group,
        product: format!("{} MiB", kib / 1024),
        ceiling: when.to_owned(),
        ratio: "-".to_owned(),
        goal: format!("<= {mib_most} MiB"),
        holds: Some(kib <= mib_most * 1024),
    }
}
