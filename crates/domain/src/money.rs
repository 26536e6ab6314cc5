//! Money: whole rupiah, the only currency of this service.

use std::{fmt, iter::Sum, ops};

/// An amount in whole rupiah. Negative amounts exist only as legs of a ledger posting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rupiah(i64);

impl Rupiah {
    pub const ZERO: Rupiah = Rupiah(0);
    /// The largest amount that a request may name. Sums of such amounts stay far below the largest `i64`.
    pub const MAX: Rupiah = Rupiah(999_999_999_999);

    pub const fn new(amount: i64) -> Rupiah {
        Rupiah(amount)
    }

    pub const fn get(self) -> i64 {
        self.0
    }
}

impl ops::Add for Rupiah {
    type Output = Rupiah;
    fn add(self, other: Rupiah) -> Rupiah {
        Rupiah(self.0 + other.0)
    }
}

impl ops::Sub for Rupiah {
    type Output = Rupiah;
    fn sub(self, other: Rupiah) -> Rupiah {
        Rupiah(self.0 - other.0)
    }
}

impl ops::Neg for Rupiah {
    type Output = Rupiah;
    fn neg(self) -> Rupiah {
        Rupiah(-self.0)
    }
}

impl Sum for Rupiah {
    fn sum<I: Iterator<Item = Rupiah>>(amounts: I) -> Rupiah {
        amounts.fold(Rupiah::ZERO, ops::Add::add)
    }
}

/// As Indonesians write it: `Rp150.000`.
impl fmt::Display for Rupiah {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.unsigned_abs().to_string();
        f.write_str(if self.0 < 0 { "-Rp" } else { "Rp" })?;
        let (first, mut rest) = digits.split_at((digits.len() - 1) % 3 + 1);
        f.write_str(first)?;
        while let Some((thousands, after)) = rest.split_at_checked(3) {
            f.write_str(".")?;
            f.write_str(thousands)?;
            rest = after;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_dots_between_thousands() {
        for (amount, text) in [
            (0, "Rp0"),
            (999, "Rp999"),
            (1_000, "Rp1.000"),
            (150_000, "Rp150.000"),
            (999_999_999_999, "Rp999.999.999.999"),
            (-4_000, "-Rp4.000"),
        ] {
            assert_eq!(Rupiah::new(amount).to_string(), text);
        }
    }
}
