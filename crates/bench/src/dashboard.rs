//! The dashboard's first pages: what they cost with many payments, relative to what they cost with few.

use std::io;

use crate::{
    bench::{Bench, SMALL_PART},
    load,
    process::Served,
    report::{Finding, cost},
    rounds::interleave,
    shop::Shop,
};

const CONNECTIONS: u64 = 8;
/// The pages, and how many times as much each may cost, in thousandths.
const PAGES: [(&str, &str, u64); 2] = [("dash-payments", "/payments", 3_000), ("dash-home", "", 1_500)];
/// What the home page should reach on two cores; a ratio says more about another machine.
const HOMES_PER_SECOND: u64 = 1_500;

impl Bench {
    pub(crate) async fn dashboard(&self) -> io::Result<Vec<Finding>> {
        let small = Shop::on_sqlite((self.large / SMALL_PART).max(1)).await?;
        let large = Shop::on_sqlite(self.large).await?;
        let (small_server, large_server) = (Served::lunas(&small.home).await?, Served::lunas(&large.home).await?);
        let mut findings = Vec::new();
        for (name, page, most) in PAGES {
            let (few, many) = (small.opens(page), large.opens(page));
            let measured = interleave(
                self.rounds,
                |_| load::run(small_server.address, CONNECTIONS, self.duration, &few),
                |_| load::run(large_server.address, CONNECTIONS, self.duration, &many),
            )
            .await?;
            findings.push(cost(name, &measured, most));
            if page.is_empty() {
                findings.push(Finding {
                    group: name,
                    product: format!("{} pages/s", measured.ceiling),
                    ceiling: format!("{} payments", large.count),
                    ratio: "-".to_owned(),
                    goal: format!(">= {HOMES_PER_SECOND}/s (orientation)"),
                    holds: None,
                });
            }
        }
        Ok(findings)
    }
}
