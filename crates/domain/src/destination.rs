//! Where a refund is transferred to: the banks that transfers reach, the rails that lead there, and the rules for the
//! number and the name of an account.

use crate::{
    money::Rupiah,
    rules::{Invalid, TextRule},
};

pub const HOLDER: TextRule = TextRule { field: "destination.account_name", least: 1, most: 100, line_breaks: false };

/// Account numbers of Indonesian banks have from 5 to 20 digits.
const NUMBER_LEAST: usize = 5;
const NUMBER_MOST: usize = 20;
/// How many digits of a number are shown.
const SHOWN_DIGITS: usize = 4;

/// By which network a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rail {
    /// Within one bank.
    Intrabank,
    BiFast,
    /// By the switches that cash machines use.
    Online,
    Skn,
    Rtgs,
    /// From a balance at a wallet.
    Wallet,
}

impl Rail {
    pub const ALL: [Rail; 6] = [Rail::Intrabank, Rail::BiFast, Rail::Online, Rail::Skn, Rail::Rtgs, Rail::Wallet];

    pub const fn word(self) -> &'static str {
        match self {
            Rail::Intrabank => "intrabank",
            Rail::BiFast => "bi_fast",
            Rail::Online => "online",
            Rail::Skn => "skn",
            Rail::Rtgs => "rtgs",
            Rail::Wallet => "wallet",
        }
    }

    pub fn parse(word: &str) -> Option<Rail> {
        Rail::ALL.into_iter().find(|rail| rail.word() == word)
    }

    /// The least and the most that one transfer may be.
    pub const fn bounds(self) -> (Rupiah, Rupiah) {
        let (least, most) = match self {
            Rail::Intrabank => (1, Rupiah::MAX.get()),
            Rail::BiFast => (1, 250_000_000),
            Rail::Online | Rail::Wallet => (10_000, 50_000_000),
            Rail::Skn => (10_000, 1_000_000_000),
            Rail::Rtgs => (100_000_001, Rupiah::MAX.get()),
        };
        (Rupiah::new(least), Rupiah::new(most))
    }

    pub fn takes(self, amount: Rupiah) -> bool {
        let (least, most) = self.bounds();
        (least..=most).contains(&amount)
    }
}

/// A bank, or an e-wallet with a code like a bank's, that transfers reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransferBank {
    /// The three digits by which machines name it.
    pub code: &'static str,
    pub swift: Option<&'static str>,
    pub name: &'static str,
    /// How it is reached from another bank.
    pub rails: &'static [Rail],
}

const EVERY_RAIL: &[Rail] = &[Rail::BiFast, Rail::Online, Rail::Skn, Rail::Rtgs];
const QUICK_RAILS: &[Rail] = &[Rail::BiFast, Rail::Online];

macro_rules! banks {
    ($($code:literal $swift:expr, $name:literal, $rails:ident;)*) => {
        &[$(TransferBank { code: $code, swift: $swift, name: $name, rails: $rails },)*]
    };
}

