//! The groups on PostgreSQL, in a private cluster that syncs commits to disk as PostgreSQL does by default.

use std::{io, sync::Arc};

use domain::project::Environment;
use engine::{NewProject, ProjectUpdate};
use pgcluster::Cluster;

use crate::{
    bench::{Bench, SMALL_PART},
    load::{self, CONNECTIONS},
    pgbench::{Pgbench, Script},
    prefill::{Lists, Prefilled},
    process::{Caller, Home, Served},
    receiver::Receiver,
    report::{Finding, at_least, orientation},
    requests::{VIRTUAL_ACCOUNT, creates, creates_by, gets, pays_by},
    rounds::interleave,
    webhooks,
};

/// PostgreSQL's defaults, with memory for the data of both sides and without checkpoints in the middle of a group. The
/// clusters of the tests do not sync to disk, so these settings turn that on again.
const SETTINGS: [(&str, &str); 6] = [
    ("fsync", "on"),
    ("synchronous_commit", "on"),
    ("full_page_writes", "on"),
    ("shared_buffers", "512MB"),
    ("max_wal_size", "4GB"),
    ("dynamic_shared_memory_type", "posix"),
];
/// Projects that payments are distributed over, to see whether a single project is slower.
const SPREAD_OVER: u64 = 64;

impl Bench {
    pub(crate) async fn cluster(&mut self) -> io::Result<Arc<Cluster>> {
        if let Some(cluster) = &self.postgres.cluster {
            return Ok(Arc::clone(cluster));
        }
        let cluster = Arc::new(tokio::task::spawn_blocking(|| Cluster::start(&SETTINGS)).await?);
        Ok(Arc::clone(self.postgres.cluster.insert(cluster)))
    }

    pub(crate) async fn pg_prefilled(&mut self) -> io::Result<Arc<Prefilled>> {
        if let Some(prefilled) = &self.postgres.prefilled {
            return Ok(Arc::clone(prefilled));
        }
        let prefilled = Arc::new(Prefilled::on_postgres(&self.cluster().await?, self.prefill).await?);
        Ok(Arc::clone(self.postgres.prefilled.insert(prefilled)))
    }

    async fn pgbench(&mut self) -> io::Result<Arc<Pgbench>> {
        if let Some(pgbench) = &self.postgres.pgbench {
            return Ok(Arc::clone(pgbench));
        }
        let (cluster, project) = (self.cluster().await?, self.pg_prefilled().await?.project);
        let pgbench = Arc::new(Pgbench::new(&cluster, project, self.prefill).await?);
        Ok(Arc::clone(self.postgres.pgbench.insert(pgbench)))
    }

    async fn pg_lists(&mut self) -> io::Result<Arc<Lists>> {
        if let Some(lists) = &self.postgres.lists {
            return Ok(Arc::clone(lists));
        }
        let cluster = self.cluster().await?;
        let small = Prefilled::on_postgres(&cluster, (self.large / SMALL_PART).max(1)).await?;
        let lists = Arc::new(Lists { small, large: Prefilled::on_postgres(&cluster, self.large).await? });
        Ok(Arc::clone(self.postgres.lists.insert(lists)))
    }

