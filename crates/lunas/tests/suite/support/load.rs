//! Clients that create and pay while the database fails and recovers, and the answers that they got, to be compared
//! with what is stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use testkit::{Api, Kit, Receiver, Reply, TestProject};
use tokio::task::JoinSet;

use crate::support::{
    history::{History, all, judge},
    json::id,
    samples,
    wait::until_within,
};

pub(crate) const CLIENTS: usize = 8;
/// An upper bound for waits here, which a busy machine does not exceed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);
/// Longer than the server's own request timeout of half a minute.
const ANSWER_WITHIN: Duration = Duration::from_secs(45);
/// How often a client tries a request, at another node each time.
const TRIES: usize = 4;
/// How long a client waits after a 503; real ones wait longer.
const BACK_OFF: Duration = Duration::from_millis(20);
/// Longer than the lease of a webhook whose outcome could not be recorded.
const LEASE: Duration = Duration::from_secs(30);

/// Clients of some nodes, and the answers that they got.
pub(crate) struct Load {
    apis: Vec<Api>,
    project: TestProject,
    history: Mutex<History>,
    created: AtomicUsize,
    paid: AtomicUsize,
    unavailable: AtomicUsize,
    over: AtomicBool,
}

/// Clients that are running.
pub(crate) struct Clients(JoinSet<()>);

impl Load {
    pub(crate) fn new(project: TestProject, apis: Vec<Api>) -> Arc<Load> {
        Arc::new(Load {
            apis,
            project,
            history: Mutex::default(),
            created: AtomicUsize::new(0),
            paid: AtomicUsize::new(0),
            unavailable: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        })
    }

