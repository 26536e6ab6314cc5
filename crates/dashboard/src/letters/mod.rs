//! Letters, as lists show them, and the page of the link that ends letters of a kind.

pub(crate) mod stop;

use domain::{
    letter::LetterKind,
    letter_queue::{Channel, LetterState},
    visible::escape_hidden,
};
use engine::ShownLetter;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use crate::{labels::Badge, page::PublicPage, table::Paging, words::Words};

/// A letter in a list.
pub(crate) struct LetterRow {
    pub(crate) kind: String,
    pub(crate) address: String,
    pub(crate) state: Badge,
    pub(crate) queued: Moment,
    /// What the relay said last; empty where it was not asked.
    pub(crate) answer: String,
    /// Where the letter is sent again; none where it cannot be.
    pub(crate) again: Option<String>,
}

/// A page of letters.
pub(crate) struct LetterList {
    pub(crate) rows: Vec<LetterRow>,
    pub(crate) paging: Paging,
}

/// `again`: where it is sent again, if the page offers that.
pub(crate) fn row(page: &PublicPage, shown: ShownLetter, again: Option<String>) -> LetterRow {
    let (words, ShownLetter { letter, address, has_content }) = (page.words(), shown);
    LetterRow {
        kind: match (letter.kind, letter.channel) {
            (LetterKind::Test, Channel::Notice) => fl!(words, "notices-test-sent"),
            (kind, _) => kind_name(words, kind),
        },
        address: address.map_or_else(|| fl!(words, "letter-sealed"), |address| escape_hidden(&address)),
        state: state_badge(words, letter.state),
        queued: page.moment(letter.queued_at),
        answer: escape_hidden(letter.answer.as_deref().unwrap_or_default()),
        again: again.filter(|_| has_content && !letter.state.is_waiting()),
    }
}

pub(crate) fn kind_name(words: Words, kind: LetterKind) -> String {
    match kind {
        LetterKind::Receipt => fl!(words, "letter-receipt"),
        LetterKind::RefundClaim => fl!(words, "letter-refund-claim"),
        LetterKind::RefundMade => fl!(words, "letter-refund-made"),
        LetterKind::Invitation => fl!(words, "letter-invitation"),
        LetterKind::PasswordReset => fl!(words, "letter-password-reset"),
        LetterKind::NewDevice => fl!(words, "letter-new-device"),
        LetterKind::PasswordChanged => fl!(words, "letter-password-changed"),
        LetterKind::FactorChanged => fl!(words, "letter-factor-changed"),
        LetterKind::WebhookFailing => fl!(words, "letter-webhook-failing"),
        LetterKind::MoneyHeld => fl!(words, "letter-money-held"),
        LetterKind::ApprovalWanted => fl!(words, "letter-approval-wanted"),
        LetterKind::BankDown => fl!(words, "letter-bank-down"),
        LetterKind::Summary => fl!(words, "letter-summary"),
        LetterKind::Test => fl!(words, "letter-test"),
    }
}

fn state_badge(words: Words, state: LetterState) -> Badge {
    let (status, text) = match state {
        LetterState::Waiting { .. } => ("wait", fl!(words, "letter-waiting")),
        LetterState::Sent { .. } => ("good", fl!(words, "letter-sent")),
        LetterState::GivenUp { .. } => ("bad", fl!(words, "letter-given-up")),
        LetterState::Dropped { .. } => ("off", fl!(words, "letter-dropped")),
    };
    Badge { status, text }
}
