//! Instructions for paying a virtual account, step by step, in the customer's language.
//!
//! Menu names stay Indonesian in every language, as the bank's own screens show them. This module does not decide how
//! much is owed: it repeats the account number and the amount exactly as given and must never name another sum.

use std::fmt;

use crate::{bank::Bank, language::Language, money::Rupiah};

/// The most steps that one channel takes.
const MOST_STEPS: usize = 5;

/// Where the customer pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Mobile,
    Atm,
    Internet,
}

/// The steps of one channel, for pages that show one channel at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepGroup {
    pub channel: Channel,
    /// What customers call the channel at this bank, such as `ATM BCA` or `BRImo`.
    pub title: String,
    pub steps: Vec<String>,
}

/// The menu entries that lead to the payment form of one channel.
struct Menu {
    channel: Channel,
    /// The product name of the channel, such as `BRImo`; without one, its title is made of its kind and the bank.
    product: Option<&'static str>,
    path: &'static str,
}

/// How the payment form asks for the account number.
#[derive(Clone, Copy)]
enum Entry {
    Whole,
    /// The company code on one screen, the customer number on the next.
    Split,
    /// A transfer from another bank, which also asks for the destination bank and the amount.
    Interbank,
}

/// Everything that differs between banks.
struct Guide {
    /// The bank's short name, as in `ATM BCA`; none where customers pay from any bank.
    brand: Option<&'static str>,
    entry: Entry,
    menus: [Menu; 3],
}

