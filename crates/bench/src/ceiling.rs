//! The ceilings: small servers that do only what is indispensable for the same kind of answer, written without tricks.

use std::{
    ffi::OsString,
    io::Read,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::Html,
    routing::{MethodRouter, get, post},
};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, task::JoinSet};

use crate::{directory::Directory, load::CONNECTIONS};

const BATCH_MOST: usize = 512;
/// How long the bank takes to issue a code.
const BANK_TAKES: Duration = Duration::from_millis(1);

pub(crate) fn run(words: Vec<OsString>) -> ExitCode {
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    let served = runtime.block_on(async {
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        match words.as_slice() {
            ["send", url, count] => send(url, count.parse().map_err(std::io::Error::other)?).await,
            ["create"] => serve(create().map_err(std::io::Error::other)?).await,
            ["page", bytes] => serve(page(bytes.parse().map_err(std::io::Error::other)?)).await,
            ["bank"] => serve(bank(post(issued))).await,
            ["bank", "silent"] => serve(bank(post(std::future::pending::<StatusCode>))).await,
            ["get"] => serve(Router::new().route("/{*path}", get(read))).await,
            _ => Err(std::io::Error::other("no such ceiling")),
        }
    });
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn serve(router: Router) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!(r#"{{"base_url":"http://{}"}}"#, listener.local_addr()?);
    axum::serve(listener, router).await
}

/// The same request body that the product gets.
#[derive(Deserialize)]
struct Order {
    project_id: String,
    reference: String,
    amount: i64,
    payment_method: OrderMethod,
}

#[derive(Deserialize)]
struct OrderMethod {
    #[serde(rename = "type")]
    kind: String,
}

/// A row with the same columns as the product's payments.
struct Row {
    number: u64,
    order: Order,
    done: oneshot::Sender<()>,
}

#[derive(Clone)]
struct Writer {
    queue: mpsc::SyncSender<Row>,
    next: Arc<AtomicU64>,
}

/// Parses the body and commits its row in batches, each synced to disk. There are no rules, no API key and no second
/// table.
fn create() -> rusqlite::Result<Router> {
    let (queue, rows) = mpsc::sync_channel(2_048);
    let directory = Directory::new().map_err(|_| rusqlite::Error::InvalidQuery)?;
    let connection = Connection::open(directory.path().join("ceiling.db"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(
        "CREATE TABLE payments (id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL, link_id TEXT, \
         reference TEXT NOT NULL, search_text TEXT NOT NULL, amount BIGINT NOT NULL, fee BIGINT NOT NULL, \
         method TEXT NOT NULL, code TEXT NOT NULL, state TEXT NOT NULL, paid_at BIGINT, ended_at BIGINT, \
         created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, version BIGINT NOT NULL)",
    )?;
    prefill(&connection)?;
    thread::spawn(move || {
        // Keeps the directory for as long as the thread writes in it.
        let _directory = directory;
        write(&connection, &rows);
    });
    let writer = Writer { queue, next: Arc::new(AtomicU64::new(PREFILLED)) };
    Ok(Router::new().route("/v1/payments", post(created)).with_state(writer))
}

const PREFILLED: u64 = 200_000;

fn prefill(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN")?;
    for number in 0..PREFILLED {
        let order = Order {
            project_id: "prj_01m7ejaj45fd2tgk76tn6bv4b0".to_owned(),
            reference: format!("order-{number}"),
            amount: 15_000,
            payment_method: OrderMethod { kind: "virtual_account".to_owned() },
        };
        insert(connection, number, &order)?;
    }
    connection.execute_batch("COMMIT")
}

fn insert(connection: &Connection, number: u64, order: &Order) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "INSERT INTO payments (id, project_id, link_id, reference, search_text, amount, fee, method, code, state, \
             paid_at, ended_at, created_at, expires_at, version) \
             VALUES (?1, ?2, NULL, ?3, ?3, ?4, 4000, ?5, ?6, 'pending', NULL, NULL, ?7, ?8, 1)",
        )?
        .execute(params![
            format!("pay_{number:026}"),
            order.project_id,
            order.reference,
            order.amount,
            order.payment_method.kind,
            format!("{number:016}"),
            1_794_648_600_000_i64,
            1_794_735_000_000_i64,
        ])
}

fn write(connection: &Connection, rows: &mpsc::Receiver<Row>) {
    while let Ok(first) = rows.recv() {
        let mut batch = vec![first];
        batch.extend(rows.try_iter().take(BATCH_MOST - 1));
        let committed = connection
            .execute_batch("BEGIN IMMEDIATE")
            .and_then(|()| batch.iter().try_for_each(|row| insert(connection, row.number, &row.order).map(drop)))
            .and_then(|()| connection.execute_batch("COMMIT"));
        if committed.is_err() {
            return;
        }
        for row in batch {
            let _ = row.done.send(());
        }
    }
}

async fn created(
    State(writer): State<Writer>,
    Json(order): Json<Order>,
) -> Result<(StatusCode, Json<Paid>), StatusCode> {
    let number = writer.next.fetch_add(1, Ordering::Relaxed);
    let (done, committed) = oneshot::channel();
    writer.queue.try_send(Row { number, order, done }).map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    committed.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok((StatusCode::CREATED, Json(Paid::sample())))
}

async fn read() -> Json<Paid> {
    Json(Paid::sample())
}

/// A constant page of `bytes` bytes.
fn page(bytes: usize) -> Router {
    let text = Bytes::from("x".repeat(bytes));
    Router::new().route("/{*path}", get(|| async move { Html(text) }))
}

/// JSON of the size and shape of a payment by virtual account.
#[derive(Serialize)]
struct Paid {
    id: String,
    project_id: String,
    reference: String,
    amount: i64,
    currency: &'static str,
    status: &'static str,
    checkout_url: String,
    created_at: String,
    expires_at: String,
    number: String,
    steps: Vec<String>,
}

impl Paid {
    fn sample() -> Paid {
        Paid {
            id: "pay_01m7ejak3vfw4b75eggw9913m0".to_owned(),
            project_id: "prj_01m7ejaj45fd2tgk76tn6bv4b0".to_owned(),
            reference: "order-123456".to_owned(),
            amount: 15_000,
            currency: "IDR",
            status: "pending",
            checkout_url: "http://127.0.0.1:8080/pay/pay_01m7ejak3vfw4b75eggw9913m0".to_owned(),
            created_at: "2026-11-15T02:59:31.579Z".to_owned(),
            expires_at: "2026-11-16T02:59:31.579Z".to_owned(),
            number: "9901418357157900".to_owned(),
            steps: vec!["x".repeat(80); 12],
        }
    }
}

/// A bank that gives every caller a token, and is asked for virtual accounts.
fn bank(create: MethodRouter) -> Router {
    // As many calls may hang as the product makes at once.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let token = || async { Json(json!({ "responseCode": "2007300", "accessToken": "bench", "expiresIn": "900" })) };
    Router::new().route("/v1.0/access-token/b2b", post(token)).route("/v1.0/transfer-va/create-va", create)
}

/// Issues every account that is ordered, after the time that a bank nearby takes. It checks and keeps nothing.
async fn issued(Json(order): Json<Value>) -> Json<Value> {
    tokio::time::sleep(BANK_TAKES).await;
    Json(json!({ "responseCode": "2002700", "responseMessage": "Successful", "virtualAccountData": order }))
}

/// Sends the body from standard input `count` times over 64 connections, and records nothing.
async fn send(url: &str, count: u64) -> std::io::Result<()> {
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body)?;
    let client = reqwest::Client::builder().no_proxy().build().map_err(std::io::Error::other)?;
    let (next, body) = (Arc::new(AtomicU64::new(0)), axum::body::Bytes::from(body));
    let mut senders = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (next, client, body, url) = (Arc::clone(&next), client.clone(), body.clone(), url.to_owned());
        senders.spawn(async move {
            while next.fetch_add(1, Ordering::Relaxed) < count {
                let request = client.post(&url).header("content-type", "application/json").body(body.clone());
                request.send().await?.error_for_status()?.bytes().await?;
            }
            Ok::<(), reqwest::Error>(())
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent.map_err(std::io::Error::other)?.map_err(std::io::Error::other)?;
    }
    Ok(())
}
