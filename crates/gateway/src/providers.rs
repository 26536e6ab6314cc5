//! Which provider must be asked for codes. Bank accounts whose numbers we give out ourselves need none.

use std::sync::Arc;

use domain::project::Environment;

use crate::{provider::Provider, simulator::Simulator};

/// The provider of each environment.
#[derive(Clone)]
pub struct Providers {
    pub sandbox: Simulator,
    pub production: Option<Arc<dyn Provider>>,
}

impl Providers {
    pub fn of(&self, environment: Environment) -> Option<&dyn Provider> {
        match environment {
            Environment::Sandbox => Some(&self.sandbox),
            Environment::Production => self.production.as_deref(),
        }
    }
}
