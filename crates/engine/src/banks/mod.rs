//! Contracts with banks: how operators set them up, which numbers they give out, and what banks ask under them.
//!
//! A bank asks by a signed request. The surface for banks checks the signature with what [`OpenAccount`] holds; here it is
//! decided what is answered, and what is committed before the answer.

mod accounts;
mod back_off;
mod bank_rows;
mod calls;
mod compare;
mod comparison;
mod conclude;
mod credentials;
mod doors;
mod go_live;
mod health;
mod inquiry;
mod jobs;
mod methods;
mod money_key;
mod numbers;
mod numbers_taken;
mod open_account;
mod openings;
mod outbound;
mod reconciliation;
mod story;
mod strays;
mod take;
mod take_by;
mod test_account;
#[cfg(test)]
mod tests;
mod tokens;
mod told;
mod undecided;
mod unfinished;
mod unnamed_money;

pub use accounts::NewBankAccount;

pub(crate) use calls::{CALLS_KEPT, Calls, UNPROVED_KEPT};
pub use comparison::{ComparedLine, Comparison, LineClass};
pub use credentials::NewInbound;
pub use doors::BankDoor;
pub use go_live::{BankAccountFile, NUMBERS_LOW_PERCENT, needs_of_profile};
pub use health::{BankHealth, CallGroup, FailingCalls};
pub use inquiry::{Bill, Inquiry, InquiryAnswer};
pub use methods::MethodStanding;
pub(crate) use numbers::{Issuer, has_issuer};
pub use numbers_taken::NumbersTaken;
pub(crate) use open_account::OpenAccounts;
pub use open_account::{InboundClient, OpenAccount};
pub(crate) use outbound::Outbound;
pub use story::BankStory;
pub use strays::StrayFit;
pub use take::{PaymentAsked, Taken};
pub(crate) use take_by::UnsavedWords;
pub use test_account::{BankTest, TestStep};
pub use tokens::TOKEN_LIFETIME;
pub(crate) use unfinished::Unfinished;
