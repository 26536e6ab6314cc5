//! A merchant's project, which owns payments, links, keys and webhooks, and the rules for its settings. Forms and
//! commands share these rules.

use crate::{
    bank::Bank,
    event_kind::EventKind,
    face::Face,
    fee::FeeOverrides,
    id::{BankAccountId, ProjectId},
    method::Method,
    refund_settings::RefundSettings,
    rules::{Invalid, MERCHANT_CITY, MERCHANT_NAME},
    time::Timestamp,
};

/// How many digits an Indonesian postal code has.
pub const POSTAL_CODE_DIGITS: usize = 5;

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
    pub face: Face,
    pub active: bool,
    /// Sandbox projects need no approval; production projects wait for an operator's.
    pub approved: bool,
    pub success_word: SuccessWord,
    pub webhook_url: Option<String>,
    /// The events that it gets besides those that every project gets.
    pub extra_events: Vec<EventKind>,
    pub fees: FeeOverrides,
    /// The banks that it offers; all of them unless its settings name fewer.
    pub banks: Vec<Bank>,
    /// The methods of a link that names none.
    pub default_methods: Vec<Method>,
    /// The origins whose pages may show its checkout in a frame; by default none.
    pub frame_origins: Vec<String>,
    /// The methods that an enabled bank account is assigned to. Only production projects have any.
    pub accounts: Vec<AssignedAccount>,
    pub refunds: RefundSettings,
    pub created_at: Timestamp,
    pub version: i64,
}

/// An enabled bank account by which a project takes payments of one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssignedAccount {
    pub method: Method,
    pub account_id: BankAccountId,
    /// The version of the account when the project was read.
    pub version: i64,
}

/// The merchant's name and place as customers see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerchantProfile {
    pub name: String,
    pub city: String,
    pub postal_code: String,
}

impl Project {
    /// Whether the project may take payments. The keys of one that may not can only be revoked.
    pub fn is_usable(&self) -> bool {
        self.active && (self.approved || self.environment == Environment::Sandbox)
    }

    pub fn offers(&self, method: Method) -> bool {
        match method {
            Method::Qris => true,
            Method::VirtualAccount(bank) => self.banks.contains(&bank),
        }
    }

    /// The enabled bank account that is assigned to the method.
    pub fn account(&self, method: Method) -> Option<AssignedAccount> {
        self.accounts.iter().find(|assigned| assigned.method == method).copied()
    }

    /// Those of `methods` that the project offers now.
    pub fn offered(&self, methods: &[Method]) -> Vec<Method> {
        methods.iter().copied().filter(|method| self.offers(*method)).collect()
    }

    /// The methods of a link that names none: the project's defaults, without banks that it no longer offers.
    pub fn usable_defaults(&self) -> Vec<Method> {
        self.offered(&self.default_methods)
    }
}

/// Checks that the profile can be printed and put into a QR code.
pub fn checked_merchant(merchant: MerchantProfile) -> Result<MerchantProfile, Invalid> {
    let MerchantProfile { name, city, postal_code } = merchant;
    let (name, city) = (MERCHANT_NAME.check(name)?, MERCHANT_CITY.check(city)?);
    if !is_postal_code(&postal_code) {
        return Err(Invalid::new("merchant_postal_code", format!("must have {POSTAL_CODE_DIGITS} digits")));
    }
    Ok(MerchantProfile { name, city, postal_code })
}

pub fn is_postal_code(text: &str) -> bool {
    text.len() == POSTAL_CODE_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first method whose bank is not among the `banks` on offer.
pub fn not_offered(methods: &[Method], banks: &[Bank]) -> Option<Method> {
    methods.iter().copied().find(|method| method.bank().is_some_and(|bank| !banks.contains(&bank)))
}

/// The default methods of every new project.
pub fn initial_default_methods() -> Vec<Method> {
    std::iter::once(Method::Qris).chain(Bank::DEFAULT.into_iter().map(Method::VirtualAccount)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merchant(name: &str, city: &str, postal_code: &str) -> MerchantProfile {
        MerchantProfile { name: name.to_owned(), city: city.to_owned(), postal_code: postal_code.to_owned() }
    }

    #[test]
    fn a_merchant_has_a_name_a_city_and_a_postal_code_of_five_digits() {
        assert!(checked_merchant(merchant("Toko", "Bandung", "40115")).is_ok());
        for (wrong, field) in [
            (merchant("", "Bandung", "40115"), "merchant_name"),
            (merchant("Toko", "a\nb", "40115"), "merchant_city"),
            (merchant("Toko", "Bandung", "4011"), "merchant_postal_code"),
            (merchant("Toko", "Bandung", "4011é"), "merchant_postal_code"),
        ] {
            assert_eq!(checked_merchant(wrong).unwrap_err().field, field);
        }
    }

    #[test]
    fn only_a_method_of_a_bank_that_is_not_on_offer_is_named() {
        let methods = [Method::Qris, Method::VirtualAccount(Bank::Bca), Method::VirtualAccount(Bank::Bni)];
        assert_eq!(not_offered(&methods, &[Bank::Bca]), Some(Method::VirtualAccount(Bank::Bni)));
        assert_eq!(not_offered(&methods, &[Bank::Bni, Bank::Bca]), None);
    }
}
