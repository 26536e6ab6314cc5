//! Everything that talks to other systems: banks, in the words of [`snap`], the receivers of webhooks, and the relay that takes letters. In the sandbox
//! the [`Simulator`] stands in for banks.
//!
//! Nothing here touches the store: the engine decides what follows from an answer or a report.

mod guard;
mod lookups;
mod mail;
mod networks;
mod observation;
mod ports;
#[cfg(test)]
mod self_signed;
mod simulator;
pub mod snap;
mod webhook;

pub use guard::{AddressGuard, BlockedAddress, NotAllowed};
pub use lookups::{BoxFuture, Lookups, Resolve};
pub use mail::{Encryption, MailSettings, Mailer, Picture, Post, Session, Step, StepReport, Unsubscribe, UnusableMail};
pub use networks::NotPublic;
pub use observation::{Observation, Outcome};
pub use simulator::Simulator;
pub use webhook::{NoSender, SendLimits, USER_AGENT, Webhook, WebhookSender};
