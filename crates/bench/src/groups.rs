//! What is measured. Each group is a product, what it is held against, and a goal.

use std::{io, sync::Arc, time::Duration};

use clap::ValueEnum;
use serde::Deserialize;

use crate::{
    lists::Lists,
    load::{self, Requests},
    peers, postgres,
    prefill::Prefilled,
    process::{Caller, Home, Served},
    receiver::Receiver,
    report::{Finding, decimal},
    rounds::{Measured, interleave},
    webhooks,
};

pub(crate) const CONNECTIONS: u64 = 64;
/// The small lists hold this part of what the large ones hold.
pub(crate) const SMALL_PART: u64 = 1_000;
/// Payments made before each round that pays or replays them, unless databases are to hold fewer.
const READIED: u64 = 8_000;

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
    Checkout,
    Watchers,
    Dashboard,
    Idle,
    Start,
    PgCreate,
    PgGet,
    PgHot,
    PgList,
    PgWebhook,
    PgNodes,
    Peers,
}

impl Group {
    pub(crate) const ALL: [Group; 22] = [
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
        Group::Checkout,
        Group::Watchers,
        Group::Dashboard,
        Group::Idle,
        Group::Start,
        Group::PgCreate,
        Group::PgGet,
        Group::PgHot,
        Group::PgList,
        Group::PgWebhook,
        Group::PgNodes,
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
    pub(crate) lists: Option<Arc<Lists>>,
    pub(crate) postgres: postgres::Shared,
}

impl Bench {
    pub(crate) async fn run(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        match group {
            Group::CreateVa => self.create("create-va", VIRTUAL_ACCOUNT, 600).await,
            Group::CreateQris => self.create("create-qris", QRIS, 450).await,
            Group::Get => self.get().await,
            Group::List | Group::ListDeep | Group::Search => self.list(group).await,
            Group::Paid => self.paid().await,
            Group::Replay => self.replay().await,
            Group::Webhook => self.webhook().await,
            Group::WebhookLatency => self.webhook_latency().await,
            Group::Checkout => {
                let product = self.product().await?;
                self.chooser(&product).await
            }
            Group::Watchers => {
                let prefilled = self.prefilled().await?;
                self.watchers(&prefilled).await
            }
            Group::Dashboard => self.dashboard().await,
            Group::Idle => self.idle().await,
            Group::Start => self.start().await,
            Group::PgCreate => self.pg_create().await,
            Group::PgGet => self.pg_get().await,
            Group::PgHot => self.pg_hot().await,
            Group::PgList => self.pg_list().await,
            Group::PgWebhook => self.pg_webhook().await,
            Group::PgNodes => self.pg_nodes().await,
            Group::Peers => peers::run(&self.product().await?, self.duration, self.rounds).await,
        }
    }

    async fn prefilled(&mut self) -> io::Result<Arc<Prefilled>> {
        if self.prefilled.is_none() {
            self.prefilled = Some(Arc::new(Prefilled::on_sqlite(self.prefill).await?));
        }
        self.prefilled.clone().ok_or_else(|| io::Error::other("nothing was prefilled"))
    }

    async fn lists(&mut self) -> io::Result<Arc<Lists>> {
        if self.lists.is_none() {
            let small = Prefilled::on_sqlite((self.large / SMALL_PART).max(1)).await?;
            self.lists = Some(Arc::new(Lists { small, large: Prefilled::on_sqlite(self.large).await? }));
        }
        self.lists.clone().ok_or_else(|| io::Error::other("nothing was prefilled"))
    }

    async fn product(&mut self) -> io::Result<Served> {
        Served::lunas(&self.prefilled().await?.home).await
    }

    pub(crate) fn readied(&self) -> u64 {
        READIED.min(self.prefill).max(1)
    }

