//! Databases that are not empty, since an empty one flatters.

use std::{
    io,
    path::{Path, PathBuf},
};

use domain::{
    bank::Bank,
    id::{ProjectId, mint},
    method::Method,
    money::Rupiah,
    payment::{Payment, State},
    time::Timestamp,
};
use store::{Change, PaymentFilter, Store, Window, Write};
use tempfile::TempDir;

use crate::process::Served;

const PAYMENTS_PER_CHANGE: u64 = 500;
/// Payments are this far apart, so that a million of them span eleven days.
const APART_MILLIS: i64 = 1_000;
/// When the first of them was made; they are long over, as most payments of a real shop are.
const FIRST_MILLIS: i64 = 1_750_000_000_000;

/// A data directory of `lunas dev` with payments in it.
pub(crate) struct Prefilled {
    pub(crate) directory: TempDir,
    pub(crate) project: ProjectId,
    pub(crate) count: u64,
}

impl Prefilled {
    pub(crate) async fn new(count: u64) -> io::Result<Prefilled> {
        let directory = tempfile::tempdir()?;
        let served = Served::lunas(directory.path()).await?;
        let project = served.ready.project_id.parse().map_err(io::Error::other)?;
        served.end().await?;
        fill(&directory.path().join("lunas.db"), project, count).await?;
        Ok(Prefilled { directory, project, count })
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.directory.path().join("lunas.db")
    }

    /// The id of the `index`-th payment in it.
    pub(crate) fn id(&self, index: u64) -> String {
        payment(self.project, index % self.count.max(1)).id.to_string()
    }
}

async fn fill(database: &Path, project: ProjectId, count: u64) -> io::Result<()> {
    let store = Store::open_sqlite(database).await.map_err(io::Error::other)?;
    for first in (0..count).step_by(PAYMENTS_PER_CHANGE as usize) {
        let writes = (first..count.min(first + PAYMENTS_PER_CHANGE))
            .map(|index| Write::Payment { payment: payment(project, index) });
        store.commit(Change::default().with_all(writes)).await.map_err(io::Error::other)?;
    }
    tend(&store, project).await?;
    store.close().await;
    Ok(())
}

/// Opens a list and searches once, as somebody will have done, and waits for what the store does about it.
async fn tend(store: &Store, project: ProjectId) -> io::Result<()> {
    let window = Window { offset: 0, limit: 1 };
    let search = PaymentFilter { search: Some("order".to_owned()), ..PaymentFilter::default() };
    for filter in [PaymentFilter::default(), search] {
        store.payments(project, &filter, window).await.map_err(io::Error::other)?;
    }
    let now = Timestamp::from_millis(FIRST_MILLIS * 2);
    while store.tend(now).await.map_err(io::Error::other)? {}
    Ok(())
}

fn payment(project: ProjectId, index: u64) -> Payment {
    let at = Timestamp::from_millis(FIRST_MILLIS + index.cast_signed() * APART_MILLIS);
    let mut entropy = [0; 10];
    // Spread, and different for every payment, but the same at every run.
    entropy[2..].copy_from_slice(&index.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Payment {
        id: mint(at, entropy),
        project_id: project,
        link_id: None,
        reference: format!("order-{index}-{:x}", index.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        amount: Rupiah::new(10_000 + (index % 1_000_000).cast_signed()),
        fee: Rupiah::new(4_000),
        method: Method::VirtualAccount(Bank::Bca),
        code: Bank::Bca.account_number(index),
        checkout: None,
        state: State::Expired,
        created_at: at,
        expires_at: Timestamp::from_millis(at.as_millis() + 86_400_000),
        version: 2,
    }
}
