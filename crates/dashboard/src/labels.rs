//! The words that several pages show for statuses, methods, roles and fields.

use domain::{
    access::Role,
    bank::Bank,
    customer::CustomerField,
    delivery::{Delivery, DeliveryState},
    key_rights::{KeyRight, KeyRights},
    method::Method,
    money::Rupiah,
    payment::{Payment, Status},
    project::Project,
};
use i18n_embed_fl::fl;

use crate::words::Words;

/// A coloured word: `status` names the colour in the style sheet, `text` is in the language of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Badge {
    pub(crate) status: &'static str,
    pub(crate) text: String,
}

pub(crate) fn payment_badge(words: Words, status: Status) -> Badge {
    let text = match status {
        Status::Pending => fl!(words, "status-pending"),
        Status::Processing => fl!(words, "status-processing"),
        Status::Paid => fl!(words, "status-paid"),
        Status::Failed => fl!(words, "status-failed"),
        Status::Expired => fl!(words, "status-expired"),
        Status::Cancelled => fl!(words, "status-cancelled"),
    };
    Badge { status: status.word(), text }
}

/// Whether the money that was received for a payment was given back; none where nothing was.
pub(crate) fn refunded_badge(words: Words, payment: &Payment, received: Rupiah) -> Option<Badge> {
    match payment.refunds.succeeded {
        Rupiah::ZERO => None,
        refunded if refunded >= received => Some(Badge { status: "off", text: fl!(words, "refunded-fully") }),
        _ => Some(Badge { status: "off", text: fl!(words, "refunded-partly") }),
    }
}

/// The state of an event's delivery; there is none where the project had no webhook URL.
pub(crate) fn delivery_badge(words: Words, delivery: Option<&Delivery>) -> Badge {
    let (status, text) = match delivery.map(|delivery| (delivery.state, delivery.attempts > delivery.resent_after)) {
        None => ("none", fl!(words, "delivery-none")),
        Some((DeliveryState::Delivered, _)) => ("delivered", fl!(words, "delivery-delivered")),
        Some((DeliveryState::Exhausted, _)) => ("exhausted", fl!(words, "delivery-exhausted")),
        Some((DeliveryState::Pending { .. }, true)) => ("retrying", fl!(words, "delivery-retrying")),
        Some((DeliveryState::Pending { .. }, false)) => ("pending", fl!(words, "delivery-sending")),
    };
    Badge { status, text }
}

/// All methods that a project could offer.
pub(crate) fn every_method() -> impl Iterator<Item = Method> {
    std::iter::once(Method::Qris).chain(Bank::ALL.into_iter().map(Method::VirtualAccount))
}

/// `QRIS`, or the bank's name.
pub(crate) fn method_name(words: Words, method: Method) -> String {
    match method {
        Method::Qris => "QRIS".to_owned(),
        Method::VirtualAccount(bank) => bank_account(words, bank),
    }
}

/// `QRIS`, or `VA` and the bank's short name.
pub(crate) fn short_method(method: Method) -> String {
    match method.bank() {
        None => "QRIS".to_owned(),
        Some(bank) => format!("VA {}", bank.short_name()),
    }
}

fn bank_account(words: Words, bank: Bank) -> String {
    let name = bank.short_name();
    fl!(words, "method-account", bank = name)
}

/// Whether a project takes payments.
pub(crate) fn project_badge(words: Words, project: &Project) -> Badge {
    match (project.active, project.is_usable()) {
        (false, _) => Badge { status: "inactive", text: fl!(words, "project-inactive") },
        (true, false) => Badge { status: "wait", text: fl!(words, "project-waiting") },
        (true, true) => Badge { status: "active", text: fl!(words, "project-active") },
    }
}

pub(crate) fn role_name(words: Words, role: Role) -> String {
    match role {
        Role::Owner => fl!(words, "role-owner"),
        Role::Developer => fl!(words, "role-developer"),
        Role::Viewer => fl!(words, "role-viewer"),
        Role::Cashier => fl!(words, "role-cashier"),
    }
}

pub(crate) fn key_right_name(words: Words, right: KeyRight) -> String {
    match right {
        KeyRight::Payments => fl!(words, "key-right-payments"),
        KeyRight::HeldMoney => fl!(words, "key-right-held-money"),
        KeyRight::Refunds => fl!(words, "key-right-refunds"),
    }
}

/// The rights of a key in one line.
pub(crate) fn key_rights_names(words: Words, rights: KeyRights) -> String {
    if rights.is_empty() {
        return fl!(words, "key-read-only");
    }
    rights.iter().map(|right| key_right_name(words, right)).collect::<Vec<_>>().join(", ")
}

/// What a role may do, in a sentence.
pub(crate) fn role_text(words: Words, role: Role) -> String {
    match role {
        Role::Owner => fl!(words, "role-owner-text"),
        Role::Developer => fl!(words, "role-developer-text"),
        Role::Viewer => fl!(words, "role-viewer-text"),
        Role::Cashier => fl!(words, "role-cashier-text"),
    }
}

/// The name of something that customers are asked for.
pub(crate) fn customer_field_name(words: Words, field: CustomerField) -> String {
    match field {
        CustomerField::Name => fl!(words, "link-asks-name"),
        CustomerField::Email => fl!(words, "link-asks-email"),
        CustomerField::Phone => fl!(words, "link-asks-phone"),
        CustomerField::Address => fl!(words, "link-asks-address"),
    }
}
