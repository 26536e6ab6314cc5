//! What a bank is told that asks us to take money (25) when we do not know whether it is booked: by this request, or by an
//! earlier one whose answer was lost. Banks differ in which words make them give the money back, so the account says which.

use std::time::{Duration, Instant};

use axum::response::Response;
use domain::time::Timestamp;
use gateway::snap::{ResponseCase, Undecided};
use serde_json::{Map, Value};
use web::{Cause, Silence};

use crate::{
    answer::{Body, Refusal},
    service::Service,
};

const IN_PROGRESS: ResponseCase = ResponseCase::new(202, 0);

/// The part of the bank's time limit within which we decide; the rest is for the way of the answer.
const DECIDED_WITHIN: f64 = 0.8;

/// When we must know what to say, where the bank began to call at `started`.
pub(crate) fn decided_by(started: Instant, deadline: Duration) -> Instant {
    started + deadline.mul_f64(DECIDED_WITHIN)
}

/// The answer, with the members of the virtual account as far as they are known.
pub(crate) fn answer(say: Undecided, failure: &Refusal, now: Timestamp, data: Option<Map<String, Value>>) -> Response {
    let mut response = match say {
        Undecided::Failure => return failure.answer(Service::Payment, now, data),
        Undecided::InProgress | Undecided::Silence => {
            let mut body = Body::new(IN_PROGRESS, "Request In Progress");
            body.account_data(Service::Payment, failure.flag(), &failure.reason(), data.unwrap_or_default());
            body.answer(Service::Payment, now)
        }
    };
    if let Refusal::Failed(cause) = failure {
        response.extensions_mut().insert(Cause(cause.clone()));
    }
    if say == Undecided::Silence {
        response.extensions_mut().insert(Silence);
    }
    response
}
