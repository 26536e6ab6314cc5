//! Banks, in five rooms: the contracts that operators set up, what banks ask and tell us, what we ask of them, the comparing of
//! days with them, and what a process keeps of all that in memory.

mod contracts;
mod inbound;
mod memory;
mod outbound;
mod reconciliation;
#[cfg(test)]
mod tests;

pub(crate) use contracts::numbers::{Issuer, has_issuer};
pub use contracts::{
    accounts::NewBankAccount,
    credentials::NewInbound,
    doors::BankDoor,
    go_live::{BankAccountFile, NUMBERS_LOW_PERCENT, needs_of_profile},
    health::{BankHealth, CallGroup, FailingCalls},
    methods::MethodStanding,
    numbers_taken::NumbersTaken,
    open_account::{InboundClient, OpenAccount},
};
pub use inbound::{
    inquiries::{Bill, Inquiry, InquiryAnswer},
    payment_requests::{PaymentAsked, Taken},
    strays::StrayFit,
    tokens::TOKEN_LIFETIME,
};
pub(crate) use memory::{
    calls::Calls, open_accounts::OpenAccounts, outbound::Outbound, unfinished::Unfinished, unsaved_words::UnsavedWords,
};
pub(crate) use outbound::refunds::AccountName;
pub use outbound::{
    refunds::UncertainTerms,
    story::BankStory,
    test_account::{BankTest, TestStep},
};
pub use reconciliation::comparison::{ComparedLine, Comparison, LineClass};