/// One step before it is put into words.
enum Step<'a> {
    Open,
    Choose(&'static str),
    Number(&'a str),
    CompanyCode(&'a str),
    CustomerNumber(&'a str),
    Destination(Bank, &'a str),
    Amount(&'a str),
    Check(&'a str),
}

/// A step in words.
struct Sentence<'a> {
    language: Language,
    channel: Channel,
    step: Step<'a>,
}

/// The steps of every channel in one list; each step starts with the title of its channel.
pub fn payment_steps(bank: Bank, account_number: &str, amount: Rupiah, language: Language) -> Vec<String> {
    let guide = guide(bank);
    let amount = amount.to_string();
    let mut list = Vec::with_capacity(guide.menus.len() * MOST_STEPS);
    for menu in &guide.menus {
        let title = title(menu, guide.brand, language);
        let steps = steps_of(bank, guide.entry, menu, account_number, &amount).into_iter().flatten();
        let sentences = steps.map(|step| Sentence { language, channel: menu.channel, step });
        list.extend(sentences.map(|sentence| format!("{title}: {sentence}")));
    }
    list
}

/// The same steps grouped by channel; each step is a sentence of its own.
pub fn step_groups(bank: Bank, account_number: &str, amount: Rupiah, language: Language) -> Vec<StepGroup> {
    let guide = guide(bank);
    let amount = amount.to_string();
    let group = |menu: &Menu| {
        let steps = steps_of(bank, guide.entry, menu, account_number, &amount).into_iter().flatten();
        let sentences = steps.map(|step| Sentence { language, channel: menu.channel, step });
        StepGroup {
            channel: menu.channel,
            title: title(menu, guide.brand, language),
            steps: sentences.map(|sentence| capitalised(&sentence.to_string())).collect(),
        }
    };
    guide.menus.iter().map(group).collect()
}

fn steps_of<'a>(
    bank: Bank,
    entry: Entry,
    menu: &Menu,
    account_number: &'a str,
    amount: &'a str,
) -> [Option<Step<'a>>; MOST_STEPS] {
    let (enter, then) = match (entry, account_number.split_at_checked(bank.company_code().len())) {
        (Entry::Split, Some((company_code, rest))) => {
            (Step::CompanyCode(company_code), Some(Step::CustomerNumber(rest)))
        }
        (Entry::Interbank, _) => (Step::Destination(bank, account_number), Some(Step::Amount(amount))),
        (Entry::Whole | Entry::Split, _) => (Step::Number(account_number), None),
    };
    [Some(Step::Open), Some(Step::Choose(menu.path)), Some(enter), then, Some(Step::Check(amount))]
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
        }),
        Step::Choose(path) => write!(f, "pilih {path}"),
        Step::Number(number) => write!(f, "masukkan nomor virtual account {number}"),
        Step::CompanyCode(code) => write!(f, "masukkan kode perusahaan {code}"),
        Step::CustomerNumber(number) => write!(f, "masukkan nomor pelanggan {number}"),
        Step::Destination(bank, number) => {
            let (code, name) = (bank.interbank_code(), bank.name());
            write!(f, "masukkan kode bank {code} ({name}) lalu nomor virtual account {number}")
        }
        Step::Amount(amount) => write!(f, "masukkan nominal persis {amount}"),
        Step::Check(amount) => {
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
        }),
        Step::Choose(path) => write!(f, "choose {path}"),
        Step::Number(number) => write!(f, "enter the virtual account number {number}"),
        Step::CompanyCode(code) => write!(f, "enter the company code {code}"),
        Step::CustomerNumber(number) => write!(f, "enter the customer number {number}"),
        Step::Destination(bank, number) => {
            let (code, name) = (bank.interbank_code(), bank.name());
            write!(f, "enter the bank code {code} ({name}), then the virtual account number {number}")
        }
        Step::Amount(amount) => write!(f, "enter exactly {amount}"),
        Step::Check(amount) => {
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
    };
    match (menu.product, brand, language) {
        (Some(product), _, _) => product.to_owned(),
        (None, None, _) => capitalised(kind),
        (None, Some(brand), Language::Indonesian) => capitalised(&format!("{kind} {brand}")),
        (None, Some(brand), Language::English) => format!("{brand} {kind}"),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const fn mobile(product: Option<&'static str>, path: &'static str) -> Menu {
    Menu { channel: Channel::Mobile, product, path }
}

const fn atm(path: &'static str) -> Menu {
    Menu { channel: Channel::Atm, product: None, path }
}

const fn internet(product: Option<&'static str>, path: &'static str) -> Menu {
    Menu { channel: Channel::Internet, product, path }
}

/// The menus of each bank, as its screens name them.
fn guide(bank: Bank) -> Guide {
    let whole = |brand, menus| Guide { brand: Some(brand), entry: Entry::Whole, menus };
    match bank {
        Bank::Bca => whole(
            "BCA",
            [
                mobile(Some("BCA mobile"), "m-BCA › m-Transfer › BCA Virtual Account"),
                atm("Transaksi Lainnya › Transfer › ke Rek BCA Virtual Account"),
                internet(Some("KlikBCA"), "Transfer Dana › Transfer ke BCA Virtual Account"),
            ],
        ),
        Bank::Bni => whole(
            "BNI",
            [
                mobile(None, "Transfer › Virtual Account Billing › Input Baru"),
                atm("Menu Lainnya › Transfer › Rekening Tabungan › Virtual Account Billing"),
                internet(None, "Transfer › Virtual Account Billing"),
            ],
        ),
        Bank::Bri => whole(
            "BRI",
            [
                mobile(Some("BRImo"), "BRIVA"),
                atm("Transaksi Lain › Pembayaran › Lainnya › BRIVA"),
                internet(None, "Pembayaran › BRIVA"),
            ],
        ),
        Bank::Mandiri => Guide {
            brand: Some("Mandiri"),
            entry: Entry::Split,
            menus: [
                mobile(Some("Livin'"), "Bayar › Multipayment"),
                atm("Bayar/Beli › Lainnya › Multi Payment"),
                internet(None, "Pembayaran › Multi Payment"),
            ],
        },
        Bank::Permata => whole(
            "Permata",
            [
                mobile(Some("PermataMobile X"), "Bayar Tagihan › Virtual Account"),
                atm("Transaksi Lainnya › Pembayaran › Pembayaran Lainnya › Virtual Account"),
                internet(Some("PermataNet"), "Pembayaran Tagihan › Virtual Account"),
            ],
        ),
        Bank::Cimb => whole(
            "CIMB Niaga",
            [
                mobile(Some("OCTO Mobile"), "Transfer › Other CIMB Niaga"),
                atm("Pembayaran › Lanjut › Virtual Account"),
                internet(Some("OCTO Clicks"), "Transfer"),
            ],
        ),
        Bank::Bsi => whole(
            "BSI",
            [
                mobile(Some("BSI Mobile"), "Bayar › Institusi"),
                atm("Pembayaran/Pembelian › Institusi"),
                internet(Some("BSI Net"), "Pembayaran › Institusi"),
            ],
        ),
        Bank::Danamon | Bank::Btn | Bank::Maybank | Bank::Bjb | Bank::Bnc | Bank::Bss => {
            let path = "Transfer › Bank Lain";
            Guide { brand: None, entry: Entry::Interbank, menus: [mobile(None, path), atm(path), internet(None, path)] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Language; 2] = [Language::Indonesian, Language::English];
    const AMOUNT: Rupiah = Rupiah::new(150_000);

    #[test]
    fn every_bank_has_three_channels_that_end_with_the_exact_amount() {
        for bank in Bank::ALL {
            let number = bank.account_number(7);
            for language in BOTH {
                let groups = step_groups(bank, &number, AMOUNT, language);
                let channels: Vec<Channel> = groups.iter().map(|group| group.channel).collect();
                assert_eq!(channels, [Channel::Mobile, Channel::Atm, Channel::Internet]);
                for group in groups {
                    assert!(group.steps.len() >= 4);
                    assert!(group.steps.last().unwrap().contains("Rp150.000"), "{group:?}");
                    assert!(group.steps.iter().all(|step| step.starts_with(char::is_uppercase)), "{group:?}");
                    let digits = group.steps.concat();
                    assert!(bank == Bank::Mandiri || digits.contains(&number), "{group:?}");
                }
            }
        }
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
        check(Bank::Bni, Language::Indonesian, &["Mobile banking BNI: buka aplikasi lalu masuk"]);
        check(Bank::Bni, Language::English, &["BNI mobile banking: open the app and sign in"]);
        check(Bank::Bri, Language::English, &["BRImo: choose BRIVA"]);
        check(
            Bank::Danamon,
            Language::English,
            &[
                "ATM: choose Transfer › Bank Lain",
                "ATM: enter the bank code 011 (Bank Danamon), then the virtual account number 9911000000000042",
                "Internet banking: enter exactly Rp150.000",
            ],
        );
    }

    #[test]
    fn mandiri_gets_company_code_and_customer_number_apart() {
        let steps = payment_steps(Bank::Mandiri, "88608123456789012", AMOUNT, Language::Indonesian);
        assert!(steps.contains(&"ATM Mandiri: masukkan kode perusahaan 88608".to_owned()));
        assert!(steps.contains(&"ATM Mandiri: masukkan nomor pelanggan 123456789012".to_owned()));
        // A number too short or too odd to split is shown as it is.
        for number in ["", "123", "ééé"] {
            let steps = payment_steps(Bank::Mandiri, number, AMOUNT, Language::English);
            assert!(steps.contains(&format!("Livin': enter the virtual account number {number}")));
        }
    }
}
