//! What banks ask and tell us: tokens, inquiries, money that we are asked to take, and money that they have taken.
//!
//! The surface for banks checks the signature with what `OpenAccount` holds; here it is decided what is answered, and what is
//! committed before the answer.

pub(super) mod deadline;
pub(super) mod inquiries;
pub(super) mod money_key;
pub(super) mod notifications;
pub(super) mod payment_requests;
pub(super) mod strays;
pub(super) mod tokens;
pub(super) mod undecided;
pub(super) mod unnamed_money;
