//! The groups of measurements, and those on SQLite that have no file of their own. A group compares the product with a
//! ceiling and has a goal.

use std::{io, sync::Arc, time::Duration};

use clap::ValueEnum;
use tokio::time::sleep;

use crate::{
    bench::Bench,
    load::{self, CONNECTIONS, Requests},
    peers,
    prefill::Prefilled,
    process::{Home, Served},
    receiver::Receiver,
    report::{Finding, at_least, memory},
    requests::{QRIS, VIRTUAL_ACCOUNT, creates, gets, pays},
    rounds::interleave,
    webhooks,
};

/// By then a server has given back the memory that only its start needed.
const SETTLED_AFTER: Duration = Duration::from_secs(12);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    CreateVa,
    CreateQris,
    CreateRandom,
    Get,
    List,
    ListDeep,
    Search,
    Paid,
    Refund,
    RefundList,
    SnapPay,
    SnapIssue,
    SnapSilent,
    Replay,
    Webhook,
    WebhookLatency,
    WebhookShy,
    Deliver,
    Latency,
    Checkout,
    Anonymous,
    Attempts,
    Watchers,
    Dashboard,
    Growth,
    Disk,
    Idle,
    Start,
    PgCreate,
    PgGet,
    PgHot,
    PgList,
    PgRefundList,
    PgWebhook,
    PgDeliver,
    PgLatency,
    PgGrowth,
    PgDisk,
    PgNodes,
    Peers,
}

impl Bench {
    pub(crate) async fn run(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        match group {
            Group::CreateVa => self.create("create-va", VIRTUAL_ACCOUNT, 600).await,
            Group::CreateQris => self.create("create-qris", QRIS, 400).await,
            Group::CreateRandom => self.create_random().await,
            Group::Get => self.get().await,
            Group::List | Group::ListDeep | Group::Search => self.list(group).await,
            Group::Paid => self.paid().await,
            Group::Refund | Group::RefundList => self.refunds(group).await,
            Group::SnapPay | Group::SnapIssue | Group::SnapSilent => self.at_banks(group).await,
            Group::Replay => self.replay().await,
            Group::Webhook | Group::WebhookLatency | Group::WebhookShy | Group::Deliver => self.webhooks(group).await,
            Group::Latency => self.latency().await,
            Group::Checkout => self.chooser().await,
            Group::Anonymous => self.anonymous().await,
            Group::Attempts => self.attempts().await,
            Group::Watchers => self.watchers().await,
            Group::Dashboard => self.dashboard().await,
            Group::Growth => self.growth().await,
            Group::Disk => self.disk().await,
            Group::Idle => self.idle().await,
            Group::Start => self.start().await,
            Group::PgCreate
            | Group::PgGet
            | Group::PgHot
            | Group::PgList
            | Group::PgRefundList
            | Group::PgWebhook
            | Group::PgDeliver
            | Group::PgLatency
            | Group::PgGrowth
            | Group::PgDisk
            | Group::PgNodes => self.on_postgres(group).await,
            Group::Peers => peers::run(&self.product().await?, self.duration, self.rounds).await,
        }
    }

    async fn on_postgres(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        match group {
            Group::PgCreate => self.pg_create().await,
            Group::PgGet => self.pg_get().await,
            Group::PgHot => self.pg_hot().await,
            Group::PgList => self.pg_list().await,
            Group::PgRefundList => self.pg_refund_list().await,
            Group::PgWebhook => self.pg_webhook().await,
            Group::PgDeliver => self.pg_deliver().await,
            Group::PgLatency => self.pg_latency().await,
            Group::PgGrowth => self.pg_growth().await,
            Group::PgDisk => self.pg_disk().await,
            _ => self.pg_nodes().await,
        }
    }

    async fn webhooks(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        match group {
            Group::Webhook => self.webhook().await,
            Group::WebhookLatency => self.webhook_latency().await,
            Group::WebhookShy => self.webhook_shy().await,
            _ => self.deliver().await,
        }
    }

    async fn refunds(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        match group {
            Group::RefundList => self.refund_list().await,
            _ => self.refund().await,
        }
    }

    async fn at_banks(&mut self, group: Group) -> io::Result<Vec<Finding>> {
        match group {
            Group::SnapIssue => self.snap_issue().await,
            Group::SnapSilent => self.snap_silent().await,
            _ => self.snap_pay().await,
        }
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
        Ok(match group {
            Group::ListDeep => vec![self.middle_page("list-deep", &lists).await?],
            Group::Search => {
                vec![self.search("search", &lists).await?, self.search_words("search-words", &lists).await?]
            }
            _ => vec![self.first_page("list", &lists).await?],
        })
    }

    async fn paid(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = self.product().await?;
        // With a webhook URL, so that each event has a delivery, which is sent during the measurement.
        let receiver = Receiver::start().await?;
        webhooks::set_url(&prefilled.home, prefilled.project, &receiver.url()).await?;
        let (duration, prepared, run_id) = (self.duration, self.prepared(), std::process::id());
        let pay = |round: u64| {
            let made = creates(&product, VIRTUAL_ACCOUNT, &format!("pay-{round}-{run_id}"));
            let product = &product;
            async move {
                let answers = load::collect(product.address, CONNECTIONS, prepared, &made).await?;
                load::count(product.address, CONNECTIONS, prepared, &pays(product, answers)?).await
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
        let (product, prepared) = (self.product().await?, self.prepared());
        let made = creates(&product, VIRTUAL_ACCOUNT, &format!("replay-{}", std::process::id()));
        load::collect(product.address, CONNECTIONS, prepared, &made).await?;
        let again: Requests = Arc::new(move |index, out| made(index % prepared, out));
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
        let product = Served::lunas(&prefilled.home).await?;
        let measured = webhooks::throughput(&prefilled, &product, self.rounds, self.prepared()).await?;
        Ok(vec![at_least("webhook", &measured, 400)])
    }

    async fn webhook_latency(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        webhooks::latency(&prefilled, &self.product().await?).await
    }

    /// On a database of its own, as its servers are started anew for each round.
    async fn webhook_shy(&self) -> io::Result<Vec<Finding>> {
        let prefilled = Prefilled::on_sqlite(self.prefill).await?;
        Ok(vec![at_least("webhook-shy", &webhooks::to_shy_receiver(&prefilled, self.rounds).await?, 800)])
    }

    /// The memory of a new installation, before and after load.
    async fn idle(&mut self) -> io::Result<Vec<Finding>> {
        let home = Home::on_sqlite()?;
        let product = Served::lunas(&home).await?;
        sleep(SETTLED_AFTER).await;
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
