//! The bank account as the customer has named it, to be confirmed.

use askama::Template;
use i18n_embed_fl::fl;

use super::{
    claim::{AccountRow, Returning},
    frame::Frame,
};

/// The answer to the form of a claim link: the account, and whose it is.
#[derive(Template)]
#[template(path = "view/claim_confirm.html")]
pub(crate) struct ClaimConfirm {
    pub(crate) frame: Frame,
    pub(crate) returning: Returning,
    pub(crate) action: String,
    /// What the customer has typed and the bank has answered, sealed.
    pub(crate) ticket: String,
    pub(crate) account: AccountRow,
    pub(crate) holder: Holder,
}

/// The name of an account's holder.
pub(crate) enum Holder {
    /// The bank has said it.
    Said(String),
    /// No bank can be asked at the moment, so the customer types it.
    Asked { value: String, mistake: Option<HolderMistake> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HolderMistake {
    Missing,
    TooLong { most: usize },
    Malformed,
}
