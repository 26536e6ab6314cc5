//! The history of a refund: who asked for it, where it shall go, who approved it, what was sent to the bank and how it ended.
//! The page of its payment tells less of it.

use domain::{
    refund::{
        Refund, RefundState,
        transfer::{AttemptState, TransferAttempt},
    },
    time::Timestamp,
    visible::escape_hidden,
};
use i18n_embed_fl::fl;

use super::{
    answers::{answer_line, is_unsent},
    failures::failure_line,
};
use crate::words::Words;

/// One thing that happened.
pub(crate) struct Entry {
    /// None where only the order is known.
    pub(crate) at: Option<Timestamp>,
    /// Empty, `good`, `bad` or `wait`.
    pub(crate) tone: &'static str,
    pub(crate) title: String,
    pub(crate) detail: String,
}

/// Who did what with a refund.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) made_by: String,
    pub(crate) destination_by: Option<String>,
    pub(crate) approved_by: Option<String>,
    /// Who has said that an uncertain transfer was not made.
    pub(crate) doubted_by: Option<String>,
}

/// Everything that is known of a refund, in order.
pub(super) fn entries(words: Words, refund: &Refund, attempts: &[TransferAttempt], names: &Names) -> Vec<Entry> {
    let by = |who: &str| fl!(words, "timeline-refund-by", who = who);
    let entry = |at, tone, title: String, detail: String| Entry { at, tone, title, detail };
    let mut entries = vec![started(words, refund, by(&names.made_by))];
    if let Some(who) = &names.destination_by {
        entries.push(entry(None, "", fl!(words, "timeline-refund-destination"), by(who)));
    }
    if let Some(who) = &names.approved_by {
        entries.push(entry(None, "", fl!(words, "timeline-refund-approved"), by(who)));
    }
    for attempt in attempts {
        let number = attempt.number;
        let reference = attempt.reference.as_str();
        let detail = fl!(words, "refund-attempt-reference", reference = reference);
        entries.push(entry(Some(attempt.sent_at), "", fl!(words, "timeline-refund-sent", number = number), detail));
        entries.extend(answer(words, attempt));
    }
    if let Some((doubt, who)) = refund.doubt.zip(names.doubted_by.as_ref()) {
        entries.push(entry(Some(doubt.at), "bad", fl!(words, "timeline-refund-doubted"), by(who)));
    }
    entries.extend(end(words, refund));
    entries
}

/// What the page of a payment tells of its refund.
pub(crate) fn of_payment(words: Words, refund: &Refund) -> Vec<Entry> {
    let mut entries = vec![started(words, refund, refund.reason.clone())];
    entries.extend(end(words, refund));
    entries
}

fn started(words: Words, refund: &Refund, detail: String) -> Entry {
    let amount = refund.amount.to_string();
    Entry { at: Some(refund.created_at), tone: "", title: fl!(words, "timeline-refund", amount = amount), detail }
}

/// What was heard of an attempt; nothing while the bank has not answered.
fn answer(words: Words, attempt: &TransferAttempt) -> Option<Entry> {
    let (tone, title) = match attempt.state {
        AttemptState::Sent => return None,
        AttemptState::Unknown => ("bad", fl!(words, "refund-attempt-unknown")),
        AttemptState::Refused if is_unsent(attempt) => ("bad", fl!(words, "refund-attempt-unsent")),
        AttemptState::Refused => ("bad", fl!(words, "refund-attempt-refused")),
        AttemptState::Done => ("", fl!(words, "refund-attempt-done")),
    };
    Some(Entry { at: Some(attempt.updated_at), tone, title, detail: answer_line(words, attempt) })
}

/// How the refund has ended. One that came back had arrived before.
fn end(words: Words, refund: &Refund) -> Vec<Entry> {
    let amount = || refund.amount.to_string();
    let why = || refund.failure_reason.as_deref().map(|why| failure_line(words, why)).unwrap_or_default();
    let at_end = |tone, title| vec![Entry { at: Some(refund.updated_at), tone, title, detail: why() }];
    let arrived = |at| Entry {
        at: Some(at),
        tone: "good",
        title: fl!(words, "timeline-refund-succeeded", amount = amount()),
        detail: refund.bank_reference.as_deref().map(escape_hidden).unwrap_or_default(),
    };
    // What was found done had been ended as failed before.
    let before = refund.found.as_ref().map(|found| Entry {
        at: None,
        tone: "bad",
        title: fl!(words, "timeline-refund-failed", amount = amount()),
        detail: failure_line(words, &found.failure),
    });
    match refund.state {
        RefundState::RequiresAction | RefundState::Pending(_) => Vec::new(),
        RefundState::Succeeded { at } => before.into_iter().chain([arrived(at)]).collect(),
        RefundState::Failed => at_end("bad", fl!(words, "timeline-refund-failed", amount = amount())),
        RefundState::Cancelled => at_end("", fl!(words, "timeline-refund-cancelled", amount = amount())),
        RefundState::Returned { succeeded_at } => {
            let mut entries: Vec<Entry> = before.into_iter().chain([arrived(succeeded_at)]).collect();
            entries.extend(at_end("bad", fl!(words, "timeline-refund-returned", amount = amount())));
            entries
        }
    }
}
