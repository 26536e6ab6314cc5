//! The letters, each with exactly the values that it shows. As JSON they wait in the queue, sealed.

use domain::{
    access::Role,
    colour::Colour,
    face::{Contacts, LogoMark},
    letter::{LetterKind, SummaryPeriod},
    method::Method,
    money::Rupiah,
    receipt::Unapplied,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::stored;

/// A letter with its values. It has no `Debug`, since some have a link that grants access.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Letter {
    Receipt(PaymentReceipt),
    RefundClaim(RefundClaim),
    RefundMade(RefundMade),
    Invitation(Invitation),
    PasswordReset(PasswordReset),
    NewDevice(NewDevice),
    PasswordChanged(PasswordChanged),
    FactorChanged(FactorChanged),
    WebhookFailing(WebhookFailing),
    MoneyHeld(MoneyHeld),
    ApprovalWanted(ApprovalWanted),
    BankDown(BankDown),
    Summary(Summary),
    Test(Test),
}

/// To a customer who has paid. Addresses of pages are whole URLs here and below, made from the configured address of the
/// installation.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentReceipt {
    /// What was paid for.
    pub title: String,
    #[serde(with = "stored::rupiah")]
    pub amount: Rupiah,
    #[serde(with = "stored::timestamp")]
    pub paid_at: Timestamp,
    #[serde(with = "stored::word")]
    pub method: Method,
    pub payment_id: String,
    /// The merchant's own number of what was bought.
    pub reference: Option<String>,
    /// The payment's page, which everybody who has the link can see.
    pub payment_url: String,
    pub is_sandbox: bool,
    /// Whom a notice is to be passed on to. A letter goes to an address of its own and does not show this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<Customer>,
}

/// How a customer can be reached; empty where they left nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Customer {
    pub name: String,
    pub email: String,
    pub phone: String,
}

/// To a customer whose money comes back by a transfer: where shall it go?
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundClaim {
    /// What was paid for.
    pub title: String,
    #[serde(with = "stored::rupiah")]
    pub amount: Rupiah,
    /// Why it comes back, as the merchant says.
    pub reason: Option<String>,
    pub payment_id: String,
    pub reference: Option<String>,
    /// Who has it says where the money goes.
    pub claim_url: String,
    #[serde(with = "stored::timestamp")]
    pub expires_at: Timestamp,
    pub is_sandbox: bool,
}