impl TransferBank {
    /// Those of most customers first. Of some, no SWIFT code is known for sure.
    pub const ALL: &[TransferBank] = banks! {
        "014" Some("CENAIDJA"), "Bank Central Asia (BCA)", EVERY_RAIL;
        "008" Some("BMRIIDJA"), "Bank Mandiri", EVERY_RAIL;
        "002" Some("BRINIDJA"), "Bank Rakyat Indonesia (BRI)", EVERY_RAIL;
        "009" Some("BNINIDJA"), "Bank Negara Indonesia (BNI)", EVERY_RAIL;
        "451" Some("BSMDIDJA"), "Bank Syariah Indonesia (BSI)", EVERY_RAIL;
        "022" Some("BNIAIDJA"), "CIMB Niaga", EVERY_RAIL;
        "013" Some("BBBAIDJA"), "PermataBank", EVERY_RAIL;
        "011" Some("BDINIDJA"), "Bank Danamon", EVERY_RAIL;
        "200" Some("BTANIDJA"), "Bank BTN", EVERY_RAIL;
        "542" Some("ATOSIDJ1"), "Bank Jago", QUICK_RAILS;
        "535" Some("SSPIIDJA"), "SeaBank Indonesia", QUICK_RAILS;
        "501" Some("ROYBIDJ1"), "blu by BCA Digital", QUICK_RAILS;
        "494" Some("AGTBIDJA"), "Bank Raya Indonesia", EVERY_RAIL;
        "490" Some("YUDBIDJ1"), "Bank Neo Commerce (BNC)", QUICK_RAILS;
        "213" Some("SUNIIDJA"), "Bank BTPN / Jenius (SMBC)", EVERY_RAIL;
        "547" Some("PUBAIDJ1"), "BTPN Syariah", EVERY_RAIL;
        "567" Some("HRDAIDJ1"), "Allo Bank Indonesia", QUICK_RAILS;
        "531" None, "Superbank Indonesia", QUICK_RAILS;
        "116" Some("SYACIDJ1"), "Bank Aceh Syariah", EVERY_RAIL;
        "133" None, "Bank Bengkulu", EVERY_RAIL;
        "112" Some("PDYKIDJ1"), "Bank BPD DIY", EVERY_RAIL;
        "129" Some("ABALIDBS"), "Bank BPD Bali", EVERY_RAIL;
        "076" None, "Bank Bumi Arta", EVERY_RAIL;
        "054" Some("BCIAIDJA"), "Bank Capital Indonesia", EVERY_RAIL;
        "046" Some("DBSBIDJA"), "Bank DBS Indonesia", EVERY_RAIL;
        "111" Some("BDKIIDJ1"), "Bank DKI (Bank Jakarta)", EVERY_RAIL;
        "161" Some("GNESIDJA"), "Bank Ganesha", EVERY_RAIL;
        "212" Some("HVBKIDJA"), "Bank Woori Saudara (BWS)", EVERY_RAIL;
        "513" None, "Bank Ina Perdana", EVERY_RAIL;
        "110" Some("PDJBIDJA"), "Bank BJB", EVERY_RAIL;
        "425" None, "Bank BJB Syariah", EVERY_RAIL;
        "113" Some("PDJGIDJ1"), "Bank Jateng", EVERY_RAIL;
        "114" Some("PDJTIDJ1"), "Bank Jatim", EVERY_RAIL;
        "122" Some("PDKSIDJ1"), "Bank Kalsel", EVERY_RAIL;
        "123" Some("PDKBIDJ1"), "Bank Kalbar", EVERY_RAIL;
        "124" Some("PDKTIDJ1"), "Bank Kaltimtara", EVERY_RAIL;
        "125" Some("PDKGIDJ1"), "Bank Kalteng", EVERY_RAIL;
        "484" None, "Bank KEB Hana Indonesia", EVERY_RAIL;
        "121" None, "Bank Lampung", EVERY_RAIL;
        "131" None, "Bank Maluku Malut", EVERY_RAIL;
        "016" Some("IBBKIDJA"), "Maybank Indonesia", EVERY_RAIL;
        "157" Some("MASDIDJS"), "Bank Maspion", EVERY_RAIL;
        "097" Some("MAYAIDJA"), "Bank Mayapada", EVERY_RAIL;
        "426" Some("MEGAIDJA"), "Bank Mega", EVERY_RAIL;
        "506" None, "Bank Mega Syariah", EVERY_RAIL;
        "151" Some("MEDHIDS1"), "Bank Mestika", EVERY_RAIL;
        "485" None, "MNC Bank", EVERY_RAIL;
        "147" Some("MUABIDJA"), "Bank Muamalat", EVERY_RAIL;
        "118" None, "Bank Nagari", EVERY_RAIL;
        "128" Some("PDNBIDJ1"), "Bank NTB Syariah", EVERY_RAIL;
        "130" Some("PDNTIDJ1"), "Bank NTT", EVERY_RAIL;
        "028" Some("NISPIDJA"), "OCBC Indonesia", EVERY_RAIL;
        "019" Some("PINBIDJA"), "Panin Bank", EVERY_RAIL;
        "517" Some("ARFAIDJ1"), "Panin Dubai Syariah", EVERY_RAIL;
        "132" None, "Bank Papua", EVERY_RAIL;
        "119" None, "BRK Syariah (Riau Kepri)", EVERY_RAIL;
        "523" None, "Bank Sahabat Sampoerna", EVERY_RAIL;
        "153" Some("SBJKIDJA"), "Bank Sinarmas", EVERY_RAIL;
        "050" Some("SCBLIDJX"), "Standard Chartered Indonesia", EVERY_RAIL;
        "126" None, "Bank Sulselbar", EVERY_RAIL;
        "134" None, "Bank Sulteng", EVERY_RAIL;
        "135" None, "Bank Sultra", EVERY_RAIL;
        "127" None, "Bank SulutGo", EVERY_RAIL;
        "117" None, "Bank Sumut", EVERY_RAIL;
        "120" Some("BSSPIDSP"), "Bank Sumsel Babel", EVERY_RAIL;
        "023" Some("BBIJIDJA"), "UOB Indonesia", EVERY_RAIL;
        "566" Some("VICTIDJ1"), "Bank Victoria", EVERY_RAIL;
        "087" Some("HSBCIDJA"), "HSBC Indonesia", EVERY_RAIL;
        "441" Some("BBUKIDJA"), "KB Bank (Bukopin)", EVERY_RAIL;
        "521" Some("SDOBIDJ1"), "KB Bank Syariah", EVERY_RAIL;
    };

