//! The rails by which a bank transfers money, and which of them an account's contract has.

use std::{fmt, ops::RangeInclusive};

use domain::{destination::Rail, money::Rupiah};

use super::{setting_texts::number, values::Service};

/// The services of a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RailServices {
    /// It transfers.
    pub transfer: Service,
    /// It says whose an account is.
    pub inquiry: Service,
    /// It says what became of a transfer.
    pub status: Service,
}

impl RailServices {
    pub const fn of(rail: Rail) -> RailServices {
        let (transfer, inquiry, status) = match rail {
            Rail::Intrabank => (Service::TransferIntrabank, Service::AccountInternal, Service::TransferStatus),
            Rail::BiFast | Rail::Online => {
                (Service::TransferInterbank, Service::AccountExternal, Service::TransferStatus)
            }
            Rail::Wallet => (Service::WalletTransfer, Service::WalletInquiry, Service::WalletStatus),
            Rail::Rtgs => (Service::TransferRtgs, Service::AccountExternal, Service::TransferStatus),
            Rail::Skn => (Service::TransferSkn, Service::AccountExternal, Service::TransferStatus),
        };
        RailServices { transfer, inquiry, status }
    }
}

/// A rail, and what an account may send by it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Offer {
    rail: Rail,
    amounts: RangeInclusive<Rupiah>,
}

/// `none`, or rails in the order in which they are preferred, such as `intrabank,bi_fast:10000..100000000,online`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rails(Vec<Offer>);

impl Rails {
    pub fn parse(text: &str) -> Option<Rails> {
        if text == "none" {
            return Some(Rails::default());
        }
        let offers: Vec<Offer> = text.split(',').map(offer).collect::<Option<_>>()?;
        let is_once = |offer: &Offer| offers.iter().filter(|other| other.rail == offer.rail).count() == 1;
        offers.iter().all(is_once).then_some(Rails(offers))
    }

    /// For profiles: rails with their own bounds.
    pub(super) fn of(rails: &[Rail]) -> Rails {
        let offer = |rail: &Rail| {
            let (low, high) = rail.bounds();
            Offer { rail: *rail, amounts: low..=high }
        };
        Rails(rails.iter().map(offer).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, rail: Rail) -> bool {
        self.0.iter().any(|offer| offer.rail == rail)
    }

    /// The rails that carry an amount to an account, the preferred one first. Rails between banks do not lead to an account
    /// at the bank that sends, and the one within a bank leads to no other.
    pub fn carrying(&self, amount: Rupiah, is_own_bank: bool) -> impl Iterator<Item = Rail> {
        let leads_there = move |rail: Rail| match rail {
            Rail::Intrabank => is_own_bank,
            Rail::BiFast | Rail::Online | Rail::Skn | Rail::Rtgs => !is_own_bank,
            Rail::Wallet => true,
        };
        let fits = move |offer: &&Offer| offer.amounts.contains(&amount) && leads_there(offer.rail);
        self.0.iter().filter(fits).map(|offer| offer.rail)
    }

    /// Each rail with the least and the most that it carries.
    pub fn limits(&self) -> impl Iterator<Item = (Rail, RangeInclusive<Rupiah>)> {
        self.0.iter().map(|offer| (offer.rail, offer.amounts.clone()))
    }
}

fn offer(text: &str) -> Option<Offer> {
    let (word, amounts) = match text.split_once(':') {
        Some((word, amounts)) => (word, Some(amounts)),
        None => (text, None),
    };
    let rail = Rail::parse(word)?;
    let (low, high) = match amounts {
        Some(amounts) => {
            let (low, high) = amounts.split_once("..")?;
            (Rupiah::new(number(low)?), Rupiah::new(number(high)?))
        }
        None => rail.bounds(),
    };
    let is_range = Rupiah::ZERO < low && low <= high && high <= Rupiah::MAX;
    is_range.then_some(Offer { rail, amounts: low..=high })
}

impl fmt::Display for Rails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let written = |Offer { rail, amounts }: &Offer| {
            let (low, high) = (*amounts.start(), *amounts.end());
            match (low, high) == rail.bounds() {
                true => rail.word().to_owned(),
                false => format!("{}:{}..{}", rail.word(), low.get(), high.get()),
            }
        };
        let rails: Vec<String> = self.0.iter().map(written).collect();
        f.write_str(&rails.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carrying(rails: &str, amount: i64, is_own_bank: bool) -> Vec<Rail> {
        Rails::parse(rails).unwrap().carrying(Rupiah::new(amount), is_own_bank).collect()
    }

    #[test]
    fn a_rail_is_chosen_by_amount_and_by_whether_it_leads_there() {
        let all = "intrabank,bi_fast,online";
        for (rails, amount, is_own_bank, expected) in [
            (all, 50_000, true, vec![Rail::Intrabank]),
            (all, 50_000, false, vec![Rail::BiFast, Rail::Online]),
            ("online,bi_fast", 50_000, false, vec![Rail::Online, Rail::BiFast]),
            (all, 9_999, false, vec![Rail::BiFast]),
            (all, 50_000_001, false, vec![Rail::BiFast]),
            (all, 250_000_001, false, vec![]),
            (all, 250_000_001, true, vec![Rail::Intrabank]),
            ("bi_fast:20000..30000", 19_999, false, vec![]),
            ("bi_fast:20000..30000", 30_000, false, vec![Rail::BiFast]),
            ("bi_fast", 50_000, true, vec![]),
            ("wallet", 50_000, true, vec![Rail::Wallet]),
            ("online,skn,rtgs", 50_000_001, false, vec![Rail::Skn]),
            ("online,skn,rtgs", 1_000_000_001, false, vec![Rail::Rtgs]),
            ("skn,rtgs", 50_000_001, true, vec![]),
            ("none", 50_000, true, vec![]),
        ] {
            assert_eq!(carrying(rails, amount, is_own_bank), expected, "{rails} {amount} {is_own_bank}");
        }
    }

    #[test]
    fn rails_are_written_as_they_are_read() {
        for text in ["none", "intrabank", "bi_fast,online:20000..25000000", "wallet:10000..999999999999", "skn,rtgs"] {
            assert_eq!(Rails::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "swift",
            "intrabank,",
            "intrabank,intrabank",
            "bi_fast:",
            "bi_fast:1",
            "bi_fast:0..1",
            "bi_fast:2..1",
            "bi_fast:1..1000000000000",
            "none,online",
        ] {
            assert_eq!(Rails::parse(text), None, "{text}");
        }
    }
}
