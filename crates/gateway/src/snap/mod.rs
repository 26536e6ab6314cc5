//! SNAP, Bank Indonesia's standard for calls between banks and those they have a contract with: how messages are signed,
//! how times and keys are written, and in what banks differ.
//!
//! Pure but for `client`, which calls a bank. Nothing here knows accounts, payments or the store.

mod breaker;
mod call_error;
mod client;
mod closed_hours;
mod codes;
mod extra_members;
mod in_force;
#[cfg(test)]
mod json_tokens;
mod keys;
mod minify;
mod money_out;
mod notification;
mod numbers;
mod parameters;
mod payment_needs;
pub(crate) mod pem;
mod profile;
mod profiles;
mod rails;
mod reading;
mod sending;
mod setting_texts;
mod settings;
mod signing;
mod standing;
mod statement;
mod timestamp;
mod values;
mod verdict;

pub use breaker::{Breaker, CallHealth};
pub use call_error::{CallError, Reason};
pub use client::{CallContext, Flight, NoClient, SnapClient, Token, TokenRequest, Tokens, TransferNotice};
pub use closed_hours::ClosedHours;
pub use codes::{
    About, BankMoney, CodeAsked, CodeKind, CodeOrder, IssuedCode, NotificationKind, NotificationRead, ReportLine,
    Standing, Unreadable, Voided,
};
pub use extra_members::ExtraMembers;
pub use keys::{KeyError, PrivateKey, PublicKey};
pub use minify::minify;
pub use money_out::{
    BankNamed, Beneficiary, NameAsked, NameTold, OrderSent, OrderStanding, RefundAsked, RefundOrder, Shown,
    TransferAsked, TransferOrder,
};
pub use notification::read_notification;
pub use parameters::Parameters;
pub use payment_needs::PaymentNeeds;
pub use profile::Profile;
pub use rails::{RailServices, Rails};
pub use sending::{PaysFor, Refunds, Transfers};
pub use settings::{BadSetting, check_base_url, known_settings};
pub use signing::{
    SignedRequest, sign_client_timestamp, sign_type1, sign_type2, verify_client_timestamp, verify_type1, verify_type2,
};
pub use statement::{
    OnStatement, Statement, StatementAsked, StatementLine, StatementPage, StatementPart, StatementRest,
};
pub use timestamp::{format_timestamp, parse_local_timestamp, parse_timestamp};
pub use values::{
    BankCodes, ChannelIds, Codes, CustomerNo, Encoding, ExternalId, GrantMember, HolderKind, Hosting, HttpMethod,
    Numbers, Padding, PartnerId, Precision, QueryKey, ReceiptMember, RefundReference, RefundWay, Repeat, Resend,
    Residence, ResponseCase, Retry, Service, SignIn, SignOut, StatementPages, Undecided, WalletDetails,
};
pub use verdict::{OrderKind, Verdict};
