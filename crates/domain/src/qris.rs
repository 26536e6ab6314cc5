//! QRIS payloads, the text inside a payment's QR code: writes dynamic ones for the sandbox and reads those of any
//! issuer.
//!
//! A payload is EMVCo tag-length-value text that ends with a checksum. This module must never write an amount other
//! than the one it was given, and never accept a payload whose checksum or structure is wrong.

use std::sync::LazyLock;

use crate::{id::PaymentId, money::Rupiah, project::is_postal_code};

/// The longest payload that QRIS allows.
pub const MAX_CHARACTERS: usize = 512;

const NAME_CHARACTERS: usize = 25;
const CITY_CHARACTERS: usize = 15;
const LABEL_CHARACTERS: usize = 16;

/// The tag and length of the checksum field; the checksum covers these characters too.
const CHECKSUM_HEADER: &str = "6304";
pub const CHECKSUM_CHARACTERS: usize = 4;
const CHECKSUM: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_IBM_3740);

const RUPIAH_CURRENCY: &str = "360";
const DYNAMIC: &str = "12";

/// Accented capitals and what a QRIS terminal can show instead. Lowercase letters are capitalised before the look-up.
const TRANSLITERATIONS: [(&str, &str); 27] = [
    ("ÀÁÂÃÄÅĀĂĄǍẠẢẤẦẨẪẬẮẰẲẴẶ", "A"),
    ("ÇĆĈĊČ", "C"),
    ("ÐĎĐ", "D"),
    ("ÈÉÊËĒĔĖĘĚẸẺẼẾỀỂỄỆ", "E"),
    ("ĜĞĠĢ", "G"),
    ("ĤĦ", "H"),
    ("ÌÍÎÏĨĪĬĮİǏỈỊ", "I"),
    ("Ĵ", "J"),
    ("Ķ", "K"),
    ("ĹĻĽĿŁ", "L"),
    ("ÑŃŅŇ", "N"),
    ("ÒÓÔÕÖØŌŎŐƠǑỌỎỐỒỔỖỘỚỜỞỠỢ", "O"),
    ("ŔŖŘ", "R"),
    ("ŚŜŞŠȘ", "S"),
    ("ŢŤŦȚ", "T"),
    ("ÙÚÛÜŨŪŬŮŰŲƯǓỤỦỨỪỬỮỰ", "U"),
    ("Ŵ", "W"),
    ("ÝŶŸỲỴỶỸ", "Y"),
    ("ŹŻŽ", "Z"),
    ("Æ", "AE"),
    ("Œ", "OE"),
    ("Þ", "TH"),
    ("Ŋ", "NG"),
    ("ẞ", "SS"),
    ("‘’ʼ´", "'"),
    ("“”", "\""),
    ("‐‑‒–—", "-"),
];

/// The merchant as the payer sees it; free text from a project's settings.
#[derive(Clone, Copy, Debug)]
pub struct Merchant<'a> {
    pub name: &'a str,
    pub city: &'a str,
    pub postal_code: &'a str,
}

/// The content of a valid payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    amount: Option<Rupiah>,
    merchant_name: String,
    city: String,
    country: String,
    reference_label: Option<String>,
    dynamic: bool,
}

/// Why a text is not a QRIS payload that we can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QrisError {
    #[error("is longer than 512 characters")]
    TooLong,
    #[error("has a character that a QRIS payload cannot have")]
    ForbiddenCharacter,
    #[error("does not start with 000201")]
    WrongStart,
    #[error("does not end with a checksum")]
    NoChecksum,
    #[error("does not match its checksum, so it was changed or cut")]
    WrongChecksum,
    #[error("is not a sequence of tag, length and value")]
    Malformed,
    #[error("has tag {tag:02} twice")]
    Duplicate { tag: u8 },
    #[error("has a value of the wrong length in tag {tag:02}")]
    WrongLength { tag: u8 },
    #[error("lacks tag {tag:02}")]
    Missing { tag: u8 },
    #[error("is not in rupiah")]
    WrongCurrency,
    #[error("has an amount that is not a positive number of whole rupiah")]
    InvalidAmount,
}

