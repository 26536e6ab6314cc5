//! How each bank writes its calls, as plain data: one value for each profile. `ALL` has those whose accounts the merchant
//! hosts, `THEIRS` those that issue codes themselves and tell of money that they have taken.

use std::time::Duration;

use crate::conclusion::Concludes;

/// The habits of one bank.
#[derive(Clone, Debug)]
pub struct Style {
    /// The profile's name, as operators know it.
    pub profile: &'static str,
    pub external_id: ExternalId,
    /// Whether `X-TIMESTAMP` has three decimals of a second.
    pub milliseconds: bool,
    /// `CHANNEL-ID`.
    pub channel_id: &'static str,
    /// `channelCode`, as it is written in the body.
    pub channel_code: &'static str,
    pub signing: Signing,
    pub signature: SignatureText,
    /// How long `inquiryRequestId` and `paymentRequestId` are.
    pub request_id_length: usize,
    /// Whether a payment carries the request id of the inquiry before it.
    pub keeps_request_id: bool,
    /// How answers to a payment are read.
    pub concludes: Concludes,
    /// How long the bank waits for an answer.
    pub deadline: Duration,
}

/// What `X-EXTERNAL-ID` is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalId {
    Digits(usize),
    Alphanumeric(usize),
    /// The same text as the request id.
    RequestId,
}

/// Which signature a call carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// Type 1: HMAC-SHA512 with the client secret, over a text that has the access token in it.
    Secret,
    /// Type 2: RSA-SHA256 with the bank's key, without a token.
    Key,
    /// RSA-SHA256 with the bank's key over the client id and the timestamp: neither a token nor the body is signed.
    ClientTime,
}

/// How the bytes of an HMAC are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureText {
    Base64,
    Hex,
}

const DEADLINE: Duration = Duration::from_secs(30);

impl Style {
    pub const BCA: Style = Style {
        profile: "bca",
        external_id: ExternalId::Digits(32),
        milliseconds: false,
        channel_id: "95231",
        channel_code: "6011",
        signing: Signing::Secret,
        signature: SignatureText::Base64,
        request_id_length: 30,
        keeps_request_id: true,
        concludes: Concludes::LikeBca,
        deadline: DEADLINE,
    };

    pub const BRIVA_ONLINE: Style = Style {
        profile: "briva-online",
        external_id: ExternalId::Alphanumeric(32),
        milliseconds: true,
        channel_id: "00009",
        channel_code: "9",
        request_id_length: 32,
        keeps_request_id: false,
        concludes: Concludes::LikeBri,
        deadline: Duration::from_secs(10),
        ..Style::BCA
    };

    pub const BSI: Style = Style {
        profile: "bsi",
        external_id: ExternalId::RequestId,
        channel_id: "6199",
        channel_code: "6199",
        request_id_length: 20,
        keeps_request_id: false,
        ..Style::BCA
    };

    pub const MANDIRI: Style = Style { profile: "mandiri", channel_id: "00001", keeps_request_id: false, ..Style::BCA };

    /// What the standard says, for banks whose documents are not public.
    pub const GENERIC: Style =
        Style { profile: "generic", channel_id: "00001", request_id_length: 36, keeps_request_id: false, ..Style::BCA };

    pub const ALL: [Style; 5] = [Style::BCA, Style::BRIVA_ONLINE, Style::BSI, Style::MANDIRI, Style::GENERIC];

    pub const BRIVA_WS: Style = Style {
        profile: "briva-ws",
        external_id: ExternalId::Digits(9),
        milliseconds: true,
        channel_id: "00009",
        channel_code: "9",
        keeps_request_id: false,
        ..Style::BCA
    };

    pub const BRI_QRIS: Style = Style { profile: "bri-qris", signing: Signing::ClientTime, ..Style::BRIVA_WS };

    pub const DOKU: Style =
        Style { profile: "doku", channel_id: "H2H", keeps_request_id: false, request_id_length: 36, ..Style::BCA };

    pub const MIDTRANS: Style =
        Style { profile: "midtrans", signing: Signing::Key, channel_id: "12345", ..Style::DOKU };

    pub const DANA: Style = Style { profile: "dana", channel_id: "95221", ..Style::MIDTRANS };

    pub const THEIRS: [Style; 5] = [Style::BRIVA_WS, Style::BRI_QRIS, Style::DOKU, Style::MIDTRANS, Style::DANA];

    /// The style of a profile.
    pub fn of(profile: &str) -> Option<Style> {
        Style::ALL.into_iter().chain(Style::THEIRS).find(|style| style.profile == profile)
    }
}
