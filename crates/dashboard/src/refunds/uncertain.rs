//! What pages say of a refund of which no bank says what became of it: what was heard of it last, whether the bank is still asked, what
//! its statement holds, who has doubted it, and what is missing to end it as failed. Also why something cannot be done with a refund.

use domain::{
    refund::{
        Refund, RefundStuck,
        answer::AttemptAnswer,
        doubt::{Doubt, IN_BATCH, NotProven, StatementFinding, StatementReading},
    },
    visible::escape_hidden,
};
use engine::{NamedParty, UncertainRefund, UncertainTerms};
use i18n_embed_fl::fl;
use web::page::form::Form;

use super::{
    answers::{finding_line, last_answer},
    wording::party_name,
};
use crate::{page::PublicPage, words::Words};

/// The field of the box that says that somebody has looked at the bank's own statement.
const CONFIRMED: &str = "statement_checked";

/// What is known of an uncertain refund.
#[derive(Default)]
pub(crate) struct Uncertainty {
    pub(crate) sentences: Vec<String>,
    /// Who has said already that it was not made, where a second person has to say so too.
    pub(crate) doubted: Option<String>,
    /// Whether the person must confirm that they have looked at the bank's own statement, as we can read none.
    pub(crate) asks_confirmation: bool,
}

pub(crate) fn uncertainty(
    page: &PublicPage,
    refund: &Refund,
    uncertain: &UncertainRefund,
    doubted_by: Option<&NamedParty>,
) -> Uncertainty {
    let words = page.words();
    // What people have ended as failed waits for nobody any more.
    let is_open = refund.state.is_unfinished();
    let mut sentences = vec![last_answer_line(page, uncertain)];
    if let Some(terms) = uncertain.terms {
        sentences.push(asking(words, uncertain, terms));
        if is_open && uncertain.is_left_to_people() {
            sentences.push(fl!(words, "refund-uncertain-decide"));
        }
        sentences.push(statement(page, uncertain, terms));
        if is_open {
            let until = page.moment(terms.proves_nothing_until).text;
            sentences.push(fl!(words, "refund-uncertain-until", until = until));
        }
    }
    let doubted = uncertain.doubt.filter(|_| is_open).map(|doubt| doubt_line(page, doubt, doubted_by));
    let is_unclear = uncertain.attempt.statement.is_some_and(StatementReading::is_unclear);
    let asks_confirmation = uncertain.terms.is_some_and(|terms| !terms.has_statement || is_unclear);
    Uncertainty { sentences, doubted, asks_confirmation }
}

/// What is known of a refund that people took to the bank in a batch: no bank was asked about it.
pub(crate) fn batch_uncertainty(page: &PublicPage, refund: &Refund, doubted_by: Option<&NamedParty>) -> Uncertainty {
    let doubted = refund.doubt_about(IN_BATCH).map(|doubt| doubt_line(page, doubt, doubted_by));
    Uncertainty { sentences: Vec::new(), doubted, asks_confirmation: true }
}

fn doubt_line(page: &PublicPage, doubt: Doubt, doubted_by: Option<&NamedParty>) -> String {
    let words = page.words();
    let who = doubted_by.map(|named| party_name(words, named)).unwrap_or_default();
    let at = page.moment(doubt.at).text;
    fl!(words, "refund-uncertain-doubted", who = who, at = at)
}

fn last_answer_line(page: &PublicPage, uncertain: &UncertainRefund) -> String {
    let words = page.words();
    let at = page.moment(uncertain.attempt.updated_at).text;
    match last_answer(&uncertain.attempt) {
        Some(AttemptAnswer::Bank(said)) => {
            let answer = escape_hidden(&said);
            fl!(words, "refund-uncertain-said", at = at, answer = answer)
        }
        Some(AttemptAnswer::Ours(finding)) => {
            let found = finding_line(words, finding);
            fl!(words, "refund-uncertain-found", at = at, found = found)
        }
        None => fl!(words, "refund-uncertain-silent", at = at),
    }
}

fn asking(words: Words, uncertain: &UncertainRefund, terms: UncertainTerms) -> String {
    match uncertain.is_left_to_people() {
        true => fl!(words, "refund-uncertain-people", days = terms.status_days),
        false => fl!(words, "refund-uncertain-asked"),
    }
}

fn statement(page: &PublicPage, uncertain: &UncertainRefund, terms: UncertainTerms) -> String {
    let words = page.words();
    match uncertain.attempt.statement {
        Some(reading) => reading_line(page, reading),
        None if terms.has_statement => fl!(words, "refund-uncertain-unread"),
        None => fl!(words, "refund-uncertain-no-statement"),
    }
}

/// What the statement says, and what to record by that.
fn reading_line(page: &PublicPage, reading: StatementReading) -> String {
    let (words, at) = (page.words(), page.moment(reading.at).text);
    match reading.found {
        StatementFinding::Absent => fl!(words, "refund-uncertain-absent", at = at),
        StatementFinding::Debited => fl!(words, "refund-uncertain-held", at = at),
        StatementFinding::Returned => fl!(words, "refund-uncertain-returned", at = at),
        StatementFinding::OtherAmount => fl!(words, "refund-uncertain-other-amount", at = at),
        StatementFinding::Unclear => fl!(words, "refund-uncertain-unclear", at = at),
    }
}

/// Whether a person says that they have looked at the bank's own statement.
pub(crate) fn is_confirmed(form: &Form) -> bool {
    form.text(CONFIRMED) == Some("on")
}

/// Why something cannot be done with a refund as it stands, or not yet.
pub(crate) fn stuck(page: &PublicPage, why: RefundStuck) -> String {
    let words = page.words();
    match why {
        RefundStuck::Ended => fl!(words, "refund-stuck-ended"),
        RefundStuck::Sent => fl!(words, "refund-stuck-sent"),
        RefundStuck::InBatch => fl!(words, "refund-stuck-batch"),
        RefundStuck::NotAwaitingApproval => fl!(words, "refund-stuck-approval"),
        RefundStuck::OwnRefund => fl!(words, "refund-stuck-own"),
        RefundStuck::NoDestinationNeeded => fl!(words, "refund-stuck-destination"),
        RefundStuck::NotProcessing => fl!(words, "refund-stuck-processing"),
        RefundStuck::NotSucceeded => fl!(words, "refund-stuck-succeeded"),
        RefundStuck::NotProven(why) => not_proven(page, why),
    }
}

fn not_proven(page: &PublicPage, why: NotProven) -> String {
    let words = page.words();
    match why {
        NotProven::TooEarly { until } => {
            let until = page.moment(until).text;
            fl!(words, "refund-not-proven-early", until = until)
        }
        NotProven::OnItsWay => fl!(words, "refund-not-proven-on-its-way"),
        NotProven::OnStatement(reading) => reading_line(page, reading),
        NotProven::StatementUnread => fl!(words, "refund-not-proven-unread"),
        NotProven::StatementNotConfirmed => fl!(words, "refund-not-proven-unconfirmed"),
        NotProven::OwnDoubt => fl!(words, "refund-uncertain-second"),
    }
}
