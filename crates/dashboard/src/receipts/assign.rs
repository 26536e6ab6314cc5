//! Using held money for another payment than it was sent for: the member chooses one, sees what would happen, and confirms.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{
    access::Act,
    id::{PaymentId, ReceiptId},
    receipt::Choice,
};
use engine::Error;
use i18n_embed_fl::fl;
use url::form_urlencoded::byte_serialize;
use web::page::{moment::Moment, page_error::PageError, render::switch_query};

use super::{
    choices::{Choices, searched, suggestions},
    effect::{Effect, difference_of, effect},
    wording::{Answer, decide_url, note_mistake, note_of, unfit},
};
use crate::{
    done::Done,
    labels::{Badge, payment_badge},
    page::Page,
    payment::customer::{Fact, customer_facts},
    session::{LastId, SignedForm},
    shell::{Section, Shell},
};

#[derive(Template)]
#[template(path = "receipts/assign.html")]
pub(crate) struct AssignPage {
    pub(crate) shell: Shell,
    /// The address of the receipt's page.
    pub(crate) url: String,
    pub(crate) amount: String,
    /// Of the payment that the money was sent for.
    pub(crate) reference: String,
    pub(crate) assign: Choices,
}

#[derive(Template)]
#[template(path = "receipts/assign/confirm.html")]
pub(crate) struct ConfirmPage {
    pub(crate) shell: Shell,
    pub(crate) url: String,
    pub(crate) amount: String,
    pub(crate) payment_id: String,
    pub(crate) payment_url: String,
    pub(crate) reference: String,
    pub(crate) customer: Vec<Fact>,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
    /// Why the form was not carried out.
    pub(crate) notice: Option<String>,
    /// The reason, where the money cannot pay this payment.
    pub(crate) effect: Result<Effect, String>,
    pub(crate) answer: Answer,
}

/// Shows payments to choose from, or the one that was chosen.
pub(crate) async fn ask(page: Page, LastId(id): LastId<ReceiptId>) -> Result<Response, PageError> {
    page.require(Act::DecideReceipts)?;
    match page.query("payment").map(str::parse::<PaymentId>) {
        None => choose_page(&page, id, page.query("q").unwrap_or_default().trim(), None).await,
        Some(Err(_)) => unknown(&page, id).await,
        Some(Ok(payment)) => confirm_page(&page, id, payment, StatusCode::OK, Answer::default(), None).await,
    }
}

pub(crate) async fn assign(
    page: Page,
    LastId(id): LastId<ReceiptId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::DecideReceipts)?;
    let (words, note) = (page.words(), note_of(&form));
    let Ok(payment_id) = form.text("payment").unwrap_or_default().parse::<PaymentId>() else {
        return unknown(&page, id).await;
    };
    let choice = Choice::Accept { payment_id: Some(payment_id), difference: difference_of(&form) };
    let (status, mistake, notice) = match page.desk.decide_receipt(id, choice, note.clone()).await {
        Ok(_) => return Ok(page.redirect(page.path("/balance/receipts"), Done::ReceiptAssigned)),
        Err(Error::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Some(note_mistake(words, &note)), None),
        Err(Error::AlreadyDecided) => (StatusCode::CONFLICT, None, Some(fl!(words, "receipt-decided-already"))),
        Err(Error::DoesNotFit(why)) => {
            let payment = page.desk.payment(payment_id).await?;
            (StatusCode::CONFLICT, None, Some(unfit(words, why, &payment)))
        }
        Err(Error::NotFound("payment")) => return unknown(&page, id).await,
        Err(error) => return Err(error.into()),
    };
    confirm_page(&page, id, payment_id, status, Answer { note, mistake }, notice).await
}

async fn unknown(page: &Page, id: ReceiptId) -> Result<Response, PageError> {
    let mistake = fl!(page.words(), "receipt-assign-unknown");
    choose_page(page, id, "", Some(mistake)).await
}

/// `mistake`: why the payment that was named is none to choose.
async fn choose_page(page: &Page, id: ReceiptId, typed: &str, mistake: Option<String>) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Balance).await?;
    let held = page.desk.receipt(id).await?;
    let payment = page.desk.payment(held.payment_id).await?;
    let mut assign = match typed {
        "" => suggestions(page, &held).await?,
        typed => searched(page, &held, typed).await?,
    };
    let url = decide_url(&page.base(), id);
    let asked: String = byte_serialize(assign.asked.as_bytes()).collect();
    let language = switch_query(&page.visitor).replace('?', "&");
    shell.switch_url = format!("{url}/assign?q={asked}{language}");
    assign.mistake = mistake.or(assign.mistake);
    let status = if assign.mistake.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let amount = held.receipt.amount.to_string();
    Ok(page.render(status, &AssignPage { shell, url, amount, reference: payment.terms.reference, assign }))
}

async fn confirm_page(
    page: &Page,
    id: ReceiptId,
    payment_id: PaymentId,
    status: StatusCode,
    answer: Answer,
    notice: Option<String>,
) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Balance).await?;
    let held = page.desk.receipt(id).await?;
    let fit = match page.desk.receipt_fit(id, Some(payment_id)).await {
        Err(Error::NotFound("payment")) => return unknown(page, id).await,
        found => found?,
    };
    let (words, url) = (shell.words, decide_url(&page.base(), id));
    let language = switch_query(&page.visitor).replace('?', "&");
    shell.switch_url = format!("{url}/assign?payment={payment_id}{language}");
    // Nothing can be chosen any more where somebody has decided.
    let decided = held.decided.is_some().then(|| fl!(words, "receipt-decided-already"));
    let effect = match decided {
        Some(why) => Err(why),
        None => effect(words, &held, &fit),
    };
    let payment = fit.payment;
    let view = ConfirmPage {
        amount: held.receipt.amount.to_string(),
        payment_id: payment.id.to_string(),
        payment_url: format!("{}/payments/{}", page.base(), payment.id),
        customer: payment.terms.checkout.as_ref().map(|checkout| customer_facts(words, checkout)).unwrap_or_default(),
        badge: payment_badge(words, payment.status_at(page.now())),
        created: page.moment(payment.created_at),
        reference: payment.terms.reference,
        notice: notice.filter(|_| effect.is_ok()),
        effect,
        answer,
        url,
        shell,
    };
    Ok(page.render(status, &view))
}
