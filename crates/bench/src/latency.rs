//! How long creates and gets take while the server is a tenth, half or four fifths busy.

use std::io;

use crate::{
    bench::Bench,
    load::{self, CONNECTIONS, Requests},
    open_loop,
    process::Served,
    report::{Finding, decimal, milliseconds},
    requests::{VIRTUAL_ACCOUNT, creates, gets},
    rounds::middle,
};

/// In percent of the highest rate. The first is what the others are compared with.
const LOADS: [u64; 3] = [10, 50, 80];
const HALF: u64 = 50;
/// How many times as long a request may take at half load as at a tenth, by the 99th percentile and in thousandths.
const COST_MOST: u64 = 3_000;
const MEDIAN: usize = 500;
const P99: usize = 990;
const P999: usize = 999;

/// One load, with a figure of every round.
#[derive(Default)]
struct Loaded {
    median: Vec<u64>,
    p99: Vec<u64>,
    p999: Vec<u64>,
    sent_p99: Vec<u64>,
    /// How many times the 99th percentile of the first load, in thousandths.
    ratios: Vec<u64>,
}

impl Bench {
    pub(crate) async fn latency(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.prefilled().await?;
        let product = Served::lunas(&prefilled.home).await?;
        self.latencies("latency", &product, &gets(&product, &prefilled)).await
    }

    pub(crate) async fn pg_latency(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.pg_prefilled().await?;
        let product = Served::lunas(&prefilled.home).await?;
        self.latencies("pg-latency", &product, &gets(&product, &prefilled)).await
    }

    async fn latencies(&self, group: &'static str, product: &Served, gets: &Requests) -> io::Result<Vec<Finding>> {
        let create = |run: String| creates(product, VIRTUAL_ACCOUNT, &format!("{group}-{run}-{}", std::process::id()));
        let mut findings = self.under_load(group, "create", product, create).await?;
        findings.extend(self.under_load(group, "get", product, |_| gets.clone()).await?);
        Ok(findings)
    }

    /// Finds the highest rate, then measures at parts of it in turn. `requests` returns those of a run of that name.
    async fn under_load(
        &self,
        group: &'static str,
        what: &str,
        product: &Served,
        requests: impl Fn(String) -> Requests,
    ) -> io::Result<Vec<Finding>> {
        let mut rates = Vec::new();
        for round in 0..=self.rounds {
            let rate =
                load::run(product.address, CONNECTIONS, self.duration, &requests(format!("most-{round}"))).await?;
            rates.push(rate.per_second);
        }
        // The first of them has warmed up.
        rates.remove(0);
        rates.sort_unstable();
        let highest = middle(&rates);
        let mut loads = LOADS.map(|percent| (percent, Loaded::default()));
        for round in 0..self.rounds {
            let mut idle = None;
            for (percent, loaded) in &mut loads {
                let requests = requests(format!("{percent}-{round}"));
                let per_second = highest * *percent / 100;
                let measured = open_loop::run(product.address, per_second, self.duration, &requests).await?;
                let p99 = measured.latency_at(P99);
                loaded.ratios.push(p99 * 1_000 / (*idle.get_or_insert(p99)).max(1));
                loaded.median.push(measured.latency_at(MEDIAN));
                loaded.p99.push(p99);
                loaded.p999.push(measured.latency_at(P999));
                loaded.sent_p99.push(measured.sent(P99));
            }
        }
        Ok(loads.into_iter().map(|(percent, loaded)| loaded.finding(group, what, percent, highest)).collect())
    }
}

impl Loaded {
    fn finding(mut self, group: &'static str, what: &str, percent: u64, highest: u64) -> Finding {
        for figures in [&mut self.median, &mut self.p99, &mut self.p999, &mut self.sent_p99, &mut self.ratios] {
            figures.sort_unstable();
        }
        let [median, p99, p999, sent] =
            [&self.median, &self.p99, &self.p999, &self.sent_p99].map(|figures| milliseconds(middle(figures)));
        let (least, most) = (self.ratios.first().copied(), self.ratios.last().copied());
        let [least, most] = [least, most].map(|ratio| decimal(ratio.unwrap_or_default()));
        let ratio = middle(&self.ratios);
        let is_goal = percent == HALF;
        Finding {
            group,
            product: format!("{what} p50 {median}, p99 {p99}, p99.9 {p999}"),
            ceiling: format!("{percent} % of {highest}/s, sent {sent} late (p99)"),
            ratio: if percent == LOADS[0] { "-".to_owned() } else { format!("{} ({least} to {most})", decimal(ratio)) },
            goal: if is_goal { format!("<= {}", decimal(COST_MOST)) } else { "-".to_owned() },
            holds: is_goal.then_some(ratio <= COST_MOST),
        }
    }
}
