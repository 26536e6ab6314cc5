//! The banks that customers have accounts at, and how callers name them.

/// A bank of the country.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedBank {
    /// Three digits.
    pub code: &'static str,
    pub swift: &'static str,
    pub short: &'static str,
    pub name: &'static str,
}

const fn bank(code: &'static str, swift: &'static str, short: &'static str, name: &'static str) -> NamedBank {
    NamedBank { code, swift, short, name }
}

pub const BANKS: [NamedBank; 17] = [
    bank("002", "BRINIDJA", "BRI", "Bank Rakyat Indonesia"),
    bank("008", "BMRIIDJA", "MANDIRI", "Bank Mandiri"),
    bank("009", "BNINIDJA", "BNI", "Bank Negara Indonesia"),
    bank("011", "BDINIDJA", "DANAMON", "Bank Danamon Indonesia"),
    bank("013", "BBBAIDJA", "PERMATA", "Bank Permata"),
    bank("014", "CENAIDJA", "BCA", "Bank Central Asia"),
    bank("016", "IBBKIDJA", "MAYBANK", "Bank Maybank Indonesia"),
    bank("022", "BNIAIDJA", "CIMB", "Bank CIMB Niaga"),
    bank("028", "NISPIDJA", "OCBC", "Bank OCBC NISP"),
    bank("110", "PDJBIDJA", "BJB", "Bank Pembangunan Daerah Jawa Barat dan Banten"),
    bank("200", "BTANIDJA", "BTN", "Bank Tabungan Negara"),
    bank("426", "MEGAIDJA", "MEGA", "Bank Mega"),
    bank("451", "BSMDIDJA", "BSI", "Bank Syariah Indonesia"),
    bank("490", "YUDBIDJ1", "NEO", "Bank Neo Commerce"),
    bank("523", "BDIPIDJ1", "SAMPOERNA", "Bank Sahabat Sampoerna"),
    bank("535", "KSEBIDJ1", "SEABANK", "Bank Seabank Indonesia"),
    bank("542", "ATOSIDJ1", "JAGO", "Bank Jago"),
];

/// Which codes name a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankCodes {
    /// Three digits or SWIFT, as the caller likes.
    Either,
    ThreeDigits,
    /// Eight characters, or eleven with a branch.
    Swift,
}

impl BankCodes {
    /// The bank that a code names; none if no bank has it, or if codes are not written so here.
    pub(super) fn find(self, code: &str) -> Option<&'static NamedBank> {
        let by_digits = |bank: &&NamedBank| self != BankCodes::Swift && bank.code == code;
        let whole = code.len() == 8 || code.len() == 11;
        let by_swift = |bank: &&NamedBank| self != BankCodes::ThreeDigits && whole && code.starts_with(bank.swift);
        BANKS.iter().find(|bank| by_digits(bank) || by_swift(bank))
    }

    /// Whether a code looks like one, though no bank may have it.
    pub(super) fn is_code(self, code: &str) -> bool {
        let is_digits = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
        let is_swift = [8, 11].contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match self {
            BankCodes::Either => is_digits || is_swift,
            BankCodes::ThreeDigits => is_digits,
            BankCodes::Swift => is_swift,
        }
    }
}

/// The bank with these three digits.
pub(crate) fn bank_of(code: &str) -> Option<&'static NamedBank> {
    BankCodes::ThreeDigits.find(code)
}

/// What people call a bank.
pub(crate) fn bank_name(code: &str) -> &'static str {
    bank_of(code).map_or("this bank itself", |bank| bank.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_is_found_by_the_codes_that_are_used_there_alone() {
        let found = |codes: BankCodes, code: &str| codes.find(code).map_or("", |bank| bank.short);
        assert_eq!(found(BankCodes::Either, "014"), "BCA");
        assert_eq!(found(BankCodes::Either, "CENAIDJA"), "BCA");
        assert_eq!(found(BankCodes::Swift, "CENAIDJAXXX"), "BCA");
        assert_eq!(found(BankCodes::Swift, "014"), "");
        assert_eq!(found(BankCodes::ThreeDigits, "CENAIDJA"), "");
        assert_eq!(found(BankCodes::Either, "CENAIDJAX"), "");
        assert!(!BankCodes::Swift.is_code("014") && BankCodes::Swift.is_code("DEUTDEFF"));
        for (at, bank) in BANKS.iter().enumerate() {
            assert!(BankCodes::Either.is_code(bank.code) && BankCodes::Either.is_code(bank.swift), "{bank:?}");
            assert!(BANKS[..at].iter().all(|other| other.code != bank.code && other.swift != bank.swift), "{bank:?}");
        }
    }
}
