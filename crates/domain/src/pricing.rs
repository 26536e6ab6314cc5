//! How the amount of a link's payments comes about: it is fixed, it is for each of several pieces, or the customer types it.

use std::ops::RangeInclusive;

use crate::{
    method::{Method, MethodKind},
    money::Rupiah,
    rules::{Invalid, amount_of},
};

/// What a link's `quantity_max` may be.
pub const QUANTITY_MAX: RangeInclusive<i64> = 2..=99;

const NOT_WITH_RANGE: &str = "must not be given together with `amount_min` and `amount_max`";

/// What the customer chooses about the amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pricing {
    /// Nothing: each payment has the link's amount.
    #[default]
    Fixed,
    /// How many pieces, from 1 on; the link's amount is for one.
    PerPiece { quantity_max: i64 },
    /// The amount itself; the link's own is 0.
    Open { least: Rupiah, most: Rupiah },
}

/// What one payment of a link costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub amount: Rupiah,
    /// How many pieces it is for, where the customer chooses that.
    pub quantity: Option<i64>,
}

/// Why a customer's number is no price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mispriced {
    #[error("a number is missing")]
    Missing,
    /// The link does not take this number of pieces, or this amount.
    #[error("the number must be from {least} to {most}")]
    Outside { least: i64, most: i64 },
    /// The payment method does not take so little.
    #[error("the amount must be at least {} for this method", .0.get())]
    TooLittle(Rupiah),
    /// The payment method does not take so much.
    #[error("the amount must be at most {} for this method", .0.get())]
    TooMuch(Rupiah),
}

/// The members of a new link that say what it costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PricingRequest {
    pub amount: Option<i64>,
    pub quantity_max: Option<i64>,
    pub amount_min: Option<i64>,
    pub amount_max: Option<i64>,
}

impl Pricing {
    /// What a payment costs of a link with this `amount`, when the customer has chosen this number. Without a choice the
    /// number means nothing.
    pub fn price(self, amount: Rupiah, chosen: Option<i64>) -> Result<Price, Mispriced> {
        let within = |least: i64, most: i64| {
            let number = chosen.ok_or(Mispriced::Missing)?;
            if number < least || number > most { Err(Mispriced::Outside { least, most }) } else { Ok(number) }
        };
        match self {
            Pricing::Fixed => Ok(Price { amount, quantity: None }),
            Pricing::PerPiece { quantity_max } => {
                let quantity = within(1, quantity_max)?;
                Ok(Price { amount: times(amount, quantity), quantity: Some(quantity) })
            }
            Pricing::Open { least, most } => {
                Ok(Price { amount: Rupiah::new(within(least.get(), most.get())?), quantity: None })
            }
        }
    }

    /// The smallest and the largest amount that a payment can have.
    pub fn amounts(self, amount: Rupiah) -> RangeInclusive<Rupiah> {
        match self {
            Pricing::Fixed => amount..=amount,
            Pricing::PerPiece { quantity_max } => amount..=times(amount, quantity_max),
            Pricing::Open { least, most } => least..=most,
        }
    }

    /// The smallest amount that a payment can have which is no less than `floor`.
    pub fn least_from(self, amount: Rupiah, floor: Rupiah) -> Rupiah {
        match self {
            Pricing::Fixed => amount,
            Pricing::PerPiece { quantity_max } => {
                let pieces = (1..=quantity_max).map(|quantity| times(amount, quantity));
                pieces.into_iter().find(|total| *total >= floor).unwrap_or(amount)
            }
            Pricing::Open { least, .. } => least.max(floor),
        }
    }

    /// `amount_min` and `amount_max`.
    pub const fn range(self) -> Option<(Rupiah, Rupiah)> {
        match self {
            Pricing::Open { least, most } => Some((least, most)),
            Pricing::Fixed | Pricing::PerPiece { .. } => None,
        }
    }

    pub const fn quantity_max(self) -> Option<i64> {
        match self {
            Pricing::PerPiece { quantity_max } => Some(quantity_max),
            Pricing::Fixed | Pricing::Open { .. } => None,
        }
    }
}

impl PricingRequest {
    /// The link's amount and how it is used. Every method must be able to take the largest amount, and some method the
    /// smallest.
    pub fn check(self, methods: &[Method]) -> Result<(Rupiah, Pricing), Invalid> {
        self.check_members()?;
        let floors = || methods.iter().map(|method| method.kind());
        let none = || Invalid::new("allowed_payment_methods", "must name at least one method");
        let highest = floors().max_by_key(|kind| kind.floor()).ok_or_else(none)?;
        let lowest = floors().min_by_key(|kind| kind.floor()).ok_or_else(none)?;
        match self {
            PricingRequest { amount_min: Some(least), amount_max: Some(most), .. } => {
                open(least, most, lowest, highest)
            }
            PricingRequest { amount, quantity_max: Some(most), .. } => {
                per_piece(amount.unwrap_or_default(), most, lowest, highest)
            }
            PricingRequest { amount, .. } => {
                Ok((at_least("amount", amount.unwrap_or_default(), highest)?, Pricing::Fixed))
            }
        }
    }

