//! What a payment's history says about the bank that issues its code: what we asked, and how the bank answered.

use domain::{
    opening::{BankSend, JobKind},
    payment::{Payment, State},
    time::Timestamp,
    visible::escape_hidden,
};
use engine::{BankStory, JobStanding};
use i18n_embed_fl::fl;

use crate::words::Words;

/// One thing that happened at the bank, or will.
pub(super) struct Entry {
    pub(super) at: Timestamp,
    pub(super) tone: &'static str,
    pub(super) title: String,
    pub(super) detail: String,
}

/// What a call asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallPurpose {
    Code,
    /// Whether the bank has made a code that we never got.
    Existence,
    Paid,
    Void,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Answered,
    NoAnswer,
    Refused,
}

/// Calls of one kind and end that followed each other.
struct Run<'a> {
    asked: CallPurpose,
    end: End,
    calls: Vec<&'a BankSend>,
}

pub(super) fn entries(words: Words, story: &BankStory, payment: &Payment) -> Vec<Entry> {
    let mut entries: Vec<Entry> =
        story.codes.iter().map(|code| asked_for_code(words, code.generation, code.asked_at)).collect();
    entries.extend(runs(story, payment).iter().flat_map(|run| of_run(words, story, run)));
    entries.push(issued(words, payment));
    entries.extend(story.jobs.iter().filter_map(|job| of_job(words, payment, job)));
    entries
}

fn entry(at: Timestamp, tone: &'static str, title: String, detail: String) -> Entry {
    Entry { at, tone, title, detail }
}

fn asked_for_code(words: Words, generation: i64, at: Timestamp) -> Entry {
    match generation {
        ..=1 => entry(at, "", fl!(words, "timeline-bank-asked"), String::new()),
        _ => entry(at, "", fl!(words, "timeline-bank-asked-other"), String::new()),
    }
}

/// The code has come; or money has come for a code that never reached us.
fn issued(words: Words, payment: &Payment) -> Entry {
    match payment.code.is_empty() {
        false => entry(payment.created_at, "", fl!(words, "timeline-bank-issued"), String::new()),
        true => {
            let (title, detail) = (fl!(words, "timeline-bank-lost"), fl!(words, "timeline-bank-lost-text"));
            entry(payment.created_at, "", title, detail)
        }
    }
}

fn runs<'a>(story: &'a BankStory, payment: &Payment) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for send in &story.sends {
        let Some(asked) = question_of(send, payment) else { continue };
        let end = end(send);
        match runs.last_mut() {
            Some(run) if (run.asked, run.end) == (asked, end) => run.calls.push(send),
            _ => runs.push(Run { asked, end, calls: vec![send] }),
        }
    }
    runs
}

/// By the service's number in SNAP.
fn question_of(send: &BankSend, payment: &Payment) -> Option<CallPurpose> {
    match send.service {
        27 | 47 => Some(CallPurpose::Code),
        26 | 51 | 55 if send.sent_at <= payment.created_at => Some(CallPurpose::Existence),
        26 | 51 | 55 => Some(CallPurpose::Paid),
        31 | 57 | 77 => Some(CallPurpose::Void),
        _ => None,
    }
}

/// A code of digits begins with an HTTP status; a word is what happened in place of an answer.
fn end(send: &BankSend) -> End {
    let Some((code, _)) = &send.answer else { return End::Open };
    let status = code.strip_prefix("http_").unwrap_or(code);
    match code.as_str() {
        _ if status.starts_with("200") => End::Answered,
        _ if ["202", "408", "409", "429", "5"].iter().any(|busy| status.starts_with(busy)) => End::NoAnswer,
        "not_reached" | "timeout" | "cut_off" | "unreadable" | "settings" => End::NoAnswer,
        _ => End::Refused,
    }
}

fn of_run(words: Words, story: &BankStory, run: &Run<'_>) -> Vec<Entry> {
    let Some(last) = run.calls.last() else { return Vec::new() };
    let mut entries = Vec::new();
    // The first call for each code is told with the code.
    let is_repeated = |send: &&&BankSend| !story.codes.iter().any(|code| code.asked_at == send.sent_at);
    let repeated = run.calls.iter().filter(is_repeated).count();
    match run.asked {
        CallPurpose::Code if repeated > 0 => {
            entries.push(entry(last.sent_at, "", fl!(words, "timeline-bank-asked-again"), times(words, repeated)));
        }
        CallPurpose::Code => {}
        CallPurpose::Existence => {
            entries.push(entry(last.sent_at, "", fl!(words, "timeline-bank-looked"), times(words, run.calls.len())));
        }
        CallPurpose::Paid => {
            entries.push(entry(last.sent_at, "", fl!(words, "timeline-bank-queried"), times(words, run.calls.len())));
        }
        CallPurpose::Void => {
            entries.push(entry(last.sent_at, "", fl!(words, "timeline-bank-void"), times(words, run.calls.len())));
        }
    }
    if let Some((code, at)) = &last.answer {
        match run.end {
            End::NoAnswer => entries.push(entry(*at, "bad", fl!(words, "timeline-bank-silent"), how(words, code))),
            End::Refused => entries.push(entry(*at, "bad", fl!(words, "timeline-bank-refused"), how(words, code))),
            End::Answered if run.asked == CallPurpose::Void => entries.extend(of_void(words, story, last, *at)),
            End::Answered | End::Open => {}
        }
    }
    entries
}

/// How often something was asked, where that is more than once.
fn times(words: Words, count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        count => fl!(words, "timeline-bank-times", count = count),
    }
}

/// The answer in words, or the bank's response code, which helps when somebody calls the bank about it.
fn how(words: Words, code: &str) -> String {
    match code {
        "not_reached" => fl!(words, "timeline-bank-not-reached"),
        "timeout" => fl!(words, "timeline-bank-too-late"),
        "settings" => fl!(words, "timeline-bank-not-sent"),
        "cut_off" => fl!(words, "timeline-bank-cut-off"),
        "unreadable" | "bad_qr" | "bad_number" => fl!(words, "timeline-bank-unreadable"),
        code => fl!(words, "timeline-bank-code", code = escape_hidden(code)),
    }
}

/// The job knows what the answer to its call was.
fn of_void(words: Words, story: &BankStory, send: &BankSend, at: Timestamp) -> Option<Entry> {
    let generation = send.about.map(|(_, generation)| generation);
    let is_job = |job: &&JobStanding| job.key.kind == JobKind::Void && Some(job.key.generation) == generation;
    match story.jobs.iter().find(is_job)?.outcome.as_str() {
        "paid" => {
            Some(entry(at, "bad", fl!(words, "timeline-bank-unvoided"), fl!(words, "timeline-bank-unvoided-text")))
        }
        "voided" => {
            Some(entry(at, "good", fl!(words, "timeline-bank-voided"), fl!(words, "timeline-bank-voided-text")))
        }
        "unknown there" => {
            Some(entry(at, "", fl!(words, "timeline-bank-unknown"), fl!(words, "timeline-bank-unknown-text")))
        }
        _ => None,
    }
}

/// What is still to be asked. A payment that is paid is asked about no more.
fn of_job(words: Words, payment: &Payment, job: &JobStanding) -> Option<Entry> {
    let is_paid = matches!(payment.state, State::Paid { .. });
    let title = match (job.key.kind, job.due_at) {
        (JobKind::Query, Some(_)) if !is_paid => fl!(words, "timeline-bank-will-query"),
        (JobKind::Void, Some(_)) => fl!(words, "timeline-bank-will-void"),
        _ => return None,
    };
    Some(entry(job.due_at?, "wait", title, fl!(words, "timeline-scheduled")))
}
