//! What is known about the customer of a payment.

use domain::{payment::Checkout, visible::escape_hidden};
use i18n_embed_fl::fl;

use crate::words::Words;

pub(crate) struct Fact {
    pub(crate) label: String,
    pub(crate) text: String,
}

/// What the customer filled in, without the fields that are empty.
pub(crate) fn customer_facts(words: Words, checkout: &Checkout) -> Vec<Fact> {
    let customer = &checkout.customer;
    filled([
        (fl!(words, "field-name"), customer.name.clone()),
        (fl!(words, "field-email"), customer.email.clone()),
        (fl!(words, "field-phone"), customer.phone.clone()),
        (fl!(words, "field-address"), customer.address.clone()),
    ])
}

/// What the customer's browser says of itself, and where it is.
pub(crate) fn device_facts(words: Words, checkout: &Checkout) -> Vec<Fact> {
    let Checkout { location, device, .. } = checkout;
    let device_text = listed([&device.browser, &device.os, &device.kind]);
    let place = listed([&location.ip, &location.country]);
    filled([
        (fl!(words, "payment-device"), device_text),
        (fl!(words, "payment-location"), place),
        (fl!(words, "payment-user-agent"), device.user_agent.as_deref().map(escape_hidden).unwrap_or_default()),
    ])
}

fn listed<const N: usize>(parts: [&Option<String>; N]) -> String {
    let known = parts.into_iter().flatten().filter(|part| *part != "unknown").map(String::as_str);
    known.collect::<Vec<_>>().join(", ")
}

fn filled<const N: usize>(facts: [(String, String); N]) -> Vec<Fact> {
    facts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| Fact { label, text }).collect()
}
