//! A bank's profile: its name and the parameters that its contracts begin with.

use std::collections::BTreeMap;

use domain::bank::Bank;

use super::{
    parameters::Parameters,
    settings::{self, BadSetting},
};

/// What is known about one bank's way to speak SNAP.
#[derive(Debug)]
pub struct Profile {
    /// How commands call it.
    pub name: &'static str,
    /// How people call it.
    pub title: &'static str,
    /// The bank whose virtual accounts it serves; none: any bank's.
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
        self.check_digits(&parameters)?;
        Ok(parameters)
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
