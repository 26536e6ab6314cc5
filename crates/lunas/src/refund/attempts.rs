//! `lunas refund attempts`: what was sent of a refund by banks, what was heard of it last, and what is missing to end an uncertain
//! one.

use domain::{
    id::RefundId,
    refund::{Refund, answer::AttemptAnswer, transfer::TransferAttempt},
};
use engine::{Engine, UncertainRefund};
use serde::Serialize;

use crate::{
    error::CliError,
    output::{Output, fields},
};

#[derive(Serialize)]
struct AttemptsJson {
    id: String,
    status: &'static str,
    attempts: Vec<AttemptJson>,
    /// None where it is known what became of everything that was sent.
    uncertain: Option<UncertainJson>,
}

#[derive(Serialize)]
struct AttemptJson {
    number: i64,
    state: &'static str,
    reference: String,
    bank_reference: Option<String>,
    sent_at: String,
    /// What was heard last, in the bank's words or ours, and when.
    answer: Option<String>,
    answered_at: String,
    statement_found: Option<&'static str>,
    statement_read_at: Option<String>,
}

#[derive(Serialize)]
struct UncertainJson {
    is_asked: bool,
    can_be_ended_after: Option<String>,
    has_statement: Option<bool>,
    doubted_by: Option<String>,
    doubted_at: Option<String>,
}

pub(super) async fn show(engine: &Engine, refund: &Refund, output: Output) -> Result<(), CliError> {
    let id: RefundId = refund.id;
    let attempts = engine.refund_attempts(id).await?;
    let uncertain = engine.uncertain_refund(refund, &attempts).await;
    let shown = AttemptsJson {
        id: id.to_string(),
        status: refund.status().word(),
        attempts: attempts.iter().map(attempt_json).collect(),
        uncertain: uncertain.as_ref().map(uncertain_json),
    };
    output.show(&shown, |shown| {
        let head = fields(&[("id", shown.id.clone()), ("status", shown.status.to_owned())]);
        let attempts = shown.attempts.iter().map(attempt_lines);
        let uncertain = uncertain.as_ref().map(uncertain_lines);
        std::iter::once(head).chain(attempts).chain(uncertain).collect::<Vec<_>>().join("\n")
    })
}

fn attempt_json(attempt: &TransferAttempt) -> AttemptJson {
    AttemptJson {
        number: attempt.number,
        state: attempt.state.word(),
        reference: attempt.reference.clone(),
        bank_reference: attempt.bank_reference.clone(),
        sent_at: attempt.sent_at.to_string(),
        answer: attempt.answer.clone(),
        answered_at: attempt.updated_at.to_string(),
        statement_found: attempt.statement.map(|reading| reading.found.word()),
        statement_read_at: attempt.statement.map(|reading| reading.at.to_string()),
    }
}

fn uncertain_json(uncertain: &UncertainRefund) -> UncertainJson {
    UncertainJson {
        is_asked: !uncertain.is_left_to_people(),
        can_be_ended_after: uncertain.terms.map(|terms| terms.proves_nothing_until.to_string()),
        has_statement: uncertain.terms.map(|terms| terms.has_statement),
        doubted_by: uncertain.doubt.map(|doubt| doubt.by.to_string()),
        doubted_at: uncertain.doubt.map(|doubt| doubt.at.to_string()),
    }
}

fn attempt_lines(attempt: &AttemptJson) -> String {
    let statement = attempt.statement_found.zip(attempt.statement_read_at.as_ref());
    let answer = attempt.answer.clone().unwrap_or_default();
    let whose = match AttemptAnswer::read(&answer) {
        Some(AttemptAnswer::Bank(_)) => "the bank said last",
        Some(AttemptAnswer::Ours(_)) | None => "found last",
    };
    let rows = [
        ("attempt", attempt.number.to_string()),
        ("state", attempt.state.to_owned()),
        ("our reference", attempt.reference.clone()),
        ("bank reference", attempt.bank_reference.clone().unwrap_or_default()),
        ("sent", attempt.sent_at.clone()),
        (whose, answer),
        ("at", attempt.answered_at.clone()),
        ("statement", statement.map(|(found, at)| format!("{found}, read at {at}")).unwrap_or_default()),
    ];
    fields(&rows.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>())
}

/// What people should know before they decide.
fn uncertain_lines(uncertain: &UncertainRefund) -> String {
    let asked = match (uncertain.is_left_to_people(), uncertain.terms) {
        (false, _) => "yes, until it says what became of it".to_owned(),
        (true, Some(terms)) => {
            let days = terms.status_days;
            let unit = if days == 1 { "day" } else { "days" };
            format!("no more: it answers questions about a transfer for {days} {unit} only, and a person decides")
        }
        (true, None) => "no more: a person decides".to_owned(),
    };
    let until = uncertain.terms.map(|terms| format!("after {}", terms.proves_nothing_until));
    let statement = uncertain.terms.filter(|terms| !terms.has_statement);
    let doubt = uncertain.doubt.map(|doubt| format!("{} at {}; a second person must say so too", doubt.by, doubt.at));
    let rows = [
        ("the bank is asked", asked),
        ("can be ended as failed", until.unwrap_or_default()),
        ("to be looked at", statement.map(|_| "the bank's own statement".to_owned()).unwrap_or_default()),
        ("not made, says", doubt.unwrap_or_default()),
    ];
    fields(&rows.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>())
}
