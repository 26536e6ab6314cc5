//! Instructions for paying a virtual account, step by step, in the customer's language.
//!
//! Menu names stay Indonesian in every language, as the bank's own screens show them: they are in `bank_menus`. This module does not decide how
//! much is owed: it repeats the account number and the amount exactly as given and must never name another sum.

use std::fmt;

pub use crate::bank_menus::Channel;
use crate::{
    bank::Bank,
    bank_menus::{Entry, Guide, Menu, guide},
    language::Language,
    money::Rupiah,
};

/// The most steps that one channel takes.
const MOST_STEPS: usize = 5;

/// The steps of one channel, for pages that show one channel at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepGroup {
    pub channel: Channel,
    /// What customers call the channel at this bank, such as `ATM BCA` or `BRImo`.
    pub title: String,
    pub steps: Vec<String>,
    /// The menu entries that one of the steps ends with. They are Indonesian in every language.
    pub menu: &'static str,
}

/// The two parts of an account number that some banks' screens ask for one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitNumber<'a> {
    pub company_code: &'a str,
    pub customer_number: &'a str,
}

/// The number in its two parts, where a screen of the bank asks for them apart. A number too short or too odd to split
/// has none.
pub fn split_number(bank: Bank, account_number: &str) -> Option<SplitNumber<'_>> {
    let is_asked = guide(bank).menus.iter().any(|menu| menu.entry == Entry::Split);
    halves(bank, account_number).filter(|_| is_asked)
}

fn halves(bank: Bank, account_number: &str) -> Option<SplitNumber<'_>> {
    let (company_code, customer_number) = account_number.split_at_checked(bank.company_code().len())?;
    (!customer_number.is_empty()).then_some(SplitNumber { company_code, customer_number })
}

