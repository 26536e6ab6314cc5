//! What payments take on disk: bytes written while they are created and paid, and how large the database is afterwards, by
//! table and index.
//!
//! Everything goes through the API, so the rows are those of a real installation, and the database is empty before. No search
//! index exists while payments are created; it is made once somebody searches.

use std::{collections::BTreeMap, fs, io, sync::Arc};

use pgcluster::Cluster;
use rusqlite::Connection;

use crate::{
    bench::Bench,
    database::Database,
    load::{self, CONNECTIONS},
    prefill,
    process::{Home, Served, written_bytes},
    report::Finding,
    requests::{VIRTUAL_ACCOUNT, creates, pays},
};

/// A million payments that were created may take this much.
const MEGABYTES_MOST: u64 = 350;
/// Tables and indexes with less than this for each payment are not listed.
const BYTES_LISTED: u64 = 2;

const SQLITE_SIZES: &str = "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name";
const POSTGRES_SIZES: &str = "SELECT c.relname, pg_relation_size(c.oid) FROM pg_class c \
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('r', 'i')";
const POSTGRES_FIGURES: &str = "SELECT pg_database_size(current_database()), wal_bytes FROM pg_stat_wal";

/// What is on disk, and what was written so far.
struct Usage {
    database_bytes: u64,
    written_bytes: u64,
    /// By table and index.
    sizes: BTreeMap<String, u64>,
}

/// Where the figures come from.
enum Source<'a> {
    Sqlite { home: &'a Home, served: &'a Served },
    Postgres { cluster: &'a Arc<Cluster>, url: &'a str },
}

impl Bench {
    pub(crate) async fn disk(&self) -> io::Result<Vec<Finding>> {
        let home = Home::on_sqlite()?;
        let served = Served::lunas(&home).await?;
        self.usage("disk", &served, &home, &Source::Sqlite { home: &home, served: &served }).await
    }

    pub(crate) async fn pg_disk(&mut self) -> io::Result<Vec<Finding>> {
        let cluster = self.cluster().await?;
        let home = Home::on_postgres(&cluster)?;
        let served = Served::lunas(&home).await?;
        let url = home.database.url();
        self.usage("pg-disk", &served, &home, &Source::Postgres { cluster: &cluster, url: &url }).await
    }

    async fn usage(
        &self,
        group: &'static str,
        served: &Served,
        home: &Home,
        source: &Source<'_>,
    ) -> io::Result<Vec<Finding>> {
        let count = self.prefill.max(1);
        let empty = source.usage().await?;
        let made = creates(served, VIRTUAL_ACCOUNT, group);
        let answers = load::collect(served.address, CONNECTIONS, count, &made).await?;
        let created = source.usage().await?;
        load::collect(served.address, CONNECTIONS, count, &pays(served, answers)?).await?;
        let paid = source.usage().await?;
        let store = home.database.open().await?;
        prefill::make_searchable(&store, served.ready.project_id.parse().map_err(io::Error::other)?).await?;
        store.close().await;
        let searchable = source.usage().await?;

        let goal = matches!(source, Source::Sqlite { .. }).then_some(MEGABYTES_MOST);
        let mut findings = vec![size(group, "created", count, &empty, &created, goal)];
        findings.extend(written(group, "each create", count, &empty, &created));
        findings.extend(parts(group, "created", count, &empty, &created));
        findings.push(size(group, "created and paid", count, &empty, &paid, None));
        findings.extend(written(group, "each create and pay", count, &empty, &paid));
        findings.extend(parts(group, "paid", count, &created, &paid));
        findings.push(size(group, "created, paid and searchable", count, &empty, &searchable, None));
        findings.extend(parts(group, "searchable", count, &paid, &searchable));
        Ok(findings)
    }
}