/// The payload of one payment, for exactly its amount. An amount outside of 1 to `Rupiah::MAX` is written as it is, and
/// readers reject it: a code that nobody can pay is better than one for another amount.
pub fn dynamic_payload(merchant: &Merchant<'_>, amount: Rupiah, payment: PaymentId) -> String {
    let additional = [field(5, &reference_label(payment)), field(7, "A01")];
    let fields = [
        field(54, &amount.get().to_string()),
        field(58, "ID"),
        field(59, &plain(merchant.name, NAME_CHARACTERS, "MERCHANT")),
        field(60, &plain(merchant.city, CITY_CHARACTERS, "JAKARTA")),
        field(61, postal_code(merchant.postal_code)),
        field(62, &additional.concat()),
    ];
    sealed(&(BEGINNING.clone() + &fields.concat()))
}

/// The fields with which every payload begins.
static BEGINNING: LazyLock<String> = LazyLock::new(|| {
    let acquirer =
        [field(0, "ID.CO.SANDBOX.WWW"), field(1, "936009990000000017"), field(2, "SBX000000000001"), field(3, "UKE")];
    let repository = [field(0, "ID.CO.QRIS.WWW"), field(2, "ID1099900000001"), field(3, "UKE")];
    let fields = [
        field(0, "01"),
        field(1, DYNAMIC),
        field(26, &acquirer.concat()),
        field(51, &repository.concat()),
        field(52, "5999"),
        field(53, RUPIAH_CURRENCY),
    ];
    fields.concat()
});

/// The label that identifies the payment in a payload: the end of its id, which is random.
pub fn reference_label(payment: PaymentId) -> String {
    let mut text = payment.to_string().to_ascii_uppercase(); // ASCII, so every index is a character boundary
    text.split_off(text.len().saturating_sub(LABEL_CHARACTERS))
}

/// Every value written here is ASCII and shorter than a hundred characters, so bytes count characters in two digits.
fn field(tag: u8, value: &str) -> String {
    format!("{tag:02}{:02}{value}", value.len())
}

/// `body` with its checksum.
fn sealed(body: &str) -> String {
    let covered = format!("{body}{CHECKSUM_HEADER}");
    let checksum = checksum(&covered);
    covered + &checksum
}

fn checksum(covered: &str) -> String {
    format!("{:04X}", CHECKSUM.checksum(covered.as_bytes()))
}

/// `text` in capitals that every terminal can show, cut to `limit` characters; `fallback` when nothing is left.
/// Characters without a plain form become a space, and several spaces become one.
pub fn plain(text: &str, limit: usize, fallback: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars().flat_map(char::to_uppercase) {
        if shown.len() >= limit {
            break;
        }
        if matches!(letter, '!'..='{' | '}' | '~') {
            shown.push(letter);
            continue;
        }
        match TRANSLITERATIONS.iter().find(|(from, _)| from.contains(letter)) {
            Some((_, to)) => shown.push_str(to),
            // An accent that follows its letter is dropped, since a space in its place would split the word.
            None if matches!(letter, '\u{300}'..='\u{36F}') => {}
            None if shown.is_empty() || shown.ends_with(' ') => {}
            None => shown.push(' '),
        }
    }
    shown.truncate(limit);
    shown.truncate(shown.trim_end().len());
    if shown.is_empty() { fallback.to_owned() } else { shown }
}

/// QRIS requires a postal code, so anything that is not one is replaced by that of central Jakarta.
fn postal_code(text: &str) -> &str {
    if is_postal_code(text) { text } else { "10110" }
}

impl Payload {
    /// The amount to pay; none when the payer chooses it.
    pub const fn amount(&self) -> Option<Rupiah> {
        self.amount
    }

    pub fn merchant_name(&self) -> &str {
        &self.merchant_name
    }

    pub fn city(&self) -> &str {
        &self.city
    }

    /// The merchant's country, `ID` for Indonesia.
    pub fn country(&self) -> &str {
        &self.country
    }

    /// The issuer's own reference, if there is one.
    pub fn reference_label(&self) -> Option<&str> {
        self.reference_label.as_deref()
    }

    /// Whether the code is for one payment only.
    pub const fn is_dynamic(&self) -> bool {
        self.dynamic
    }
}

/// Reads any issuer's payload. The checksum is checked before the structure, because a damaged code is by far the most
/// likely reason for both to be wrong.
pub fn parse(text: &str) -> Result<Payload, QrisError> {
    if text.len() > MAX_CHARACTERS {
        return Err(QrisError::TooLong);
    }
    if text.bytes().any(|byte| !matches!(byte, b' '..=b'{' | b'}' | b'~')) {
        return Err(QrisError::ForbiddenCharacter);
    }
    let end = text.len().saturating_sub(CHECKSUM_CHARACTERS);
    let (covered, written) = text.split_at_checked(end).ok_or(QrisError::NoChecksum)?;
    if !covered.ends_with(CHECKSUM_HEADER) {
        return Err(QrisError::NoChecksum);
    }
    if checksum(covered) != written {
        return Err(QrisError::WrongChecksum);
    }
    read(&Fields::split(text)?)
}

