//! The field of the chooser in which a customer says how many pieces they pay for, or types the amount: its view and its texts.

use i18n_embed_fl::fl;

use crate::words::Words;

pub(crate) struct PriceField {
    pub(crate) kind: PriceKind,
    pub(crate) value: String,
    pub(crate) mistake: Option<PriceMistake>,
    /// The script that keeps the button's total.
    pub(crate) script_url: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PriceKind {
    /// Whole rupiah for one piece, for the script; and how many pieces at most.
    Quantity { each: i64, most: i64 },
    /// `Rp10.000` and `Rp500.000`.
    Amount { least: String, most: String },
}

/// Why the number that was entered is no price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PriceMistake {
    Missing,
    NotANumber,
    /// It is less or more than the link takes.
    Outside,
    /// The chosen method takes no less than this.
    TooLittle(String),
    /// The chosen method takes no more than this.
    TooMuch(String),
}

impl PriceKind {
    /// The field's name in the form, and the id that its label and its messages refer to.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            PriceKind::Quantity { .. } => "quantity",
            PriceKind::Amount { .. } => "amount",
        }
    }

    pub(crate) fn label(&self, words: Words) -> String {
        match self {
            PriceKind::Quantity { .. } => fl!(words, "price-quantity"),
            PriceKind::Amount { .. } => fl!(words, "price-amount"),
        }
    }

    /// What may be entered.
    pub(crate) fn hint(&self, words: Words) -> String {
        match self {
            PriceKind::Quantity { most, .. } => fl!(words, "price-quantity-range", most = most),
            PriceKind::Amount { least, most } => {
                fl!(words, "price-amount-range", least = least.as_str(), most = most.as_str())
            }
        }
    }

    /// What stands above the amount of the order.
    pub(crate) fn amount_label(&self, words: Words) -> String {
        match self {
            PriceKind::Quantity { .. } => fl!(words, "price-each"),
            PriceKind::Amount { .. } => fl!(words, "price-open"),
        }
    }
}

impl PriceField {
    /// What is wrong with the customer's number.
    pub(crate) fn why(&self, words: Words) -> Option<String> {
        Some(match self.mistake.as_ref()? {
            PriceMistake::Missing => fl!(words, "mistake-missing"),
            PriceMistake::NotANumber => fl!(words, "price-not-a-number"),
            PriceMistake::Outside => fl!(words, "price-outside"),
            PriceMistake::TooLittle(least) => fl!(words, "price-too-little", least = least.as_str()),
            PriceMistake::TooMuch(most) => fl!(words, "price-too-much", most = most.as_str()),
        })
    }
}