/// One step before it is put into words.
enum Step<'a> {
    Open,
    Choose(&'static str),
    Number(&'a str),
    Search(&'a str),
    CompanyCode(Bank, &'a str),
    CustomerNumber(Bank, &'a str),
    Destination(Bank, &'a str),
    Amount(&'a str),
    Check(Entry, &'a str),
}

/// A step in words.
struct Sentence<'a> {
    language: Language,
    channel: Channel,
    step: Step<'a>,
}

/// The steps of every channel in one list; each step starts with the title of its channel.
pub fn payment_steps(bank: Bank, account_number: &str, amount: impl fmt::Display, language: Language) -> Vec<String> {
    let Guide { brand, menus } = guide(bank);
    let amount = amount.to_string();
    let mut list = Vec::with_capacity(menus.len() * MOST_STEPS);
    for menu in &menus {
        let title = title(menu, brand, language);
        let steps = steps_of(bank, menu, account_number, &amount).into_iter().flatten();
        let sentences = steps.map(|step| Sentence { language, channel: menu.channel, step });
        list.extend(sentences.map(|sentence| format!("{title}: {sentence}")));
    }
    list
}

/// The same steps grouped by channel; each step is a sentence of its own.
pub fn step_groups(bank: Bank, account_number: &str, amount: Rupiah, language: Language) -> Vec<StepGroup> {
    let Guide { brand, menus } = guide(bank);
    let amount = amount.to_string();
    let group = |menu: &Menu| {
        let steps = steps_of(bank, menu, account_number, &amount).into_iter().flatten();
        let sentences = steps.map(|step| Sentence { language, channel: menu.channel, step });
        StepGroup {
            channel: menu.channel,
            title: title(menu, brand, language),
            steps: sentences.map(|sentence| capitalised(&sentence.to_string())).collect(),
            menu: menu.path,
        }
    };
    menus.iter().map(group).collect()
}

fn steps_of<'a>(bank: Bank, menu: &Menu, account_number: &'a str, amount: &'a str) -> [Option<Step<'a>>; MOST_STEPS] {
    let (enter, then) = match (menu.entry, halves(bank, account_number)) {
        (Entry::Split, Some(SplitNumber { company_code, customer_number })) => {
            (Step::CompanyCode(bank, company_code), Some(Step::CustomerNumber(bank, customer_number)))
        }
        (Entry::Interbank, _) => (Step::Destination(bank, account_number), Some(Step::Amount(amount))),
        (Entry::Search, _) => (Step::Search(account_number), None),
        (Entry::Whole | Entry::Split, _) => (Step::Number(account_number), None),
    };
    [Some(Step::Open), Some(Step::Choose(menu.path)), Some(enter), then, Some(Step::Check(menu.entry, amount))]
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.language {
            Language::Indonesian => indonesian(f, self.channel, &self.step),
            Language::English => english(f, self.channel, &self.step),
        }
    }
}

fn indonesian(f: &mut fmt::Formatter<'_>, channel: Channel, step: &Step<'_>) -> fmt::Result {
    match step {
        Step::Open => f.write_str(match channel {
            Channel::Mobile => "buka aplikasi lalu masuk",
            Channel::Atm => "masukkan kartu dan PIN",
            Channel::Internet => "buka situsnya lalu masuk",
            Channel::OtherBank => "buka aplikasi atau ATM bank Anda",
        }),
        Step::Choose(path) => write!(f, "pilih {path}"),
        Step::Number(number) => write!(f, "masukkan nomor virtual account {number}"),
        Step::Search(number) => {
            write!(f, "ketik nomor virtual account {number} di kolom pencarian, lalu pilih penyedia jasa yang muncul")
        }
        Step::CompanyCode(Bank::Bsi, code) => write!(f, "masukkan kode institusi {code}"),
        Step::CompanyCode(_, code) => write!(f, "masukkan kode perusahaan {code}"),
        Step::CustomerNumber(Bank::Bsi, number) => write!(f, "masukkan kode bayar {number}"),
        Step::CustomerNumber(_, number) => write!(f, "masukkan nomor pelanggan {number}"),
        Step::Destination(bank, number) => {
            let (code, name) = (bank.interbank_code(), bank.name());
            write!(f, "masukkan kode bank {code} ({name}) lalu nomor virtual account {number}")
        }
        Step::Amount(amount) => {
            write!(f, "masukkan nominal persis {amount} dan pilih transfer online, bukan BI-FAST, SKN atau RTGS")
        }
        Step::Check(Entry::Interbank, amount) => {
            write!(
                f,
                "periksa nama penerima dan jumlah {amount}, lalu konfirmasi; jika nomornya tidak ditemukan, pakai cara \
                 bayar lain"
            )
        }
        Step::Check(_, amount) => {
            let ending = if channel == Channel::Mobile { "masukkan PIN" } else { "konfirmasi" };
            write!(f, "periksa nama merchant dan pastikan jumlahnya persis {amount}, lalu {ending}")
        }
    }
}

fn english(f: &mut fmt::Formatter<'_>, channel: Channel, step: &Step<'_>) -> fmt::Result {
    match step {
        Step::Open => f.write_str(match channel {
            Channel::Mobile => "open the app and sign in",
            Channel::Atm => "insert your card and enter your PIN",
            Channel::Internet => "open the site and sign in",
            Channel::OtherBank => "open your bank's app or go to its ATM",
        }),
        Step::Choose(path) => write!(f, "choose {path}"),
        Step::Number(number) => write!(f, "enter the virtual account number {number}"),
        Step::Search(number) => {
            write!(
                f,
                "type the virtual account number {number} into the search field, then choose the service it finds"
            )
        }
        Step::CompanyCode(Bank::Bsi, code) => write!(f, "enter the institution code {code}"),
        Step::CompanyCode(_, code) => write!(f, "enter the company code {code}"),
        Step::CustomerNumber(Bank::Bsi, number) => write!(f, "enter the payment code {number}"),
        Step::CustomerNumber(_, number) => write!(f, "enter the customer number {number}"),
        Step::Destination(bank, number) => {
            let (code, name) = (bank.interbank_code(), bank.name());
            write!(f, "enter the bank code {code} ({name}), then the virtual account number {number}")
        }
        Step::Amount(amount) => {
            write!(f, "enter exactly {amount} and choose an online transfer, not BI-FAST, SKN or RTGS")
        }
        Step::Check(Entry::Interbank, amount) => {
            write!(
                f,
                "check the recipient's name and the amount {amount}, then confirm; if the number is not found, pay by \
                 another method"
            )
        }
        Step::Check(_, amount) => {
            let ending = if channel == Channel::Mobile { "enter your PIN" } else { "confirm" };
            write!(f, "check the merchant name and that the amount is exactly {amount}, then {ending}")
        }
    }
}

fn title(menu: &Menu, brand: Option<&str>, language: Language) -> String {
    let kind = match menu.channel {
        Channel::Mobile => "mobile banking",
        Channel::Atm => "ATM",
        Channel::Internet => "internet banking",
        Channel::OtherBank => {
            return match language {
                Language::Indonesian => "Dari bank lain".to_owned(),
                Language::English => "From another bank".to_owned(),
            };
        }
    };
    match (menu.product, brand, language) {
        (Some(product), _, _) => product.to_owned(),
        (None, None, Language::Indonesian) => capitalised(&format!("{kind} bank mana pun")),
        (None, None, Language::English) => capitalised(&format!("{kind} of any bank")),
        (None, Some(brand), Language::Indonesian) => capitalised(&format!("{kind} {brand}")),
        (None, Some(brand), Language::English) => format!("{brand} {kind}"),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Language; 2] = [Language::Indonesian, Language::English];
    const AMOUNT: Rupiah = Rupiah::new(150_000);

    #[test]
    fn every_bank_has_steps_for_its_channels_and_from_another_bank_that_end_with_the_exact_amount() {
        for bank in Bank::ALL {
            let number = bank.account_number(7);
            for language in BOTH {
                let groups = step_groups(bank, &number, AMOUNT, language);
                let has = |channel| groups.iter().any(|group| group.channel == channel);
                assert!([Channel::Mobile, Channel::Atm, Channel::Internet].into_iter().all(has), "{bank:?}");
                let interbank = groups.iter().filter(|group| group.steps.concat().contains("BI-FAST")).count();
                // The smaller banks' steps are all for customers of any bank.
                assert_eq!(interbank, if has(Channel::OtherBank) { 1 } else { 3 }, "{bank:?}");
                for group in groups {
                    assert!(group.steps.len() >= 4);
                    assert!(group.steps.last().unwrap().contains("Rp150.000"), "{group:?}");
                    assert!(group.steps.iter().all(|step| step.starts_with(char::is_uppercase)), "{group:?}");
                    assert_eq!(group.steps.iter().filter(|step| step.ends_with(group.menu)).count(), 1, "{group:?}");
                    let digits = group.steps.concat();
                    let split = split_number(bank, &number).is_some_and(|split| {
                        digits.contains(split.company_code) && digits.contains(split.customer_number)
                    });
                    assert!(split || digits.contains(&number), "{group:?}");
                }
            }
        }
    }

    #[test]
    fn todays_apps_of_the_seven_largest_banks_lead() {
        let apps = |bank: Bank| -> Vec<String> {
            let groups = step_groups(bank, &bank.account_number(7), AMOUNT, Language::English);
            groups.into_iter().filter(|group| group.channel == Channel::Mobile).map(|group| group.title).collect()
        };
        assert_eq!(apps(Bank::Bca), ["myBCA", "BCA mobile"]);
        assert_eq!(apps(Bank::Bni), ["wondr by BNI", "BNI Mobile Banking"]);
        assert_eq!(apps(Bank::Bri), ["BRImo"]);
        assert_eq!(apps(Bank::Mandiri), ["Livin' by Mandiri"]);
        assert_eq!(apps(Bank::Permata), ["PermataME"]);
        assert_eq!(apps(Bank::Cimb), ["OCTO by CIMB Niaga"]);
        assert_eq!(apps(Bank::Bsi), ["BYOND by BSI"]);
        assert_eq!(apps(Bank::Danamon), ["Mobile banking of any bank"]);
    }

    #[test]
    fn the_flat_list_is_the_groups_with_their_titles() {
        for (bank, language) in Bank::ALL.into_iter().flat_map(|bank| BOTH.map(|language| (bank, language))) {
            let number = bank.account_number(7);
            let groups = step_groups(bank, &number, AMOUNT, language);
            let joined: Vec<String> = groups
                .iter()
                .flat_map(|group| group.steps.iter().map(|step| format!("{}: {step}", group.title)))
                .collect();
            let flat = payment_steps(bank, &number, AMOUNT, language);
            assert_eq!(flat.join("\n").to_lowercase(), joined.join("\n").to_lowercase());
        }
    }

    #[test]
    fn steps_read_well_in_both_languages() {
        let check = |bank: Bank, language, rows: &[&str]| {
            let steps = payment_steps(bank, &bank.account_number(42), AMOUNT, language);
            for row in rows {
                assert!(steps.iter().any(|step| step == row), "{row} is not in {steps:#?}");
            }
        };
        check(
            Bank::Bca,
            Language::Indonesian,
            &[
                "ATM BCA: pilih Transaksi Lainnya › Transfer › ke Rek BCA Virtual Account",
                "BCA mobile: masukkan nomor virtual account 9901400000000042",
                "KlikBCA: periksa nama merchant dan pastikan jumlahnya persis Rp150.000, lalu konfirmasi",
            ],
        );
        check(Bank::Bni, Language::Indonesian, &["Internet banking BNI: buka situsnya lalu masuk"]);
        check(Bank::Bni, Language::English, &["BNI internet banking: open the site and sign in"]);
        check(Bank::Bri, Language::English, &["BRImo: choose BRIVA"]);
        check(
            Bank::Danamon,
            Language::English,
            &[
                "ATM of any bank: choose Transfer › Bank Lain",
                "ATM of any bank: enter the bank code 011 (Bank Danamon), then the virtual account number \
                 9911000000000042",
                "Internet banking of any bank: enter exactly Rp150.000 and choose an online transfer, not BI-FAST, SKN \
                 or RTGS",
            ],
        );
    }

    #[test]
    fn mandiri_and_bsi_get_company_code_and_customer_number_apart_and_others_do_not() {
        let steps = payment_steps(Bank::Mandiri, "88608123456789012", AMOUNT, Language::Indonesian);
        assert!(steps.contains(&"ATM Mandiri: masukkan kode perusahaan 88608".to_owned()));
        assert!(steps.contains(&"ATM Mandiri: masukkan nomor pelanggan 123456789012".to_owned()));
        assert!(
            steps.iter().any(|step| step.starts_with("Livin' by Mandiri: ketik") && step.contains("88608123456789012"))
        );
        let steps = payment_steps(Bank::Bsi, "9347123456789012", AMOUNT, Language::English);
        assert!(steps.contains(&"BYOND by BSI: enter the institution code 9347".to_owned()));
        assert!(steps.contains(&"BYOND by BSI: enter the payment code 123456789012".to_owned()));
        for bank in Bank::ALL {
            let number = bank.account_number(7);
            let split = split_number(bank, &number);
            assert_eq!(split.is_some(), matches!(bank, Bank::Mandiri | Bank::Bsi), "{bank:?}");
            let joined = split.map(|split| [split.company_code, split.customer_number].concat());
            assert!(joined.is_none_or(|joined| joined == number), "{bank:?}");
        }
        // A number too short or too odd to split is shown as it is.
        for number in ["", "123", "99008", "ééé"] {
            assert_eq!(split_number(Bank::Mandiri, number), None);
            let steps = payment_steps(Bank::Mandiri, number, AMOUNT, Language::English);
            assert!(steps.contains(&format!("Mandiri ATM: enter the virtual account number {number}")));
        }
    }
}