/// Reads a payload's fields once its checksum is known to be right.
fn read(fields: &Fields<'_>) -> Result<Payload, QrisError> {
    if fields.0.first() != Some(&(0, "01")) {
        return Err(QrisError::WrongStart);
    }
    // The text may end like a checksum field although these characters belong to the value of another field.
    if fields.0.last().is_none_or(|(tag, _)| *tag != 63) {
        return Err(QrisError::NoChecksum);
    }
    for (tag, value) in &fields.0 {
        if !allowed_length(*tag).contains(&value.len()) {
            return Err(QrisError::WrongLength { tag: *tag });
        }
        if is_template(*tag) {
            Fields::split(value)?;
        }
    }
    if fields.require(53)? != RUPIAH_CURRENCY {
        return Err(QrisError::WrongCurrency);
    }
    let additional = fields.get(62).map(Fields::split).transpose()?;
    Ok(Payload {
        amount: fields.get(54).map(amount).transpose()?,
        merchant_name: fields.require(59)?.to_owned(),
        city: fields.require(60)?.to_owned(),
        country: fields.require(58)?.to_owned(),
        reference_label: additional.and_then(|inner| inner.get(5).map(str::to_owned)),
        dynamic: fields.get(1) == Some(DYNAMIC),
    })
}

/// Accepts `1000`, `1000.` and `1000.00`. A comma is rejected rather than interpreted: it separates thousands in one
/// country and decimals in the next.
fn amount(text: &str) -> Result<Rupiah, QrisError> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let well_formed = whole.bytes().all(|byte| byte.is_ascii_digit()) && decimals.bytes().all(|byte| byte == b'0');
    match whole.parse::<i64>() {
        Ok(amount) if amount > 0 && well_formed => Ok(Rupiah::new(amount)),
        _ => Err(QrisError::InvalidAmount),
    }
}

/// How long a field's value may be. Fields without a rule of their own are limited by the two digits of the length.
const fn allowed_length(tag: u8) -> std::ops::RangeInclusive<usize> {
    match tag {
        0 | 1 | 58 => 2..=2,
        52 | 63 => 4..=4,
        53 => 3..=3,
        54 => 1..=13,
        59 => 1..=NAME_CHARACTERS,
        60 => 1..=CITY_CHARACTERS,
        61 => 1..=10,
        _ => 1..=99,
    }
}

/// Whether a field's value is itself a sequence of fields: acquirers, additional data and other languages.
const fn is_template(tag: u8) -> bool {
    matches!(tag, 26..=51 | 62 | 64)
}

/// The fields of one level, in their order.
struct Fields<'a>(Vec<(u8, &'a str)>);

impl<'a> Fields<'a> {
    fn split(mut text: &'a str) -> Result<Fields<'a>, QrisError> {
        let mut fields = Vec::new();
        while !text.is_empty() {
            let (tag, rest) = two_digits(text)?;
            let (length, rest) = two_digits(rest)?;
            let (value, rest) = rest.split_at_checked(usize::from(length)).ok_or(QrisError::Malformed)?;
            if value.is_empty() {
                return Err(QrisError::WrongLength { tag });
            }
            if fields.iter().any(|(earlier, _)| *earlier == tag) {
                return Err(QrisError::Duplicate { tag });
            }
            fields.push((tag, value));
            text = rest;
        }
        Ok(Fields(fields))
    }

    fn get(&self, tag: u8) -> Option<&'a str> {
        self.0.iter().find(|(candidate, _)| *candidate == tag).map(|(_, value)| *value)
    }

    fn require(&self, tag: u8) -> Result<&'a str, QrisError> {
        self.get(tag).ok_or(QrisError::Missing { tag })
    }
}

fn two_digits(text: &str) -> Result<(u8, &str), QrisError> {
    match text.split_at_checked(2) {
        Some((digits, rest)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok((digits.parse().map_err(|_| QrisError::Malformed)?, rest))
        }
        _ => Err(QrisError::Malformed),
    }
}

#[cfg(test)]
mod tests;
