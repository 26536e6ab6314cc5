//! The form in which the customer chooses how to pay.

use askama::Template;
use i18n_embed_fl::fl;

use super::{
    frame::Frame,
    order::{BankRow, Order},
};
use crate::price_field::PriceField;

/// `/p/<link_id>`: the form in which the customer chooses how to pay.
#[derive(Template)]
#[template(path = "view/choose.html")]
pub(crate) struct Choose {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    /// Where the customer says how many, or types the amount; none where it is fixed.
    pub(crate) price: Option<PriceField>,
    pub(crate) methods: Vec<MethodRow>,
    pub(crate) fields: Vec<Field>,
    /// The URL that the form is sent to.
    pub(crate) action: String,
    /// The id of this form, by which sending it twice creates one payment.
    pub(crate) attempt: String,
    /// The pending payment that the new one replaces.
    pub(crate) replaces: Option<Replaced>,
    pub(crate) notice: Option<FormNotice>,
    /// Whether there is nothing to choose and nothing to fill in, so that the script sends the form by itself.
    pub(crate) is_straight: bool,
    /// The request's id, which the customer gives to support; only beside a notice about a failure of ours.
    pub(crate) support_reference: Option<String>,
}

pub(crate) struct Replaced {
    pub(crate) payment_id: String,
    pub(crate) url: String,
}

/// The message above the form when it is shown again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormNotice {
    /// A field or the method has a mistake; the message beside it says which.
    Mistakes,
    /// The chosen payment method is unavailable at the moment.
    MethodDown,
}

pub(crate) struct MethodRow {
    /// The value that the form sends: `qris`, `virtual_account:bca`.
    pub(crate) value: String,
    /// None for QRIS.
    pub(crate) bank: Option<BankRow>,
    pub(crate) checked: bool,
    /// Whether its bank is unavailable.
    pub(crate) down: bool,
}

/// One field for the customer's details.
pub(crate) struct Field {
    pub(crate) kind: FieldKind,
    pub(crate) value: String,
    pub(crate) mistake: Option<Mistake>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Name,
    Email,
    Phone,
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    Missing,
    TooLong {
        most: usize,
    },
    /// It has control characters, or is not an email address or phone number.
    Malformed,
}