/// To a customer who has got money back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundMade {
    /// What was paid for.
    pub title: String,
    #[serde(with = "stored::rupiah")]
    pub amount: Rupiah,
    /// The bank and the last digits of the account; none where it went back the way that it came.
    pub destination: Option<String>,
    #[serde(with = "stored::timestamp")]
    pub made_at: Timestamp,
    pub payment_id: String,
    pub reference: Option<String>,
    pub payment_url: String,
    pub is_sandbox: bool,
    /// As in receipts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<Customer>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub project: String,
    #[serde(with = "stored::word")]
    pub role: Role,
    /// The address of who invites; none where that is not known.
    pub invited_by: Option<String>,
    /// Grants access.
    pub link: String,
    #[serde(with = "stored::timestamp")]
    pub expires_at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordReset {
    /// The user's address.
    pub account: String,
    pub requested: Origin,
    /// Grants access.
    pub link: String,
    #[serde(with = "stored::timestamp")]
    pub expires_at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewDevice {
    pub account: String,
    pub signed_in: Origin,
    /// Where the user sees and ends their sessions.
    pub account_url: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordChanged {
    pub account: String,
    pub changed: Origin,
    pub by: PasswordChange,
    /// Where a user asks for a new password.
    pub forgot_url: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorChanged {
    pub account: String,
    pub change: FactorChange,
    pub done: Origin,
    /// Where the user sees their second factor.
    pub account_url: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookFailing {
    pub project: String,
    pub webhook_url: String,
    #[serde(with = "stored::timestamp")]
    pub failing_since: Timestamp,
    /// Events that wait to be delivered.
    pub waiting: u64,
    /// What the receiver answered last, or why there was no answer.
    pub last_answer: Option<String>,
    pub page_url: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoneyHeld {
    pub project: String,
    #[serde(with = "stored::rupiah")]
    pub amount: Rupiah,
    #[serde(with = "stored::timestamp")]
    pub received_at: Timestamp,
    #[serde(with = "stored::word")]
    pub reason: Unapplied,
    /// The payment that the money came for.
    pub payment_id: String,
    /// Where an owner decides.
    pub page_url: String,
    pub is_sandbox: bool,
}

/// To those who may approve a refund that waits for that.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalWanted {
    pub project: String,
    #[serde(with = "stored::rupiah")]
    pub amount: Rupiah,
    /// None where nobody knows that any more.
    pub asked_by: Option<Asker>,
    #[serde(with = "stored::timestamp")]
    pub asked_at: Timestamp,
    /// The bank and the last digits of the account; none where it goes back the way that it came.
    pub destination: Option<String>,
    /// Why the money goes back, as the merchant says.
    pub reason: Option<String>,
    pub refund_id: String,
    pub payment_id: String,
    /// Where the reader decides.
    pub page_url: String,
    /// Whether operators are asked, since no owner of the project may approve it.
    pub for_operators: bool,
    pub is_sandbox: bool,
}

/// Who asked for a refund.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    /// A user, by their address.
    User(String),
    Key,
    CommandLine,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankDown {
    /// What operators call the bank account.
    pub bank_account: String,
    #[serde(with = "stored::timestamp")]
    pub failing_since: Timestamp,
    /// What the last call came to.
    pub last_error: Option<String>,
    pub page_url: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub project: String,
    #[serde(with = "stored::word")]
    pub period: SummaryPeriod,
    #[serde(with = "stored::timestamp")]
    pub from: Timestamp,
    /// The first moment that is not counted any more.
    #[serde(with = "stored::timestamp")]
    pub until: Timestamp,
    pub paid_count: u64,
    #[serde(with = "stored::rupiah")]
    pub paid_sum: Rupiah,
    /// What the period before came to.
    #[serde(with = "stored::rupiah")]
    pub paid_sum_before: Rupiah,
    /// Money that waits for a decision now.
    pub held_count: u64,
    pub page_url: String,
    pub is_sandbox: bool,
}

/// An operator tries whether letters arrive.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    #[serde(with = "stored::timestamp")]
    pub sent_at: Timestamp,
}

/// When something was done, and from where.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    #[serde(with = "stored::timestamp")]
    pub at: Timestamp,
    /// None if an operator did it with a command on the server.
    pub address: Option<String>,
    /// The browser's User-Agent header, if there was a browser.
    pub browser: Option<String>,
}

/// How a password was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PasswordChange {
    /// By somebody who knew the old one.
    OldPassword,
    /// By a link that was sent or handed over.
    ResetLink,
    /// By an operator on the server.
    CommandLine,
}

/// What was done to a user's second factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorChange {
    Added,
    Removed,
    CodesRenewed,
    RecoveryCodeUsed {
        /// Recovery codes that are left.
        left: u32,
    },
    /// An operator was asked to lift the factor, which happens at that time.
    LiftAsked {
        #[serde(with = "stored::timestamp")]
        lifted_at: Timestamp,
    },
    Lifted,
}

/// Who a letter comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Face {
    /// None in letters of the installation itself, such as those about accounts.
    pub shop: Option<Shop>,
    /// The host of the installation's public address, such as `bayar.example.id`.
    pub host: String,
}

/// A merchant as letters show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shop {
    pub name: String,
    /// The colour that the merchant asked for; letters use what can be read of it.
    pub colour: Option<Colour>,
    pub contacts: Contacts,
    /// A logo that is sent along, as the part of the letter that is called [`LOGO`].
    pub logo: Option<LogoMark>,
}

/// What the HTML of a letter calls the shop's logo. It comes with the letter, so nobody is asked for it.
pub const LOGO: &str = "logo";

/// A letter as it is sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Written {
    /// One line without control characters and marks of direction.
    pub subject: String,
    pub plain: String,
    pub html: String,
}

impl Letter {
    pub const fn kind(&self) -> LetterKind {
        match self {
            Letter::Receipt(_) => LetterKind::Receipt,
            Letter::RefundClaim(_) => LetterKind::RefundClaim,
            Letter::RefundMade(_) => LetterKind::RefundMade,
            Letter::Invitation(_) => LetterKind::Invitation,
            Letter::PasswordReset(_) => LetterKind::PasswordReset,
            Letter::NewDevice(_) => LetterKind::NewDevice,
            Letter::PasswordChanged(_) => LetterKind::PasswordChanged,
            Letter::FactorChanged(_) => LetterKind::FactorChanged,
            Letter::WebhookFailing(_) => LetterKind::WebhookFailing,
            Letter::MoneyHeld(_) => LetterKind::MoneyHeld,
            Letter::ApprovalWanted(_) => LetterKind::ApprovalWanted,
            Letter::BankDown(_) => LetterKind::BankDown,
            Letter::Summary(_) => LetterKind::Summary,
            Letter::Test(_) => LetterKind::Test,
        }
    }
}
