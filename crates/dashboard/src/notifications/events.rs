//! The events that a project gets only if it asks for them.

use axum::response::Response;
use domain::{access::Act, event::EventKind, project::Project};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use crate::{done::Done, page::Page, session::SignedForm, words::Words};

/// A checkbox for one kind of events.
pub(crate) struct EventChoice {
    /// `payment.expired`, which is also the name of the field.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) checked: bool,
}

pub(crate) fn choices(words: Words, project: &Project) -> Vec<EventChoice> {
    let choice = |(kind, text): (EventKind, String)| EventChoice {
        kind: kind.word(),
        text,
        checked: project.extra_events.contains(&kind),
    };
    let kinds = [
        (EventKind::PaymentExpired, fl!(words, "hook-events-expired")),
        (EventKind::PaymentCancelled, fl!(words, "hook-events-cancelled")),
        (EventKind::PaymentHeld, fl!(words, "hook-events-held")),
        (EventKind::RefundRequiresAction, fl!(words, "hook-events-refund-needs-account")),
        (EventKind::RefundSucceeded, fl!(words, "hook-events-refund-succeeded")),
        (EventKind::RefundFailed, fl!(words, "hook-events-refund-failed")),
        (EventKind::RefundCancelled, fl!(words, "hook-events-refund-cancelled")),
        (EventKind::RefundReturned, fl!(words, "hook-events-refund-returned")),
    ];
    kinds.into_iter().map(choice).collect()
}

pub(crate) async fn save(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageWebhooks)?;
    let asked = EventKind::EXTRA.into_iter().filter(|kind| form.text(kind.word()).is_some());
    page.desk.set_extra_events(asked.collect()).await?;
    Ok(page.redirect(page.path("/notifications"), Done::EventsSaved))
}
