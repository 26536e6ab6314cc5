//! Banks, in four rooms: the contracts that operators set up, what banks ask and tell us, what we ask of them, and the comparing of
//! days with them.

mod contracts;
mod inbound;
mod outbound;
mod reconciliation;
#[cfg(test)]
mod tests;

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
pub(crate) use contracts::{
    call_log::Calls,
    numbers::{Issuer, has_issuer},
    open_account::OpenAccounts,
};
pub(crate) use inbound::deadline::UnsavedWords;
pub use inbound::{
    inquiries::{Bill, Inquiry, InquiryAnswer},
    payment_requests::{PaymentAsked, Taken},
    strays::StrayFit,
    tokens::TOKEN_LIFETIME,
};
pub(crate) use outbound::line::Outbound;
pub use outbound::{
    story::BankStory,
    test_account::{BankTest, TestStep},
};
pub use reconciliation::comparison::{ComparedLine, Comparison, LineClass};
pub(crate) use reconciliation::unfinished::Unfinished;
