//! One receipt: what each decision about its money would do, and the forms for them.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{
    access::Act,
    id::ReceiptId,
    payment::Payment,
    receipt::{Choice, Decision, UnappliedReceipt},
};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::{form::Form, moment::Moment, page_error::PageError, render::switch_query};

use super::{
    choices::{Choices, suggestions},
    effect::{Effect, difference_of, effect},
    wording::{
        Answer, TakenDecision, decide_url, decided_by, difference, note_mistake, note_of, reason, taken_decision, unfit,
    },
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
#[template(path = "receipts/decide.html")]
pub(crate) struct DecidePage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    /// The address of this page.
    pub(crate) url: String,
    pub(crate) facts: ReceiptFacts,
    /// Why the form was not carried out.
    pub(crate) notice: Option<String>,
    pub(crate) offered: Offered,
}

/// The money, and the payment that it was sent for.
pub(crate) struct ReceiptFacts {
    pub(crate) id: String,
    /// By which the bank knows the money.
    pub(crate) bank_id: String,
    pub(crate) amount: String,
    pub(crate) paid: Moment,
    pub(crate) received: Moment,
    pub(crate) reason: String,
    pub(crate) payment_url: String,
    pub(crate) reference: String,
    pub(crate) payment_amount: String,
    pub(crate) payment_badge: Badge,
    pub(crate) difference: Option<String>,
    pub(crate) customer: Vec<Fact>,
}

/// What the member can do about the receipt.
pub(crate) enum Offered {
    /// The decision was taken before.
    Decided(Taken),
    /// The member's role may not decide.
    Nothing,
    Choice {
        /// The reason, where the money cannot pay its payment.
        accept: Result<Accepting, String>,
        assign: Choices,
        returning: Answer,
    },
}

/// A decision that was taken, and by whom.
pub(crate) struct Taken {
    pub(crate) decision: TakenDecision,
    pub(crate) by: Option<String>,
    /// The payment that the money was used for, if it is another one than it was sent for.
    pub(crate) payment: Option<UsedFor>,
}

pub(crate) struct UsedFor {
    pub(crate) url: String,
    pub(crate) reference: String,
}

/// What accepting the money would do.
pub(crate) struct Accepting {
    pub(crate) effect: Effect,
    pub(crate) answer: Answer,
}

/// A form that was not carried out.
struct Failed {
    status: StatusCode,
    choice: Choice,
    answer: Answer,
    notice: Option<String>,
}

pub(crate) async fn show(page: Page, LastId(id): LastId<ReceiptId>) -> Result<Response, PageError> {
    receipt_page(&page, id, None).await
}

pub(crate) async fn accept(
    page: Page,
    LastId(id): LastId<ReceiptId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    decide(&page, id, &form, Choice::Accept { payment_id: None, difference: difference_of(&form) }).await
}

pub(crate) async fn return_money(
    page: Page,
    LastId(id): LastId<ReceiptId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    decide(&page, id, &form, Choice::Return).await
}

async fn decide(page: &Page, id: ReceiptId, form: &Form, choice: Choice) -> Result<Response, PageError> {
    let (words, note) = (page.words(), note_of(form));
    let done = match choice {
        Choice::Accept { .. } => Done::ReceiptAccepted,
        Choice::Return => Done::ReceiptReturned,
    };
    let (status, mistake, notice) = match page.desk.decide_receipt(id, choice, note.clone()).await {
        Ok(_) => return Ok(page.redirect(page.path("/balance/receipts"), done)),
        Err(Error::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Some(note_mistake(words, &note)), None),
        Err(Error::AlreadyDecided) => (StatusCode::CONFLICT, None, Some(fl!(words, "receipt-decided-already"))),
        Err(Error::DoesNotFit(why)) => {
            let fit = page.desk.receipt_fit(id, None).await?;
            (StatusCode::CONFLICT, None, Some(unfit(words, why, &fit.payment)))
        }
        Err(error) => return Err(error.into()),
    };
    receipt_page(page, id, Some(Failed { status, choice, answer: Answer { note, mistake }, notice })).await
}

async fn receipt_page(page: &Page, id: ReceiptId, failed: Option<Failed>) -> Result<Response, PageError> {
    let (mut shell, base) = (page.shell(Section::Balance).await?, page.base());
    let held = page.desk.receipt(id).await?;
    let payment = page.desk.payment(held.payment_id).await?;
    // What a form was sent to is no address of this page, so it cannot be opened again: neither in the other language nor
    // by the script that follows changes.
    shell.switch_url = format!("{}{}", decide_url(&base, id), switch_query(&page.visitor));
    shell.live_url = shell.live_url.filter(|_| failed.is_none());
    let (status, notice) = failed.as_ref().map_or((StatusCode::OK, None), |form| (form.status, form.notice.clone()));
    let view = DecidePage {
        list_url: format!("{base}/balance/receipts"),
        url: decide_url(&base, id),
        facts: facts(page, &held, &payment),
        notice,
        offered: offered(page, &held, failed).await?,
        shell,
    };
    Ok(page.render(status, &view))
}

fn facts(page: &Page, held: &UnappliedReceipt, payment: &Payment) -> ReceiptFacts {
    let (words, receipt) = (page.words(), &held.receipt);
    ReceiptFacts {
        id: held.id.to_string(),
        bank_id: receipt.key.id.clone(),
        amount: receipt.amount.to_string(),
        paid: page.moment(receipt.paid_at),
        received: page.moment(receipt.received_at),
        reason: reason(words, held.reason),
        payment_url: format!("{}/payments/{}", page.base(), payment.id),
        reference: payment.terms.reference.clone(),
        payment_amount: payment.terms.amount.to_string(),
        payment_badge: payment_badge(words, payment.status_at(page.now())),
        difference: difference(words, receipt.amount, payment.terms.amount),
        customer: payment.terms.checkout.as_ref().map(|checkout| customer_facts(words, checkout)).unwrap_or_default(),
    }
}

async fn offered(page: &Page, held: &UnappliedReceipt, failed: Option<Failed>) -> Result<Offered, Error> {
    if let Some(decision) = taken_decision(page, held) {
        return Ok(Offered::Decided(taken(page, held, decision).await?));
    }
    if !page.desk.may(Act::DecideReceipts) {
        return Ok(Offered::Nothing);
    }
    let (mut accepting, mut returning) = (Answer::default(), Answer::default());
    match failed {
        Some(Failed { choice: Choice::Accept { .. }, answer, .. }) => accepting = answer,
        Some(Failed { choice: Choice::Return, answer, .. }) => returning = answer,
        None => {}
    }
    let assign = suggestions(page, held).await?;
    let fit = page.desk.receipt_fit(held.id, None).await?;
    let accept = effect(page.words(), held, &fit).map(|effect| Accepting { effect, answer: accepting });
    Ok(Offered::Choice { accept, assign, returning })
}

async fn taken(page: &Page, held: &UnappliedReceipt, decision: TakenDecision) -> Result<Taken, Error> {
    let mut taken = Taken { decision, by: None, payment: None };
    let Some(decided) = &held.decided else { return Ok(taken) };
    taken.by = decided_by(page, decided).await?;
    if let Decision::Accepted { payment_id, .. } = decided.decision
        && payment_id != held.payment_id
    {
        let payment = page.desk.payment(payment_id).await?;
        let url = format!("{}/payments/{payment_id}", page.base());
        taken.payment = Some(UsedFor { url, reference: payment.terms.reference });
    }
    Ok(taken)
}
