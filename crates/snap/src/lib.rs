//! Doors for banks: `/snap/{account}/v1.0/…`, where a bank gets a token (73), asks what is to be paid under a number (24),
//! asks us to take money (25), and tells us of money that it has taken (34, 52, 56) and of transfers that we have ordered (75, 76),
//! by Bank Indonesia's standard SNAP.
//!
//! A door checks who calls and reads the message; the engine decides. Answers have SNAP's shape, also when something
//! fails: never the envelope of the API, never a page.

mod answer;
mod door;
mod inquiry;
mod members;
mod notification;
mod payment;
mod routes;
mod service;
mod token;
mod undecided;
mod verdict;

use axum::response::Response;
use engine::{Clock, SystemClock};
use gateway::snap::Undecided;
use web::{App, Failure, FailureWording, Surface};

use crate::{answer::Refusal, service::Service};

/// The doors, as a server mounts them.
pub fn surface(app: &App) -> Surface {
    Surface {
        folders: &[routes::FOLDER],
        routes: routes::router(app),
        wording: FailureWording::Envelope(worded),
        assets: Vec::new(),
        secret_paths: &[],
    }
}

/// A failure outside of any handler. What was committed is not known then, so the bank must ask again. Of the
/// account nothing is known here, so a bank that asks us to take money is told what makes none give it back.
fn worded(failure: Failure, path: &str) -> Response {
    let service = Service::of_path(path);
    let (refusal, now) = (Refusal::of_failure(failure), SystemClock.now());
    match service == Service::Payment && refusal.is_open() {
        true => undecided::answer(Undecided::InProgress, &refusal, now, None),
        false => refusal.answer(service, now, None),
    }
}