    pub(crate) async fn pg_create(&mut self) -> io::Result<Vec<Finding>> {
        let (prefilled, peer) = (self.pg_prefilled().await?, self.pgbench().await?);
        let clients = peer.best_clients(Script::Create, self.duration).await?;
        let product = Served::lunas(&prefilled.home).await?;
        let (address, duration) = (product.address, self.duration);
        let create = |round: u64| {
            let requests = creates(&product, VIRTUAL_ACCOUNT, &format!("pg-create-{round}-{}", std::process::id()));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let measured = interleave(self.rounds, create, |_| peer.run(Script::Create, clients, duration)).await?;
        Ok(vec![beside_pgbench(at_least("pg-create", &measured, 1_500), clients)])
    }

    pub(crate) async fn pg_get(&mut self) -> io::Result<Vec<Finding>> {
        let (prefilled, peer) = (self.pg_prefilled().await?, self.pgbench().await?);
        let clients = peer.best_clients(Script::Get, self.duration).await?;
        let product = Served::lunas(&prefilled.home).await?;
        let (requests, duration) = (gets(&product, &prefilled), self.duration);
        let measured = interleave(
            self.rounds,
            |_| load::run(product.address, CONNECTIONS, duration, &requests),
            |_| peer.run(Script::Get, clients, duration),
        )
        .await?;
        Ok(vec![beside_pgbench(at_least("pg-get", &measured, 500), clients)])
    }

    /// Whether payments of one project slow each other down. Each round ends when its webhooks are sent.
    pub(crate) async fn pg_hot(&mut self) -> io::Result<Vec<Finding>> {
        let (prefilled, prepared) = (self.pg_prefilled().await?, self.prepared());
        let product = Served::lunas(&prefilled.home).await?;
        let receiver = Receiver::start().await?;
        webhooks::set_url(&prefilled.home, prefilled.project, &receiver.url()).await?;
        let many = more_projects(&prefilled.home, SPREAD_OVER.min(prepared), &receiver.url()).await?;
        let (address, one, receiver) = (product.address, vec![product.caller()], &receiver);
        let pay = |callers: &[Caller], run: String| {
            let callers = callers.to_vec();
            async move {
                let made = creates_by(callers.clone(), VIRTUAL_ACCOUNT, &run);
                let answers = load::collect(address, CONNECTIONS, prepared, &made).await?;
                receiver.reset();
                let paid = load::count(address, CONNECTIONS, prepared, &pays_by(callers, answers)?).await?;
                receiver.received(prepared).await?;
                Ok(paid)
            }
        };
        let measured = interleave(
            self.rounds,
            |round| pay(&one, format!("hot-{round}-{}", std::process::id())),
            |round| pay(&many, format!("spread-{round}-{}", std::process::id())),
        )
        .await?;
        let found = at_least("pg-hot", &measured, 700);
        Ok(vec![Finding { ceiling: format!("{} on {} projects", found.ceiling, many.len()), ..found }])
    }

    pub(crate) async fn pg_list(&mut self) -> io::Result<Vec<Finding>> {
        let lists = self.pg_lists().await?;
        Ok(vec![
            self.first_page("pg-list", &lists).await?,
            self.middle_page("pg-list-deep", &lists).await?,
            self.search("pg-search", &lists).await?,
            self.search_words("pg-search-words", &lists).await?,
        ])
    }

    pub(crate) async fn pg_webhook(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.pg_prefilled().await?;
        let product = Served::lunas(&prefilled.home).await?;
        let measured = webhooks::throughput(&prefilled, &product, self.rounds, self.prepared()).await?;
        Ok(vec![at_least("pg-webhook", &measured, 250)])
    }

    /// Two nodes with half of the connections each, compared with one node with all of them.
    pub(crate) async fn pg_nodes(&mut self) -> io::Result<Vec<Finding>> {
        let prefilled = self.pg_prefilled().await?;
        let first = Served::lunas(&prefilled.home).await?;
        let other_home = prefilled.home.for_another_node()?;
        let nodes = [first, Served::lunas(&other_home).await?];
        let (both, duration) = (nodes.each_ref().map(|node| node.address), self.duration);
        let create = |addresses: Vec<_>, run: String| {
            let requests = creates(&nodes[0], VIRTUAL_ACCOUNT, &format!("{run}-{}", std::process::id()));
            async move { load::run_on(&addresses, CONNECTIONS, duration, &requests).await }
        };
        let created = interleave(
            self.rounds,
            |round| create(both.to_vec(), format!("two-{round}")),
            |round| create(vec![both[0]], format!("one-{round}")),
        )
        .await?;
        let requests = gets(&nodes[0], &prefilled);
        let got = interleave(
            self.rounds,
            |_| load::run_on(&both, CONNECTIONS, duration, &requests),
            |_| load::run(both[0], CONNECTIONS, duration, &requests),
        )
        .await?;
        let beside_one = |what: &str, found: Finding| Finding {
            product: format!("{what} {}", found.product),
            ceiling: format!("{} on one node", found.ceiling),
            ..found
        };
        let (created, got) = (orientation("pg-nodes", &created), orientation("pg-nodes", &got));
        Ok(vec![beside_one("creates", created), beside_one("gets", got)])
    }
}

fn beside_pgbench(found: Finding, clients: u64) -> Finding {
    Finding { ceiling: format!("{} by pgbench, {clients} clients", found.ceiling), ..found }
}

/// Creates projects with the webhook URL `url`, each with a key.
async fn more_projects(home: &Home, count: u64, url: &str) -> io::Result<Vec<Caller>> {
    let (store, engine) = home.engine().await?;
    let mut callers = Vec::new();
    for number in 0..count {
        let environment = Environment::Sandbox;
        let new = NewProject { name: format!("Bench {number}"), environment, merchant_name: None };
        let (project, _) = engine.create_project(new).await.map_err(io::Error::other)?;
        let update = ProjectUpdate { webhook_url: Some(Some(url.to_owned())), ..ProjectUpdate::default() };
        engine.update_project(project.id, update).await.map_err(io::Error::other)?;
        let (_, secret) = engine.create_key(project.id, "bench".to_owned()).await.map_err(io::Error::other)?;
        callers.push(Caller { project_id: project.id.to_string(), api_key: secret.reveal().to_owned() });
    }
    store.close().await;
    Ok(callers)
}
