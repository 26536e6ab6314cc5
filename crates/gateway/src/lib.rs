//! Everything that talks to other systems: payment providers, which issue payment codes and report money, and the
//! receivers of webhooks.
//!
//! Nothing here touches the store. A provider's report becomes an [`Observation`]; the engine decides what follows from
//! it.

mod guard;
mod lookups;
mod networks;
mod ports;
mod provider;
mod providers;
mod simulator;
pub mod snap;
mod webhook;

pub use guard::{AddressGuard, BlockedAddress, NotAllowed};
pub use lookups::{Lookups, Resolve};
pub use networks::NotPublic;
pub use provider::{BoxFuture, Issue, Observation, Outcome, Provider, ProviderError};
pub use providers::Providers;
pub use simulator::Simulator;
pub use webhook::{NoSender, SendLimits, USER_AGENT, Webhook, WebhookSender};