    pub fn from_code(code: &str) -> Option<&'static TransferBank> {
        TransferBank::ALL.iter().find(|bank| bank.code == code)
    }

    /// Whether a transfer of this amount can reach it from another bank.
    pub fn is_reached_by(&self, amount: Rupiah) -> bool {
        self.rails.iter().any(|rail| rail.takes(amount))
    }

    /// The least and the most that one transfer from another bank may be.
    pub fn bounds(&self) -> (Rupiah, Rupiah) {
        let bounds = || self.rails.iter().map(|rail| rail.bounds());
        let least = bounds().map(|(least, _)| least).min().unwrap_or(Rupiah::ZERO);
        (least, bounds().map(|(_, most)| most).max().unwrap_or(Rupiah::ZERO))
    }
}

/// The number of an account. It has no `Debug`, since it is a customer's secret.
#[derive(Clone, PartialEq, Eq)]
pub struct AccountNumber(String);

impl AccountNumber {
    /// The digits of a number as people type it: with spaces, dots or hyphens between them.
    pub fn parse(text: &str) -> Result<AccountNumber, Invalid> {
        let digits: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '.')).collect();
        let is_number =
            (NUMBER_LEAST..=NUMBER_MOST).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        if is_number {
            Ok(AccountNumber(digits))
        } else {
            let rule = format!("must have from {NUMBER_LEAST} to {NUMBER_MOST} digits");
            Err(Invalid::new("destination.account_number", rule))
        }
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn last_digits(&self) -> String {
        self.0[self.0.len() - SHOWN_DIGITS..].to_owned()
    }
}

/// The fields of a destination, of the right JSON types and nothing more.
#[derive(Clone, Default)]
pub struct DestinationRequest {
    pub bank: Option<String>,
    pub account_number: Option<String>,
    pub account_name: Option<String>,
}

/// A destination that satisfies every rule, with its number.
#[derive(Clone, PartialEq, Eq)]
pub struct TypedDestination {
    pub bank: &'static TransferBank,
    pub number: AccountNumber,
    pub holder: Option<String>,
    /// Whether the bank itself has said the holder's name.
    pub is_checked: bool,
}

impl DestinationRequest {
    /// Checks a destination for a transfer of this amount.
    pub fn check(self, amount: Rupiah) -> Result<TypedDestination, Invalid> {
        let code = self.bank.filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| Invalid::new("destination.bank", "is required"))?;
        let bank = TransferBank::from_code(&code)
            .ok_or_else(|| Invalid::new("destination.bank", "must be the code of a bank that transfers reach"))?;
        let number = self.account_number.filter(|number| !number.is_empty());
        let number = number.ok_or_else(|| Invalid::new("destination.account_number", "is required"))?;
        let number = AccountNumber::parse(&number)?;
        let holder = self.account_name.map(|name| HOLDER.check(name)).transpose()?;
        if !bank.is_reached_by(amount) {
            let (least, most) = bank.bounds();
            let rule = format!("takes transfers from {} to {}, and this is {}", least.get(), most.get(), amount.get());
            return Err(Invalid::new("destination.bank", rule));
        }
        Ok(TypedDestination { bank, number, holder, is_checked: false })
    }
}

