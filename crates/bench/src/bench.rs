//! The settings of a run, and the databases that its groups share.

use std::{io, sync::Arc, time::Duration};

use pgcluster::Cluster;

use crate::{
    curve::Curve,
    pgbench::Pgbench,
    prefill::{Lists, Prefilled},
    process::Served,
};

/// The small lists have this fraction of the payments of the large ones.
pub(crate) const SMALL_PART: u64 = 1_000;
/// Payments that are created before each round that pays or replays them, unless `prefill` is smaller.
const PREPARED: u64 = 8_000;

/// The settings of a run, and the databases that its groups share. Each database is made when a group first needs it.
pub(crate) struct Bench {
    pub(crate) duration: Duration,
    pub(crate) rounds: usize,
    pub(crate) prefill: u64,
    pub(crate) large: u64,
    pub(crate) growth_most: u64,
    /// What the groups about growth have measured.
    pub(crate) curves: Vec<Curve>,
    pub(crate) prefilled: Option<Arc<Prefilled>>,
    pub(crate) lists: Option<Arc<Lists>>,
    pub(crate) postgres: PostgresDatabases,
}

/// The PostgreSQL cluster, and the databases in it.
#[derive(Default)]
pub(crate) struct PostgresDatabases {
    pub(crate) prefilled: Option<Arc<Prefilled>>,
    pub(crate) pgbench: Option<Arc<Pgbench>>,
    pub(crate) lists: Option<Arc<Lists>>,
    // The last field, since dropping the cluster deletes the databases.
    pub(crate) cluster: Option<Arc<Cluster>>,
}

impl Bench {
    pub(crate) async fn prefilled(&mut self) -> io::Result<Arc<Prefilled>> {
        if self.prefilled.is_none() {
            self.prefilled = Some(Arc::new(Prefilled::on_sqlite(self.prefill).await?));
        }
        self.prefilled.clone().ok_or_else(|| io::Error::other("nothing was prefilled"))
    }

    pub(crate) async fn lists(&mut self) -> io::Result<Arc<Lists>> {
        if self.lists.is_none() {
            let small = Prefilled::on_sqlite((self.large / SMALL_PART).max(1)).await?;
            self.lists = Some(Arc::new(Lists { small, large: Prefilled::on_sqlite(self.large).await? }));
        }
        self.lists.clone().ok_or_else(|| io::Error::other("nothing was prefilled"))
    }

    pub(crate) async fn product(&mut self) -> io::Result<Served> {
        Served::lunas(&self.prefilled().await?.home).await
    }

    /// How many payments a group creates before it measures something about them.
    pub(crate) fn prepared(&self) -> u64 {
        PREPARED.min(self.prefill).max(1)
    }
}
