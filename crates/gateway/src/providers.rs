//! Which provider serves which environment.

use std::sync::Arc;

use domain::project::Environment;

use crate::{
    provider::{Provider, ProviderError},
    simulator::Simulator,
};

/// The provider of each environment.
#[derive(Clone)]
pub struct Providers {
    pub sandbox: Simulator,
    pub production: Option<Arc<dyn Provider>>,
}

impl Providers {
    pub fn of(&self, environment: Environment) -> Result<&dyn Provider, ProviderError> {
        match environment {
            Environment::Sandbox => Ok(&self.sandbox),
            Environment::Production => self.production.as_deref().ok_or(ProviderError::NotConfigured),
        }
    }
}
