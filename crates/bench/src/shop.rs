//! A merchant whose payments of the last month are all paid, for the groups that read lists, totals and balances.

use std::{io, sync::Arc, time::Duration};

use domain::{
    event::{Event, News},
    id::{ProjectId, mint},
    ledger::Posting,
    payment::{Payment, PaymentTerms, State},
    project::SuccessWord,
    time::{DAY, Timestamp},
    user::{Session, Token},
};
use engine::{Clock, SystemClock};
use pgcluster::Cluster;
use store::{
    Change, CommitError, LedgerWrite, PaymentFilter, PaymentWrite, SessionWrite, Store, WebhookWrite, Window, Write,
};
use tokio::task::JoinSet;

use crate::{
    checkout::BROWSER,
    load::Requests,
    prefill::{self, bound, maintain, payment, prefill_key},
    process::{Home, Served},
};

/// Changes that are committed together, and how often that is done at once.
const CHANGES_TOGETHER: u64 = 200;
const COMMITS_AT_ONCE: usize = 4;
/// All payments are within the 30 days that the dashboard's home shows.
const SPAN: Duration = DAY.saturating_mul(29);

/// Somebody is signed in to the dashboard.
pub(crate) struct Shop {
    pub(crate) home: Home,
    pub(crate) count: u64,
    project: ProjectId,
    token: Token,
    times: Times,
}

/// When payments were created, evenly over the last month.
#[derive(Clone, Copy)]
struct Times {
    first: Timestamp,
    apart: Duration,
}

impl Shop {
    pub(crate) async fn on_sqlite(count: u64) -> io::Result<Shop> {
        Shop::filled(Home::on_sqlite()?, count).await
    }

    pub(crate) async fn on_postgres(cluster: &Arc<Cluster>, count: u64) -> io::Result<Shop> {
        let shop = Shop::filled(Home::on_postgres(cluster)?, count).await?;
        prefill::vacuum(cluster, &shop.home.database.url()).await?;
        Ok(shop)
    }

    async fn filled(home: Home, count: u64) -> io::Result<Shop> {
        let served = Served::lunas(&home).await?;
        let project = served.ready.project_id.parse().map_err(io::Error::other)?;
        served.end().await?;
        let store = home.database.open().await?;
        let now = SystemClock.now();
        let apart = SPAN / u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let times = Times { first: now.minus(SPAN), apart };
        fill(&store, project, count, times).await?;
        request_maintenance(&store, project, now).await?;
        maintain(&store, now).await?;
        while store.extend_balance_checkpoints(now).await.map_err(io::Error::other)? {}
        let token = sign_in(&store, now).await?;
        store.close().await;
        Ok(Shop { home, count, project, token, times })
    }

    /// Opens a page of the project, as a browser would.
    pub(crate) fn opens(&self, page: &str) -> Requests {
        let (project, token) = (self.project, self.token.reveal());
        let head = format!(
            "GET /dashboard/{project}{page} HTTP/1.1\r\nHost: bench\r\n{BROWSER}Cookie: lunas_session={token}\r\n\r\n"
        );
        Arc::new(move |_, out| out.extend_from_slice(head.as_bytes()))
    }

    /// The id of the `index`-th payment, for any number of threads.
    pub(crate) fn ids(&self) -> impl Fn(u64) -> String + Send + Sync + 'static {
        let (project, times, count) = (self.project, self.times, self.count.max(1));
        move |index| created(project, index % count, times).id.to_string()
    }
}

async fn fill(store: &Store, project: ProjectId, count: u64, times: Times) -> io::Result<()> {
    let mut commits = JoinSet::new();
    for begin in (0..count).step_by(CHANGES_TOGETHER as usize) {
        let until = count.min(begin + CHANGES_TOGETHER);
        // One change for each payment, as requests make them: PostgreSQL commits such changes in batches.
        let changes =
            (begin..until).map(|index| Change::default().with_all(paid(created(project, index, times), index)));
        let (store, changes) = (store.clone(), changes.collect());
        commits.spawn(async move { store.commit_each(changes).await });
        if commits.len() >= COMMITS_AT_ONCE
            && let Some(done) = commits.join_next().await
        {
            committed(done?)?;
        }
    }
    while let Some(done) = commits.join_next().await {
        committed(done?)?;
    }
    Ok(())
}

fn committed(outcomes: Vec<Result<(), CommitError>>) -> io::Result<()> {
    outcomes.into_iter().collect::<Result<(), CommitError>>().map_err(io::Error::other)
}

fn created(project: ProjectId, index: u64, times: Times) -> Payment {
    let at = times.first.plus(times.apart * u32::try_from(index).unwrap_or(u32::MAX));
    let payment = payment(project, index);
    let terms = PaymentTerms { expires_at: at.plus(DAY), ..payment.terms };
    Payment { id: mint(at, entropy(index)), state: State::Paid { at }, created_at: at, terms, ..payment }
}

/// A payment with its key that was paid and posted, and its event.
fn paid(payment: Payment, index: u64) -> [Write; 4] {
    let (project, at) = (payment.terms.project_id, payment.created_at);
    let posting = Posting::paid(project, payment.id, payment.terms.amount, payment.terms.fee, at);
    let news = News::PaymentPaid { payment: payment.id, paid_at: at, word: SuccessWord::Paid };
    let event = Event { id: mint(at, entropy(index)), project_id: project, created_at: at, news };
    [
        bound(&payment, prefill_key(index)),
        PaymentWrite::Created { payment }.into(),
        LedgerWrite::Posting(posting).into(),
        WebhookWrite::Event(event).into(),
    ]
}

fn entropy(index: u64) -> [u8; 10] {
    let mut entropy = [0; 10];
    entropy[2..].copy_from_slice(&index.to_be_bytes());
    entropy
}

/// Reads lists and totals and searches once, which requests the maintenance that they need.
async fn request_maintenance(store: &Store, project: ProjectId, now: Timestamp) -> io::Result<()> {
    let window = Window { offset: 0, limit: 1 };
    let search = PaymentFilter { search: Some("order".to_owned()), ..PaymentFilter::default() };
    for filter in [PaymentFilter::default(), search] {
        store.payments(project, &filter, window).await.map_err(io::Error::other)?;
    }
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
        proved_at: now,
        by_factor: false,
    };
    store.commit(SessionWrite::Begun { session, hash: token.hash() }.into()).await.map_err(io::Error::other)?;
    Ok(token)
}
