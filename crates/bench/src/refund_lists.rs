//! Lists of refunds: what they cost with many refunds, relative to what they cost with few. Each refund is of a payment of its own.

use std::{io, sync::Arc, time::Duration};

use domain::{
    id::{ProjectId, mint},
    money::Rupiah,
    payment::Payment,
    refund::{Refund, RefundOf, RefundRoad, RefundState, Split},
    refund_settings::Party,
    time::Timestamp,
};
use pgcluster::Cluster;
use store::{Change, RefundWrite, Store};

use crate::{
    bench::{Bench, SMALL_PART},
    load::{self, Requests},
    prefill::{self, Lists, Prefilled},
    process::Served,
    report::{Finding, cost},
    requests::reads,
    rounds::interleave,
};

const CONNECTIONS: u64 = 8;
const REFUNDS_PER_CHANGE: u64 = 500;
const REFUNDED: Rupiah = Rupiah::new(5_000);
/// A refund is made so long after its payment.
const AFTER: Duration = Duration::from_secs(60);
/// How long the refunds of one page of a range of dates took to be made; payments are a second apart.
const RANGE: Duration = Duration::from_secs(40);
/// In thousandths.
const COST_MOST: u64 = 2_000;

impl Bench {
    pub(crate) async fn refund_list(&self) -> io::Result<Vec<Finding>> {
        let small = with_refunds(Prefilled::on_sqlite(self.small()).await?).await?;
        let lists = Lists { small, large: with_refunds(Prefilled::on_sqlite(self.large).await?).await? };
        Ok(vec![self.pages_of_refunds("refund-list", &lists).await?])
    }

    pub(crate) async fn pg_refund_list(&mut self) -> io::Result<Vec<Finding>> {
        let cluster = self.cluster().await?;
        let small = on_postgres(&cluster, self.small()).await?;
        let lists = Lists { small, large: on_postgres(&cluster, self.large).await? };
        Ok(vec![self.pages_of_refunds("pg-refund-list", &lists).await?])
    }

    fn small(&self) -> u64 {
        (self.large / SMALL_PART).max(1)
    }

    async fn pages_of_refunds(&self, name: &'static str, lists: &Lists) -> io::Result<Finding> {
        let (small, large) = (Served::lunas(&lists.small.home).await?, Served::lunas(&lists.large.home).await?);
        let (small_reads, large_reads) = (pages(&small, &lists.small), pages(&large, &lists.large));
        let measured = interleave(
            self.rounds,
            |_| load::run(small.address, CONNECTIONS, self.duration, &small_reads),
            |_| load::run(large.address, CONNECTIONS, self.duration, &large_reads),
        )
        .await?;
        Ok(cost(name, &measured, COST_MOST))
    }
}

async fn on_postgres(cluster: &Arc<Cluster>, count: u64) -> io::Result<Prefilled> {
    let prefilled = with_refunds(Prefilled::on_postgres(cluster, count).await?).await?;
    prefill::vacuum(cluster, &prefilled.home.database.url()).await?;
    Ok(prefilled)
}

/// Pages of the list and of each filter, in turn.
fn pages(served: &Served, list: &Prefilled) -> Requests {
    let middle = list.count / 2;
    let from = refund(&prefill::payment(list.project, middle), middle).created_at;
    let filters = [
        String::new(),
        "&page=25".to_owned(),
        "&status=succeeded".to_owned(),
        "&status=failed&page=3".to_owned(),
        format!("&payment_id={}", list.id(middle)),
        format!("&created_from={from}&created_to={}", from.plus(RANGE)),
    ];
    reads(served, move |index| format!("/v1/refunds?page_size=20{}", filters[index as usize % filters.len()]))
}

/// Adds a refund to each payment. The payments themselves and the ledger stay as they are, since the lists read neither.
async fn with_refunds(prefilled: Prefilled) -> io::Result<Prefilled> {
    let store = prefilled.home.database.open().await?;
    fill(&store, prefilled.project, prefilled.count).await?;
    store.close().await;
    Ok(prefilled)
}

async fn fill(store: &Store, project: ProjectId, count: u64) -> io::Result<()> {
    for first in (0..count).step_by(REFUNDS_PER_CHANGE as usize) {
        let writes = (first..count.min(first + REFUNDS_PER_CHANGE)).map(|index| {
            let refund = Box::new(refund(&prefill::payment(project, index), index));
            RefundWrite::Created { refund, sealed_number: None, claim: None }
        });
        store.commit(Change::default().with_all(writes)).await.map_err(io::Error::other)?;
    }
    Ok(())
}

/// The refund of the `index`-th payment. One in ten has failed, the others have succeeded.
fn refund(payment: &Payment, index: u64) -> Refund {
    let at: Timestamp = payment.created_at.plus(AFTER);
    let mut entropy = [0; 10];
    entropy[2..].copy_from_slice(&index.to_be_bytes());
    let has_failed = index.is_multiple_of(10);
    Refund {
        id: mint(at, entropy),
        project_id: payment.terms.project_id,
        of: RefundOf::Payment(payment.id),
        amount: REFUNDED,
        split: Split { pending: REFUNDED, ..Split::default() },
        fee_returned: Rupiah::ZERO,
        state: if has_failed { RefundState::Failed } else { RefundState::Succeeded { at } },
        road: RefundRoad::Qris,
        reason: format!("return-{index}"),
        destination: None,
        destination_by: None,
        claim: None,
        made_by: Party::CommandLine,
        approved_by: None,
        doubt: None,
        bank_reference: Some(format!("bank-{index}")),
        failure_reason: None,
        metadata: None,
        found: None,
        batch: None,
        simulated_at: None,
        created_at: at,
        updated_at: at,
        version: 2,
    }
}
