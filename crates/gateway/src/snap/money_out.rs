//! Orders that send money, and the words in which the bank's answers about them are told to the engine. An order may have
//! been carried out whatever came of its call, so none is ever sent twice by what is said here.

use domain::{destination::Rail, money::Rupiah, time::Timestamp};

use super::{call_error::CallError, codes::CodeAsked, verdict::Verdict};

/// A bank as orders name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankNamed<'a> {
    /// Eight characters, where they are known.
    pub swift: Option<&'a str>,
    pub three_digits: &'a str,
}

/// The account that gets the money.
#[derive(Clone, Copy, Debug)]
pub struct Beneficiary<'a> {
    pub bank: BankNamed<'a>,
    /// Digits alone.
    pub number: &'a str,
    /// As its bank has told it.
    pub name: &'a str,
}

/// Whose account it is that we ask about.
#[derive(Clone, Copy, Debug)]
pub struct NameAsked<'a> {
    pub rail: Rail,
    /// Ours. Some banks want the transfer to have the same.
    pub reference: &'a str,
    pub bank: BankNamed<'a>,
    pub number: &'a str,
    /// Wallets want to know it in advance.
    pub amount: Rupiah,
}

/// What the bank says about a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameTold {
    /// The name as the bank writes it: text of strangers, to be shown as text.
    Named(String),
    /// There is no such account, or none that can get money.
    NoAccount { code: String },
}

/// A transfer that is ordered.
#[derive(Clone, Copy, Debug)]
pub struct TransferOrder<'a> {
    pub rail: Rail,
    /// Ours, and no other order's.
    pub reference: &'a str,
    pub amount: Rupiah,
    pub to: Beneficiary<'a>,
    /// For the statements of both sides. Any text: it is made plain and cut.
    pub remark: &'a str,
    pub ordered_at: Timestamp,
}

/// A transfer that we ask about.
#[derive(Clone, Copy, Debug)]
pub struct TransferAsked<'a> {
    pub rail: Rail,
    pub reference: &'a str,
    /// Of the call that ordered it.
    pub external_id: &'a str,
    pub bank_reference: Option<&'a str>,
    pub amount: Rupiah,
    /// The account that gets the money.
    pub number: &'a str,
    pub ordered_at: Timestamp,
}

/// How money of a QR is given back.
#[derive(Clone, Copy, Debug)]
pub struct RefundOrder<'a> {
    /// The code that the money came by.
    pub code: CodeAsked<'a>,
    /// Ours, and no other refund's.
    pub reference: &'a str,
    /// What the issuer calls the payment, where that is known.
    pub issuer_reference: Option<&'a str>,
    pub amount: Rupiah,
    /// Any text: it is made plain and cut.
    pub reason: &'a str,
}

/// A refund that we ask about.
#[derive(Clone, Copy, Debug)]
pub struct RefundAsked<'a> {
    pub code: CodeAsked<'a>,
    /// The partnerRefundNo that was sent.
    pub refund_no: &'a str,
    pub amount: Rupiah,
    /// Whether it gives back all that was paid, in one piece.
    pub is_whole: bool,
}

/// What came of sending an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSent {
    pub verdict: Verdict,
    /// The bank's response code, or our word for what happened instead of one.
    pub code: String,
    /// What the bank says to people; empty where it says nothing.
    pub message: String,
    /// What the bank calls it.
    pub bank_reference: Option<String>,
    /// Why the call was no success, for the bank's health and the log.
    pub error: Option<CallError>,
}

/// Whether an answer shows the amount and the destination that we ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Both,
    /// It leaves one of them out.
    Less,
}

/// What became of an order, as the bank says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderStanding {
    Done {
        bank_reference: Option<String>,
        shown: Shown,
    },
    /// The bank has carried out something else under this reference: a matter for a person.
    Differs,
    /// Failed or cancelled: no money has left, or it is back.
    NotDone,
    /// It was done, and the money has come back.
    Returned,
    Waiting,
    /// The bank knows no such order: no proof before the profile says so.
    NotFound,
    /// The answer says nothing about it.
    AskAgain,
}
