//! The outside world: providers that issue codes to pay to and report money.
//!
//! Nothing here touches the store. A provider's report becomes an [`Observation`]; what follows from it is decided elsewhere.

mod provider;
mod providers;
mod simulator;

pub use provider::{BoxFuture, Issue, Observation, Outcome, Provider, ProviderError};
pub use providers::Providers;
pub use simulator::Simulator;
