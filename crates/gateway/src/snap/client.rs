//! Calls a bank: for a token, for codes, about codes, to send money, and for reports. An operator has chosen the address, so it is not
//! guarded as those of webhooks are; it must be https outside of development. No redirect is followed, and no error
//! quotes a secret or a token.

mod calls;
mod http;
mod message;
mod names;
mod orders;
mod qr;
mod refund;
mod report;
mod signed;
mod statement;
mod token;
mod tokens;
mod transfer;
mod va;

pub use http::{NoClient, SnapClient};
pub use signed::CallContext;
pub use token::{Token, TokenRequest};
pub use tokens::{Flight, Tokens};
pub use transfer::TransferNotice;

#[cfg(test)]
mod tests;
