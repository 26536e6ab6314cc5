//! Words for statuses and methods that several pages show.

use domain::{
    bank::Bank,
    delivery::{Delivery, DeliveryState},
    method::Method,
    payment::Status,
};
use i18n_embed_fl::fl;

use crate::words::Words;

/// A word of the API for the style sheet, and one for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Badge {
    pub(super) status: &'static str,
    pub(super) text: String,
}

pub(super) fn payment_badge(words: Words, status: Status) -> Badge {
    let text = match status {
        Status::Pending => fl!(words, "status-pending"),
        Status::Processing => fl!(words, "status-processing"),
        Status::Paid => fl!(words, "status-paid"),
        Status::Failed => fl!(words, "status-failed"),
        Status::Expired => fl!(words, "status-expired"),
        Status::Cancelled => fl!(words, "status-cancelled"),
    };
    Badge { status: status.word(), text }
}

/// How an event's delivery stands; none where there was no URL to send it to.
pub(super) fn delivery_badge(words: Words, delivery: Option<&Delivery>) -> Badge {
    let (status, text) = match delivery.map(|delivery| (delivery.state, delivery.attempts > delivery.resent_after)) {
        None => ("none", fl!(words, "delivery-none")),
        Some((DeliveryState::Delivered, _)) => ("delivered", fl!(words, "delivery-delivered")),
        Some((DeliveryState::Exhausted, _)) => ("exhausted", fl!(words, "delivery-exhausted")),
        Some((DeliveryState::Pending { .. }, true)) => ("retrying", fl!(words, "delivery-retrying")),
        Some((DeliveryState::Pending { .. }, false)) => ("pending", fl!(words, "delivery-sending")),
    };
    Badge { status, text }
}

/// `QRIS`, or the bank's name.
pub(super) fn method_name(words: Words, method: Method) -> String {
    match method {
        Method::Qris => "QRIS".to_owned(),
        Method::VirtualAccount(bank) => bank_account(words, bank),
    }
}

fn bank_account(words: Words, bank: Bank) -> String {
    let name = bank.name();
    fl!(words, "method-account", bank = name)
}
