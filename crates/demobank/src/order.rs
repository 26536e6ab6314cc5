//! What a caller asks the bank to do: an inquiry or a payment, and the ways in which the call is to be wrong.

use crate::{prepared::Prepared, style::Signing};

/// A timestamp that is this far off is stale by the standard's five minutes: `Knobs { skew_ms: -STALE_MS, .. }`.
pub const STALE_MS: i64 = 10 * 60 * 1000;

/// Service 24: the bank asks for the bill of a number.
#[derive(Clone, Debug, Default)]
pub struct Inquiry {
    /// The number as the customer types it: company code and customer number, without padding.
    pub number: String,
}

impl Inquiry {
    pub fn of(number: impl Into<String>) -> Inquiry {
        Inquiry { number: number.into() }
    }
}

/// Service 25: the bank's customer has paid.
#[derive(Clone, Debug, Default)]
pub struct Payment {
    /// The number as the customer types it: company code and customer number, without padding.
    pub number: String,
    /// In rupiah; below zero it is written with its sign.
    pub amount: i64,
    /// `totalAmount`, if it is not `amount`.
    pub total_amount: Option<i64>,
    /// `virtualAccountName`, in any script.
    pub name: String,
    /// `trxDateTime` in milliseconds since 1970, if it is not the bank's present time.
    pub paid_at_ms: Option<i64>,
    /// `trxId`; empty where there is none.
    pub trx_id: String,
}

impl Payment {
    pub fn of(number: impl Into<String>, amount: i64) -> Payment {
        Payment { number: number.into(), amount, name: "Budi Santoso".to_owned(), ..Payment::default() }
    }
}

/// How one call departs from an honest one. The default is honest.
#[derive(Clone, Debug, Default)]
pub struct Knobs {
    /// The body is changed after it was signed.
    pub changed_body: bool,
    /// The path in the signature, in place of the right one.
    pub signed_path: Option<String>,
    /// The signature is sent in hex.
    pub hex_signature: bool,
    /// The signature, in place of the right one.
    pub signature: Option<String>,
    /// Which kind of signature, if not the contract's.
    pub signing: Option<Signing>,
    /// The body is signed without white space and sent with it.
    pub white_space: bool,
    /// All but letters, digits and spaces of the name is escaped.
    pub escaped_name: bool,
    pub amount_text: AmountText,
    /// The currency, in place of IDR.
    pub currency: Option<String>,
    pub padding: Padding,
    /// `customerNo` holds the whole number.
    pub whole_customer_no: bool,
    /// Members that are left out of the body.
    pub left_out: Vec<&'static str>,
    /// The word before the token, in place of `Bearer`; empty: the token stands alone.
    pub token_word: Option<&'static str>,
    /// A member that is added at the end though there is one of its name: its name, and its value as JSON.
    pub duplicate_member: Option<(String, String)>,
    /// Members to replace or add: path (`paidAmount.value`) and value as JSON.
    pub members: Vec<(String, String)>,
    /// The path of a member that is left out.
    pub missing_member: Option<String>,
    /// The name of a header that is left out.
    pub missing_header: Option<String>,
    /// Headers that are set to another value after signing: name and value.
    pub headers: Vec<(String, String)>,
    /// How far the clock that `X-TIMESTAMP` comes from is ahead.
    pub skew_ms: i64,
    /// `X-TIMESTAMP` as it is to be written and signed.
    pub timestamp: Option<String>,
    pub token: TokenChoice,
    /// `X-EXTERNAL-ID`.
    pub external_id: Option<String>,
    /// The external id of the contract's last inquiry or payment is used again.
    pub same_external_id: bool,
    /// `inquiryRequestId` or `paymentRequestId`.
    pub request_id: Option<String>,
    /// `flagAdvise` Y: a resend.
    pub flag_advise: bool,
    /// The body, in place of one that the bank writes. It is signed as it is.
    pub raw_body: Option<Vec<u8>>,
    /// Spaces are added to the body before it is signed, until it has this many bytes.
    pub length: Option<usize>,
    /// The HTTP method, in place of POST. It is signed too.
    pub method: Option<String>,
    /// The bank never reads the answer, which was given.
    pub lost_answer: bool,
}

impl Knobs {
    /// The resend of a payment whose answer the bank has not read: the same ids, `flagAdvise` Y, signed anew.
    pub fn resend_of(prepared: &Prepared) -> Knobs {
        Knobs {
            external_id: Some(prepared.external_id.clone()),
            request_id: Some(prepared.request_id.clone()),
            flag_advise: true,
            ..Knobs::default()
        }
    }
}

/// How an amount's value is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AmountText {
    /// `"10000.00"`
    #[default]
    TwoDecimals,
    /// `"10000.0"`
    OneDecimal,
    /// `"10000"`
    Whole,
    /// `10000.00`, a bare number.
    BareTwoDecimals,
    /// `10000.0`, a bare number.
    BareOneDecimal,
    /// `10000`, a bare number.
    BareWhole,
    /// JSON of the caller's choice.
    Raw(String),
}

/// How `partnerServiceId` is padded, and with it the virtual account number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// Spaces on the left, to eight characters.
    #[default]
    Spaces,
    /// No padding.
    None,
    /// Zeros on the left, to eight characters.
    Zeros,
    /// Spaces on the right, to eight characters.
    Right,
}

/// Which access token a call carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TokenChoice {
    /// The one that is valid; asked for when there is none.
    #[default]
    Valid,
    /// The last one of the contract, even if its life is over. One is asked for when there has been none.
    Last,
    /// A given one, for example that of another contract.
    Given(String),
    /// One that nobody issued.
    Invented,
    /// None: no `Authorization`, and nothing in its place in the signature.
    Absent,
}
