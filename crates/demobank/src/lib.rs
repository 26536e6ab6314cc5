//! A SNAP bank of our own, for tests, rehearsals and demonstrations.
//!
//! It plays the bank's side of the standard: it asks a merchant's doors for bills and reports payments ([`Bank`]), it has
//! doors of its own that a merchant calls for codes of QRIS and virtual accounts, to send money from its account and to give
//! payments back ([`BankServices`]), and it has screens on
//! which a developer pays a bill ([`screens`]). It can also misbehave, one way at a time ([`Knobs`], [`Fault`]).
//!
//! It signs, verifies and writes JSON by its own code and depends on no other crate of this project, since a mistake in
//! shared code would be made by both sides and no test would notice. It reaches the rest of the product over HTTP only.
//! There is no real money in it, and it must never be offered by a production server.

mod answer;
mod bank;
mod compose;
mod conclusion;
mod contract;
mod crypto;
mod journal;
mod json;
mod notification;
mod order;
mod prepared;
mod screens;
mod services;
mod style;
mod time;

pub use answer::Answer;
pub use bank::{Bank, Clock};
pub use conclusion::{Concludes, Conclusion};
pub use contract::Contract;
pub use crypto::{BankKey, KeyError};
pub use journal::Entry;
pub use notification::{Notification, TransferTold};
pub use order::{AmountText, Inquiry, Knobs, Padding, Payment, STALE_MS, TokenChoice};
pub use prepared::{Prepared, Service};
pub use screens::{screens, screens_with_codes};
pub use services::{
    Account, AccountKey, AccountState, BANKS, BankCodes, BankServices, Call, Code, CodeKind, CodePayment, CodeState,
    Doors, Fate, Fault, Habits, Line, Merchant, MoneyRules, NamedBank, NewAccount, NoSuchMoney, NotifyDoor,
    NotifyHabit, PaidCode, PayOrder, QrFault, QueryKey, RefundHabits, RefundKey, RefundRule, Repeats, RrnIn, StatusKey,
    Transfer, TransferHabits, TransferState, UnknownCode, UnknownTransfer,
};
pub use style::{ExternalId, SignatureText, Signing, Style};

#[cfg(test)]
mod tests;
