//! Reads an account's settings, each a name and a text, into parameters. A setting that cannot be read is an error that
//! says what is allowed.

use std::{net::IpAddr, ops::RangeInclusive, time::Duration};

use domain::money::Rupiah;
use ipnet::IpNet;
use url::Url;

use super::{
    extra_members::ExtraMembers,
    parameters::Parameters,
    payment_needs::PaymentNeeds,
    sending::{self, EXTRA_MEMBERS},
    setting_texts::{number, within, yes_or_no},
    values::{
        ChannelIds, Codes, CustomerNo, Encoding, ExternalId, GrantMember, Hosting, HttpMethod, Numbers, Padding,
        PartnerId, Precision, QueryKey, ReceiptMember, Repeat, ResponseCase, Retry, Service, SignIn, SignOut,
        Undecided,
    },
};

const VALUE_BYTES_MOST: usize = 2_000;
/// How much of a bad value an error repeats.
const QUOTED_CHARACTERS_MOST: usize = 100;
const NETWORKS_MOST: usize = 100;
const TEXT_CHARACTERS_MOST: usize = 64;
const PATH_CHARACTERS_MOST: usize = 200;
/// The largest power of ten that allotment counts to is ten to the 18th.
const CUSTOMER_DIGITS: RangeInclusive<u32> = 6..=18;
const NUMBER_DIGITS: RangeInclusive<usize> = 1..=28;
const NAME_CHARACTERS: RangeInclusive<usize> = 1..=255;
const REQUEST_ID_CHARACTERS: RangeInclusive<usize> = 1..=128;
const SERVICE_ID_DIGITS: RangeInclusive<usize> = 1..=8;
const DEADLINE_SECONDS: RangeInclusive<u64> = 1..=25;
const SKEW_SECONDS: RangeInclusive<u64> = 30..=900;
const STATUS_DELAY_SECONDS: RangeInclusive<u64> = 0..=600;
const VALIDITY_SECONDS: RangeInclusive<u64> = 1..=366 * 24 * 60 * 60;

const PATH: &str = "path.";
const METHOD: &str = "method.";
const A_PATH: &str = "a path such as /v1.0/access-token/b2b: letters, digits and -._~ between single slashes";
const A_METHOD: &str = "GET, POST, PUT or DELETE";
const A_TEXT: &str = "1 to 64 letters, digits and signs, without spaces";
const PAYMENT_NEEDS: &str =
    "none, or some of virtualAccountName, channelCode, totalAmount, trxDateTime and flagAdvise, with commas";
const YES_OR_NO: &str = "yes or no";
const A_BASE_URL: &str = "an address such as https://api.bank.co.id, without user, password, query and fragment";
const AN_HTTPS_URL: &str = "an https:// address; http:// is for development only";

/// A setting of an account that cannot be taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSetting {
    #[error("there is no setting `{name}`; there are: {known}")]
    Unknown { name: String, known: String },
    #[error("`{name}` cannot be `{value}`: it must be {allowed}")]
    Value { name: String, value: String, allowed: String },
}

impl BadSetting {
    pub(super) fn value(name: &str, value: &str, allowed: impl Into<String>) -> BadSetting {
        let value = value.chars().take(QUOTED_CHARACTERS_MOST).collect();
        BadSetting::Value { name: name.to_owned(), value, allowed: allowed.into() }
    }
}

struct Setting {
    name: &'static str,
    allowed: &'static str,
    read: fn(&mut Parameters, &str) -> Option<()>,
}

