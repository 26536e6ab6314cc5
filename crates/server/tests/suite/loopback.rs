//! A receiver of webhooks on this machine, which remembers all that it gets.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
};
use serde_json::Value;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// Longer than anything takes that works, a listener's longest pause on a busy machine included.
const PATIENCE: Duration = Duration::from_secs(120);

/// One request, as it came.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

#[derive(Clone)]
struct Memory {
    received: Arc<Mutex<Vec<Received>>>,
    count: Arc<watch::Sender<usize>>,
    status: Arc<AtomicU16>,
}

/// It answers 200 unless told otherwise, and stops with this value.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    memory: Memory,
    task: JoinHandle<()>,
}

impl Receiver {
    pub(crate) async fn start() -> Receiver {
        Receiver::start_at(([127, 0, 0, 1], 0).into()).await
    }

    pub(crate) async fn start_at(address: SocketAddr) -> Receiver {
        let memory = Memory {
            received: Arc::default(),
            count: Arc::new(watch::Sender::new(0)),
            status: Arc::new(AtomicU16::new(200)),
        };
        let router = Router::new().fallback(remember).with_state(memory.clone());
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Receiver { address, memory, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook?from=lunas", self.address)
    }

    /// From now on it answers with this status.
    pub(crate) fn answer(&self, status: u16) {
        self.memory.status.store(status, Ordering::SeqCst);
    }

    /// All that has come so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.memory.received.lock().unwrap().clone()
    }

    /// Waits until at least so many have come, and answers all of them.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Received> {
        let mut counts = self.memory.count.subscribe();
        let enough = counts.wait_for(|so_far| *so_far >= count);
        let waited = tokio::time::timeout(PATIENCE, enough).await;
        assert!(waited.is_ok(), "{} of {count} came", self.received().len());
        self.received()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn remember(State(memory): State<Memory>, uri: Uri, headers: HeaderMap, body: Bytes) -> StatusCode {
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    memory.received.lock().unwrap().push(Received { path, headers, body: body.to_vec() });
    memory.count.send_modify(|count| *count += 1);
    StatusCode::from_u16(memory.status.load(Ordering::SeqCst)).unwrap()
}
