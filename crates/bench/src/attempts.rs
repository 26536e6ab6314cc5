//! What a link's past attempts cost: its page, and one more attempt, at ten thousand of them against none.

use std::{io, ops::Range, sync::Arc};

use domain::{
    id::{LinkId, ProjectId},
    payment::{Checkout, Payment, PaymentTerms},
};
use store::{AttemptBounds, Change, LinkAttempt, LinkWrite, PaymentWrite, Store};

use crate::{
    bench::Bench,
    checkout::{links, page},
    load::{self, CONNECTIONS, Requests},
    prefill,
    process::{Home, Served},
    report::{Finding, cost},
    requests::ids_of,
    rounds::interleave,
};

const PAST_ATTEMPTS: u64 = 10_000;
/// Links with past attempts, and as many fresh ones for each round: one for each connection, so that on both sides every form of a
/// visitor replaces the payment of the one before, and no two visitors share a link.
const LINKS: u64 = CONNECTIONS;
const ATTEMPTS_PER_CHANGE: u64 = 500;
/// In thousandths.
const COST_MOST: u64 = 1_500;

impl Bench {
    pub(crate) async fn attempts(&self) -> io::Result<Vec<Finding>> {
        let past = PAST_ATTEMPTS.min(self.prefill).max(1);
        let home = Home::on_sqlite()?;
        let served = Served::lunas(&home).await?;
        let project = served.ready.project_id.parse().map_err(io::Error::other)?;
        let old = made(&served, LINKS).await?;
        served.end().await?;
        let store = home.database.open().await?;
        for (number, link) in (0..).zip(old.iter()) {
            let range = number * past..(number + 1) * past;
            fill(&store, project, link.parse().map_err(io::Error::other)?, range).await?;
        }
        store.close().await;

        let served = Served::lunas(&home).await?;
        let fresh = made(&served, LINKS).await?;
        let open = |ids: &Arc<[String]>| {
            let (address, requests) = (served.address, pages(ids));
            async move { load::run(address, CONNECTIONS, self.duration, &requests).await }
        };
        let opened = interleave(self.rounds, |_| open(&fresh), |_| open(&old)).await?;
        let start = |ids: Arc<[String]>, run: String| {
            let (address, requests) = (served.address, attempts(ids, run));
            async move { load::run(address, CONNECTIONS, self.duration, &requests).await }
        };
        let started = interleave(
            self.rounds,
            |round| {
                let served = &served;
                async move { start(made(served, LINKS).await?, format!("fresh-{round}")).await }
            },
            |round| start(Arc::clone(&old), format!("old-{round}")),
        )
        .await?;
        Ok(vec![cost("attempts-page", &opened, COST_MOST), cost("attempts-start", &started, COST_MOST)])
    }
}

/// New single-use links.
async fn made(served: &Served, count: u64) -> io::Result<Arc<[String]>> {
    Ok(ids_of(load::collect(served.address, CONNECTIONS, count, &links(served)).await?)?.into())
}

fn pages(ids: &Arc<[String]>) -> Requests {
    let ids = Arc::clone(ids);
    Arc::new(move |index, out| page(&ids[index as usize % ids.len()], out))
}

/// Each connection is a visitor who changes their mind with every form.
fn attempts(ids: Arc<[String]>, run: String) -> Requests {
    Arc::new(move |index, out| {
        let (visitor, turn) = (index % CONNECTIONS, index / CONNECTIONS);
        let id = &ids[index as usize % ids.len()];
        let method = if turn.is_multiple_of(2) { "qris" } else { "virtual_account%3Abca" };
        let body = format!("attempt={run}-{index}&method={method}");
        let length = body.len();
        let head = format!(
            "POST /p/{id} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Cookie: lunas_checkout=visitor-{visitor}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        out.extend_from_slice(head.as_bytes());
    })
}

/// Fills a link with attempts that have all expired: the payments of these numbers.
async fn fill(store: &Store, project: ProjectId, link: LinkId, numbers: Range<u64>) -> io::Result<()> {
    for from in numbers.clone().step_by(ATTEMPTS_PER_CHANGE as usize) {
        let mut change = Change::default();
        for number in from..numbers.end.min(from + ATTEMPTS_PER_CHANGE) {
            let payment = prefill::payment(project, number);
            let terms = PaymentTerms { link_id: Some(link), checkout: Some(Checkout::default()), ..payment.terms };
            let payment = Payment { terms, ..payment };
            let attempt = LinkAttempt {
                link_id: link,
                payment_id: payment.id,
                project_id: project,
                visitor: Some(format!("past-{}", number % CONNECTIONS)),
                network: Some("192.0.2.1".to_owned()),
                at: payment.created_at,
            };
            let bounds = AttemptBounds { pending_most: 1, network: None };
            change = change
                .with(LinkWrite::Attempted { id: link, at: payment.created_at, bounds })
                .with(PaymentWrite::Created { payment })
                .with(LinkWrite::AttemptRecorded(attempt));
        }
        store.commit(change).await.map_err(io::Error::other)?;
    }
    Ok(())
}
