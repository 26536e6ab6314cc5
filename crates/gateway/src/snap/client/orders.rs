//! Sends an order that moves money, once, and says what its answer means. Nothing here repeats a call.

use domain::money::Rupiah;
use serde_json::Value;

use super::{
    http::{Answer, SnapClient},
    signed::CallContext,
};
use crate::snap::{
    call_error::CallError,
    money_out::OrderSent,
    reading::{first_amount, first_id},
    values::Service,
    verdict::{Answered, OrderKind, Verdict, judge},
};

/// HTTP's status of a call whose token is over; the client has read the rest of the answer.
const UNAUTHORIZED: u16 = 401;

/// An order as it goes out.
pub(super) struct Outgoing<'a> {
    pub(super) kind: OrderKind,
    pub(super) service: Service,
    pub(super) body: Value,
    /// What an answer must not contradict.
    pub(super) said: Said<'a>,
    /// The members in which the bank may name the order.
    pub(super) bank_reference: &'static [&'static str],
    /// Whether this reference was sent for the first time.
    pub(super) is_first: bool,
}

/// What we have ordered, by the members that answers repeat it in.
pub(super) struct Said<'a> {
    pub(super) reference: (&'static [&'static str], &'a str),
    pub(super) amount: (&'static [&'static str], Rupiah),
    pub(super) number: Option<(&'static [&'static str], &'a str)>,
}

impl SnapClient {
    pub(super) async fn order(&self, context: &CallContext<'_>, order: Outgoing<'_>) -> OrderSent {
        let result = self.call(context, order.service, &order.body).await;
        sent(&order, result)
    }
}

/// What could not even be written down has surely not been sent.
pub(super) fn not_sent(error: CallError) -> OrderSent {
    OrderSent {
        verdict: Verdict::NotSent,
        code: error.code().to_owned(),
        message: error.to_string(),
        bank_reference: None,
        error: Some(error),
    }
}

fn sent(order: &Outgoing<'_>, result: Result<Answer, CallError>) -> OrderSent {
    let judged = |status, code: &str| {
        let (kind, service, is_first) = (order.kind, order.service.code(), order.is_first);
        judge(&Answered { kind, service, status, code, is_first })
    };
    match result {
        Ok(answer) => {
            let (code, message) = (answer.code(), answer.message());
            let verdict = match judged(answer.status, &code) {
                Verdict::Done if !order.said.agrees(&answer.body) => Verdict::Unknown,
                // The clearing takes its time, and the answer says where it stands.
                Verdict::Done if is_cleared(order.service) && !is_through(&answer.body) => Verdict::Unknown,
                verdict => verdict,
            };
            let bank_reference = first_id(&answer.body, order.bank_reference);
            let words = if code.is_empty() { format!("http_{}", answer.status) } else { code };
            OrderSent { verdict, code: words, message, bank_reference, error: answer.success().err() }
        }
        // The bank was not reached, or there was no token to call it with.
        Err(error @ (CallError::Unavailable(_) | CallError::Misconfigured(_))) => not_sent(error),
        Err(error @ CallError::TokenRefused(_)) => {
            OrderSent { verdict: judged(UNAUTHORIZED, error.code()), ..not_sent(error) }
        }
        Err(error @ (CallError::Unknown(_) | CallError::Refused { .. })) => {
            OrderSent { verdict: Verdict::Unknown, ..not_sent(error) }
        }
    }
}

/// Whether an order of this service goes through a clearing.
fn is_cleared(service: Service) -> bool {
    matches!(service, Service::TransferSkn | Service::TransferRtgs)
}

fn is_through(told: &Value) -> bool {
    first_id(told, &["transactionStatus"]).as_deref() == Some("00")
}

/// How an answer's words about one member stand to ours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Same,
    Other,
    Nothing,
}

impl Said<'_> {
    /// Whether the answer contradicts nothing that we have ordered.
    fn agrees(&self, told: &Value) -> bool {
        ![self.reference_told(told), self.amount_told(told), self.number_told(told)].contains(&Told::Other)
    }

    pub(super) fn reference_told(&self, told: &Value) -> Told {
        let (members, ours) = self.reference;
        compared(first_id(told, members).map(|theirs| theirs == ours))
    }

    pub(super) fn amount_told(&self, told: &Value) -> Told {
        let (members, ours) = self.amount;
        compared(first_amount(told, members).map(|theirs| theirs == ours))
    }

    pub(super) fn number_told(&self, told: &Value) -> Told {
        let Some((members, ours)) = self.number else { return Told::Nothing };
        let theirs = first_id(told, members).and_then(|theirs| digits(&theirs));
        compared(theirs.map(|theirs| Some(theirs) == digits(ours)))
    }
}

fn compared(is_same: Option<bool>) -> Told {
    match is_same {
        Some(true) => Told::Same,
        Some(false) => Told::Other,
        None => Told::Nothing,
    }
}

/// An account number without what banks write between and before its digits; none where some digits are hidden.
fn digits(number: &str) -> Option<String> {
    let bare: String = number.chars().filter(|character| !matches!(character, ' ' | '-' | '.')).collect();
    let is_number = bare.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| bare.trim_start_matches('0').to_owned())
}
