//! What pages say of a refund of which no bank says what became of it: what the bank said last, whether it is still asked, what its
//! statement holds, who has doubted it, and what is missing to end it as failed.

use domain::{
    refund::{
        RefundStuck,
        doubt::{NotProven, StatementFinding},
    },
    visible::escape_hidden,
};
use engine::{NamedParty, UncertainRefund, UncertainTerms};
use i18n_embed_fl::fl;
use web::page::form::Form;

use super::wording::{party_name, stuck};
use crate::page::PublicPage;

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
    uncertain: &UncertainRefund,
    doubted_by: Option<&NamedParty>,
) -> Uncertainty {
    let words = page.words();
    let mut sentences = vec![last_answer(page, uncertain)];
    if let Some(terms) = uncertain.terms {
        sentences.push(asking(page, uncertain, terms));
        sentences.push(statement(page, uncertain, terms));
        let until = page.moment(terms.proves_nothing_until).text;
        sentences.push(fl!(words, "refund-uncertain-until", until = until));
    }
    let doubted = uncertain.doubt.map(|doubt| {
        let who = doubted_by.map(|named| party_name(words, named)).unwrap_or_default();
        let at = page.moment(doubt.at).text;
        fl!(words, "refund-uncertain-doubted", who = who, at = at)
    });
    Uncertainty { sentences, doubted, asks_confirmation: uncertain.terms.is_some_and(|terms| !terms.has_statement) }
}

fn last_answer(page: &PublicPage, uncertain: &UncertainRefund) -> String {
    let attempt = &uncertain.attempt;
    let at = page.moment(attempt.updated_at).text;
    match attempt.answer.as_deref().filter(|answer| !answer.is_empty()) {
        Some(answer) => {
            let answer = escape_hidden(answer);
            fl!(page.words(), "refund-uncertain-said", at = at, answer = answer)
        }
        None => fl!(page.words(), "refund-uncertain-silent", at = at),
    }
}

fn asking(page: &PublicPage, uncertain: &UncertainRefund, terms: UncertainTerms) -> String {
    match uncertain.is_left_to_people() {
        true => fl!(page.words(), "refund-uncertain-people", days = terms.status_days),
        false => fl!(page.words(), "refund-uncertain-asked"),
    }
}

fn statement(page: &PublicPage, uncertain: &UncertainRefund, terms: UncertainTerms) -> String {
    let words = page.words();
    match uncertain.attempt.statement {
        Some(reading) => {
            let at = page.moment(reading.at).text;
            match reading.found {
                StatementFinding::Absent => fl!(words, "refund-uncertain-absent", at = at),
                StatementFinding::Debited | StatementFinding::Returned | StatementFinding::OtherAmount => {
                    fl!(words, "refund-uncertain-held", at = at)
                }
            }
        }
        None if terms.has_statement => fl!(words, "refund-uncertain-unread"),
        None => fl!(words, "refund-uncertain-no-statement"),
    }
}

/// Whether a person says that they have looked at the bank's own statement.
pub(crate) fn is_confirmed(form: &Form) -> bool {
    form.text(CONFIRMED) == Some("on")
}

/// Why something cannot be done with a refund as it stands, or not yet.
pub(crate) fn stuck_or_early(page: &PublicPage, why: RefundStuck) -> String {
    let words = page.words();
    let RefundStuck::NotProven(why) = why else { return stuck(words, why) };
    match why {
        NotProven::TooEarly { until } => {
            let until = page.moment(until).text;
            fl!(words, "refund-not-proven-early", until = until)
        }
        NotProven::OnStatement { read_at } => {
            let at = page.moment(read_at).text;
            fl!(words, "refund-not-proven-statement", at = at)
        }
        NotProven::StatementUnread => fl!(words, "refund-not-proven-unread"),
        NotProven::StatementNotConfirmed => fl!(words, "refund-not-proven-unconfirmed"),
        NotProven::OwnDoubt => fl!(words, "refund-uncertain-second"),
    }
}