/// Every setting but those of a service.
const SETTINGS: &[Setting] = &[
    setting("hosting", "ours or theirs", |to, text| put(&mut to.hosting, Hosting::parse(text))),
    setting("codes", "va, qris, both or none", |to, text| put(&mut to.codes, Codes::parse(text))),
    setting("numbers", "ours or theirs", |to, text| put(&mut to.numbers, Numbers::parse(text))),
    setting("sign_out", "none, type1 or type2", |to, text| put(&mut to.sign_out, SignOut::parse(text))),
    setting("signature_encoding", "base64 or hex", |to, text| put(&mut to.signature_encoding, Encoding::parse(text))),
    setting("sign_in", "type1, type2 or client_ts", |to, text| put(&mut to.sign_in, SignIn::parse(text))),
    setting("asks_token", YES_OR_NO, |to, text| put(&mut to.asks_token, yes_or_no(text))),
    setting("bare_token", YES_OR_NO, |to, text| put(&mut to.bare_token, yes_or_no(text))),
    setting("precision", "seconds or milliseconds", |to, text| put(&mut to.precision, Precision::parse(text))),
    setting("external_id", "digits:N, numeric:N or alnum:N, with N from 1 to 36, or reference", |to, text| {
        put(&mut to.external_id, ExternalId::parse(text))
    }),
    setting(
        "channel_id",
        "any, or ids of up to 5 digits such as 95231, 60xx or 00001-00009, with commas",
        |to, text| put(&mut to.channel_id, ChannelIds::parse(text)),
    ),
    setting("partner_id", "any, service_id, or the text itself: at most 36 characters, without spaces", |to, text| {
        put(&mut to.partner_id, partner_id(text))
    }),
    setting("customer_digits", "6 to 18", |to, text| put(&mut to.customer_digits, within(text, CUSTOMER_DIGITS))),
    setting("number_digits", "two numbers from 1 to 28, such as 17..19", |to, text| {
        put(&mut to.number_digits, range(text, NUMBER_DIGITS))
    }),
    setting("customer_no", "rest or any", |to, text| put(&mut to.customer_no, CustomerNo::parse(text))),
    setting("service_id_padding", "spaces or any", |to, text| put(&mut to.service_id_padding, Padding::parse(text))),
    setting("payment_needs", PAYMENT_NEEDS, |to, text| put(&mut to.payment_needs, PaymentNeeds::parse(text))),
    setting("name_max", "1 to 255", |to, text| put(&mut to.name_max, within(text, NAME_CHARACTERS))),
    setting("request_id_max", "1 to 128", |to, text| put(&mut to.request_id_max, within(text, REQUEST_ID_CHARACTERS))),
    setting("query_key", "ours, theirs or number", |to, text| put(&mut to.query_key, QueryKey::parse(text))),
    setting("status_delay", "0 to 600 seconds", |to, text| {
        put(&mut to.status_delay, seconds(text, STATUS_DELAY_SECONDS))
    }),
    setting("service_code", "2 digits", |to, text| put(&mut to.service_code, service_code(text))),
    setting("receipt", "bank_reference, rrn or payment_reference", |to, text| {
        put(&mut to.receipt, ReceiptMember::parse(text))
    }),
    setting("qr_info", EXTRA_MEMBERS, |to, text| put(&mut to.qr_info, ExtraMembers::parse(text))),
    setting("va_info", EXTRA_MEMBERS, |to, text| put(&mut to.va_info, ExtraMembers::parse(text))),
    setting("grant_member", "grantType or grant_type", |to, text| put(&mut to.grant_member, GrantMember::parse(text))),
    setting("retry", "same, fresh or query_first", |to, text| put(&mut to.retry, Retry::parse(text))),
    setting("repeat", "4042518 or stored", |to, text| put(&mut to.repeat, Repeat::parse(text))),
    setting("undecided", "2022500, silence or 5xx", |to, text| put(&mut to.undecided, Undecided::parse(text))),
    setting("notify_retries", YES_OR_NO, |to, text| put(&mut to.notify_retries, yes_or_no(text))),
    setting("deadline", "1 to 25 seconds", |to, text| put(&mut to.deadline, seconds(text, DEADLINE_SECONDS))),
    setting("validity", "two numbers of seconds, at most 366 days, such as 60..2592000", |to, text| {
        put(&mut to.validity, range(text, VALIDITY_SECONDS).map(|range| map(range, Duration::from_secs)))
    }),
    setting("amounts", "two amounts in whole rupiah, such as 10000..50000000", |to, text| {
        put(&mut to.amounts, range(text, 1..=Rupiah::MAX.get()).map(|range| map(range, Rupiah::new)))
    }),
    setting("void", YES_OR_NO, |to, text| put(&mut to.void, yes_or_no(text))),
    setting("token_type", "1 to 20 letters, such as Bearer", |to, text| put(&mut to.token_type, token_type(text))),
    setting("skew", "30 to 900 seconds", |to, text| put(&mut to.skew, seconds(text, SKEW_SECONDS))),
    setting("ips", "any, or addresses and networks such as 203.0.113.0/24,198.51.100.7", |to, text| {
        put(&mut to.ips, networks(text))
    }),
    setting("refusal_reverses", YES_OR_NO, |to, text| put(&mut to.refusal_reverses, yes_or_no(text))),
    setting("full_answers", YES_OR_NO, |to, text| put(&mut to.full_answers, yes_or_no(text))),
    setting("inquiry_expired", "a code such as 404xx19", |to, text| {
        put(&mut to.inquiry_expired, ResponseCase::parse(text))
    }),
    setting("bad_data", "a code such as 400xx01", |to, text| put(&mut to.bad_data, ResponseCase::parse(text))),
    setting("base_url", A_BASE_URL, |to, text| put(&mut to.base_url, base_url(text).map(Some))),
    setting("partner_service_id", "1 to 8 digits, without padding", |to, text| {
        put(&mut to.partner_service_id, service_id(text).map(Some))
    }),
    setting("merchant_id", A_TEXT, |to, value| put(&mut to.merchant_id, text(value).map(Some))),
    setting("terminal_id", A_TEXT, |to, value| put(&mut to.terminal_id, text(value).map(Some))),
    setting("store_id", A_TEXT, |to, value| put(&mut to.store_id, text(value).map(Some))),
];

