//! Fills databases before measurements, since an empty database is faster than a real one.

use std::{io, sync::Arc};

use domain::{
    bank::Bank,
    id::{ProjectId, mint},
    idempotency::{Endpoint, Idempotency},
    method::Method,
    money::Rupiah,
    payment::{Payment, PaymentTerms, State},
    time::{DAY_MILLIS, Timestamp},
};
use pgcluster::Cluster;
use store::{Change, PaymentFilter, PaymentWrite, Store, Window, Write};

use crate::process::{Home, Served};

const PAYMENTS_PER_CHANGE: u64 = 500;
const PAYMENTS_PER_COPY: u64 = 50_000;
/// The time between two payments; a million of them span eleven days.
const APART_MILLIS: i64 = 1_000;
/// When the first payment was created. All of them are expired, as most payments of a real shop have ended.
const FIRST_MILLIS: i64 = 1_750_000_000_000;

/// Long after the last payment.
const AFTER_ALL: Timestamp = Timestamp::from_millis(FIRST_MILLIS * 2);

const COPY_PAYMENTS: &str = "COPY payments (id, project_id, reference, search_text, amount, fee, method, code, state, \
                             created_at, expires_at, version) FROM STDIN;\n";
const COPY_KEYS: &str = "COPY idempotency (project_id, endpoint, key, request, resource) FROM STDIN;\n";
/// The fingerprint of a request, and the same as COPY reads it.
const FINGERPRINT: [u8; 16] = [0x55; 16];
const COPIED_FINGERPRINT: &str = r"\\x55555555555555555555555555555555";

/// An installation of `lunas dev` with payments in it.
pub(crate) struct Prefilled {
    pub(crate) home: Home,
    pub(crate) project: ProjectId,
    pub(crate) count: u64,
}

/// The same installation with few payments and with many.
pub(crate) struct Lists {
    pub(crate) small: Prefilled,
    pub(crate) large: Prefilled,
}

impl Prefilled {
    pub(crate) async fn on_sqlite(count: u64) -> io::Result<Prefilled> {
        Prefilled::with_keys(count, prefill_key).await
    }

    /// The same with Idempotency-Keys that `key` makes.
    pub(crate) async fn with_keys(count: u64, key: impl Fn(u64) -> String) -> io::Result<Prefilled> {
        let prefilled = Prefilled::empty(Home::on_sqlite()?, count).await?;
        let store = prefilled.home.database.open().await?;
        fill(&store, prefilled.project, count, key).await?;
        make_searchable(&store, prefilled.project).await?;
        store.close().await;
        Ok(prefilled)
    }

    pub(crate) async fn on_postgres(cluster: &Arc<Cluster>, count: u64) -> io::Result<Prefilled> {
        let prefilled = Prefilled::empty(Home::on_postgres(cluster)?, count).await?;
        let (url, project) = (prefilled.home.database.url(), prefilled.project);
        copy(cluster, &url, project, count, |payment, _| payment.id.to_string()).await?;
        let store = prefilled.home.database.open().await?;
        make_searchable(&store, project).await?;
        store.close().await;
        vacuum(cluster, &url).await?;
        Ok(prefilled)
    }

    /// An installation with the demo project and no payments yet.
    async fn empty(home: Home, count: u64) -> io::Result<Prefilled> {
        let served = Served::lunas(&home).await?;
        let project = served.ready.project_id.parse().map_err(io::Error::other)?;
        served.end().await?;
        Ok(Prefilled { home, project, count })
    }

    /// The id of the `index`-th payment in it.
    pub(crate) fn id(&self, index: u64) -> String {
        payment(self.project, index % self.count.max(1)).id.to_string()
    }

    /// The account number of the `index`-th payment.
    pub(crate) fn account_number(&self, index: u64) -> String {
        payment(self.project, index).code
    }
}

async fn fill(store: &Store, project: ProjectId, count: u64, key: impl Fn(u64) -> String) -> io::Result<()> {
    for first in (0..count).step_by(PAYMENTS_PER_CHANGE as usize) {
        let writes = (first..count.min(first + PAYMENTS_PER_CHANGE)).flat_map(|index| {
            let payment = payment(project, index);
            [bound(&payment, key(index)), PaymentWrite::Created { payment }.into()]
        });
        store.commit(Change::default().with_all(writes)).await.map_err(io::Error::other)?;
    }
    Ok(())
}