    /// Which members are given together.
    pub fn check_members(self) -> Result<(), Invalid> {
        let PricingRequest { amount, quantity_max, amount_min, amount_max } = self;
        let is_open = amount_min.is_some() || amount_max.is_some();
        if !is_open {
            return amount.map(|_| ()).ok_or_else(|| Invalid::new("amount", "is required"));
        }
        let unwanted = [("amount", amount), ("quantity_max", quantity_max)];
        if let Some((field, _)) = unwanted.into_iter().find(|(_, given)| given.is_some()) {
            return Err(Invalid::new(field, NOT_WITH_RANGE));
        }
        match (amount_min, amount_max) {
            (None, _) => Err(Invalid::new("amount_min", "is required together with `amount_max`")),
            (_, None) => Err(Invalid::new("amount_max", "is required together with `amount_min`")),
            (Some(_), Some(_)) => Ok(()),
        }
    }
}

fn open(least: i64, most: i64, lowest: MethodKind, highest: MethodKind) -> Result<(Rupiah, Pricing), Invalid> {
    let least = at_least("amount_min", least, lowest)?;
    let most = at_least("amount_max", most, highest)?;
    if most < least {
        return Err(Invalid::new("amount_max", "must be at least `amount_min`"));
    }
    Ok((Rupiah::ZERO, Pricing::Open { least, most }))
}

fn per_piece(
    amount: i64,
    quantity_max: i64,
    lowest: MethodKind,
    highest: MethodKind,
) -> Result<(Rupiah, Pricing), Invalid> {
    if !QUANTITY_MAX.contains(&quantity_max) {
        let rule = format!("must be from {} to {}", QUANTITY_MAX.start(), QUANTITY_MAX.end());
        return Err(Invalid::new("quantity_max", rule));
    }
    let amount = at_least("amount", amount, lowest)?;
    let total = times(amount, quantity_max);
    let (floor, word) = (highest.floor(), highest.word());
    let rule = match () {
        () if total > Rupiah::MAX => format!("times `amount` must be at most {}", Rupiah::MAX.get()),
        () if total < floor => format!("times `amount` must be at least {} for {word}", floor.get()),
        () => return Ok((amount, Pricing::PerPiece { quantity_max })),
    };
    Err(Invalid::new("quantity_max", rule))
}

fn at_least(field: &str, amount: i64, kind: MethodKind) -> Result<Rupiah, Invalid> {
    let (amount, floor) = (amount_of(field, amount)?, kind.floor());
    if amount < floor {
        return Err(Invalid::new(field, format!("must be at least {} for {}", floor.get(), kind.word())));
    }
    Ok(amount)
}

