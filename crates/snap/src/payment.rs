//! Service 25: a bank asks us to take money. It books or gives back the money by our answer, which is stored before.

use std::{sync::Arc, time::Instant};

use axum::response::Response;
use domain::{bank_request::Verdict, time::Timestamp};
use engine::{PaymentAsked, Taken};
use gateway::snap::{Parameters, Repeat, ResponseCase};
use serde_json::{Map, Value};

use crate::{
    answer::{Body, Refusal},
    door::{Call, Message},
    members::Members,
    service::Service,
    undecided::{self, decided_by},
    verdict,
};

/// Without these no money can be judged. Banks leave out any other member, and give the money back when one is asked for.
const REQUIRED: [&str; 5] = ["partnerServiceId", "customerNo", "virtualAccountNo", "paymentRequestId", "paidAmount"];
/// What is sent back as it came, besides the number.
const ECHOED: [&str; 13] = [
    "virtualAccountName",
    "virtualAccountEmail",
    "virtualAccountPhone",
    "trxId",
    "paymentRequestId",
    "paidAmount",
    "paidBills",
    "totalAmount",
    "trxDateTime",
    "referenceNo",
    "journalNum",
    "paymentType",
    "flagAdvise",
];
/// A repetition that contradicts nothing, but is not the first.
const INCONSISTENT: ResponseCase = ResponseCase::new(404, 18);

/// Answers a call that began at `started`.
pub(crate) async fn answer(call: Call, started: Instant) -> Result<Response, Refusal> {
    let (app, open, now) = (call.app.clone(), Arc::clone(&call.open), call.now);
    let message = call.message_at_any_rate().map_err(not_refused)?;
    let is_over_rate = message.is_over_rate;
    let read = read(message, &open.parameters, now);
    if is_over_rate {
        if let Ok((asked, _)) = read {
            app.engine.keep_word_unjudged(&open, &asked, now);
        }
        return Err(not_refused(Refusal::TooMany));
    }
    let (asked, data) = read?;
    let taken = match app.engine.take_by(&open, asked, decided_by(started, open.parameters.deadline)).await {
        Ok(taken) => taken,
        Err(error) => {
            return Ok(undecided::answer(open.parameters.undecided, &Refusal::of_error(&error), now, Some(data)));
        }
    };
    let (case, text, verdict) = match taken {
        Taken::ExternalIdReused => return Err(Refusal::ExternalIdReused),
        Taken::Disabled => return Err(Refusal::UNKNOWN_CLIENT),
        Taken::Judged(verdict) => first(verdict),
        Taken::Repeated(verdict) => match open.parameters.repeat {
            Repeat::Inconsistent => (INCONSISTENT, "Inconsistent Request", verdict),
            Repeat::Stored => first(verdict),
        },
    };
    let mut body = Body::new(case, text);
    body.account_data(Service::Payment, verdict::flag(verdict), &verdict::reason(verdict), data);
    Ok(body.answer(Service::Payment, now))
}

/// What a message asks for, and the members that its answer has as they came.
fn read(
    message: Message,
    parameters: &Parameters,
    now: Timestamp,
) -> Result<(PaymentAsked, Map<String, Value>), Refusal> {
    let members = Members::read(&message.body, parameters)?;
    members.require(&REQUIRED)?;
    members.require(parameters.payment_needs.names())?;
    let (number, request_id) = (members.number()?, members.request_id("paymentRequestId")?);
    let amount = members.amount("paidAmount")?;
    let total = members.amount_if_any("totalAmount")?;
    let paid_at = members.time_if_any("trxDateTime")?.unwrap_or(now);
    members.one_of_if_any("flagAdvise", &["N", "Y"])?;
    let mut data = number.echoed;
    data.extend(members.echo(&ECHOED));
    let (external_id, number) = (message.external_id, number.whole);
    Ok((PaymentAsked { external_id, request_id, number, amount, total, paid_at }, data))
}

/// The bank is told that nothing is decided, as its call cannot be judged now. That is kept if the call is the bank's and can be
/// read: an earlier one may have booked the money.
pub(crate) fn keep_word(call: Call) {
    let (app, open, now) = (call.app.clone(), Arc::clone(&call.open), call.now);
    let read = call.message_at_any_rate().and_then(|message| read(message, &open.parameters, now));
    if let Ok((asked, _)) = read {
        app.engine.keep_word_unjudged(&open, &asked, now);
    }
}

fn first(verdict: Verdict) -> (ResponseCase, &'static str, Verdict) {
    (verdict::case(verdict), verdict::message(verdict), verdict)
}

/// A bank may give money back when it is told to come less often, and the money may be booked here already: the message
/// may be the resend of one whose answer was lost. So it is told that nothing is decided.
fn not_refused(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::TooMany => Refusal::Failed("the account's calls are over their rate".to_owned()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_over_the_rate_is_suspended_and_never_given_back() {
        let now = domain::time::Timestamp::from_millis(0);
        let status = |refusal: Refusal| not_refused(refusal).answer(Service::Payment, now, None).status().as_u16();
        assert_eq!(status(Refusal::TooMany), 500);
        assert_eq!(status(Refusal::InvalidToken), 401);
    }
}
