//! What a webhook service is measured by: how many events it takes and delivers in a second, at default settings, for one
//! project with one receiver.

use std::{io, time::Instant};

use tokio::task::JoinSet;

use crate::{
    bench::Bench,
    load::{self, Rate},
    prefill::Prefilled,
    process::Served,
    receiver::Receiver,
    report::{Finding, decimal},
    requests::{VIRTUAL_ACCOUNT, creates, pays_by},
    rounds::middle,
    webhooks,
};

const CONNECTIONS: u64 = 32;
const EVENTS: u64 = 6_000;
/// The better of two figures that somebody else measured of Svix 1.99 with PostgreSQL and Redis, at its default settings and on
/// two cores as well: 832 and 969 events a second, accepted and delivered.
const SVIX_PER_SECOND: u64 = 969;
/// How many times as many, in thousandths.
const GOAL: u64 = 5_000;
const GOAL_ON_POSTGRES: u64 = 3_000;

/// The events of one round by the second.
struct Delivered {
    accepted: u64,
    delivered: u64,
}

impl Bench {
    /// On a database of its own, as other groups leave webhooks behind that are sent again later.
    pub(crate) async fn deliver(&self) -> io::Result<Vec<Finding>> {
        let prefilled = Prefilled::on_sqlite(self.prefill).await?;
        self.deliver_from("deliver", &prefilled, GOAL).await
    }

    pub(crate) async fn pg_deliver(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = Prefilled::on_postgres(&self.cluster().await?, self.prefill).await?;
        self.deliver_from("pg-deliver", &prefilled, GOAL_ON_POSTGRES).await
    }

    async fn deliver_from(&self, group: &'static str, prefilled: &Prefilled, goal: u64) -> io::Result<Vec<Finding>> {
        let product = Served::lunas(&prefilled.home).await?;
        let receiver = Receiver::start().await?;
        webhooks::set_url(&prefilled.home, prefilled.project, &receiver.url()).await?;
        let events = EVENTS.min(self.prefill).max(1);
        let (mut accepted, mut delivered) = (Vec::new(), Vec::new());
        for round in 0..=self.rounds {
            let run = format!("{group}-{round}-{}", std::process::id());
            let measured = deliver(&product, &receiver, events, &run).await?;
            // The first round only warms up.
            if round > 0 {
                accepted.push(measured.accepted);
                delivered.push(measured.delivered);
            }
        }
        Ok(vec![finding(group, "accepted", accepted, goal), finding(group, "delivered", delivered, goal)])
    }
}

/// Creates payments and pays each, and waits for all of their webhooks.
async fn deliver(product: &Served, receiver: &Receiver, events: u64, run: &str) -> io::Result<Delivered> {
    receiver.reset();
    let (began, mut tasks) = (Instant::now(), JoinSet::new());
    for number in 0..CONNECTIONS {
        let (address, caller) = (product.address, product.caller());
        let made = creates(product, VIRTUAL_ACCOUNT, run);
        tasks.spawn(async move {
            let mut stream = load::connect(address).await?;
            let (mut request, mut answer) = (Vec::new(), Vec::new());
            for index in (number..events).step_by(CONNECTIONS as usize) {
                request.clear();
                made(index, &mut request);
                let body = load::exchange(&mut stream, &request, &mut answer).await?;
                let pays = pays_by(vec![caller.clone()], vec![answer[body].to_vec()])?;
                request.clear();
                pays(0, &mut request);
                load::exchange(&mut stream, &request, &mut answer).await?;
            }
            io::Result::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(io::Error::other)??;
    }
    let accepted = began.elapsed();
    let (last, _) = receiver.received(events).await?;
    Ok(Delivered {
        accepted: Rate::of(events, accepted).per_second,
        delivered: Rate::of(events, last - began).per_second,
    })
}

fn finding(group: &'static str, what: &str, mut per_second: Vec<u64>, goal: u64) -> Finding {
    per_second.sort_unstable();
    let median = middle(&per_second);
    let times = |rate: u64| rate * 1_000 / SVIX_PER_SECOND;
    let (least, most) = (per_second.first().copied(), per_second.last().copied());
    let (least, most) = (times(least.unwrap_or_default()), times(most.unwrap_or_default()));
    Finding {
        group,
        product: format!("{median} events/s {what}"),
        ceiling: format!("Svix 1.99 {SVIX_PER_SECOND}/s, not run beside it"),
        ratio: format!("{} ({} to {})", decimal(times(median)), decimal(least), decimal(most)),
        goal: format!(">= {}", decimal(goal)),
        holds: Some(times(median) >= goal),
    }
}
