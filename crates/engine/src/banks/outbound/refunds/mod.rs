//! Sending refunds by banks: back by the code that was paid, or to a bank account.
//!
//! The rule above all others is that money which may have left is never sent again. An attempt is committed as sent before
//! the bank is called, under a reference that no other attempt has; from then on a node that finds it only asks. The next attempt
//! needs the bank's final refusal of this one.
//!
//! `plan` decides by which account and rail a refund goes, `send` sends it, `judged` commits what follows from the answer,
//! `ask` asks what became of attempts, `again` repeats an order where the bank takes it for the same, `people` says what people's word about an uncertain one is judged by, `names` asks whose an account is,
//! `statement` looks for orders on the account's statement, `notices` takes what banks tell by themselves, and `call` is how
//! all of them call.

mod again;
mod ask;
mod call;
mod judged;
pub(in crate::banks) mod names;
mod notices;
mod people;
mod plan;
mod send;
mod statement;

pub(crate) use names::AccountName;
pub use people::UncertainTerms;