const fn setting(name: &'static str, allowed: &'static str, read: fn(&mut Parameters, &str) -> Option<()>) -> Setting {
    Setting { name, allowed, read }
}

/// The names of all settings, and what each may be.
pub fn known_settings() -> impl Iterator<Item = (String, &'static str)> {
    let of_service = |prefix: &'static str, allowed| {
        Service::ALL.iter().map(move |service| (format!("{prefix}{}", service.word()), allowed))
    };
    let plain = SETTINGS.iter().map(|setting| (setting.name.to_owned(), setting.allowed));
    let of_sending = sending::SETTINGS.iter().map(|(name, allowed)| ((*name).to_owned(), *allowed));
    plain.chain(of_sending).chain(of_service(PATH, A_PATH)).chain(of_service(METHOD, A_METHOD))
}

/// Sets one parameter.
pub(super) fn apply(to: &mut Parameters, name: &str, value: &str) -> Result<(), BadSetting> {
    let service = |prefix| name.strip_prefix(prefix).and_then(Service::parse);
    let is_short = value.len() <= VALUE_BYTES_MOST;
    let (read, allowed) = if let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) {
        (is_short.then(|| (setting.read)(to, value)).flatten(), setting.allowed)
    } else if let Some((name, allowed)) = sending::SETTINGS.iter().find(|(known, _)| *known == name) {
        let set = || to.transfers.set(name, value).or_else(|| to.refunds.set(name, value))?.ok();
        (is_short.then(set).flatten(), *allowed)
    } else if let Some(service) = service(PATH) {
        (path(value).map(|path| drop(to.paths.insert(service, path))), A_PATH)
    } else if let Some(service) = service(METHOD) {
        (
            HttpMethod::parse(value).map(|method| {
                to.methods.insert(service, method);
            }),
            A_METHOD,
        )
    } else {
        let known: Vec<String> = known_settings().map(|(name, _)| name).collect();
        return Err(BadSetting::Unknown { name: name.to_owned(), known: known.join(", ") });
    };
    read.ok_or_else(|| BadSetting::value(name, value, allowed))
}

