//! A merchant's project: the owner of everything else.

use crate::{bank::Bank, fee::FeeOverrides, id::ProjectId, method::Method, time::Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Environment {
    Sandbox,
    Production,
}

impl Environment {
    pub const fn word(self) -> &'static str {
        match self {
            Environment::Sandbox => "sandbox",
            Environment::Production => "production",
        }
    }

    pub fn parse(word: &str) -> Option<Environment> {
        [Environment::Sandbox, Environment::Production].into_iter().find(|environment| environment.word() == word)
    }
}

/// The word a project's API uses for a payment that was paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuccessWord {
    #[default]
    Paid,
    Succeeded,
}

impl SuccessWord {
    pub const fn word(self) -> &'static str {
        match self {
            SuccessWord::Paid => "paid",
            SuccessWord::Succeeded => "succeeded",
        }
    }

    pub fn parse(word: &str) -> Option<SuccessWord> {
        [SuccessWord::Paid, SuccessWord::Succeeded].into_iter().find(|success| success.word() == word)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    pub environment: Environment,
    pub merchant: MerchantProfile,
    pub active: bool,
    /// Sandbox projects need no approval; production projects wait for an operator's.
    pub approved: bool,
    pub success_word: SuccessWord,
    pub webhook_url: Option<String>,
    pub fees: FeeOverrides,
    /// The banks it offers; all of them unless settings narrow that.
    pub banks: Vec<Bank>,
    /// What a link accepts when it names nothing.
    pub default_methods: Vec<Method>,
    pub created_at: Timestamp,
    pub version: i64,
}

/// Who customers see they are paying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerchantProfile {
    pub name: String,
    pub city: String,
    pub postal_code: String,
}

impl Project {
    /// Whether its keys may do anything besides being revoked.
    pub fn is_usable(&self) -> bool {
        self.active && (self.approved || self.environment == Environment::Sandbox)
    }

    pub fn offers(&self, method: Method) -> bool {
        match method {
            Method::Qris => true,
            Method::VirtualAccount(bank) => self.banks.contains(&bank),
        }
    }

    /// The methods of a link that names none: the project's defaults, less the banks it no longer offers.
    pub fn usable_defaults(&self) -> Vec<Method> {
        self.default_methods.iter().copied().filter(|method| self.offers(*method)).collect()
    }
}

/// What every new project starts with.
pub fn initial_default_methods() -> Vec<Method> {
    std::iter::once(Method::Qris).chain(Bank::DEFAULT.into_iter().map(Method::VirtualAccount)).collect()
}
