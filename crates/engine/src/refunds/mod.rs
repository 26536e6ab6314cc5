//! Refunds: what is done with money that goes back to customers. Each use case reads, lets the domain decide, and commits one
//! change with everything that follows; the versions of the refund and of its payment guard it.
//!
//! `create` makes them, `steps` commits what the domain has decided about one, `decide` has what people decide, `claims` the page on
//! which a customer names an account, `by_hand` what people transfer themselves, and `simulated` what the sandbox does;
//! `held_money` sends back what could not be applied, and `found_done` books what people had ended as failed. `holder` says whose an account is.
//!
//! No file here calls a bank.

mod by_hand;
mod claims;
mod create;
mod decide;
mod found_done;
mod held_money;
mod holder;
mod keys;
mod reads;
mod simulated;
mod steps;
mod uncertain;

pub use by_hand::BatchedTransfer;
pub use claims::{AccountAnswer, ClaimPage};
pub use simulated::RefundOutcome;
pub(crate) use steps::{Decided, StepBasis};
pub use uncertain::UncertainRefund;

/// How often a decision about a refund is made anew when what it was based on has changed meanwhile. Many refunds of one payment
/// may be made at the same time; each that loses must see what is then left.
const JUDGED_MOST: usize = 64;
