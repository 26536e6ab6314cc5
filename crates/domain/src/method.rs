//! The payment methods, with their smallest amounts and their lifetimes.

use std::{fmt, time::Duration};

use crate::{bank::Bank, money::Rupiah};

/// A payment method: what a payment uses and what a link offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Qris,
    VirtualAccount(Bank),
}

/// A payment method without its bank; limits, fees and filters depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    Qris,
    VirtualAccount,
}

impl Method {
    pub const fn kind(self) -> MethodKind {
        match self {
            Method::Qris => MethodKind::Qris,
            Method::VirtualAccount(_) => MethodKind::VirtualAccount,
        }
    }

    pub const fn bank(self) -> Option<Bank> {
        match self {
            Method::Qris => None,
            Method::VirtualAccount(bank) => Some(bank),
        }
    }

    /// Parses what `Display` writes.
    pub fn parse(text: &str) -> Option<Method> {
        match text.split_once(':') {
            None => (text == MethodKind::Qris.word()).then_some(Method::Qris),
            Some((kind, bank)) if kind == MethodKind::VirtualAccount.word() => {
                Bank::from_code(bank).map(Method::VirtualAccount)
            }
            Some(_) => None,
        }
    }
}

impl MethodKind {
    pub const fn word(self) -> &'static str {
        match self {
            MethodKind::Qris => "qris",
            MethodKind::VirtualAccount => "virtual_account",
        }
    }

    pub fn parse(word: &str) -> Option<MethodKind> {
        [MethodKind::Qris, MethodKind::VirtualAccount].into_iter().find(|kind| kind.word() == word)
    }

    /// The smallest amount that can be paid by this method.
    pub const fn floor(self) -> Rupiah {
        match self {
            MethodKind::Qris => Rupiah::new(100),
            MethodKind::VirtualAccount => Rupiah::new(10_000),
        }
    }

    pub const fn default_lifetime(self) -> Duration {
        match self {
            MethodKind::Qris => Duration::from_mins(15),
            MethodKind::VirtualAccount => Duration::from_mins(1_440),
        }
    }

    pub const fn longest_lifetime(self) -> Duration {
        match self {
            MethodKind::Qris => Duration::from_mins(60),
            MethodKind::VirtualAccount => Duration::from_mins(10_080),
        }
    }
}

/// `qris`, or `virtual_account:bca`: how forms and the database name a method.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().word())?;
        match self.bank() {
            None => Ok(()),
            Some(bank) => {
                f.write_str(":")?;
                f.write_str(bank.code())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_reads_back_what_it_writes() {
        let banks = Bank::ALL.into_iter().map(Method::VirtualAccount);
        for method in std::iter::once(Method::Qris).chain(banks) {
            assert_eq!(Method::parse(&method.to_string()), Some(method));
        }
        for text in ["", "QRIS", "qris:bca", "virtual_account", "virtual_account:", "virtual_account:xyz", "bca"] {
            assert_eq!(Method::parse(text), None, "{text}");
        }
    }
}
