//! How to pay a virtual account, told step by step in the customer's language.
//!
//! Menu names stay Indonesian in every language, as the bank's own screens show them. Nothing here decides what is
//! owed: number and amount are repeated exactly as given, and no step may ever name another sum.

use std::fmt;

use crate::{bank::Bank, money::Rupiah};

/// The most things to do on one channel.
const MOST_ACTS: usize = 5;

/// How many ranges of an Accept-Language header are looked at; browsers send a handful.
const MOST_LANGUAGE_RANGES: usize = 32;

/// The weight of a language range that gives none, in thousandths.
const FULL_WEIGHT: u16 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Indonesian,
    English,
}

/// Where the customer pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Mobile,
    Atm,
    Internet,
}

/// The steps of one channel, so that a page can fold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepGroup {
    pub channel: Channel,
    /// What customers call the channel at this bank, such as `ATM BCA` or `BRImo`.
    pub title: String,
    pub steps: Vec<String>,
}

/// The way to the payment form of one channel.
struct Menu {
    channel: Channel,
    /// The channel's own name; without one it is called after its kind and the bank.
    product: Option<&'static str>,
    path: &'static str,
}

/// How the payment form wants the account number.
#[derive(Clone, Copy)]
enum Entry {
    Whole,
    /// The company code on one screen, what follows it on the next.
    Split,
    /// A transfer from some other bank, which asks for the destination bank and the amount too.
    Interbank,
}

struct Guide {
    /// The short name that goes with `ATM`; none where the customer may come from any bank.
    brand: Option<&'static str>,
    entry: Entry,
    menus: [Menu; 3],
}

