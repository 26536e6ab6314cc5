//! The part of the form for a payment link that says what it costs: a fixed amount, an amount for each of several pieces, or an
//! amount that the customer types.

use domain::{
    link::Link,
    method::{Method, MethodKind},
    money::Rupiah,
    pricing::{Pricing, PricingRequest, QUANTITY_MAX},
};
use i18n_embed_fl::fl;

use crate::{
    input::{self, amount_mistake},
    words::Words,
};

/// Which of the fields count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PriceKind {
    #[default]
    Fixed,
    PerPiece,
    Open,
}

impl PriceKind {
    pub(crate) const ALL: [PriceKind; 3] = [PriceKind::Fixed, PriceKind::PerPiece, PriceKind::Open];

    /// The value that the form sends.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            PriceKind::Fixed => "fixed",
            PriceKind::PerPiece => "quantity",
            PriceKind::Open => "open",
        }
    }

    pub(crate) fn name(self, words: Words) -> String {
        match self {
            PriceKind::Fixed => fl!(words, "link-price-fixed"),
            PriceKind::PerPiece => fl!(words, "link-price-quantity"),
            PriceKind::Open => fl!(words, "link-price-open"),
        }
    }
}

/// The fields as they were filled in. Those that do not count keep their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PriceFields {
    pub(crate) kind: PriceKind,
    pub(crate) amount: String,
    pub(crate) quantity_max: String,
    pub(crate) amount_min: String,
    pub(crate) amount_max: String,
}

/// What is wrong, field by field.
#[derive(Default)]
pub(crate) struct PriceMistakes {
    pub(crate) amount: Option<String>,
    pub(crate) quantity_max: Option<String>,
    pub(crate) amount_min: Option<String>,
    pub(crate) amount_max: Option<String>,
}

impl PriceMistakes {
    pub(super) fn any(&self) -> bool {
        let PriceMistakes { amount, quantity_max, amount_min, amount_max } = self;
        [amount, quantity_max, amount_min, amount_max].into_iter().any(Option::is_some)
    }
}

impl PriceFields {
    pub(super) fn read(given: impl Fn(&str) -> String) -> PriceFields {
        let kind = given("pricing");
        PriceFields {
            kind: PriceKind::ALL.into_iter().find(|one| one.word() == kind).unwrap_or_default(),
            amount: given("amount"),
            quantity_max: given("quantity_max"),
            amount_min: given("amount_min"),
            amount_max: given("amount_max"),
        }
    }

    pub(super) fn like(link: &Link) -> PriceFields {
        let (amount, none) = (link.amount.to_string(), PriceFields::default());
        match link.pricing {
            Pricing::Fixed => PriceFields { amount, ..none },
            Pricing::PerPiece { quantity_max } => {
                PriceFields { kind: PriceKind::PerPiece, amount, quantity_max: quantity_max.to_string(), ..none }
            }
            Pricing::Open { least, most } => PriceFields {
                kind: PriceKind::Open,
                amount_min: least.to_string(),
                amount_max: most.to_string(),
                ..none
            },
        }
    }

    /// The field that holds the smallest amount that a customer can pay.
    pub(super) fn least(&self) -> &str {
        match self.kind {
            PriceKind::Fixed | PriceKind::PerPiece => &self.amount,
            PriceKind::Open => &self.amount_min,
        }
    }

    pub(super) fn request(&self) -> PricingRequest {
        let rupiah = |text: &str| input::rupiah(text).ok().map(Rupiah::get);
        let none = PricingRequest::default();
        match self.kind {
            PriceKind::Fixed => PricingRequest { amount: rupiah(&self.amount), ..none },
            PriceKind::PerPiece => {
                PricingRequest { amount: rupiah(&self.amount), quantity_max: self.quantity_max.parse().ok(), ..none }
            }
            PriceKind::Open => {
                PricingRequest { amount_min: rupiah(&self.amount_min), amount_max: rupiah(&self.amount_max), ..none }
            }
        }
    }

    pub(super) fn mistakes(&self, words: Words, methods: &[Method]) -> PriceMistakes {
        let none = PriceMistakes::default();
        let kinds = || methods.iter().map(|method| method.kind());
        let (lowest, highest) = (kinds().min_by_key(|kind| kind.floor()), kinds().max_by_key(|kind| kind.floor()));
        match self.kind {
            PriceKind::Fixed => PriceMistakes { amount: mistake(words, &self.amount, highest), ..none },
            PriceKind::PerPiece => {
                let amount = mistake(words, &self.amount, lowest);
                // A total of a wrong amount says nothing about the quantity.
                let highest = highest.filter(|_| amount.is_none());
                PriceMistakes { quantity_max: self.quantity_mistake(words, highest), amount, ..none }
            }
            PriceKind::Open => PriceMistakes {
                amount_min: mistake(words, &self.amount_min, lowest),
                amount_max: mistake(words, &self.amount_max, highest).or_else(|| self.range_mistake(words)),
                ..none
            },
        }
    }

    fn quantity_mistake(&self, words: Words, highest: Option<MethodKind>) -> Option<String> {
        let Some(quantity) = self.quantity_max.parse().ok().filter(|number| QUANTITY_MAX.contains(number)) else {
            let (least, most) = (*QUANTITY_MAX.start(), *QUANTITY_MAX.end());
            return Some(fl!(words, "link-quantity-range", least = least, most = most));
        };
        let highest = highest?;
        let total = Rupiah::new(input::rupiah(&self.amount).ok()?.get().checked_mul(quantity)?);
        if total > Rupiah::MAX {
            return Some(amount_mistake(words, input::NoAmount::TooLarge));
        }
        below(words, total, highest)
    }

    fn range_mistake(&self, words: Words) -> Option<String> {
        let (least, most) = (input::rupiah(&self.amount_min).ok()?, input::rupiah(&self.amount_max).ok()?);
        (most < least).then(|| fl!(words, "link-range-wrong"))
    }
}

/// What is wrong with an amount that methods of this kind must take.
fn mistake(words: Words, text: &str, kind: Option<MethodKind>) -> Option<String> {
    match input::rupiah(text) {
        Err(why) => Some(amount_mistake(words, why)),
        Ok(amount) => below(words, amount, kind?),
    }
}

/// The mistake of an amount that is below the minimum of a kind of method.
fn below(words: Words, amount: Rupiah, kind: MethodKind) -> Option<String> {
    (amount < kind.floor()).then(|| {
        let floor = kind.floor().to_string();
        match kind {
            MethodKind::Qris => fl!(words, "link-floor-qris", floor = floor),
            MethodKind::VirtualAccount => fl!(words, "link-floor-account", floor = floor),
        }
    })
}

/// The mistake of an amount that is below the minimum of one of the methods.
pub(super) fn below_highest(words: Words, methods: &[Method], amount: Rupiah) -> Option<String> {
    below(words, amount, methods.iter().map(|method| method.kind()).max_by_key(|kind| kind.floor())?)
}
