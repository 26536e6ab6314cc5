//! Letters about money that goes back to a customer: to the customer, and to those who approve it.

use i18n_embed_fl::fl;

use super::phrasing::{Phrasing, sender_name};
use crate::{
    content::{ContactLink, Content},
    letter::{ApprovalWanted, Asker, Face, RefundClaim, RefundMade},
    shown::{shown, shown_in_subject},
    words::Words,
};

pub(super) fn claim(phrasing: Phrasing, letter: &RefundClaim, face: &Face) -> Content {
    let words = phrasing.words;
    let (amount, merchant) = (letter.amount.to_string(), sender_name(face));
    let subject = fl!(words, "claim-subject", amount = amount.as_str(), merchant = subject_name(face));
    let content = Content::new(subject, fl!(words, "receipt-why"))
        .lead(fl!(words, "claim-text", merchant = merchant))
        .fact(fl!(words, "fact-item"), shown(&letter.title))
        .known_fact(fl!(words, "fact-refund-reason"), letter.reason.as_deref().map(shown))
        .known_fact(fl!(words, "fact-reference"), letter.reference.as_deref().map(shown))
        .fact(fl!(words, "fact-payment"), shown(&letter.payment_id))
        .fact(fl!(words, "fact-expires-at"), phrasing.moment(letter.expires_at))
        .action(fl!(words, "claim-action"), &letter.claim_url)
        .after(fl!(words, "claim-never"))
        .after(fl!(words, "link-is-yours"));
    Content {
        heading: fl!(words, "claim-heading"),
        amount: Some(amount),
        contacts: contacts(face),
        is_sandbox: letter.is_sandbox,
        ..content
    }
}

pub(super) fn made(phrasing: Phrasing, letter: &RefundMade, face: &Face) -> Content {
    let words = phrasing.words;
    let (amount, merchant) = (letter.amount.to_string(), sender_name(face));
    let subject = fl!(words, "refund-subject", amount = amount.as_str(), merchant = subject_name(face));
    let content = Content::new(subject, fl!(words, "receipt-why"))
        .lead(fl!(words, "refund-text", merchant = merchant))
        .fact(fl!(words, "fact-item"), shown(&letter.title))
        .known_fact(fl!(words, "fact-destination"), letter.destination.as_deref().map(shown))
        .fact(fl!(words, "fact-refunded-at"), phrasing.moment(letter.made_at))
        .known_fact(fl!(words, "fact-reference"), letter.reference.as_deref().map(shown))
        .fact(fl!(words, "fact-payment"), shown(&letter.payment_id))
        .action(fl!(words, "receipt-action"), &letter.payment_url);
    Content {
        heading: fl!(words, "refund-heading"),
        amount: Some(amount),
        contacts: contacts(face),
        is_sandbox: letter.is_sandbox,
        ..content
    }
}

pub(super) fn approval_wanted(phrasing: Phrasing, letter: &ApprovalWanted) -> Content {
    let words = phrasing.words;
    let amount = letter.amount.to_string();
    let project = shown_in_subject(&letter.project);
    let (why, who) = match letter.for_operators {
        true => (fl!(words, "why-operator"), fl!(words, "approval-operators")),
        false => (fl!(words, "why-member"), fl!(words, "approval-owners")),
    };
    let (way, destination) = match &letter.destination {
        Some(destination) => (fl!(words, "fact-destination"), shown(destination)),
        None => (fl!(words, "fact-way"), fl!(words, "approval-same-way")),
    };
    let content = Content::new(fl!(words, "approval-subject", amount = amount.as_str(), project = project), why)
        .lead(fl!(words, "approval-text"))
        .fact(fl!(words, "fact-project"), shown(&letter.project))
        .known_fact(fl!(words, "fact-asked-by"), letter.asked_by.as_ref().map(|asker| asked_by(words, asker)))
        .fact(fl!(words, "fact-asked-at"), phrasing.moment(letter.asked_at))
        .fact(way, destination)
        .known_fact(fl!(words, "fact-refund-reason"), letter.reason.as_deref().map(shown))
        .fact(fl!(words, "fact-payment"), shown(&letter.payment_id))
        .action(fl!(words, "approval-action"), &letter.page_url)
        .after(who);
    Content { heading: fl!(words, "approval-heading"), amount: Some(amount), is_sandbox: letter.is_sandbox, ..content }
}

fn asked_by(words: Words, asker: &Asker) -> String {
    match asker {
        Asker::User(email) => shown(email),
        Asker::Key => fl!(words, "asked-by-key"),
        Asker::CommandLine => fl!(words, "from-server"),
    }
}

fn subject_name(face: &Face) -> String {
    shown_in_subject(face.shop.as_ref().map_or(&face.host, |shop| &shop.name))
}

fn contacts(face: &Face) -> Vec<ContactLink> {
    let ways = face.shop.iter().flat_map(|shop| shop.contacts.ways());
    ways.map(|contact| ContactLink { text: contact.text(), url: contact.address() }).collect()
}
