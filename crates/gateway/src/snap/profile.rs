//! A bank's profile: its name and the parameters that its contracts begin with.

use std::collections::BTreeMap;

use domain::{bank::Bank, method::Method};

use super::{
    parameters::Parameters,
    settings::{self, BadSetting},
    values::{Codes, RefundReference, Resend},
};

/// What is known about one bank's way to speak SNAP.
#[derive(Debug)]
pub struct Profile {
    /// How commands call it.
    pub name: &'static str,
    /// How people call it.
    pub title: &'static str,
    /// Which codes it can issue.
    pub serves: Codes,
    /// The bank whose virtual accounts it serves; none: any bank's, where it serves virtual accounts.
    pub bank: Option<Bank>,
    /// How many digits the bank allows after the partner service id.
    pub customer_digits_most: u32,
    pub(super) defaults: fn() -> Parameters,
}

impl Profile {
    /// The profile's parameters with an account's settings.
    pub fn parameters(&self, settings: &BTreeMap<String, String>) -> Result<Parameters, BadSetting> {
        let mut parameters = (self.defaults)();
        for (name, value) in settings {
            settings::apply(&mut parameters, name, value)?;
        }
        if !self.serves.include(parameters.codes) {
            let allowed = format!("{} with the profile {}", self.serves.word(), self.name);
            return Err(BadSetting::value("codes", parameters.codes.word(), allowed));
        }
        self.check_digits(&parameters)?;
        if parameters.refunds.reference == RefundReference::Issuers {
            check_issuers_reference(&parameters, settings)?;
            parameters.refunds.one_at_a_time = true;
        }
        Ok(parameters)
    }

    /// Whether an account that issues `codes` with this profile serves the method.
    pub fn serves(&self, codes: Codes, method: Method) -> bool {
        match method {
            Method::Qris => codes.has_qris(),
            Method::VirtualAccount(bank) => codes.has_va() && self.bank.is_none_or(|own| own == bank),
        }
    }

    /// What an account that issues `codes` with this profile serves, in words.
    pub fn served(&self, codes: Codes) -> &'static str {
        match (codes, self.bank) {
            (Codes::None, _) => "transfers",
            (Codes::Qris, _) => "qris",
            (Codes::Va, Some(bank)) => bank.code(),
            (Codes::Va, None) => "virtual accounts",
            (Codes::Both, _) => "qris and virtual accounts",
        }
    }

    /// The length of a number follows from two settings, so it is checked when all are known.
    fn check_digits(&self, parameters: &Parameters) -> Result<(), BadSetting> {
        let digits = parameters.customer_digits;
        let bad = |allowed| Err(BadSetting::value("customer_digits", &digits.to_string(), allowed));
        if digits > self.customer_digits_most {
            return bad(format!("at most {} with the profile {}", self.customer_digits_most, self.name));
        }
        let Some(service_id) = &parameters.partner_service_id else { return Ok(()) };
        let (least, most) = parameters.number_digits.clone().into_inner();
        let length = service_id.len() + digits as usize;
        if parameters.number_digits.contains(&length) {
            return Ok(());
        }
        bad(format!("such that a number has {least} to {most} digits; after `{service_id}` it would have {length}"))
    }
}

/// All refunds of a payment have the issuer's one reference, so the bank cannot tell by it whether it has made a refund already, and
/// we cannot tell two that are under way.
fn check_issuers_reference(parameters: &Parameters, settings: &BTreeMap<String, String>) -> Result<(), BadSetting> {
    let refuse = |name: &str, value: &str, allowed: &str| {
        let allowed =
            format!("{allowed} where `refund_reference` is issuers: all refunds of a payment have that reference");
        Err(BadSetting::value(name, value, allowed))
    };
    let resend = parameters.transfers.resend;
    if resend != Resend::Never {
        return refuse("resend", resend.word(), Resend::Never.word());
    }
    match settings.get("refund_one_at_a_time") {
        Some(value) if !parameters.refunds.one_at_a_time => refuse("refund_one_at_a_time", value, "yes"),
        _ => Ok(()),
    }
}
