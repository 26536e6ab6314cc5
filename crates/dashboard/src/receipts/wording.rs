//! What pages say about a receipt: why its money pays nothing, and what was decided.

use std::cmp::Ordering;

use domain::{
    id::ReceiptId,
    money::Rupiah,
    payment::{Checkout, Payment},
    receipt::{DECISION_NOTE, Decided, Decision, Unapplied, UnappliedReceipt, Unfit},
    time::Timestamp,
};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::{form::Form, moment::Moment};

use crate::{
    input::text_mistake,
    labels::Badge,
    page::{Page, PublicPage},
    words::Words,
};

const HOURS_AS_MINUTES: i64 = 2;
const DAYS_AS_HOURS: i64 = 2;

/// A decision that was taken.
pub(crate) struct TakenDecision {
    pub(crate) badge: Badge,
    pub(crate) note: String,
    pub(crate) at: Moment,
}

/// The note of a form that was sent, and what is wrong with it.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    pub(crate) note: String,
    pub(crate) mistake: Option<String>,
}

/// The page on which a member decides about a receipt.
pub(crate) fn decide_url(base: &str, id: ReceiptId) -> String {
    format!("{base}/balance/receipts/{id}")
}

/// Why money pays nothing, in a sentence.
pub(crate) fn reason(words: Words, reason: Unapplied) -> String {
    match reason {
        Unapplied::WrongAmount => fl!(words, "receipt-wrong-amount"),
        Unapplied::AlreadyPaid => fl!(words, "receipt-already-paid"),
        Unapplied::LinkClaimed => fl!(words, "receipt-link-claimed"),
        Unapplied::TooLate => fl!(words, "receipt-too-late"),
        Unapplied::ReceiptReused => fl!(words, "receipt-reused"),
    }
}

/// Why money cannot pay a payment, in a sentence.
pub(crate) fn unfit(words: Words, why: Unfit, payment: &Payment) -> String {
    match why {
        Unfit::WrongAmount => fl!(words, "receipt-unfit-amount"),
        Unfit::AlreadyPaid => fl!(words, "receipt-unfit-paid"),
        Unfit::LinkClaimed => fl!(words, "receipt-unfit-link"),
        Unfit::BelowFee => {
            let fee = payment.terms.fee.to_string();
            fl!(words, "receipt-unfit-fee", fee = fee)
        }
    }
}

/// By how much money is less or more than what was due; none where it is the same.
pub(crate) fn difference(words: Words, received: Rupiah, due: Rupiah) -> Option<String> {
    let (less, more) = ((due - received).to_string(), (received - due).to_string());
    match received.cmp(&due) {
        Ordering::Less => Some(fl!(words, "receipt-less", amount = less)),
        Ordering::Equal => None,
        Ordering::Greater => Some(fl!(words, "receipt-more", amount = more)),
    }
}

/// The customer in one line: the name, or else another thing that they are known by.
pub(crate) fn customer_line(checkout: Option<&Checkout>) -> Option<String> {
    let customer = &checkout?.customer;
    let known_by = [&customer.name, &customer.email, &customer.phone].into_iter().find(|text| !text.is_empty());
    known_by.cloned()
}

/// For how long money has been waiting for a decision: in minutes, then hours, then days.
pub(crate) fn waiting(words: Words, since: Timestamp, now: Timestamp) -> String {
    let minutes = (now.as_millis() - since.as_millis()).max(0) / 60_000;
    let (hours, days) = (minutes / 60, minutes / (60 * 24));
    match () {
        () if hours < HOURS_AS_MINUTES => fl!(words, "receipt-waits-minutes", count = minutes),
        () if days < DAYS_AS_HOURS => fl!(words, "receipt-waits-hours", count = hours),
        () => fl!(words, "receipt-waits-days", count = days),
    }
}

/// The decision about a receipt, if there is one.
pub(crate) fn taken_decision(page: &PublicPage, receipt: &UnappliedReceipt) -> Option<TakenDecision> {
    let decided = receipt.decided.as_ref()?;
    let badge = decision_badge(page.words(), receipt, decided);
    Some(TakenDecision { badge, note: decided.note.clone(), at: page.short_moment(decided.at) })
}

fn decision_badge(words: Words, receipt: &UnappliedReceipt, decided: &Decided) -> Badge {
    match decided.decision {
        Decision::Accepted { payment_id, .. } if payment_id != receipt.payment_id => {
            Badge { status: "good", text: fl!(words, "receipt-assigned") }
        }
        Decision::Accepted { difference, .. } if difference != Rupiah::ZERO => {
            Badge { status: "good", text: fl!(words, "receipt-accepted-difference") }
        }
        Decision::Accepted { .. } => Badge { status: "good", text: fl!(words, "receipt-accepted") },
        Decision::Returned => Badge { status: "off", text: fl!(words, "receipt-returned") },
    }
}

/// Who decided: the email of a user, or the id of a key.
pub(crate) async fn decided_by(page: &Page, decided: &Decided) -> Result<Option<String>, Error> {
    let Some(by) = decided.by else { return Ok(None) };
    let user = page.desk.decider(decided).await?;
    let who = user.map_or_else(|| by.to_string(), |user| user.email.to_string());
    Ok(Some(fl!(page.words(), "receipt-by", who = who)))
}

/// Browsers send a line break as two characters, but count it as one.
pub(crate) fn note_of(form: &Form) -> String {
    form.text("note").unwrap_or_default().replace("\r\n", "\n").trim().to_owned()
}

/// What is wrong with a note that the engine refused.
pub(crate) fn note_mistake(words: Words, note: &str) -> String {
    let missing = || fl!(words, "receipt-note-missing");
    if note.is_empty() { missing() } else { text_mistake(words, DECISION_NOTE, note).unwrap_or_else(missing) }
}