/// Amounts stay below 10^12 and quantities below 100.
fn times(amount: Rupiah, quantity: i64) -> Rupiah {
    Rupiah::new(amount.get() * quantity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::Bank;

    const QRIS: [Method; 1] = [Method::Qris];
    const BANK: [Method; 1] = [Method::VirtualAccount(Bank::Bca)];
    const BOTH: [Method; 2] = [Method::Qris, Method::VirtualAccount(Bank::Bca)];

    fn pieces(amount: i64, quantity_max: i64) -> PricingRequest {
        PricingRequest { amount: Some(amount), quantity_max: Some(quantity_max), ..PricingRequest::default() }
    }

    fn range(least: i64, most: i64) -> PricingRequest {
        PricingRequest { amount_min: Some(least), amount_max: Some(most), ..PricingRequest::default() }
    }

    #[track_caller]
    fn refused(request: PricingRequest, methods: &[Method], sentence: &str) {
        assert_eq!(request.check(methods).unwrap_err().to_string(), sentence, "{request:?}");
    }

    #[test]
    fn a_price_is_one_of_three_kinds_and_its_members_go_together() {
        let open = range(10_000, 20_000);
        refused(PricingRequest::default(), &QRIS, "`amount` is required");
        refused(PricingRequest { quantity_max: Some(2), ..PricingRequest::default() }, &QRIS, "`amount` is required");
        refused(
            PricingRequest { amount: Some(0), ..open },
            &QRIS,
            "`amount` must not be given together with `amount_min` and `amount_max`",
        );
        refused(
            PricingRequest { quantity_max: Some(2), ..open },
            &QRIS,
            "`quantity_max` must not be given together with `amount_min` and `amount_max`",
        );
        refused(
            PricingRequest { amount_max: None, ..open },
            &QRIS,
            "`amount_max` is required together with `amount_min`",
        );
        refused(
            PricingRequest { amount_min: None, ..open },
            &QRIS,
            "`amount_min` is required together with `amount_max`",
        );
    }

    #[test]
    fn a_quantity_is_from_2_to_99_and_the_floors_hold_for_the_product() {
        for quantity_max in [i64::MIN, -1, 0, 1, 100, i64::MAX] {
            refused(pieces(10_000, quantity_max), &QRIS, "`quantity_max` must be from 2 to 99");
        }
        let taken = |amount, quantity_max| Ok((Rupiah::new(amount), Pricing::PerPiece { quantity_max }));
        assert_eq!(pieces(5_000, 2).check(&BOTH), taken(5_000, 2));
        assert_eq!(pieces(100, 2).check(&QRIS), taken(100, 2));
        assert_eq!(pieces(10_101_010_101, 99).check(&QRIS), taken(10_101_010_101, 99));
        refused(pieces(99, 99), &QRIS, "`amount` must be at least 100 for qris");
        refused(pieces(9_999, 99), &BANK, "`amount` must be at least 10000 for virtual_account");
        refused(pieces(4_999, 2), &BOTH, "`quantity_max` times `amount` must be at least 10000 for virtual_account");
        refused(pieces(10_101_010_102, 99), &QRIS, "`quantity_max` times `amount` must be at most 999999999999");
    }

    #[test]
    fn a_range_is_of_amounts_that_exist_and_some_method_takes_its_ends() {
        let taken =
            |least, most| Ok((Rupiah::ZERO, Pricing::Open { least: Rupiah::new(least), most: Rupiah::new(most) }));
        assert_eq!(range(100, Rupiah::MAX.get()).check(&BOTH), taken(100, Rupiah::MAX.get()));
        assert_eq!(range(10_000, 10_000).check(&BANK), taken(10_000, 10_000));
        refused(range(99, 20_000), &QRIS, "`amount_min` must be at least 100 for qris");
        refused(range(9_999, 20_000), &BANK, "`amount_min` must be at least 10000 for virtual_account");
        refused(range(100, 9_999), &BOTH, "`amount_max` must be at least 10000 for virtual_account");
        refused(range(20_000, 19_999), &BOTH, "`amount_max` must be at least `amount_min`");
        refused(range(0, 20_000), &QRIS, "`amount_min` must be from 1 to 999999999999");
        refused(range(100, 1_000_000_000_000), &QRIS, "`amount_max` must be from 1 to 999999999999");
    }

    #[test]
    fn a_customer_chooses_within_what_the_link_takes() {
        let each = Rupiah::new(7_000);
        let tickets = Pricing::PerPiece { quantity_max: 10 };
        assert_eq!(tickets.price(each, Some(3)), Ok(Price { amount: Rupiah::new(21_000), quantity: Some(3) }));
        for number in [0, -1, 11, 100, i64::MAX] {
            assert_eq!(tickets.price(each, Some(number)), Err(Mispriced::Outside { least: 1, most: 10 }), "{number}");
        }
        assert_eq!(tickets.price(each, None), Err(Mispriced::Missing));

        let gift = Pricing::Open { least: Rupiah::new(10_000), most: Rupiah::new(50_000) };
        assert_eq!(gift.price(Rupiah::ZERO, Some(50_000)).unwrap().amount, Rupiah::new(50_000));
        for number in [9_999, 50_001, -10_000, 0] {
            let outside = Err(Mispriced::Outside { least: 10_000, most: 50_000 });
            assert_eq!(gift.price(Rupiah::ZERO, Some(number)), outside, "{number}");
        }
        assert_eq!(gift.price(Rupiah::ZERO, None), Err(Mispriced::Missing));
        assert_eq!(Pricing::Fixed.price(each, Some(9)), Ok(Price { amount: each, quantity: None }));
    }

    #[test]
    fn the_least_that_a_method_takes_is_the_first_possible_amount_from_its_floor_on() {
        let floor = Rupiah::new(10_000);
        for (pricing, amount, least) in [
            (Pricing::Fixed, 15_000, 15_000),
            (Pricing::PerPiece { quantity_max: 5 }, 4_000, 12_000),
            (Pricing::PerPiece { quantity_max: 5 }, 12_000, 12_000),
            (Pricing::Open { least: Rupiah::new(500), most: Rupiah::new(20_000) }, 0, 10_000),
            (Pricing::Open { least: Rupiah::new(15_000), most: Rupiah::new(20_000) }, 0, 15_000),
        ] {
            assert_eq!(pricing.least_from(Rupiah::new(amount), floor).get(), least, "{pricing:?}");
        }
    }
}
