//! Letters about one payment: the customer's receipt, and money that fits no payment.

use domain::{face::Contact, method::Method, receipt::Unapplied};
use i18n_embed_fl::fl;

use super::phrasing::{Phrasing, sender_name};
use crate::{
    content::{ContactLink, Content},
    letter::{Face, MoneyHeld, PaymentReceipt},
    shown::{shown, shown_in_subject},
    words::Words,
};

pub(super) fn receipt(phrasing: Phrasing, letter: &PaymentReceipt, face: &Face) -> Content {
    let words = phrasing.words;
    let (amount, merchant) = (letter.amount.to_string(), sender_name(face));
    let in_subject = shown_in_subject(face.shop.as_ref().map_or(&face.host, |shop| &shop.name));
    let subject = fl!(words, "receipt-subject", amount = amount.as_str(), merchant = in_subject);
    let ways = face.shop.iter().flat_map(|shop| shop.contacts.ways());
    let content = Content::new(subject, fl!(words, "receipt-why"))
        .lead(fl!(words, "receipt-text", merchant = merchant))
        .fact(fl!(words, "fact-item"), shown(&letter.title))
        .fact(fl!(words, "fact-paid-at"), phrasing.moment(letter.paid_at))
        .fact(fl!(words, "fact-method"), method(letter.method))
        .known_fact(fl!(words, "fact-reference"), letter.reference.as_deref().map(shown))
        .fact(fl!(words, "fact-payment"), shown(&letter.payment_id))
        .action(fl!(words, "receipt-action"), &letter.payment_url)
        .warning(fl!(words, "receipt-not-you"), fl!(words, "receipt-not-you-text"));
    Content {
        heading: fl!(words, "receipt-heading"),
        amount: Some(amount),
        contacts: ways.map(contact_link).collect(),
        is_sandbox: letter.is_sandbox,
        ..content
    }
}

/// `QRIS` or `Virtual account BCA`, which are names in both languages.
fn method(method: Method) -> String {
    match method {
        Method::Qris => "QRIS".to_owned(),
        Method::VirtualAccount(bank) => format!("Virtual account {}", bank.short_name()),
    }
}

fn contact_link(contact: Contact<'_>) -> ContactLink {
    ContactLink { text: contact.text(), url: contact.address() }
}

pub(super) fn money_held(phrasing: Phrasing, letter: &MoneyHeld) -> Content {
    let words = phrasing.words;
    let amount = letter.amount.to_string();
    let project = shown_in_subject(&letter.project);
    let content =
        Content::new(fl!(words, "held-subject", amount = amount.as_str(), project = project), fl!(words, "why-member"))
            .lead(reason(words, letter.reason))
            .lead(fl!(words, "held-text"))
            .fact(fl!(words, "fact-project"), shown(&letter.project))
            .fact(fl!(words, "fact-received-at"), phrasing.moment(letter.received_at))
            .fact(fl!(words, "fact-payment"), shown(&letter.payment_id))
            .action(fl!(words, "held-action"), &letter.page_url)
            .after(fl!(words, "held-who"));
    Content { heading: fl!(words, "held-heading"), amount: Some(amount), is_sandbox: letter.is_sandbox, ..content }
}

/// Why money pays nothing, in a sentence.
fn reason(words: Words, reason: Unapplied) -> String {
    match reason {
        Unapplied::WrongAmount => fl!(words, "held-wrong-amount"),
        Unapplied::AlreadyPaid => fl!(words, "held-already-paid"),
        Unapplied::LinkClaimed => fl!(words, "held-link-claimed"),
        Unapplied::TooLate => fl!(words, "held-too-late"),
        Unapplied::ReceiptReused => fl!(words, "held-receipt-reused"),
    }
}
