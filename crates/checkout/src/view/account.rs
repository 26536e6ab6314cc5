//! A pending virtual account payment.

use askama::Template;
use i18n_embed_fl::fl;

use super::{
    frame::Frame,
    order::BankRow,
    pending::{Change, Pending},
};

/// `/pay/<payment_id>` of a pending virtual account payment.
#[derive(Template)]
#[template(path = "view/account.html")]
pub(crate) struct Account {
    pub(crate) frame: Frame,
    pub(crate) pending: Pending,
    pub(crate) bank: BankRow,
    /// The number, or its parts and then the whole where a screen of the bank asks for the parts.
    pub(crate) numbers: Vec<NumberRow>,
    /// `150000`, for copying.
    pub(crate) amount_digits: String,
    pub(crate) steps: Vec<Steps>,
}

/// A number to copy.
pub(crate) struct NumberRow {
    pub(crate) label: NumberLabel,
    /// Digits only, for copying.
    pub(crate) digits: String,
    /// In groups of four digits, for reading.
    pub(crate) grouped: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberLabel {
    Account,
    CompanyCode,
    CustomerNumber,
    /// BSI's name for the company code.
    InstitutionCode,
    /// BSI's name for the customer number.
    PaymentCode,
    /// The whole number of an account whose parts are shown too.
    Whole,
}

/// The instructions for one channel, such as an ATM, which the customer can unfold.
pub(crate) struct Steps {
    pub(crate) title: String,
    pub(crate) steps: Vec<StepLine>,
}

/// One step. Names of menus are Indonesian in every language, so they stand apart.
pub(crate) struct StepLine {
    pub(crate) text: String,
    pub(crate) menu: Option<&'static str>,
}