impl TypedDestination {
    /// What is shown of it.
    pub fn shown(&self) -> Destination {
        Destination {
            bank: self.bank,
            last_digits: self.number.last_digits(),
            holder: self.holder.clone(),
            is_checked: self.is_checked,
        }
    }
}

/// What is shown of a destination. Its number is stored encrypted, apart from this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub bank: &'static TransferBank,
    pub last_digits: String,
    /// The name of the account's holder, as the bank has said it; before that, as somebody has typed it.
    pub holder: Option<String>,
    /// Whether the bank itself has said the holder's name.
    pub is_checked: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bank: &str, number: &str) -> DestinationRequest {
        let (bank, account_number) = (Some(bank.to_owned()), Some(number.to_owned()));
        DestinationRequest { bank, account_number, account_name: None }
    }

    #[test]
    fn a_bank_has_a_code_of_three_digits_of_its_own_and_a_rail() {
        for (index, bank) in TransferBank::ALL.iter().enumerate() {
            assert!(bank.code.len() == 3 && bank.code.bytes().all(|byte| byte.is_ascii_digit()), "{bank:?}");
            assert!(bank.swift.is_none_or(|swift| swift.len() == 8 && swift[4..].starts_with("ID")), "{bank:?}");
            assert!(!bank.rails.is_empty() && bank.bounds().0 < bank.bounds().1, "{bank:?}");
            let others = &TransferBank::ALL[index + 1..];
            let is_same = |other: &TransferBank| {
                other.code == bank.code || other.name == bank.name || other.swift.is_some() && other.swift == bank.swift
            };
            assert!(!others.iter().any(is_same), "{bank:?}");
            assert_eq!(TransferBank::from_code(bank.code), Some(bank));
        }
        for virtual_account in crate::bank::Bank::ALL {
            let code = virtual_account.interbank_code();
            assert!(TransferBank::from_code(code).is_some(), "{code}");
        }
    }

    #[test]
    fn a_number_has_from_5_to_20_digits_however_they_are_grouped() {
        for (text, digits) in
            [("12345", "12345"), ("0123-4567.89 0", "01234567890"), (&"9".repeat(20), &"9".repeat(20))]
        {
            assert_eq!(AccountNumber::parse(text).map(|number| number.reveal().to_owned()), Ok(digits.to_owned()));
        }
        for wrong in
            ["", "1234", "12345a", "１２３４５", "+62812345678", &"1".repeat(21), &"1".repeat(40), "1234\u{0}5"]
        {
            assert!(AccountNumber::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(AccountNumber::parse("1234567890").unwrap().last_digits(), "7890");
    }

    #[test]
    fn a_destination_is_a_known_bank_that_takes_such_a_transfer_and_a_number() {
        let amount = Rupiah::new(50_000);
        let fine = request("014", "1234567890").check(amount).unwrap();
        assert_eq!((fine.bank.name, fine.shown().last_digits.as_str()), ("Bank Central Asia (BCA)", "7890"));
        for (wrong, field) in [
            (request("", "1234567890"), "destination.bank"),
            (request("999", "1234567890"), "destination.bank"),
            (request("bca", "1234567890"), "destination.bank"),
            (request("014", ""), "destination.account_number"),
            (request("014", "12ab567890"), "destination.account_number"),
            (DestinationRequest { account_name: Some(String::new()), ..request("014", "12345") }, HOLDER.field),
            (DestinationRequest::default(), "destination.bank"),
        ] {
            assert_eq!(wrong.check(amount).err().map(|invalid| invalid.field), Some(field.to_owned()));
        }
        let too_much = request("542", "1234567890").check(Rupiah::new(250_000_001)).err().unwrap();
        assert_eq!(too_much.rule, "takes transfers from 1 to 250000000, and this is 250000001");
    }

    #[test]
    fn a_rail_takes_amounts_within_its_bounds() {
        assert!(Rail::BiFast.takes(Rupiah::new(250_000_000)) && !Rail::BiFast.takes(Rupiah::new(250_000_001)));
        assert!(!Rail::Online.takes(Rupiah::new(9_999)) && !Rail::Rtgs.takes(Rupiah::new(100_000_000)));
        for rail in Rail::ALL {
            assert_eq!(Rail::parse(rail.word()), Some(rail));
        }
    }
}
