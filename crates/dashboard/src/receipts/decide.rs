//! One receipt: what accepting and what returning its money would do, and the forms for both.

use std::time::Duration;

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{
    access::Act,
    link::{Link, LinkClaim},
    payment::Payment,
    receipt::{DECISION_NOTE, Decision, ReceiptKey, Unapplied, UnappliedReceipt},
};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::{form::Form, moment::Moment, page_error::PageError, render::switch_query};

use super::wording::{TakenDecision, decide_url, reason, taken_decision};
use crate::{
    done::Done,
    input::text_mistake,
    labels::{Badge, payment_badge},
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "receipt.html")]
pub(crate) struct DecidePage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) provider: String,
    pub(crate) id: String,
    pub(crate) amount: String,
    pub(crate) paid: Moment,
    pub(crate) received: Moment,
    pub(crate) reason: String,
    pub(crate) payment_url: String,
    pub(crate) reference: String,
    pub(crate) payment_amount: String,
    pub(crate) payment_badge: Badge,
    /// Why the form was not carried out.
    pub(crate) notice: Option<String>,
    pub(crate) offered: Offered,
}

/// What the member can do about the receipt.
pub(crate) enum Offered {
    /// The decision was taken before.
    Decided(TakenDecision),
    /// The member's role may not decide.
    Nothing,
    Choice {
        /// The reason, where the money cannot pay its payment.
        accept: Result<Accepting, String>,
        returning: Answer,
    },
}

/// What accepting the money would do.
pub(crate) struct Accepting {
    pub(crate) fee: String,
    pub(crate) net: String,
    pub(crate) answer: Answer,
}

/// The note of a form that was sent, and what is wrong with it.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    pub(crate) note: String,
    pub(crate) mistake: Option<String>,
}

/// A form that was not carried out.
struct Failed {
    status: StatusCode,
    decision: Decision,
    answer: Answer,
    notice: Option<String>,
}

pub(crate) async fn show(page: Page) -> Result<Response, PageError> {
    let key = receipt_key(page.query("provider"), page.query("id"))?;
    receipt_page(&page, &key, None).await
}

pub(crate) async fn accept(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    decide(&page, &form, Decision::Accepted).await
}

pub(crate) async fn return_money(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    decide(&page, &form, Decision::Returned).await
}

async fn decide(page: &Page, form: &Form, decision: Decision) -> Result<Response, PageError> {
    let words = page.words();
    let key = receipt_key(form.text("provider"), form.text("id"))?;
    // Browsers send a line break as two characters, but count it as one.
    let note = form.text("note").unwrap_or_default().replace("\r\n", "\n").trim().to_owned();
    let (decided, done) = match decision {
        Decision::Accepted => (page.desk.accept_receipt(&key, note.clone()).await, Done::ReceiptAccepted),
        Decision::Returned => (page.desk.return_receipt(&key, note.clone()).await, Done::ReceiptReturned),
    };
    let (status, mistake, notice) = match decided {
        Ok(_) => return Ok(page.redirect(page.path("/balance/receipts"), done)),
        Err(Error::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Some(note_mistake(words, &note)), None),
        Err(Error::AlreadyDecided) => (StatusCode::CONFLICT, None, Some(fl!(words, "receipt-decided-already"))),
        Err(Error::DoesNotFit(why)) => (StatusCode::CONFLICT, None, Some(unfit(words, why))),
        Err(error) => return Err(error.into()),
    };
    let failed = Failed { status, decision, answer: Answer { note, mistake }, notice };
    receipt_page(page, &key, Some(failed)).await
}

/// The key that an address or a form names; a receipt without a complete key does not exist.
fn receipt_key(provider: Option<&str>, id: Option<&str>) -> Result<ReceiptKey, Error> {
    let (provider, id) = provider.zip(id).ok_or(Error::NotFound("receipt"))?;
    // Neither database stores a NUL character, and PostgreSQL refuses a query that contains one.
    let is_text = !provider.contains('\0') && !id.contains('\0');
    is_text.then(|| ReceiptKey { provider: provider.to_owned(), id: id.to_owned() }).ok_or(Error::NotFound("receipt"))
}

