//! The dashboard's first pages: what they cost with many payments, relative to what they cost with few.

use std::{io, sync::Arc, time::Duration};

use domain::{
    event::{Event, News},
    id::{ProjectId, mint},
    ledger::Posting,
    payment::{Payment, State},
    project::SuccessWord,
    time::{DAY, Timestamp},
    user::{Session, Token},
};
use engine::{Clock, SystemClock};
use store::{Change, LedgerWrite, PaymentFilter, PaymentWrite, SessionWrite, Store, WebhookWrite, Window, Write};

use crate::{
    bench::{Bench, SMALL_PART},
    checkout::BROWSER,
    load::{self, Requests},
    prefill::{maintain, payment},
    process::{Home, Served},
    report::{Finding, cost},
    rounds::interleave,
};

const CONNECTIONS: u64 = 8;
const PAYMENTS_PER_CHANGE: u64 = 200;
/// All payments are within the 30 days that the home page shows.
const SPAN: Duration = DAY.saturating_mul(29);

/// A signed-in merchant whose payments of the last month are all paid.
struct Shop {
    home: Home,
    project: ProjectId,
    token: Token,
}

impl Bench {
    pub(crate) async fn dashboard(&self) -> io::Result<Vec<Finding>> {
        let small = Shop::with((self.large / SMALL_PART).max(1)).await?;
        let large = Shop::with(self.large).await?;
        let (small_server, large_server) = (Served::lunas(&small.home).await?, Served::lunas(&large.home).await?);
        let mut findings = Vec::new();
        for (name, page) in [("dash-payments", "/payments"), ("dash-home", "")] {
            let (few, many) = (small.opens(page), large.opens(page));
            let measured = interleave(
                self.rounds,
                |_| load::run(small_server.address, CONNECTIONS, self.duration, &few),
                |_| load::run(large_server.address, CONNECTIONS, self.duration, &many),
            )
            .await?;
            findings.push(cost(name, &measured, 3_000));
        }
        Ok(findings)
    }
}

impl Shop {
    async fn with(count: u64) -> io::Result<Shop> {
        let home = Home::on_sqlite()?;
        let served = Served::lunas(&home).await?;
        let project = served.ready.project_id.parse().map_err(io::Error::other)?;
        served.end().await?;
        let store = home.database.open().await?;
        let now = SystemClock.now();
        fill(&store, project, count, now).await?;
        request_maintenance(&store, project, now).await?;
        maintain(&store, now).await?;
        while store.extend_balance_checkpoints(now).await.map_err(io::Error::other)? {}
        let token = sign_in(&store, now).await?;
        store.close().await;
        Ok(Shop { home, project, token })
    }

    /// Opens a page of the project, as a browser would.
    fn opens(&self, page: &str) -> Requests {
        let (project, token) = (self.project, self.token.reveal());
        let head = format!(
            "GET /dashboard/{project}{page} HTTP/1.1\r\nHost: bench\r\n{BROWSER}Cookie: lunas_session={token}\r\n\r\n"
        );
        Arc::new(move |_, out| out.extend_from_slice(head.as_bytes()))
    }
}

async fn fill(store: &Store, project: ProjectId, count: u64, now: Timestamp) -> io::Result<()> {
    let first = now.minus(SPAN);
    let apart = SPAN / u32::try_from(count).unwrap_or(u32::MAX);
    for begin in (0..count).step_by(PAYMENTS_PER_CHANGE as usize) {
        let until = count.min(begin + PAYMENTS_PER_CHANGE);
        let writes = (begin..until).flat_map(|index| {
            let at = first.plus(apart * u32::try_from(index).unwrap_or(u32::MAX));
            paid(project, index, at)
        });
        store.commit(Change::default().with_all(writes)).await.map_err(io::Error::other)?;
    }
    Ok(())
}

/// A payment that was paid and posted, and its event.
fn paid(project: ProjectId, index: u64, at: Timestamp) -> [Write; 3] {
    let mut entropy = [0; 10];
    entropy[2..].copy_from_slice(&index.to_be_bytes());
    let payment =
        Payment { id: mint(at, entropy), state: State::Paid { at }, created_at: at, ..payment(project, index) };
    let posting = Posting::paid(project, payment.id, payment.amount, payment.fee, at);
    let news = News::PaymentPaid { payment: payment.id, paid_at: at, word: SuccessWord::Paid };
    let event = Event { id: mint(at, entropy), project_id: project, created_at: at, news };
    [PaymentWrite::Created { payment }.into(), LedgerWrite::Posting(posting).into(), WebhookWrite::Event(event).into()]
}

/// Reads the pages' lists once, which requests the maintenance that they need.
async fn request_maintenance(store: &Store, project: ProjectId, now: Timestamp) -> io::Result<()> {
    let window = Window { offset: 0, limit: 1 };
    store.payments(project, &PaymentFilter::default(), window).await.map_err(io::Error::other)?;
    store.volume(project, now.minus(SPAN), now).await.map_err(io::Error::other)?;
    store.balance(project, None).await.map_err(io::Error::other)?;
    Ok(())
}

/// Begins a session of the demo's owner without a password, as signing in is not measured.
async fn sign_in(store: &Store, now: Timestamp) -> io::Result<Token> {
    let users = store.users().await.map_err(io::Error::other)?;
    let user = users.first().ok_or_else(|| io::Error::other("nobody can sign in"))?;
    let token = Token::of([7; 32]);
    let session = Session {
        id: mint(now, [7; 10]),
        user_id: user.id,
        created_at: now,
        seen_at: now,
        address: "127.0.0.1".to_owned(),
        browser: String::new(),
    };
    store.commit(SessionWrite::Begun { session, hash: token.hash() }.into()).await.map_err(io::Error::other)?;
    Ok(token)
}
