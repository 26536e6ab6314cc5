//! What letters say: each letter with exactly the values that it shows, written as HTML and as plain text, in Indonesian and
//! English.
//!
//! A letter may also be a notice, for a program that passes it on: its text alone, and its values by name.
//!
//! Both forms are rendered from the same content, so they state the same facts. Letters load nothing from anywhere, and only an
//! invitation, a new password and the question where a refund goes have a link that grants access. Nothing here sends, stores or decides who gets a letter.

mod compose;
mod content;
mod html;
mod letter;
mod notice;
mod plain;
mod shown;
mod stored;
mod values;
mod words;
mod write;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use letter::{
    ApprovalWanted, Asker, BankDown, Customer, Face, FactorChange, FactorChanged, Invitation, LOGO, Letter, MoneyHeld,
    NewDevice, Origin, PasswordChange, PasswordChanged, PasswordReset, PaymentReceipt, RefundClaim, RefundMade, Shop,
    Summary, Test, WebhookFailing, Written,
};
pub use notice::{Noticed, notice};
pub use values::Values;
pub use write::write;
