//! pgbench, PostgreSQL's own benchmark, on the product's tables: one prepared statement per transaction, over TCP like
//! the product.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use domain::id::ProjectId;
use pgcluster::Cluster;

use crate::{database::Database, load::Rate, prefill};

/// Numbers of clients that are tried; the product is compared with the best one.
const CLIENTS: [u64; 3] = [8, 16, 32];
/// Threads of pgbench; the product has as many.
const THREADS: &str = "2";
/// Each run numbers its new rows from a multiple of this on, so that no two runs use the same number.
const NUMBERS_PER_RUN: u64 = 1_000_000_000;

/// The least that creating a payment must write: the payment and its Idempotency-Key. pgbench replaces a name after a
/// colon by a variable, even within quotes.
const CREATE: &str = r"
\set count :count + 1
\set number :first + :count * :clients + :client_id
WITH bound AS (
    INSERT INTO idempotency (project_id, endpoint, key, request, resource)
    VALUES ('PROJECT', 'payments', 'pgbench-' || :number::text,
        '\x55555555555555555555555555555555', 'pay_' || lpad(:number::text, 26, '0'))
    ON CONFLICT DO NOTHING
)
INSERT INTO payments (id, project_id, link_id, reference, search_text, amount, fee, method, code, state, paid_at, ended_at,
    created_at, expires_at, version)
VALUES ('pay_' || lpad(:number::text, 26, '0'), 'PROJECT', NULL, 'order-' || :number::text, 'order-' || :number::text, 15000,
    4000, 'bca', lpad(:number::text, 16, '0'), 'pending', NULL, NULL, 1794648600000 + :number::bigint,
    1794735000000 + :number::bigint, 1)
ON CONFLICT DO NOTHING;
";

/// Reads one of the prefilled payments by its primary key.
const GET: &str = r"
\set number random(0, :prefilled - 1)
SELECT p.id, p.project_id, p.link_id, p.reference, p.amount, p.fee, p.method, p.code, p.state, p.paid_at, p.ended_at,
    p.created_at, p.expires_at, p.version
FROM payments p WHERE p.id = 'pay_' || lpad(:number::text, 26, '0');
";

/// A database with the product's tables and indexes and as many payments, with ids that pgbench can compute.
pub(crate) struct Pgbench {
    cluster: Arc<Cluster>,
    url: String,
    project: String,
    prefilled: u64,
    runs: AtomicU64,
}

/// What pgbench runs.
#[derive(Clone, Copy)]
pub(crate) enum Script {
    Create,
    Get,
}

impl Pgbench {
    pub(crate) async fn new(cluster: &Arc<Cluster>, project: ProjectId, prefilled: u64) -> io::Result<Pgbench> {
        let database = Database::Postgres { url: cluster.fresh_database() };
        database.open().await?.close().await;
        let url = database.url();
        prefill::copy(cluster, &url, project, prefilled, |_, index| format!("pay_{index:026}")).await?;
        prefill::vacuum(cluster, &url).await?;
        let (cluster, project) = (Arc::clone(cluster), project.to_string());
        Ok(Pgbench { cluster, url, project, prefilled, runs: AtomicU64::new(1) })
    }

    /// The number of clients with the highest rate.
    pub(crate) async fn best_clients(&self, script: Script, duration: Duration) -> io::Result<u64> {
        let mut best = (0, 0);
        // pgbench runs for whole seconds only. A shorter duration is used to test the bench itself, which need not try
        // them all.
        let tried = if duration < Duration::from_secs(1) { &CLIENTS[..1] } else { &CLIENTS };
        for &clients in tried {
            let rate = self.run(script, clients, duration).await?;
            best = best.max((rate.per_second, clients));
        }
        Ok(best.1)
    }

    pub(crate) async fn run(&self, script: Script, clients: u64, duration: Duration) -> io::Result<Rate> {
        rate(&self.output(script, clients, duration).await?)
    }

    /// The output of a run.
    async fn output(&self, script: Script, clients: u64, duration: Duration) -> io::Result<String> {
        let first = self.runs.fetch_add(1, Ordering::Relaxed) * NUMBERS_PER_RUN;
        let seconds = duration.as_secs().max(1).to_string();
        let defined = [
            format!("first={first}"),
            "count=0".to_owned(),
            format!("clients={clients}"),
            format!("prefilled={}", self.prefilled),
        ];
        let text = match script {
            Script::Create => CREATE.replace("PROJECT", &self.project),
            Script::Get => GET.to_owned(),
        };
        let (cluster, url) = (Arc::clone(&self.cluster), self.url.clone());
        let output = tokio::task::spawn_blocking(move || {
            let clients = clients.to_string();
            let mut words = vec!["-n", "-M", "prepared", "-f", "-", "-c", &clients, "-j", THREADS, "-T", &seconds];
            words.extend(defined.iter().flat_map(|variable| ["-D", variable]));
            cluster.run_program("pgbench", &url, &words, &text)
        })
        .await?;
        output.map_err(io::Error::other)
    }
}

/// The rate in the output. Older versions print two such lines; the last one is without the time to connect. On a machine that is
/// busy enough for no transaction to end in time, there is none.
fn rate(output: &str) -> io::Result<Rate> {
    let line = output.lines().rev().find_map(|line| line.strip_prefix("tps = "));
    let whole = line.and_then(|line| line.split(['.', ' ']).next()?.parse().ok());
    let nothing_ended = output.lines().any(|line| line == "number of transactions actually processed: 0").then_some(0);
    whole
        .or(nothing_ended)
        .map(|per_second| Rate { per_second })
        .ok_or_else(|| io::Error::other(format!("pgbench printed no rate: {output}")))
}

#[cfg(test)]
mod tests {
    use domain::{id::mint, time::Timestamp};

    use super::*;

    /// If pgbench did less than it counts, the ceiling would be too high.
    #[tokio::test(flavor = "multi_thread")]
    async fn every_transaction_of_pgbench_leaves_a_payment_and_its_key() {
        let cluster = Arc::new(Cluster::start(&[]));
        let pgbench = Pgbench::new(&cluster, mint(Timestamp::from_millis(0), [0; 10]), 10).await.unwrap();
        let second = Duration::from_secs(1);
        let mut claimed = 0;
        for clients in [8, 16] {
            let output = pgbench.output(Script::Create, clients, second).await.unwrap();
            let done = output.lines().find_map(|line| line.strip_prefix("number of transactions actually processed: "));
            claimed += done.unwrap().parse::<u64>().unwrap();
        }
        for table in ["payments", "idempotency"] {
            let rows: u64 =
                cluster.run(&pgbench.url, &format!("SELECT COUNT(*) FROM {table}")).unwrap().parse().unwrap();
            assert_eq!(rows - 10, claimed, "rows in {table}");
        }
        assert!(pgbench.run(Script::Get, 8, second).await.unwrap().per_second > 0);
    }

    #[test]
    fn the_rate_is_the_one_without_the_time_to_connect() {
        for (output, per_second) in [
            ("number of clients: 8\ntps = 8123.456789 (without initial connection time)", Some(8_123)),
            ("tps = 1.5 (including connections establishing)\ntps = 2.5 (excluding connections establishing)", Some(2)),
            ("number of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)", Some(0)),
            ("pgbench: error", None),
        ] {
            assert_eq!(rate(output).ok().map(|rate| rate.per_second), per_second);
        }
    }
}