    async fn create(&mut self, name: &'static str, method: &'static str, goal: u64) -> io::Result<Vec<Finding>> {
        let (product, ceiling) = (self.product().await?, Served::ceiling(&["create"]).await?);
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
        let (product, ceiling) = (self.product().await?, Served::ceiling(&["get"]).await?);
        let requests = gets(&product, &prefilled);
        let duration = self.duration;
        let run = |served: &Served| {
            let (address, requests) = (served.address, Arc::clone(&requests));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(self.rounds, |_| run(&product), |_| run(&ceiling)).await?;
        Ok(vec![at_least("get", &measured, 550)])
    }

    async fn list(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        let lists = self.lists().await?;
        let found = match group {
            Group::ListDeep => self.middle_page("list-deep", &lists).await?,
            Group::Search => self.search("search", &lists).await?,
            _ => self.first_page("list", &lists).await?,
        };
        Ok(vec![found])
    }

    async fn paid(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = self.product().await?;
        // With a webhook URL, so that each event owes a delivery, which is sent meanwhile.
        let receiver = Receiver::start().await?;
        webhooks::set_url(&prefilled.home, prefilled.project, &receiver.url()).await?;
        let (duration, readied, run_id) = (self.duration, self.readied(), std::process::id());
        let pay = |round: u64| {
            let made = creates(&product, VIRTUAL_ACCOUNT, &format!("pay-{round}-{run_id}"));
            let product = &product;
            async move {
                let answers = load::collect(product.address, CONNECTIONS, readied, &made).await?;
                load::count(product.address, CONNECTIONS, readied, &pays(product, answers)?).await
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
        let (product, readied) = (self.product().await?, self.readied());
        let made = creates(&product, VIRTUAL_ACCOUNT, &format!("replay-{}", std::process::id()));
        load::collect(product.address, CONNECTIONS, readied, &made).await?;
        let again: Requests = Arc::new(move |index, out| made(index % readied, out));
        let gets = gets(&product, &prefilled);
        let address = product.address;
        let measured = interleave(
            self.rounds,
            |_| load::run(address, CONNECTIONS, self.duration, &again),
            |_| load::run(address, CONNECTIONS, self.duration, &gets),
        )
        .await?;
        Ok(vec![at_least("replay", &measured, 600)])
    }

    async fn webhook(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = Served::lunas_sending_freely(&prefilled.home).await?;
        let measured = webhooks::throughput(&prefilled, &product, self.rounds, self.readied()).await?;
        Ok(vec![at_least("webhook", &measured, 400)])
    }

    async fn webhook_latency(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        webhooks::latency(&prefilled, &self.product().await?).await
    }

    /// Memory of a new installation, before and after it has been busy.
    async fn idle(&mut self) -> io::Result<Vec<Finding>> {
        let home = Home::on_sqlite()?;
        let product = Served::lunas(&home).await?;
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
            let served = Served::lunas(&lists.large.home).await?;
            millis.push(served.ready_after.as_millis());
            served.end().await?;
        }
        millis.sort_unstable();
        let median = millis[millis.len() / 2];
        Ok(vec![Finding {
            group: "start",
            product: format!("{median} ms"),
            ceiling: format!("{} payments", lists.large.count),
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
    creates_by(vec![served.caller()], method, run)
}

/// The same by several callers, who take turns.
pub(crate) fn creates_by(callers: Vec<Caller>, method: &'static str, run: &str) -> Requests {
    let run = run.to_owned();
    Arc::new(move |index, out| {
        let Caller { project_id: project, api_key: key } = turn(&callers, index);
        let body = format!(
            r#"{{"project_id":"{project}","reference":"order-{index}","amount":15000,"payment_method":{method}}}"#
        );
        post(out, "/v1/payments", key, &format!("Idempotency-Key: {run}-{index}\r\n"), &body);
    })
}

/// Pays the payments that `answers` tell of having been made.
pub(crate) fn pays(served: &Served, answers: Vec<Vec<u8>>) -> io::Result<Requests> {
    pays_by(vec![served.caller()], answers)
}

/// The same where callers took turns in making them.
pub(crate) fn pays_by(callers: Vec<Caller>, answers: Vec<Vec<u8>>) -> io::Result<Requests> {
    let ids = ids_of(answers)?;
    Ok(Arc::new(move |index, out| {
        simulate(out, &ids[index as usize], &turn(&callers, index).api_key);
    }))
}

/// Pays that one.
pub(crate) fn pay(served: &Served, id: String) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |_, out| simulate(out, &id, &key))
}

fn simulate(out: &mut Vec<u8>, id: &str, key: &str) {
    post(out, &format!("/v1/sandbox/payments/{id}/simulate"), key, "", r#"{"outcome":"paid"}"#);
}

fn turn(callers: &[Caller], index: u64) -> &Caller {
    &callers[index as usize % callers.len()]
}

/// Payments that were there before, here and there.
pub(crate) fn gets(served: &Served, prefilled: &Arc<Prefilled>) -> Requests {
    let prefilled = Arc::clone(prefilled);
    reads(served, move |index| format!("/v1/payments/{}", prefilled.id(index.wrapping_mul(7_919))))
}

pub(crate) fn reads(served: &Served, path: impl Fn(u64) -> String + Send + Sync + 'static) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |index, out| {
        let path = path(index);
        out.extend_from_slice(
            format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\r\n").as_bytes(),
        );
    })
}

pub(crate) fn posts(
    served: &Served,
    path: &'static str,
    body: impl Fn(u64) -> String + Send + Sync + 'static,
) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |index, out| post(out, path, &key, "", &body(index)))
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

/// What those that the answers tell of are called.
pub(crate) fn ids_of(answers: Vec<Vec<u8>>) -> io::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Made {
        id: String,
    }
    let id = |answer: Vec<u8>| serde_json::from_slice::<Made>(&answer).map(|made| made.id);
    answers.into_iter().map(id).collect::<Result<_, _>>().map_err(io::Error::other)
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

/// A ratio without a goal.
pub(crate) fn orientation(group: &'static str, measured: &Measured) -> Finding {
    Finding { goal: "-".to_owned(), holds: None, ..at_least(group, measured, 0) }
}

/// The first side is the cheap one; the ratio of rates is the ratio of costs.
pub(crate) fn cost(group: &'static str, measured: &Measured, most: u64) -> Finding {
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
