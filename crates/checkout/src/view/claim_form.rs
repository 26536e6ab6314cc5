//! The form in which the customer names the bank account that money shall go back to.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::{claim::Returning, frame::Frame};

/// `/r/<token>` as long as nobody has named an account.
#[derive(Template)]
#[template(path = "view/claim_form.html")]
pub(crate) struct ClaimForm {
    pub(crate) frame: Frame,
    pub(crate) returning: Returning,
    /// The URL that the form is sent to.
    pub(crate) action: String,
    /// The banks that most customers have.
    pub(crate) common: Vec<BankOption>,
    pub(crate) others: Vec<BankOption>,
    /// As the customer has typed it.
    pub(crate) number: String,
    pub(crate) bank_mistake: Option<BankMistake>,
    pub(crate) number_mistake: Option<NumberMistake>,
    /// The time from which a bank may be asked again, where it was asked too often: `21.30.05`.
    pub(crate) wait_until: Option<String>,
    /// Until when the link can be used.
    pub(crate) open_until: Moment,
}

pub(crate) struct BankOption {
    /// The value that the form sends.
    pub(crate) code: &'static str,
    /// It begins with what people call the bank, so that a list finds it by its first letters.
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BankMistake {
    Missing,
    /// No transfer of this amount reaches it.
    OutOfReach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberMistake {
    Missing,
    /// Not digits alone, or too few or too many of them.
    Malformed,
    /// The bank says that it has no such account, or that nothing can be sent there.
    Refused,
}