/// Checks where a bank is called: by https, and by http only on an installation for development.
pub fn check_base_url(text: &str, allow_http: bool) -> Result<Url, BadSetting> {
    let url = base_url(text).ok_or_else(|| BadSetting::value("base_url", text, A_BASE_URL))?;
    if allow_http || url.scheme() == "https" { Ok(url) } else { Err(BadSetting::value("base_url", text, AN_HTTPS_URL)) }
}

fn put<T>(slot: &mut T, value: Option<T>) -> Option<()> {
    *slot = value?;
    Some(())
}

fn seconds(text: &str, allowed: RangeInclusive<u64>) -> Option<Duration> {
    within(text, allowed).map(Duration::from_secs)
}

/// `LOWEST..HIGHEST`, both included.
fn range<T: std::str::FromStr + PartialOrd>(text: &str, allowed: RangeInclusive<T>) -> Option<RangeInclusive<T>> {
    let (low, high) = text.split_once("..")?;
    let (low, high): (T, T) = (number(low)?, number(high)?);
    let is_allowed = allowed.contains(&low) && allowed.contains(&high) && low <= high;
    is_allowed.then_some(low..=high)
}

fn map<T, U>(range: RangeInclusive<T>, with: fn(T) -> U) -> RangeInclusive<U> {
    let (low, high) = range.into_inner();
    with(low)..=with(high)
}

fn text(value: &str) -> Option<String> {
    let is_text =
        (1..=TEXT_CHARACTERS_MOST).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_graphic());
    is_text.then(|| value.to_owned())
}

fn partner_id(value: &str) -> Option<PartnerId> {
    match value {
        "any" => Some(PartnerId::Any),
        "service_id" => Some(PartnerId::ServiceId),
        id if id.len() <= ExternalId::LENGTH_MOST => text(id).map(PartnerId::Fixed),
        _ => None,
    }
}

fn token_type(value: &str) -> Option<String> {
    let is_word = (1..=20).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word.then(|| value.to_owned())
}

fn service_id(value: &str) -> Option<String> {
    let is_id = SERVICE_ID_DIGITS.contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
    is_id.then(|| value.to_owned())
}

fn service_code(value: &str) -> Option<String> {
    let is_code = value.len() == 2 && value.bytes().all(|byte| byte.is_ascii_digit());
    is_code.then(|| value.to_owned())
}

fn networks(value: &str) -> Option<Vec<IpNet>> {
    if value == "any" {
        return Some(Vec::new());
    }
    let network = |text: &str| text.parse::<IpAddr>().map(IpNet::from).or_else(|_| text.parse()).ok();
    let networks: Option<Vec<IpNet>> = value.split(',').map(|text| network(text.trim())).collect();
    networks.filter(|networks| networks.len() <= NETWORKS_MOST)
}

fn path(value: &str) -> Option<String> {
    let is_segment = |segment: &str| {
        let is_plain = segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
        is_plain && !matches!(segment, "" | "." | "..")
    };
    let is_path = value.len() <= PATH_CHARACTERS_MOST && value.strip_prefix('/')?.split('/').all(is_segment);
    is_path.then(|| value.to_owned())
}

fn base_url(value: &str) -> Option<Url> {
    let url = Url::parse(value).ok()?;
    // The parser also reads `https:host` and `https:///host`, and backslashes as slashes.
    let after_scheme = value.trim().get(url.scheme().len()..)?.strip_prefix("://")?;
    let names_host = !after_scheme.starts_with('/') && !value.contains('\\');
    let is_web = matches!(url.scheme(), "https" | "http") && url.has_host() && names_host;
    let is_plain = url.username().is_empty() && url.password().is_none();
    let ends_with_path = url.query().is_none() && url.fragment().is_none();
    let prefix = url.path().trim_end_matches('/');
    (is_web && is_plain && ends_with_path && (prefix.is_empty() || path(prefix).is_some())).then_some(url)
}
