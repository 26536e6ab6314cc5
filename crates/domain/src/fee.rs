//! Fees: what a payment costs the merchant. The customer never pays one, since regulation forbids passing a QRIS fee
//! on.

use crate::{
    method::{Method, MethodKind},
    money::Rupiah,
};

const BASIS_POINTS_IN_WHOLE: i64 = 10_000;

/// A price list: a percentage of the amount for QRIS, a flat sum for virtual accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeeSchedule {
    /// Hundredths of a percent, from 0 to 10,000.
    pub qris_basis_points: i64,
    pub virtual_account: Rupiah,
}

impl Default for FeeSchedule {
    fn default() -> FeeSchedule {
        FeeSchedule { qris_basis_points: 70, virtual_account: Rupiah::new(4_000) }
    }
}

/// Prices that were agreed with one project; the installation's prices hold for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeeOverrides {
    pub qris_basis_points: Option<i64>,
    pub virtual_account: Option<Rupiah>,
}

/// An amount split into what the customer pays, what we keep and what the merchant gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeePreview {
    pub method: Method,
    pub fee: Rupiah,
    pub customer_amount: Rupiah,
    pub merchant_net: Rupiah,
}

impl FeeSchedule {
    pub fn with(self, overrides: FeeOverrides) -> FeeSchedule {
        FeeSchedule {
            qris_basis_points: overrides.qris_basis_points.unwrap_or(self.qris_basis_points),
            virtual_account: overrides.virtual_account.unwrap_or(self.virtual_account),
        }
    }

    /// The fee on `amount`: percentages are rounded half up, and the fee is never more than the amount itself.
    pub fn fee(self, kind: MethodKind, amount: Rupiah) -> Rupiah {
        let fee = match kind {
            MethodKind::Qris => {
                let parts = amount.get() * self.qris_basis_points + BASIS_POINTS_IN_WHOLE / 2;
                Rupiah::new(parts / BASIS_POINTS_IN_WHOLE)
            }
            MethodKind::VirtualAccount => self.virtual_account,
        };
        fee.min(amount)
    }

    pub fn preview(self, method: Method, amount: Rupiah) -> FeePreview {
        let fee = self.fee(method.kind(), amount);
        FeePreview { method, fee, customer_amount: amount, merchant_net: amount - fee }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qris_costs_seven_tenths_of_a_percent_rounded_half_up() {
        for (amount, fee) in [(100, 1), (71, 0), (72, 1), (500, 4), (1_000, 7), (15_000, 105), (150_000, 1_050)] {
            assert_eq!(FeeSchedule::default().fee(MethodKind::Qris, Rupiah::new(amount)).get(), fee, "{amount}");
        }
        assert_eq!(FeeSchedule::default().fee(MethodKind::Qris, Rupiah::MAX).get(), 7_000_000_000);
    }

    #[test]
    fn a_virtual_account_costs_a_flat_fee_but_never_more_than_the_amount() {
        let schedule = FeeSchedule::default();
        assert_eq!(schedule.fee(MethodKind::VirtualAccount, Rupiah::new(10_000)).get(), 4_000);
        assert_eq!(schedule.fee(MethodKind::VirtualAccount, Rupiah::new(3_999)).get(), 3_999);
    }

    #[test]
    fn a_projects_own_prices_replace_the_installations() {
        let overrides = FeeOverrides { qris_basis_points: Some(0), virtual_account: None };
        let schedule = FeeSchedule::default().with(overrides);
        assert_eq!(schedule.fee(MethodKind::Qris, Rupiah::new(1_000_000)), Rupiah::ZERO);
        assert_eq!(schedule.fee(MethodKind::VirtualAccount, Rupiah::new(1_000_000)).get(), 4_000);
    }
}
