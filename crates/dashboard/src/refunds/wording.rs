//! What pages say about a refund: how it stands, where its money goes, who did what, and why something cannot be done.

use domain::{
    destination::Destination,
    id::RefundId,
    payment::Payment,
    refund::{NoRoom, Party, PendingReason, Refund, RefundRoad, RefundState, RefundStatus},
    rules::TextRule,
    visible::escape_hidden,
};
use engine::{NamedParty, Sending, UncertainRefund};
use i18n_embed_fl::fl;
use web::page::form::Form;

use crate::{input::text_mistake, labels::Badge, receipts::wording::Answer, words::Words};

/// The page of a refund, below the address of its project's desk.
pub(crate) fn refund_path(id: RefundId) -> String {
    format!("/refunds/{id}")
}

/// The page of a refund.
pub(crate) fn refund_url(base: &str, id: RefundId) -> String {
    format!("{base}{}", refund_path(id))
}

/// A status as it is chosen in the list.
pub(crate) fn status_name(words: Words, status: RefundStatus) -> String {
    match status {
        RefundStatus::RequiresAction => fl!(words, "refund-status-requires-action"),
        RefundStatus::Pending => fl!(words, "refund-status-pending"),
        RefundStatus::Succeeded => fl!(words, "refund-status-succeeded"),
        RefundStatus::Failed => fl!(words, "refund-status-failed"),
        RefundStatus::Cancelled => fl!(words, "refund-status-cancelled"),
        RefundStatus::Returned => fl!(words, "refund-status-returned"),
    }
}

/// How a refund stands, in a word and in a sentence.
pub(crate) fn standing(words: Words, state: RefundState, sending: Sending) -> (Badge, String) {
    let (status, text, sentence) = match (state, sending) {
        (RefundState::RequiresAction, _) => {
            ("wait", status_name(words, state.status()), fl!(words, "refund-text-requires-action"))
        }
        (RefundState::Pending(PendingReason::AwaitingApproval), _) => {
            ("wait", fl!(words, "refund-status-awaiting-approval"), fl!(words, "refund-text-awaiting-approval"))
        }
        (RefundState::Pending(_), Sending::ByHand) => {
            ("wait", fl!(words, "refund-status-by-hand"), fl!(words, "refund-text-by-hand"))
        }
        (RefundState::Pending(_), Sending::Uncertain) => {
            ("bad", fl!(words, "refund-status-unknown"), fl!(words, "refund-text-unknown"))
        }
        (RefundState::Pending(PendingReason::InsufficientBalance), Sending::Usual) => {
            ("bad", fl!(words, "refund-status-insufficient-balance"), fl!(words, "refund-text-insufficient-balance"))
        }
        (RefundState::Pending(PendingReason::Processing), Sending::Usual) => {
            ("info", fl!(words, "refund-status-processing"), fl!(words, "refund-text-processing"))
        }
        (RefundState::Succeeded { .. }, _) => {
            ("good", status_name(words, state.status()), fl!(words, "refund-text-succeeded"))
        }
        (RefundState::Failed, _) => ("bad", status_name(words, state.status()), fl!(words, "refund-text-failed")),
        (RefundState::Cancelled, _) => ("off", status_name(words, state.status()), fl!(words, "refund-text-cancelled")),
        (RefundState::Returned { .. }, _) => {
            ("bad", status_name(words, state.status()), fl!(words, "refund-text-returned"))
        }
    };
    (Badge { status, text }, sentence)
}

/// The same on the page of the refund itself, where more is known of it.
pub(crate) fn standing_on_page(
    words: Words,
    refund: &Refund,
    sending: Sending,
    uncertain: Option<&UncertainRefund>,
) -> (Badge, String) {
    let (badge, sentence) = standing(words, refund.state, sending);
    let sentence = match refund.state {
        RefundState::Succeeded { .. } if refund.found.is_some() => fl!(words, "refund-text-found"),
        RefundState::Pending(_) if uncertain.is_some_and(UncertainRefund::is_left_to_people) => {
            fl!(words, "refund-text-left")
        }
        _ => sentence,
    };
    (badge, sentence)
}

/// Where the money goes, in a few words.
pub(crate) fn road_line(words: Words, refund: &Refund) -> String {
    match (&refund.destination, refund.road) {
        (Some(destination), _) => destination_line(destination),
        (None, RefundRoad::Qris) => fl!(words, "refund-road-qris"),
        (None, RefundRoad::Transfer) => fl!(words, "refund-road-transfer"),
    }
}

/// The bank, the last digits and the holder.
pub(crate) fn destination_line(destination: &Destination) -> String {
    let account = format!("{} ····{}", destination.bank.name, destination.last_digits);
    match &destination.holder {
        Some(holder) => format!("{account}, {}", escape_hidden(holder)),
        None => account,
    }
}

/// The customer and the holder of the account have different names, or there is no holder's name to compare.
pub(crate) fn names_warning(words: Words, refund: &Refund, payment: &Payment) -> Option<String> {
    let destination = refund.destination.as_ref()?;
    let Some(holder) = &destination.holder else { return Some(fl!(words, "refund-approval-nameless")) };
    let customer = payment.terms.checkout.as_ref().map(|checkout| checkout.customer.name.clone())?;
    if customer.is_empty() || is_same_name(&customer, holder) {
        return None;
    }
    let holder = escape_hidden(holder);
    Some(fl!(words, "refund-approval-names", customer = customer, holder = holder))
}

/// Whether two names have the same letters. Banks write names in capitals, without dots and commas.
fn is_same_name(one: &str, other: &str) -> bool {
    let letters =
        |name: &str| name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    letters(one) == letters(other)
}

/// Who did something: the email of a user, the id of a key, the customer or the command line.
pub(crate) fn party_name(words: Words, named: &NamedParty) -> String {
    match (&named.email, named.party) {
        (Some(email), _) => email.to_string(),
        (None, Party::User(id)) => id.to_string(),
        (None, Party::Key(id)) => id.to_string(),
        (None, Party::CommandLine) => fl!(words, "audit-command-line"),
        (None, Party::Customer) => fl!(words, "refund-customer"),
    }
}

/// Why money cannot be given back.
pub(crate) fn no_room(words: Words, why: NoRoom) -> String {
    match why {
        NoRoom::NotPaid => fl!(words, "refund-not-paid"),
        NoRoom::NothingLeft => fl!(words, "refund-nothing-left"),
        NoRoom::TooMuch { left } => too_much(words, left.to_string()),
        NoRoom::AboveReceived { received } => too_much(words, received.to_string()),
        NoRoom::NotCovered { covered } => {
            let covered = covered.to_string();
            fl!(words, "refund-not-covered", covered = covered)
        }
    }
}

fn too_much(words: Words, left: String) -> String {
    fl!(words, "refund-too-much", left = left)
}

/// The line that a form brought, such as a reason or a bank's reference, and what is wrong with it.
pub(crate) fn line_of(words: Words, form: &Form, rule: TextRule, missing: String) -> Answer {
    let note = form.text("text").unwrap_or_default().trim().to_owned();
    let mistake = if note.is_empty() { Some(missing) } else { text_mistake(words, rule, &note) };
    Answer { note, mistake }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_however_its_bank_writes_it() {
        for (one, other, same) in [
            ("Siti Aisyah", "SITI AISYAH", true),
            ("Siti Aisyah, S.E.", "SITI AISYAH SE", true),
            ("Siti Aisyah", "SITI AISYAH PUTRI", false),
            ("Siti", "Sari", false),
        ] {
            assert_eq!(is_same_name(one, other), same, "{one} and {other}");
        }
    }
}