async fn receipt_page(page: &Page, key: &ReceiptKey, failed: Option<Failed>) -> Result<Response, PageError> {
    let (mut shell, base) = (page.shell(Section::Balance).await?, page.base());
    let held = page.desk.receipt(key).await?;
    let payment = page.desk.payment(held.payment_id).await?;
    let link = match payment.link_id {
        Some(id) => Some(page.desk.link(id).await?),
        None => None,
    };
    // The address of a form that was sent names no receipt, so it cannot be opened again: neither in the other language
    // nor by the script that follows changes.
    let language = switch_query(&page.visitor).replace('?', "&");
    shell.switch_url = format!("{}{language}", decide_url(&base, key));
    shell.live_url = shell.live_url.filter(|_| failed.is_none());
    let (status, notice) = failed.as_ref().map_or((StatusCode::OK, None), |form| (form.status, form.notice.clone()));
    let view = DecidePage {
        list_url: format!("{base}/balance/receipts"),
        provider: key.provider.clone(),
        id: key.id.clone(),
        amount: held.receipt.amount.to_string(),
        paid: page.moment(held.receipt.paid_at),
        received: page.moment(held.receipt.received_at),
        reason: reason(shell.words, held.reason),
        payment_url: format!("{base}/payments/{}", payment.id),
        reference: payment.reference.clone(),
        payment_amount: payment.amount.to_string(),
        payment_badge: payment_badge(shell.words, payment.status_at(page.now())),
        notice,
        offered: offered(page, &held, payment, link.as_ref(), failed),
        shell,
    };
    Ok(page.render(status, &view))
}

fn offered(
    page: &Page,
    held: &UnappliedReceipt,
    payment: Payment,
    link: Option<&Link>,
    failed: Option<Failed>,
) -> Offered {
    if let Some(decision) = taken_decision(page, held) {
        return Offered::Decided(decision);
    }
    if !page.desk.may(Act::DecideReceipts) {
        return Offered::Nothing;
    }
    let (mut accepting, mut returning) = (Answer::default(), Answer::default());
    match failed {
        Some(Failed { decision: Decision::Accepted, answer, .. }) => accepting = answer,
        Some(Failed { decision: Decision::Returned, answer, .. }) => returning = answer,
        None => {}
    }
    let (fee, net) = (payment.fee.to_string(), payment.merchant_net().to_string());
    let claim = link.map_or(LinkClaim::NotNeeded, Link::claim);
    // The rule that decides is asked whether it would accept. When the money would settle does not matter for that.
    let accept = match payment.accept(&held.receipt, claim, Duration::ZERO, page.now()) {
        Ok(_) => Ok(Accepting { fee, net, answer: accepting }),
        Err(why) => Err(unfit(page.words(), why)),
    };
    Offered::Choice { accept, returning }
}

/// What is wrong with a note that the engine refused.
pub(crate) fn note_mistake(words: Words, note: &str) -> String {
    let missing = || fl!(words, "receipt-note-missing");
    if note.is_empty() { missing() } else { text_mistake(words, DECISION_NOTE, note).unwrap_or_else(missing) }
}

/// Why the money cannot pay its payment, so that it can only be returned.
fn unfit(words: Words, why: Unapplied) -> String {
    match why {
        Unapplied::WrongAmount => fl!(words, "receipt-unfit-amount"),
        Unapplied::AlreadyPaid => fl!(words, "receipt-unfit-paid"),
        Unapplied::LinkClaimed => fl!(words, "receipt-unfit-link"),
        // Such money can be accepted, so these reasons do not occur here.
        Unapplied::TooLate | Unapplied::ReceiptReused => reason(words, why),
    }
}
