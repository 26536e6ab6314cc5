//! What a customer enters about the price of a link: how many pieces, or the amount.

use domain::{
    link::Link,
    money::Rupiah,
    payment::Payment,
    pricing::{Mispriced, Pricing},
};
use web::page::{
    form::Form,
    typed_amount::{NoAmount, rupiah},
};

use crate::price_field::{PriceField, PriceKind, PriceMistake};

/// What a customer has entered.
pub(crate) struct Entered {
    text: String,
    /// The number, where it is one that the link takes.
    pub(crate) number: Option<i64>,
    pub(crate) mistake: Option<PriceMistake>,
}

impl Entered {
    /// What the field holds at first: one piece, or what the payment has that is about to be replaced.
    pub(crate) fn first(link: &Link, before: Option<&Payment>) -> Entered {
        let text = match link.pricing {
            Pricing::Fixed => String::new(),
            Pricing::PerPiece { .. } => before.and_then(|payment| payment.terms.quantity).unwrap_or(1).to_string(),
            Pricing::Open { .. } => before.map(|payment| payment.terms.amount.get().to_string()).unwrap_or_default(),
        };
        Entered { text, number: None, mistake: None }
    }

    pub(crate) fn sent(form: &Form, link: &Link) -> Entered {
        let Some(kind) = kind(link) else { return Entered::first(link, None) };
        let text = form.text(kind.name()).unwrap_or_default().to_owned();
        let number = match kind {
            _ if text.trim().is_empty() => Err(PriceMistake::Missing),
            PriceKind::Quantity { .. } => text.trim().parse().map_err(|_| PriceMistake::NotANumber),
            PriceKind::Amount { .. } => rupiah(&text).map(Rupiah::get).map_err(no_amount),
        };
        let taken = number.and_then(|number| link.price(Some(number)).map(|_| number).map_err(mistake));
        match taken {
            Ok(number) => Entered { text, number: Some(number), mistake: None },
            Err(mistake) => Entered { text, number: None, mistake: Some(mistake) },
        }
    }

    /// The same, with why the engine has refused it.
    pub(crate) fn refused(self, why: Mispriced) -> Entered {
        Entered { mistake: Some(mistake(why)), ..self }
    }

    /// The field that shows it; none where the amount is fixed.
    pub(crate) fn field(self, link: &Link, script_url: String) -> Option<PriceField> {
        Some(PriceField { kind: kind(link)?, value: self.text, mistake: self.mistake, script_url })
    }
}

fn kind(link: &Link) -> Option<PriceKind> {
    match link.pricing {
        Pricing::Fixed => None,
        Pricing::PerPiece { quantity_max } => Some(PriceKind::Quantity { each: link.amount.get(), most: quantity_max }),
        Pricing::Open { least, most } => Some(PriceKind::Amount { least: least.to_string(), most: most.to_string() }),
    }
}

fn no_amount(why: NoAmount) -> PriceMistake {
    match why {
        NoAmount::Missing => PriceMistake::Missing,
        NoAmount::NotWhole => PriceMistake::NotANumber,
        NoAmount::TooLarge => PriceMistake::Outside,
    }
}

fn mistake(why: Mispriced) -> PriceMistake {
    match why {
        Mispriced::Missing => PriceMistake::Missing,
        Mispriced::Outside { .. } => PriceMistake::Outside,
        Mispriced::TooLittle(least) => PriceMistake::TooLittle(least.to_string()),
        Mispriced::TooMuch(most) => PriceMistake::TooMuch(most.to_string()),
    }
}
