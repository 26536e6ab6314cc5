//! What pages say about a difference.

use domain::{
    bank_account::BankAccount,
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::day_text,
    money::Rupiah,
    visible::escape_hidden,
};
use i18n_embed_fl::fl;
use url::form_urlencoded::Serializer;
use web::page::moment::Moment;

use crate::{
    operator::tabs::{bank_path, differences_path},
    page::OperatorPage,
    words::Words,
};

/// A difference as every page shows it.
pub(crate) struct DifferenceFacts {
    pub(crate) url: String,
    pub(crate) title: String,
    /// What an operator should do about it.
    pub(crate) advice: String,
    pub(crate) account_id: String,
    pub(crate) bank: String,
    pub(crate) bank_url: String,
    /// As forms send it back, and as people see it.
    pub(crate) subject: String,
    pub(crate) shown_subject: String,
    pub(crate) kind: &'static str,
    pub(crate) day: String,
    /// Empty where there is none.
    pub(crate) payment_id: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
    pub(crate) found: Moment,
    pub(crate) settled: Option<Settled>,
}

pub(crate) struct Settled {
    pub(crate) at: Moment,
    pub(crate) note: String,
}

/// The path of a difference's page.
fn look_path(key: &DifferenceKey) -> String {
    let mut query = Serializer::new(String::new());
    query.append_pair("account", &key.account_id.to_string());
    query.append_pair("subject", &key.subject).append_pair("kind", key.kind.word());
    format!("{}/look?{}", differences_path(), query.finish())
}

pub(crate) fn facts(page: &OperatorPage, difference: &Difference, account: &BankAccount) -> DifferenceFacts {
    let (words, key) = (page.words(), &difference.key);
    let amount = |amount: Option<Rupiah>| amount.map_or_else(|| "–".to_owned(), |amount| amount.to_string());
    DifferenceFacts {
        url: page.url(look_path(key)),
        title: title(words, key.kind),
        advice: advice(words, key.kind),
        account_id: account.id.to_string(),
        bank: account.name.clone(),
        bank_url: page.url(bank_path(account.id)),
        subject: key.subject.clone(),
        shown_subject: escape_hidden(&key.subject),
        kind: key.kind.word(),
        day: day_text(difference.day),
        payment_id: difference.payment_id.map(|id| id.to_string()).unwrap_or_default(),
        ours: amount(difference.ours),
        theirs: amount(difference.theirs),
        found: page.moment(difference.found_at),
        settled: difference.settled.as_ref().map(|(at, note)| Settled { at: page.moment(*at), note: note.clone() }),
    }
}

fn title(words: Words, kind: DifferenceKind) -> String {
    match kind {
        DifferenceKind::MissingThere => fl!(words, "difference-missing-there"),
        DifferenceKind::Amount => fl!(words, "difference-amount"),
        DifferenceKind::Fee => fl!(words, "difference-fee"),
        DifferenceKind::Refunded => fl!(words, "difference-refunded"),
        DifferenceKind::Unanswered => fl!(words, "difference-unanswered"),
        DifferenceKind::Undecided => fl!(words, "difference-undecided"),
    }
}

fn advice(words: Words, kind: DifferenceKind) -> String {
    match kind {
        DifferenceKind::MissingThere => fl!(words, "difference-missing-there-do"),
        DifferenceKind::Amount => fl!(words, "difference-amount-do"),
        DifferenceKind::Fee => fl!(words, "difference-fee-do"),
        DifferenceKind::Refunded => fl!(words, "difference-refunded-do"),
        DifferenceKind::Unanswered => fl!(words, "difference-unanswered-do"),
        DifferenceKind::Undecided => fl!(words, "difference-undecided-do"),
    }
}
