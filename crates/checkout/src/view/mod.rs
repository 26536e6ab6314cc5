//! The views: one file per page, with a template of the same name. A view is filled by its handler.
//!
//! Views contain values that are ready to be shown, never types of the domain, so that templates decide nothing about payments.

mod account;
mod choose;
mod claim;
mod claim_confirm;
mod claim_form;
mod claim_status;
mod closed;
mod ended;
mod frame;
mod order;
mod paid;
mod pending;
mod problem;
mod processing;
mod qris;
#[cfg(test)]
pub(crate) mod samples;
mod slip;
mod try_later;
mod unpaid;

pub(crate) use self::{
    account::{Account, NumberLabel, NumberRow, StepLine, Steps},
    choose::{Choose, Field, FieldKind, FormNotice, MethodRow, Mistake, Replaced},
    claim::{AccountRow, Returning},
    claim_confirm::{ClaimConfirm, Holder, HolderMistake},
    claim_form::{BankMistake, BankOption, ClaimForm, NumberMistake},
    claim_status::{ClaimStanding, ClaimStatus},
    closed::{Closed, ClosedReason},
    ended::{Back, Ended, Leaves, RefundLine, RefundStanding},
    frame::{ContactLink, ContactWay, Frame, FrameLogo, Framed, FramedPayment, ShopFace, Stripe},
    order::{BankRow, Looked, Order, Unapplied, UnappliedStanding},
    paid::Paid,
    pending::{Change, Pending},
    problem::Problem,
    processing::Processing,
    qris::Qris,
    slip::Slip,
    try_later::TryLater,
    unpaid::{NextStep, Unpaid, UnpaidReason},
};
