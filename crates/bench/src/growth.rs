//! What each operation costs as payments accumulate, and whether that grows faster than the logarithm of their number.
//!
//! Every size is a database of its own, and all of them are measured in turn within each round, so that they share the same
//! minutes. All payments are of one project and of the last month, and all are paid: with ten times as many, every hour has
//! ten times as many too.

use std::{io, sync::Arc};

use pgcluster::Cluster;

use crate::{
    bench::Bench,
    curve::{Curve, Grown, points},
    load::{self, Rate},
    process::Served,
    report::Finding,
    requests::{VIRTUAL_ACCOUNT, creates, reads},
    shop::Shop,
};

/// The size that the others are compared with, unless the largest is small.
const SMALLEST: u64 = 10_000;
/// Each size is so many times the one before it.
const STEP: u64 = 10;
/// Payments that are created in each round, at every size.
const CREATES: u64 = 10_000;
const CONNECTIONS: u64 = 64;
/// For reads that go through more than a row.
const FEW_CONNECTIONS: u64 = 8;

#[derive(Clone, Copy)]
enum Operation {
    Create,
    Get,
    List,
    Search,
    Home,
    Balance,
}

const OPERATIONS: [(Operation, &str); 6] = [
    (Operation::Get, "get"),
    (Operation::List, "list"),
    (Operation::Search, "search"),
    (Operation::Home, "home"),
    (Operation::Balance, "balance"),
    // The last one, since it makes the databases larger.
    (Operation::Create, "create"),
];

/// A shop and its server, which ends before the shop's files are removed.
struct Open {
    served: Served,
    shop: Shop,
}

impl Bench {
    pub(crate) async fn growth(&mut self) -> io::Result<Vec<Finding>> {
        self.grow("growth", "SQLite", None).await
    }

    pub(crate) async fn pg_growth(&mut self) -> io::Result<Vec<Finding>> {
        let cluster = self.cluster().await?;
        self.grow("pg-growth", "PostgreSQL", Some(&cluster)).await
    }

    async fn grow(
        &mut self,
        group: &'static str,
        title: &'static str,
        cluster: Option<&Arc<Cluster>>,
    ) -> io::Result<Vec<Finding>> {
        let sizes = sizes(self.growth_most);
        let mut opened = Vec::new();
        for size in &sizes {
            opened.push(open(cluster, *size).await?);
        }
        let mut operations = Vec::new();
        for (operation, name) in OPERATIONS {
            let mut rates = vec![Vec::new(); sizes.len()];
            // The first round only warms up.
            for round in 0..=self.rounds {
                for (at, open) in opened.iter_mut().enumerate() {
                    let rate = self.operate(operation, open, cluster, round).await?;
                    if round > 0 {
                        rates[at].push(rate.per_second.max(1));
                    }
                }
            }
            operations.push(Grown { name, points: points(&sizes, &rates) });
        }
        let curve = Curve { title, operations };
        let findings = curve.findings(group);
        self.curves.push(curve);
        Ok(findings)
    }

    async fn operate(
        &self,
        operation: Operation,
        open: &mut Open,
        cluster: Option<&Arc<Cluster>>,
        round: usize,
    ) -> io::Result<Rate> {
        let (address, duration) = (open.served.address, self.duration);
        let few = |requests| async move { load::run(address, FEW_CONNECTIONS, duration, &requests).await };
        match operation {
            Operation::Create => self.create_some(open, cluster, round).await,
            Operation::Get => {
                let id = open.shop.ids();
                let requests =
                    reads(&open.served, move |index| format!("/v1/payments/{}", id(index.wrapping_mul(7_919))));
                load::run(address, CONNECTIONS, duration, &requests).await
            }
            Operation::List => few(reads(&open.served, |_| "/v1/payments?page=1&page_size=20".to_owned())).await,
            Operation::Search => {
                let path = format!("/v1/payments?search=order-{}-", open.shop.count / 2);
                few(reads(&open.served, move |_| path.clone())).await
            }
            Operation::Home => few(open.shop.opens("")).await,
            Operation::Balance => few(reads(&open.served, |_| "/v1/balance".to_owned())).await,
        }
    }

    /// A database that these creates would make much larger is made anew for every round.
    async fn create_some(&self, open: &mut Open, cluster: Option<&Arc<Cluster>>, round: usize) -> io::Result<Rate> {
        let size = open.shop.count;
        let count = CREATES.min(size);
        if round > 0 && count * (self.rounds as u64 + 1) > size {
            *open = self::open(cluster, size).await?;
        }
        let run = format!("growth-{round}-{}", std::process::id());
        let requests = creates(&open.served, VIRTUAL_ACCOUNT, &run);
        load::count(open.served.address, CONNECTIONS, count, &requests).await
    }
}

async fn open(cluster: Option<&Arc<Cluster>>, size: u64) -> io::Result<Open> {
    let shop = match cluster {
        Some(cluster) => Shop::on_postgres(cluster, size).await?,
        None => Shop::on_sqlite(size).await?,
    };
    let served = Served::lunas(&shop.home).await?;
    Ok(Open { served, shop })
}

/// Powers of ten, up to `most`.
fn sizes(most: u64) -> Vec<u64> {
    let smallest = SMALLEST.min(most / STEP / STEP).max(STEP);
    let smallest = STEP.pow(smallest.ilog10());
    std::iter::successors(Some(smallest), |size| size.checked_mul(STEP)).take_while(|size| *size <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_ten_from_ten_thousand_on() {
        for (most, expected) in [
            (1_000_000, vec![10_000, 100_000, 1_000_000]),
            (10_000_000, vec![10_000, 100_000, 1_000_000, 10_000_000]),
            (9_999_999, vec![10_000, 100_000, 1_000_000]),
            (1_000, vec![10, 100, 1_000]),
            (10, vec![10]),
        ] {
            assert_eq!(sizes(most), expected, "{most}");
        }
    }
}
