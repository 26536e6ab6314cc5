//! Contracts with banks: how operators set them up, which numbers they give out, and what banks ask under them.
//!
//! A bank asks by a signed request. The surface for banks checks the signature with what [`OpenAccount`] holds; here it is
//! decided what is answered, and what is committed before the answer.

mod accounts;
mod calls;
mod credentials;
mod go_live;
mod inquiry;
mod methods;
mod numbers;
mod numbers_taken;
mod open_account;
mod strays;
mod take;
#[cfg(test)]
mod tests;
mod tokens;

pub use accounts::NewBankAccount;

pub(crate) use calls::{CALLS_KEPT, Calls};
pub use credentials::NewInbound;
pub use go_live::{BankAccountFile, BankTest, NUMBERS_LOW_PERCENT, needs_of_profile};
pub use inquiry::{Bill, Inquiry, InquiryAnswer};
pub use methods::MethodStanding;
pub(crate) use numbers::Issuer;
pub use numbers_taken::NumbersTaken;
pub(crate) use open_account::OpenAccounts;
pub use open_account::{InboundClient, OpenAccount};
pub use strays::StrayFit;
pub use take::{PaymentAsked, Taken};
pub use tokens::TOKEN_LIFETIME;