    /// Starts the clients.
    pub(crate) fn begin(self: &Arc<Load>) -> Clients {
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            clients.spawn(Arc::clone(self).client(number));
        }
        Clients(clients)
    }

    /// Waits until the clients have finished their requests; fails if any of them got a wrong answer.
    pub(crate) async fn end(&self, clients: Clients) {
        self.over.store(true, Ordering::SeqCst);
        tokio::time::timeout(PATIENCE, clients.0.join_all()).await.expect("clients come to an end");
    }

    /// How many payments were acknowledged, how many were paid, and how many answers were 503.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let [created, paid, unavailable] =
            [&self.created, &self.paid, &self.unavailable].map(|count| count.load(Ordering::SeqCst));
        (created, paid, unavailable)
    }

    /// Waits until so many more payments were acknowledged.
    pub(crate) async fn acknowledges(&self, more: usize) {
        let enough = self.counts().0 + more;
        until_within(PATIENCE, async || self.counts().0 >= enough).await;
    }

    /// Waits until so many more requests were answered 503.
    pub(crate) async fn turns_away(&self, more: usize) {
        let enough = self.counts().2 + more;
        until_within(PATIENCE, async || self.counts().2 >= enough).await;
    }

    async fn client(self: Arc<Load>, client: usize) {
        for number in 0.. {
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            let (key, first) = (format!("client-{client}-{number}"), client + number);
            let Some(payment) = self.create(&key, first).await else { continue };
            self.look(&payment, first + 1).await;
            if number % 2 == 0 {
                self.pay(&key, &payment, first + 2).await;
            }
        }
    }

    async fn create(&self, key: &str, first: usize) -> Option<Value> {
        self.history.lock().unwrap().created.entry(key.to_owned()).or_default();
        let order = samples::qris(&self.project, 15_000);
        let payment = self.until_answered(first, &[200, 201], |api| async move { api.pay(key, &order).await }).await?;
        self.created.fetch_add(1, Ordering::SeqCst);
        self.history.lock().unwrap().created.insert(key.to_owned(), Some(payment.clone()));
        Some(payment)
    }

    /// An acknowledged payment is there for every later request.
    async fn look(&self, payment: &Value, first: usize) {
        let path = &format!("/v1/payments/{}", id(payment));
        let found = self.until_answered(first, &[200], |api| async move { api.get(path).await }).await;
        assert!(found.is_none_or(|found| found["id"] == payment["id"]));
        let listed =
            self.until_answered(first, &[200], |api| async move { api.get("/v1/payments?page_size=1").await }).await;
        assert!(listed.is_none_or(|listed| listed["pagination"]["total_items"].as_i64() > Some(0)));
    }

    async fn pay(&self, key: &str, payment: &Value, first: usize) {
        self.history.lock().unwrap().paid.insert(key.to_owned(), None);
        let path = &format!("/v1/sandbox/payments/{}/simulate", id(payment));
        let report = json!({ "outcome": "paid", "receipt_id": key });
        let Some(paid) = self.until_answered(first, &[200], |api| async move { api.post(path, &report).await }).await
        else {
            return;
        };
        assert_eq!(paid["status"], "paid");
        self.paid.fetch_add(1, Ordering::SeqCst);
        self.history.lock().unwrap().paid.insert(key.to_owned(), Some(paid));
    }

    /// Sends a request to one node after the other until one of them serves it; every other answer is a 503.
    async fn until_answered<Asked: Future<Output = Reply>>(
        &self,
        first: usize,
        right: &[u16],
        ask: impl FnOnce(Api) -> Asked + Clone,
    ) -> Option<Value> {
        for tried in 0..TRIES {
            let api = self.apis[(first + tried) % self.apis.len()].clone();
            let reply = tokio::time::timeout(ANSWER_WITHIN, ask.clone()(api)).await.expect("every request ends");
            if right.contains(&reply.status.as_u16()) {
                return Some(reply.json);
            }
            says_to_come_back(reply);
            self.unavailable.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(BACK_OFF).await;
        }
        None
    }

    /// Repeats every request, answered or not: each took effect once, and as it was acknowledged.
    async fn converge(&self) {
        let created = self.history.lock().unwrap().created.clone();
        let repeated = stream::iter(created).for_each_concurrent(CLIENTS, |(key, known)| async move {
            let payment = self.create(&key, 0).await.expect("the service is back");
            assert!(known.is_none_or(|known| known["id"] == payment["id"]), "{key} has made another payment");
            let owed = self.history.lock().unwrap().paid.contains_key(&key);
            if owed {
                self.pay(&key, &payment, 0).await;
            }
        });
        repeated.await;
    }

    /// Compares everything that is stored, and every webhook that arrived, with everything that was ever acknowledged.
    pub(crate) async fn judge(&self, kit: &Kit, receiver: &Receiver) {
        self.converge().await;
        judge(&self.apis[0], &self.history).await;
        let kept: BTreeMap<String, Value> =
            all(&self.apis[0], "/v1/events").await.into_iter().map(|event| (id(&event).to_owned(), event)).collect();
        until_within(PATIENCE, async || {
            kit.clock.advance(LEASE);
            let told: BTreeSet<String> = receiver.received().iter().map(|webhook| webhook.event_id()).collect();
            kept.keys().all(|event| told.contains(event))
        })
        .await;
        for webhook in receiver.received() {
            let told = webhook.json();
            assert_eq!(kept.get(id(&told)), Some(&told), "a webhook tells of what is kept");
        }
        assert_eq!(kit.store.breaches().await.unwrap(), []);
    }
}

/// Checks that the answer is a 503 with `Retry-After`.
#[track_caller]
pub(crate) fn says_to_come_back(reply: Reply) {
    let code = reply.json["error"]["code"].as_str().unwrap_or_default().to_owned();
    assert!(["SERVICE_UNAVAILABLE", "AUTH_UNAVAILABLE"].contains(&code.as_str()), "{} {}", reply.status, reply.text);
    assert!(reply.header("Retry-After").is_some_and(|seconds| seconds.parse::<u64>().is_ok()));
    reply.refused(503, &code);
}
