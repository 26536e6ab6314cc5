//! A receiver that takes few requests at once and has the others wait, as servers with a short queue for connections do, gets as
//! many as it takes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, http::header::CONNECTION, routing::post};
use testkit::{Kit, on_sqlite};
use tokio::sync::Mutex;

use super::isolation::{PATIENT, pay_often};
use crate::support::wait::until_within;

const EVENTS: usize = 400;
const AT_ONCE: usize = 6;
/// How long each request takes; they are answered one after another.
const WORK: Duration = Duration::from_millis(4);
/// A connection for which there is no room in the queue is tried again after so long.
const TURNED_AWAY_FOR: Duration = Duration::from_secs(1);
/// Far more than it takes, on a busy machine too.
const ALL_WITHIN: Duration = Duration::from_mins(2);

#[derive(Default)]
struct ShyReceiver {
    queued: AtomicUsize,
    turned_away: AtomicUsize,
    delivered: AtomicUsize,
    work: Mutex<()>,
}

impl ShyReceiver {
    async fn take(&self) -> [(axum::http::HeaderName, &'static str); 1] {
        while self.queued.fetch_add(1, Ordering::SeqCst) >= AT_ONCE {
            self.queued.fetch_sub(1, Ordering::SeqCst);
            self.turned_away.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(TURNED_AWAY_FOR).await;
        }
        let work = self.work.lock().await;
        tokio::time::sleep(WORK).await;
        drop(work);
        self.queued.fetch_sub(1, Ordering::SeqCst);
        self.delivered.fetch_add(1, Ordering::SeqCst);
        [(CONNECTION, "close")]
    }
}

/// Regression: the window grew to 64 past what the receiver takes, halved, and grew straight back, so that most requests were
/// turned away.
#[tokio::test]
async fn a_receiver_that_takes_few_at_once_has_to_turn_few_away() {
    on_sqlite(sends_as_many_as_it_takes).await;
}

async fn sends_as_many_as_it_takes(kit: Arc<Kit>) {
    let shy = Arc::new(ShyReceiver::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let receiver = Arc::clone(&shy);
    let routes = Router::new().route("/hook", post(async move || receiver.take().await));
    let served = tokio::spawn(axum::serve(listener, routes).into_future());
    let project = kit.sandbox().await;
    kit.set_webhook_url(project.id, Some(&url)).await;
    pay_often(&project, EVENTS).await;
    kit.deliver(PATIENT);
    until_within(ALL_WITHIN, async || shy.delivered.load(Ordering::SeqCst) == EVENTS).await;
    kit.stop_delivering().await;
    served.abort();
    let turned_away = shy.turned_away.load(Ordering::SeqCst);
    // That a quick receiver gets more at once is a rule of its own, and on a busy machine none is quick.
    assert!(turned_away < EVENTS / 8, "{turned_away} of {EVENTS}");
}
