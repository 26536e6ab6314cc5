//! What members do with a refund: approve, decline or cancel it, say where it goes, and record how a transfer went. Each form
//! comes back with a sentence where it cannot be carried out.

use axum::{http::StatusCode, response::Response};
use domain::{
    access::Act,
    id::RefundId,
    refund::{BANK_REFERENCE, FAILURE},
};
use engine::{Error, RefundOutcome};
use i18n_embed_fl::fl;
use web::page::{form::Form, page_error::PageError};

use super::{
    account::TypedAccount,
    show::{FilledForm, Refused, refund_page},
    uncertain::{is_confirmed, stuck},
    wording::{line_of, refund_path},
};
use crate::{
    done::Done,
    page::Page,
    receipts::wording::Answer,
    session::{LastId, SignedForm},
};

pub(crate) async fn approve(
    page: Page,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let Some(version) = form.text("version").and_then(|version| version.parse().ok()) else {
        return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY));
    };
    let approved = page.desk.approve_refund(id, version).await;
    answer(&page, id, approved, Done::RefundApproved, FilledForm::None).await
}

pub(crate) async fn decline(
    page: Page,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let why = why(&page, &form);
    if why.mistake.is_some() {
        return mistaken(&page, id, FilledForm::Decline(why)).await;
    }
    let declined = page.desk.decline_refund(id, why.note.clone()).await;
    answer(&page, id, declined, Done::RefundDeclined, FilledForm::Decline(why)).await
}

pub(crate) async fn cancel(page: Page, LastId(id): LastId<RefundId>, _: SignedForm) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let cancelled = page.desk.cancel_refund(id).await;
    answer(&page, id, cancelled, Done::RefundCancelled, FilledForm::None).await
}

/// Makes a new address for the customer; the one before works no more.
pub(crate) async fn renew_link(page: Page, LastId(id): LastId<RefundId>, _: SignedForm) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let renewed = page.desk.renew_refund_link(id).await;
    answer(&page, id, renewed, Done::RefundLinkRenewed, FilledForm::None).await
}

/// The member types where the money goes.
pub(crate) async fn give_destination(
    page: Page,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let amount = page.desk.refund(id).await?.amount;
    let destination = match TypedAccount::read(page.words(), &form, amount) {
        Ok(destination) => destination,
        Err(typed) => return mistaken(&page, id, FilledForm::Account(*typed)).await,
    };
    let given = page.desk.give_destination(id, destination).await;
    let filled = FilledForm::Account(TypedAccount::unchecked(&form));
    answer(&page, id, given, Done::RefundDestined, filled).await
}

pub(crate) async fn mark_done(
    page: Page,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let words = page.words();
    let reference = line_of(words, &form, BANK_REFERENCE, fl!(words, "refund-transfer-reference-missing"));
    if reference.mistake.is_some() {
        return mistaken(&page, id, FilledForm::Done(reference)).await;
    }
    let marked = page.desk.mark_transferred(id, reference.note.clone()).await;
    answer(&page, id, marked, Done::RefundTransferred, FilledForm::Done(reference)).await
}

pub(crate) async fn mark_failed(
    page: Page,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let why = why(&page, &form);
    if why.mistake.is_some() {
        return mistaken(&page, id, FilledForm::Failed(why)).await;
    }
    let marked = page.desk.mark_not_transferred(id, why.note.clone(), is_confirmed(&form)).await;
    // Where a bank may have made it all the same, a second person has to say so too.
    let done = match &marked {
        Ok(refund) if refund.state.is_unfinished() => Done::RefundDoubted,
        _ => Done::RefundFailed,
    };
    answer(&page, id, marked, done, FilledForm::Failed(why)).await
}

pub(crate) async fn mark_returned(
    page: Page,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let why = why(&page, &form);
    if why.mistake.is_some() {
        return mistaken(&page, id, FilledForm::CameBack(why)).await;
    }
    let marked = page.desk.mark_returned(id, why.note.clone()).await;
    answer(&page, id, marked, Done::RefundReturned, FilledForm::CameBack(why)).await
}

/// The member plays the sandbox's bank.
pub(crate) async fn simulate(
    page: Page,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Simulate)?;
    let Some(outcome) = form.text("outcome").and_then(RefundOutcome::parse) else {
        return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY));
    };
    let simulated = page.desk.simulate_refund(id, outcome).await;
    answer(&page, id, simulated, Done::RefundSimulated, FilledForm::None).await
}

fn why(page: &Page, form: &Form) -> Answer {
    line_of(page.words(), form, FAILURE, fl!(page.words(), "refund-why-missing"))
}

async fn mistaken(page: &Page, id: RefundId, form: FilledForm) -> Result<Response, PageError> {
    let refused = Refused { status: StatusCode::UNPROCESSABLE_ENTITY, notice: None, form };
    refund_page(page, id, Some(refused)).await
}

/// Leads back to the refund, which says what was done; or shows it with the reason why nothing was.
async fn answer<T>(
    page: &Page,
    id: RefundId,
    outcome: Result<T, Error>,
    done: Done,
    form: FilledForm,
) -> Result<Response, PageError> {
    let notice = match outcome {
        Ok(_) => return Ok(page.redirect(page.path(&refund_path(id)), done)),
        Err(Error::RefundStuck(why)) => stuck(page, why),
        Err(Error::RefundChanged) => fl!(page.words(), "refund-changed"),
        Err(Error::Taken(_)) => fl!(page.words(), "refund-transfer-reference-used"),
        Err(error) => return Err(error.into()),
    };
    refund_page(page, id, Some(Refused { status: StatusCode::CONFLICT, notice: Some(notice), form })).await
}