impl Source<'_> {
    async fn usage(&self) -> io::Result<Usage> {
        match self {
            Source::Sqlite { home, served } => {
                let Database::Sqlite(path) = &home.database else {
                    return Err(io::Error::other("the database is not SQLite's"));
                };
                let sizes = sqlite_sizes(path).map_err(io::Error::other)?;
                let database_bytes = fs::metadata(path)?.len();
                // The rest of the log was written by this process just now.
                let written_bytes = served.written_bytes()? + written_bytes("self")?;
                Ok(Usage { database_bytes, written_bytes, sizes })
            }
            Source::Postgres { cluster, url } => {
                let (cluster, url) = (Arc::clone(cluster), (*url).to_owned());
                tokio::task::spawn_blocking(move || postgres_usage(&cluster, &url)).await?
            }
        }
    }
}

/// Copies the write-ahead log into the database first, so that the file has everything.
fn sqlite_sizes(path: &std::path::Path) -> rusqlite::Result<BTreeMap<String, u64>> {
    let connection = Connection::open(path)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    let mut statement = connection.prepare(SQLITE_SIZES)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
    rows.collect()
}

fn postgres_usage(cluster: &Cluster, url: &str) -> io::Result<Usage> {
    let number = |text: &str| text.split('.').next().unwrap_or_default().parse::<u64>().map_err(io::Error::other);
    let pair = |line: &str| line.split_once('|').map(|(one, other)| (one.to_owned(), other.to_owned()));
    let rows = |sql| -> io::Result<Vec<(String, String)>> {
        let rows = cluster.run(url, sql).map_err(io::Error::other)?;
        Ok(rows.lines().filter_map(pair).collect())
    };
    let figures = rows(POSTGRES_FIGURES)?.pop().ok_or_else(|| io::Error::other("PostgreSQL reports no sizes"))?;
    let sizes = rows(POSTGRES_SIZES)?.into_iter().map(|(name, size)| Ok((name, number(&size)?)));
    Ok(Usage {
        database_bytes: number(&figures.0)?,
        written_bytes: number(&figures.1)?,
        sizes: sizes.collect::<io::Result<_>>()?,
    })
}

fn size(
    group: &'static str,
    what: &str,
    count: u64,
    before: &Usage,
    after: &Usage,
    megabytes_most: Option<u64>,
) -> Finding {
    // Bytes for each of a million are megabytes for all of them.
    let megabytes = after.database_bytes.saturating_sub(before.database_bytes) / count;
    Finding {
        group,
        product: format!("{megabytes} MB a million"),
        ceiling: format!("{what}, {count} payments"),
        ratio: "-".to_owned(),
        goal: megabytes_most.map_or("-".to_owned(), |most| format!("<= {most} MB")),
        holds: megabytes_most.map(|most| megabytes <= most),
    }
}

/// What was written: by the server itself on SQLite, to the write-ahead log on PostgreSQL. None on a memory file system.
fn written(group: &'static str, what: &str, count: u64, before: &Usage, after: &Usage) -> Option<Finding> {
    let bytes = after.written_bytes.saturating_sub(before.written_bytes) / count;
    let target = if group == "disk" { "disk" } else { "the write-ahead log" };
    (bytes > 0).then(|| row(group, format!("{bytes} bytes written"), format!("{target}, {what}")))
}

/// How much each table and index has grown, the largest first.
fn parts(group: &'static str, what: &str, count: u64, before: &Usage, after: &Usage) -> Vec<Finding> {
    let grown = after.sizes.iter().map(|(name, bytes)| {
        let bytes = bytes.saturating_sub(before.sizes.get(name).copied().unwrap_or_default());
        (bytes / count, name)
    });
    let mut grown: Vec<(u64, &String)> = grown.filter(|(bytes, _)| *bytes >= BYTES_LISTED).collect();
    grown.sort_unstable_by(|one, other| other.cmp(one));
    let each = |(bytes, name)| row(group, format!("{bytes} bytes"), format!("{name}, {what}"));
    grown.into_iter().map(each).collect()
}

fn row(group: &'static str, product: String, ceiling: String) -> Finding {
    Finding { group, product, ceiling, ratio: "-".to_owned(), goal: "-".to_owned(), holds: None }
}