/// One thing to do, before it is put into words.
enum Act<'a> {
    Open,
    Choose(&'static str),
    Number(&'a str),
    CompanyCode(&'a str),
    CustomerNumber(&'a str),
    Destination(Bank, &'a str),
    Amount(&'a str),
    Check(&'a str),
}

/// An act in words.
struct Sentence<'a> {
    language: Language,
    channel: Channel,
    act: Act<'a>,
}

impl Language {
    /// The language a browser asks for. Indonesian unless English is preferred, since most customers read it.
    pub fn from_accept_language(header: Option<&str>) -> Language {
        let mut best: Option<(u16, Language)> = None;
        let (mut no_indonesian, mut no_english) = (false, false);
        let ranges = header.unwrap_or_default().split(',').take(MOST_LANGUAGE_RANGES);
        for (language, weight) in ranges.filter_map(language_range) {
            match (weight, language) {
                (0, Language::Indonesian) => no_indonesian = true,
                (0, Language::English) => no_english = true,
                _ if best.is_none_or(|(heaviest, _)| weight > heaviest) => best = Some((weight, language)),
                _ => {}
            }
        }
        match best {
            Some((_, language)) => language,
            None if no_indonesian && !no_english => Language::English,
            None => Language::Indonesian,
        }
    }
}

/// One range of Accept-Language; none when it names a language that we do not speak or its weight is not one.
fn language_range(range: &str) -> Option<(Language, u16)> {
    let mut parts = range.split(';');
    let primary = parts.next()?.trim().split('-').next()?;
    let is = |code: &str| primary.eq_ignore_ascii_case(code);
    // `in` is what `id` was called before 1989; old Java and Android still send it.
    let language = if is("id") || is("in") {
        Language::Indonesian
    } else if is("en") {
        Language::English
    } else {
        return None;
    };
    let quality = parts.filter_map(|part| part.split_once('=')).find(|(key, _)| key.trim().eq_ignore_ascii_case("q"));
    let weight = quality.map_or(Some(FULL_WEIGHT), |(_, value)| thousandths(value.trim()))?;
    Some((language, weight))
}

/// Reads an RFC 9110 quality value: 0 to 1 with at most three decimals.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let padded = decimals.bytes().chain(std::iter::repeat(b'0')).take(3);
    let fraction = padded.fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    match whole {
        "0" => Some(fraction),
        "1" if fraction == 0 => Some(FULL_WEIGHT),
        _ => None,
    }
}

/// The steps of every channel in one list, each opening with the name of its channel.
pub fn payment_steps(bank: Bank, account_number: &str, amount: Rupiah, language: Language) -> Vec<String> {
    let guide = guide(bank);
    let amount = amount.to_string();
    let mut list = Vec::with_capacity(guide.menus.len() * MOST_ACTS);
    for menu in &guide.menus {
        let title = title(menu, guide.brand, language);
        let acts = acts(bank, guide.entry, menu, account_number, &amount).into_iter().flatten();
        let sentences = acts.map(|act| Sentence { language, channel: menu.channel, act });
        list.extend(sentences.map(|sentence| format!("{title}: {sentence}")));
    }
    list
}

/// The same steps by channel, each a sentence of its own.
pub fn step_groups(bank: Bank, account_number: &str, amount: Rupiah, language: Language) -> Vec<StepGroup> {
    let guide = guide(bank);
    let amount = amount.to_string();
    let group = |menu: &Menu| {
        let acts = acts(bank, guide.entry, menu, account_number, &amount).into_iter().flatten();
        let sentences = acts.map(|act| Sentence { language, channel: menu.channel, act });
        StepGroup {
            channel: menu.channel,
            title: title(menu, guide.brand, language),
            steps: sentences.map(|sentence| capitalised(&sentence.to_string())).collect(),
        }
    };
    guide.menus.iter().map(group).collect()
}

fn acts<'a>(
    bank: Bank,
    entry: Entry,
    menu: &Menu,
    account_number: &'a str,
    amount: &'a str,
) -> [Option<Act<'a>>; MOST_ACTS] {
    let (enter, then) = match (entry, account_number.split_at_checked(bank.company_code().len())) {
        (Entry::Split, Some((company_code, rest))) => (Act::CompanyCode(company_code), Some(Act::CustomerNumber(rest))),
        (Entry::Interbank, _) => (Act::Destination(bank, account_number), Some(Act::Amount(amount))),
        (Entry::Whole | Entry::Split, _) => (Act::Number(account_number), None),
    };
    [Some(Act::Open), Some(Act::Choose(menu.path)), Some(enter), then, Some(Act::Check(amount))]
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.language {
            Language::Indonesian => indonesian(f, self.channel, &self.act),
            Language::English => english(f, self.channel, &self.act),
        }
    }
}

fn indonesian(f: &mut fmt::Formatter<'_>, channel: Channel, act: &Act<'_>) -> fmt::Result {
    match act {
        Act::Open => f.write_str(match channel {
            Channel::Mobile => "buka aplikasi lalu masuk",
            Channel::Atm => "masukkan kartu dan PIN",
            Channel::Internet => "buka situsnya lalu masuk",
        }),
        Act::Choose(path) => write!(f, "pilih {path}"),
        Act::Number(number) => write!(f, "masukkan nomor virtual account {number}"),
        Act::CompanyCode(code) => write!(f, "masukkan kode perusahaan {code}"),
        Act::CustomerNumber(number) => write!(f, "masukkan nomor pelanggan {number}"),
        Act::Destination(bank, number) => {
            let (code, name) = (bank.interbank_code(), bank.name());
            write!(f, "masukkan kode bank {code} ({name}) lalu nomor virtual account {number}")
        }
        Act::Amount(amount) => write!(f, "masukkan nominal persis {amount}"),
        Act::Check(amount) => {
            let ending = if channel == Channel::Mobile { "masukkan PIN" } else { "konfirmasi" };
            write!(f, "periksa nama merchant dan pastikan jumlahnya persis {amount}, lalu {ending}")
        }
    }
}

fn english(f: &mut fmt::Formatter<'_>, channel: Channel, act: &Act<'_>) -> fmt::Result {
    match act {
        Act::Open => f.write_str(match channel {
            Channel::Mobile => "open the app and sign in",
            Channel::Atm => "insert your card and enter your PIN",
            Channel::Internet => "open the site and sign in",
        }),
        Act::Choose(path) => write!(f, "choose {path}"),
        Act::Number(number) => write!(f, "enter the virtual account number {number}"),
        Act::CompanyCode(code) => write!(f, "enter the company code {code}"),
        Act::CustomerNumber(number) => write!(f, "enter the customer number {number}"),
        Act::Destination(bank, number) => {
            let (code, name) = (bank.interbank_code(), bank.name());
            write!(f, "enter the bank code {code} ({name}), then the virtual account number {number}")
        }
        Act::Amount(amount) => write!(f, "enter exactly {amount}"),
        Act::Check(amount) => {
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
    fn the_heaviest_language_we_speak_wins_and_indonesian_when_none_does() {
        let (id, en) = (Language::Indonesian, Language::English);
        assert_eq!(Language::from_accept_language(None), id);
        for (header, language) in [
            ("", id),
            ("id", id),
            ("id-ID", id),
            ("in", id),
            ("in-ID,en;q=0.8", id),
            ("en", en),
            ("EN-us", en),
            ("en-US,en;q=0.9,id;q=0.8", en),
            ("id;q=0.8, en;q=0.9", en),
            ("en ; Q=0.2 , id ; q = 0.3", id),
            ("id,en", id),
            ("en,id", en),
            ("en;q=0.5,id;q=0.500", en),
            ("fr", id),
            ("fr,de;q=0.9", id),
            ("fr,en;q=0.1", en),
            ("*", id),
            ("en;q=0", id),
            ("en;q=0.000,fr", id),
            ("id;q=0", en),
            ("id;q=0,en;q=0", id),
            ("en;q=1.000", en),
            ("en;q=0.001", en),
            ("en;level=1;q=0.5,id;q=0.4", en),
        ] {
            assert_eq!(Language::from_accept_language(Some(header)), language, "{header}");
        }
    }

    #[test]
    fn junk_in_a_language_header_is_passed_over() {
        for weight in ["", "2", "1.001", "0.0000", "-1", "+0.5", ".5", "abc", "0.é", "0,5", "NaN"] {
            let header = format!("en;q={weight},id;q=0.1");
            assert_eq!(Language::from_accept_language(Some(&header)), Language::Indonesian, "{header}");
        }
        for header in [",,;;==,en", "é-é;q=é,en", ";q=1,en", "english,en_US,en", "-en,en"] {
            assert_eq!(Language::from_accept_language(Some(header)), Language::English, "{header}");
        }
        let endless = "fr,".repeat(MOST_LANGUAGE_RANGES) + "en";
        assert_eq!(Language::from_accept_language(Some(&endless)), Language::Indonesian);
    }

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
