//! The outside world: providers that issue codes to pay to and report money, and the receivers of webhooks.
//!
//! Nothing here touches the store. A provider's report becomes an [`Observation`]; what follows from it is decided elsewhere.

mod guard;
mod networks;
mod provider;
mod providers;
mod simulator;
mod webhook;

pub use guard::{AddressGuard, NotAllowed, Refusal, Resolve};
pub use provider::{BoxFuture, Issue, Observation, Outcome, Provider, ProviderError};
pub use providers::Providers;
pub use simulator::Simulator;
pub use webhook::{NoSender, SendLimits, USER_AGENT, Webhook, WebhookSender};
