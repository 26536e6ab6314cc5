//! The banks that issue virtual accounts, and how the sandbox generates an account number of each.
//!
//! The company codes here are made up for the sandbox. They must never name a real biller: in production the bank
//! account has a code of its own, or the bank hands out the whole number.

/// A bank that a customer can pay into by virtual account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bank {
    Bca,
    Bni,
    Bri,
    Mandiri,
    Permata,
    Cimb,
    Bsi,
    Danamon,
    Btn,
    Maybank,
    Bjb,
    Bnc,
    Bss,
}

/// Codes up to this length are what people call the bank; longer ones are its name.
const ACRONYM_LETTERS: usize = 4;

/// All that differs between banks, so that a bank is one row.
struct Facts {
    code: &'static str,
    short_name: &'static str,
    name: &'static str,
    interbank_code: &'static str,
    company_code: &'static str,
    customer_digits: u32,
}

impl Bank {
    pub const ALL: [Bank; 13] = [
        Bank::Bca,
        Bank::Bni,
        Bank::Bri,
        Bank::Mandiri,
        Bank::Permata,
        Bank::Cimb,
        Bank::Bsi,
        Bank::Danamon,
        Bank::Btn,
        Bank::Maybank,
        Bank::Bjb,
        Bank::Bnc,
        Bank::Bss,
    ];

    /// The banks a project offers until its owner chooses others.
    pub const DEFAULT: [Bank; 5] = [Bank::Bca, Bank::Bni, Bank::Bri, Bank::Mandiri, Bank::Permata];

    /// The lowercase code of this bank in the API contract.
    pub const fn code(self) -> &'static str {
        self.facts().code
    }

    /// Parses what `code` returns, and nothing else.
    pub fn from_code(code: &str) -> Option<Bank> {
        Bank::ALL.into_iter().find(|bank| bank.code() == code)
    }

    /// The name that customers know the bank by.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The same where there is little room, as merchants say it.
    pub const fn short_name(self) -> &'static str {
        self.facts().short_name
    }

    /// One word in place of the bank's logo: `BCA`, `Mandiri`.
    pub fn mark(self) -> String {
        let name = self.code();
        let (large, small) = name.split_at(if name.len() > ACRONYM_LETTERS { 1 } else { name.len() });
        format!("{}{small}", large.to_ascii_uppercase())
    }

    /// The three digits that other banks' machines ask for when money goes to this bank.
    pub const fn interbank_code(self) -> &'static str {
        self.facts().interbank_code
    }

    /// The digits that every sandbox account number of this bank starts with.
    pub const fn company_code(self) -> &'static str {
        self.facts().company_code
    }

    /// How many digits follow the company code.
    pub const fn customer_digits(self) -> u32 {
        self.facts().customer_digits
    }

    /// The sandbox account number for `serial`. Serials wrap around after ten to the power of `customer_digits`, so
    /// that the number always has the length that the bank prescribes.
    pub fn account_number(self, serial: u64) -> String {
        let digits = self.customer_digits();
        let customer = serial % 10_u64.pow(digits);
        format!("{}{customer:0width$}", self.company_code(), width = digits as usize)
    }

    /// One row per bank. No company code may be the start of another: that is what keeps the numbers of two banks
    /// apart even where they are equally long.
    const fn facts(self) -> Facts {
        match self {
            Bank::Bca => Facts::new("bca", "BCA", "Bank Central Asia (BCA)", "014", "99014", 11),
            Bank::Bni => Facts::new("bni", "BNI", "Bank Negara Indonesia (BNI)", "009", "9909", 12),
            Bank::Bri => Facts::new("bri", "BRI", "Bank Rakyat Indonesia (BRI)", "002", "99002", 13),
            Bank::Mandiri => Facts::new("mandiri", "Mandiri", "Bank Mandiri", "008", "99008", 12),
            Bank::Permata => Facts::new("permata", "Permata", "PermataBank", "013", "9913", 12),
            Bank::Cimb => Facts::new("cimb", "CIMB Niaga", "CIMB Niaga", "022", "9922", 12),
            Bank::Bsi => Facts::new("bsi", "BSI", "Bank Syariah Indonesia (BSI)", "451", "9951", 12),
            Bank::Danamon => Facts::new("danamon", "Danamon", "Bank Danamon", "011", "9911", 12),
            Bank::Btn => Facts::new("btn", "BTN", "Bank BTN", "200", "9920", 12),
            Bank::Maybank => Facts::new("maybank", "Maybank", "Maybank Indonesia", "016", "9916", 12),
            Bank::Bjb => Facts::new("bjb", "BJB", "Bank BJB", "110", "9910", 12),
            Bank::Bnc => Facts::new("bnc", "Neo Commerce", "Bank Neo Commerce", "490", "9990", 12),
            Bank::Bss => Facts::new("bss", "Sampoerna", "Bank Sahabat Sampoerna", "523", "9923", 12),
        }
    }
}

impl Facts {
    const fn new(
        code: &'static str,
        short_name: &'static str,
        name: &'static str,
        interbank_code: &'static str,
        company_code: &'static str,
        customer_digits: u32,
    ) -> Facts {
        Facts { code, short_name, name, interbank_code, company_code, customer_digits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_lowercase_and_reads_back_exactly() {
        for bank in Bank::ALL {
            assert_eq!(Bank::from_code(bank.code()), Some(bank));
            assert!(bank.code().bytes().all(|byte| byte.is_ascii_lowercase()));
            assert_eq!(Bank::from_code(&bank.code().to_uppercase()), None);
        }
        for unknown in ["", " bca", "bca ", "bank", "mandiri2"] {
            assert_eq!(Bank::from_code(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_number_has_the_length_its_bank_prescribes_whatever_the_serial() {
        for bank in Bank::ALL {
            let length = match bank {
                Bank::Bri => 18,
                Bank::Mandiri => 17,
                _ => 16,
            };
            for serial in [0, 1, 99_999_999_999, 9_999_999_999_999, u64::MAX] {
                let number = bank.account_number(serial);
                assert_eq!(number.len(), length, "{bank:?} {serial}");
                assert!(number.bytes().all(|byte| byte.is_ascii_digit()));
                assert!(number.starts_with(bank.company_code()));
            }
            assert!(bank.customer_digits() >= 11, "{bank:?}");
        }
        assert_eq!(Bank::Bca.account_number(42), "9901400000000042");
        assert_eq!(Bank::Bri.account_number(1), "990020000000000001");
        assert_eq!(Bank::Mandiri.account_number(123_456_789_012), "99008123456789012");
    }

    #[test]
    fn serials_wrap_at_the_end_of_the_number_space_and_not_before() {
        for bank in Bank::ALL {
            let space = 10_u64.pow(bank.customer_digits());
            assert_eq!(bank.account_number(space), bank.account_number(0));
            assert_ne!(bank.account_number(space - 1), bank.account_number(0));
        }
    }

    /// Numbers that start with codes of which neither begins the other differ within the shorter code.
    #[test]
    fn no_company_code_begins_another_so_two_banks_never_share_a_number() {
        for one in Bank::ALL {
            for other in Bank::ALL.into_iter().filter(|other| *other != one) {
                assert!(!one.company_code().starts_with(other.company_code()), "{one:?} {other:?}");
                assert_ne!(one.interbank_code(), other.interbank_code());
                assert_ne!(one.name(), other.name());
            }
        }
    }

    #[test]
    fn the_default_banks_lead_the_list() {
        assert_eq!(Bank::ALL[..5], Bank::DEFAULT);
    }
}
