//! The history of a payment: what has happened to it, in order, and what comes next.

use domain::{
    delivery::{Attempt, DeliveryState, FailureClass},
    payment::{Payment, State, Status},
    time::Timestamp,
};
use engine::{ListedRefund, PaymentFile, Sent};
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::{
    at_bank,
    held::{self, Money},
};
use crate::{
    labels::method_name,
    page::Page,
    receipts::wording::decide_url,
    refunds::{timeline::of_payment, wording::refund_url},
    words::Words,
};

/// How many attempts of one event are shown, the latest ones; the page of its delivery shows all.
const ATTEMPTS_SHOWN: usize = 20;

/// One entry of the history.
pub(crate) struct Happening {
    /// Empty, `good`, `bad` or `wait`.
    pub(crate) tone: &'static str,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) at: Option<Moment>,
    pub(crate) more: Option<More>,
}

/// The page with more about it.
#[derive(Clone)]
pub(crate) struct More {
    pub(crate) url: String,
    pub(crate) label: String,
}

/// The entries that have a time.
struct History<'a> {
    page: &'a Page,
    entries: Vec<(Timestamp, Happening)>,
}

impl History<'_> {
    fn add(&mut self, at: Timestamp, tone: &'static str, title: String, detail: String, more: Option<More>) {
        let shown = Some(self.page.moment(at));
        self.entries.push((at, Happening { tone, title, detail, at: shown, more }));
    }
}

/// `base`: the address of the project's desk.
pub(super) fn of(
    page: &Page,
    file: &PaymentFile,
    money: &[Money],
    refunds: &[ListedRefund],
    base: &str,
) -> Vec<Happening> {
    let (words, now) = (page.words(), page.now());
    let mut history = History { page, entries: Vec::new() };
    let through = match file.payment.terms.link_id {
        Some(_) => fl!(words, "timeline-by-link"),
        None => fl!(words, "timeline-by-api"),
    };
    // What the bank did comes first: a payment is created once its code is there.
    for entry in file.at_bank.iter().flat_map(|story| at_bank::entries(words, story, &file.payment)) {
        history.add(entry.at, entry.tone, entry.title, entry.detail, None);
    }
    history.add(file.payment.created_at, "", fl!(words, "timeline-created"), through, None);
    if let Some(viewed_at) = file.viewed_at {
        history.add(viewed_at, "", fl!(words, "timeline-viewed"), String::new(), None);
    }
    add_end(&mut history, &file.payment, now);
    for one in money {
        let more = More { url: decide_url(base, one.receipt.id), label: fl!(words, "timeline-held-more") };
        for entry in held::entries(words, file.payment.id, one) {
            history.add(entry.at, entry.tone, entry.title, entry.detail, Some(more.clone()));
        }
    }
    for listed in refunds {
        let more = More { url: refund_url(base, listed.refund.id), label: fl!(words, "timeline-refund-more") };
        for entry in of_payment(words, &listed.refund) {
            let at = entry.at.unwrap_or(listed.refund.created_at);
            history.add(at, entry.tone, entry.title, entry.detail, Some(more.clone()));
        }
    }
    for sent in &file.sent {
        add_deliveries(&mut history, sent, base);
    }
    // The sort is stable: entries of the same millisecond stay in the order in which they were added.
    history.entries.sort_by_key(|(at, _)| *at);
    let mut happenings: Vec<Happening> = history.entries.into_iter().map(|(_, happening)| happening).collect();
    happenings.extend(next_step(page, &file.payment, now));
    happenings
}

fn add_end(history: &mut History<'_>, payment: &Payment, now: Timestamp) {
    let words = history.page.words();
    match payment.state {
        State::Paid { at } => {
            let detail = method_name(words, payment.terms.method);
            history.add(at, "good", fl!(words, "timeline-paid"), detail, None);
        }
        State::Failed { at } => history.add(at, "bad", fl!(words, "timeline-failed"), String::new(), None),
        State::Cancelled { at } => history.add(at, "", fl!(words, "timeline-cancelled"), String::new(), None),
        State::Pending | State::Expired if payment.status_at(now) == Status::Expired => {
            history.add(payment.terms.expires_at.min(now), "", fl!(words, "timeline-expired"), String::new(), None);
            // Version 0.1.0 did not store when a payment was expired in the simulator.
            if let Some((_, expired)) = history.entries.last_mut().filter(|_| now < payment.terms.expires_at) {
                expired.at = None;
            }
        }
        State::Pending | State::Processing | State::Expired => {}
    }
}

/// What a payment that has not ended waits for.
fn next_step(page: &Page, payment: &Payment, now: Timestamp) -> Option<Happening> {
    let words = page.words();
    let (title, detail) = match payment.status_at(now) {
        Status::Pending => {
            let deadline = page.moment(payment.terms.expires_at).text;
            (fl!(words, "timeline-waiting"), fl!(words, "timeline-waiting-until", deadline = deadline))
        }
        Status::Processing => (fl!(words, "timeline-processing"), fl!(words, "timeline-processing-text")),
        Status::Paid | Status::Failed | Status::Expired | Status::Cancelled => return None,
    };
    Some(Happening { tone: "wait", title, detail, at: None, more: None })
}

fn add_deliveries(history: &mut History<'_>, sent: &Sent, base: &str) {
    let (words, event) = (history.page.words(), sent.event.kind().word());
    let url = format!("{base}/notifications/deliveries/{}", sent.event.id);
    let more = Some(More { url, label: fl!(words, "timeline-more") });
    let Some(delivery) = &sent.delivery else {
        let (title, detail) = (fl!(words, "timeline-recorded", event = event), fl!(words, "timeline-no-url"));
        return history.add(sent.event.created_at, "", title, detail, more);
    };
    for attempt in sent.attempts.iter().skip(sent.attempts.len().saturating_sub(ATTEMPTS_SHOWN)) {
        let (tone, title) = if attempt.outcome.delivered() {
            ("good", fl!(words, "timeline-delivered", event = event))
        } else {
            ("bad", fl!(words, "timeline-undelivered", event = event))
        };
        history.add(attempt.at, tone, title, answer_text(words, attempt), more.clone());
    }
    if let DeliveryState::Pending { due_at } = delivery.state {
        let title = match delivery.attempts {
            0 => fl!(words, "timeline-sending", event = event),
            _ => fl!(words, "timeline-retry", event = event),
        };
        history.add(due_at, "wait", title, fl!(words, "timeline-scheduled"), more);
    }
}

/// How the receiver answered, and how long it took.
fn answer_text(words: Words, attempt: &Attempt) -> String {
    let outcome = &attempt.outcome;
    let millis = outcome.latency.as_millis().to_string();
    match (outcome.status, &outcome.failure) {
        (Some(status), _) => {
            let status = status.to_string();
            fl!(words, "timeline-answered", status = status, millis = millis)
        }
        (None, Some(failure)) if failure.class == FailureClass::NoUrl => fl!(words, "timeline-no-url"),
        (None, _) => fl!(words, "timeline-unanswered", millis = millis),
    }
}
