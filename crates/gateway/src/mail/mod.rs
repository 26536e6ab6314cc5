//! Mail: letters are handed to a relay by SMTP, over TLS unless the relay is on this machine. Each step has a time limit, and each
//! attempt ends in a [`SendOutcome`](domain::letter_queue::SendOutcome).

mod line_stream;
mod message;
mod relay;
mod session;
mod steps;
#[cfg(test)]
mod tests;

pub use message::{Picture, Post, Unsubscribe};
pub use relay::{Encryption, MailSettings, UnusableMail};
pub use session::{Mailer, Session};
pub use steps::{Step, StepReport};