/// Binds a key to a payment, as the request that created it did.
pub(crate) fn bound(payment: &Payment, key: String) -> Write {
    let (project_id, endpoint, request) = (payment.terms.project_id, Endpoint::Payments, FINGERPRINT);
    let idempotency = Idempotency { project_id, endpoint, key, request };
    Write::Bind { idempotency, resource: payment.id.to_string() }
}

pub(crate) fn prefill_key(index: u64) -> String {
    format!("prefill-{index}")
}

/// Reads a list and searches once, which requests the maintenance that they need, and does it.
pub(crate) async fn make_searchable(store: &Store, project: ProjectId) -> io::Result<()> {
    let window = Window { offset: 0, limit: 1 };
    let search = PaymentFilter { search: Some("order".to_owned()), ..PaymentFilter::default() };
    for filter in [PaymentFilter::default(), search] {
        store.payments(project, &filter, window).await.map_err(io::Error::other)?;
    }
    maintain(store, AFTER_ALL).await
}

/// Runs every maintenance job until it has nothing more to do.
pub(crate) async fn maintain(store: &Store, now: Timestamp) -> io::Result<()> {
    while store.extend_list_checkpoints(now).await.map_err(io::Error::other)? {}
    while store.close_hours(now).await.map_err(io::Error::other)? {}
    while store.extend_search_index(now).await.map_err(io::Error::other)? {}
    Ok(())
}

/// Fills a PostgreSQL database with payments and their Idempotency-Keys by COPY; `id` returns the id of each.
pub(crate) async fn copy(
    cluster: &Arc<Cluster>,
    url: &str,
    project: ProjectId,
    count: u64,
    id: impl Fn(&Payment, u64) -> String + Copy + Send + 'static,
) -> io::Result<()> {
    for first in (0..count).step_by(PAYMENTS_PER_COPY as usize) {
        let until = count.min(first + PAYMENTS_PER_COPY);
        run(cluster, url, move || {
            let (mut payments, mut keys) = (COPY_PAYMENTS.to_owned(), COPY_KEYS.to_owned());
            for index in first..until {
                let payment = payment(project, index);
                let id = id(&payment, index);
                payments.push_str(&payment_line(&payment, &id));
                let key = prefill_key(index);
                keys.push_str(&format!("{project}\tpayments\t{key}\t{COPIED_FINGERPRINT}\t{id}\n"));
            }
            format!("{payments}\\.\n{keys}\\.\n")
        })
        .await?;
    }
    Ok(())
}

/// Vacuums now, so that the server does not do it during a measurement.
pub(crate) async fn vacuum(cluster: &Arc<Cluster>, url: &str) -> io::Result<()> {
    run(cluster, url, || "VACUUM ANALYZE; CHECKPOINT;".to_owned()).await
}

async fn run(cluster: &Arc<Cluster>, url: &str, sql: impl FnOnce() -> String + Send + 'static) -> io::Result<()> {
    let (cluster, url) = (Arc::clone(cluster), url.to_owned());
    let ran = tokio::task::spawn_blocking(move || cluster.run_script(&url, &sql())).await?;
    ran.map(drop).map_err(io::Error::other)
}

fn payment_line(payment: &Payment, id: &str) -> String {
    let Payment { code, created_at, version, .. } = payment;
    let PaymentTerms { project_id, reference, amount, fee, method, expires_at, .. } = &payment.terms;
    // As the store has it.
    let method = method.bank().map_or("qris", Bank::code);
    let (amount, fee) = (amount.get(), fee.get());
    let (created, expires) = (created_at.as_millis(), expires_at.as_millis());
    format!(
        "{id}\t{project_id}\t{reference}\t{reference}\t{amount}\t{fee}\t{method}\t{code}\texpired\t{created}\t{expires}\t\
         {version}\n"
    )
}

pub(crate) fn payment(project: ProjectId, index: u64) -> Payment {
    let at = Timestamp::from_millis(FIRST_MILLIS + index.cast_signed() * APART_MILLIS);
    let mut entropy = [0; 10];
    // Distributed evenly and different for every payment, but the same in every run.
    entropy[2..].copy_from_slice(&index.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    let reference = format!("order-{index}-{:x}", index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let amount = Rupiah::new(10_000 + (index % 1_000_000).cast_signed());
    let expires_at = Timestamp::from_millis(at.as_millis() + DAY_MILLIS);
    let terms = PaymentTerms::direct(project, reference, amount, Method::VirtualAccount(Bank::Bca), expires_at);
    let terms = PaymentTerms { fee: Rupiah::new(4_000), ..terms };
    let pending = Payment::pending(mint(at, entropy), terms, Bank::Bca.account_number(index), at);
    Payment { state: State::Expired, version: 2, ..pending }
}
