//! How `lunas listen` reads events: page by page, and a minute back each time, as ids are not in the order of commits.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::{RawQuery, State},
    routing::get,
};
use domain::{
    id::{ENTROPY_BYTES, EventId, mint},
    project::Environment,
    time::Timestamp,
};
use engine::{Clock, SystemClock};
use serde_json::{Value, json};
use testkit::{Program, Receiver, Running};
use tokio::net::TcpListener;

use crate::support::commands::{program, unknown_key};

/// A server that has only events, which tests may insert at any position.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<BTreeMap<EventId, Timestamp>>>);

impl Events {
    /// Starts serving; returns the address.
    async fn serve(&self) -> String {
        let router = Router::new().route("/v1/events", get(list)).with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        url
    }

    fn put(&self, at: Timestamp, number: u8) -> String {
        self.put_all(at, [number]).remove(0)
    }

    /// Inserts all of them at once; returns their ids in order.
    fn put_all(&self, at: Timestamp, numbers: impl IntoIterator<Item = u8>) -> Vec<String> {
        let mut ids: Vec<EventId> = numbers.into_iter().map(|number| mint(at, [number; ENTROPY_BYTES])).collect();
        ids.sort();
        self.0.lock().unwrap().extend(ids.iter().map(|id| (*id, at)));
        ids.iter().map(ToString::to_string).collect()
    }
}

/// As `GET /v1/events` does: after an id upwards, or the newest first.
async fn list(State(events): State<Events>, RawQuery(query): RawQuery) -> String {
    let query = query.unwrap();
    let query: BTreeMap<&str, &str> = query.split('&').filter_map(|part| part.split_once('=')).collect();
    let events = events.0.lock().unwrap();
    let size = query["page_size"].parse().unwrap();
    let shown = |(id, at): (&EventId, &Timestamp)| json!({ "id": id.to_string(), "type": "payment.paid", "created_at": at.to_string(), "data": {} });
    let data: Vec<Value> = match query.get("after") {
        Some(after) => {
            let after: EventId = after.parse().unwrap();
            events.iter().filter(|(id, _)| **id > after).map(shown).take(size).collect()
        }
        None => events.iter().rev().map(shown).take(size).collect(),
    };
    json!({ "data": data }).to_string()
}

fn listen(program: &Program, url: &str, receiver: &Receiver) -> Running {
    let key = unknown_key(Environment::Sandbox);
    let arguments = ["listen", "--json", "--forward-to", &receiver.url(), "--url", url, "--key", &key];
    Running::start(program.command(&arguments), program.directory.path())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_appears_below_one_that_was_read_is_not_missed() {
    let (events, receiver) = (Events::default(), Receiver::start().await);
    let now = SystemClock.now();
    let ago = |seconds| now.minus(Duration::from_secs(seconds));
    for (seconds, number) in [(3_600, 1), (40, 1), (0, 5)] {
        events.put(ago(seconds), number);
    }
    let program = program();
    let _listening = listen(&program, &events.serve().await, &receiver);
    let mut wanted = Vec::new();
    for (seconds, number) in [(0, 9), (0, 3), (59, 1), (40, 0)] {
        wanted.push(events.put(ago(seconds), number));
        let received = receiver.arrived(wanted.len()).await;
        assert_eq!(received.last().unwrap().json()["id"], *wanted.last().unwrap());
        assert_eq!(received.len(), wanted.len(), "and nothing else comes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_events_than_a_page_has_all_come_in_order_and_once() {
    let (events, receiver) = (Events::default(), Receiver::start().await);
    let now = SystemClock.now();
    events.put_all(now, 0..150);
    let program = program();
    let _listening = listen(&program, &events.serve().await, &receiver);
    let later = now.plus(Duration::from_millis(1));
    let mut wanted = events.put_all(later, 0..250);
    receiver.arrived(wanted.len()).await;
    // The last event arrives after a poll that has read all the others again.
    wanted.push(events.put(later.plus(Duration::from_millis(1)), 0));
    let received = receiver.arrived(wanted.len()).await;
    assert_eq!(received.iter().map(|received| received.json()["id"].clone()).collect::<Vec<_>>(), wanted);
}
