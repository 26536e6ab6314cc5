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
    refunds::{
        account::TypedAccount,
        wording::{refund_path, refund_url},
    },
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
        returning: Box<Returning>,
    },
}

/// How the money goes back to the customer, and what was typed for that.
pub(crate) struct Returning {
    pub(crate) answer: Answer,
    pub(crate) way: ReturnWay,
    pub(crate) account: TypedAccount,
}

/// Which way held money goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnWay {
    /// Somebody has given it back already; it is only recorded.
    Elsewhere,
    /// The customer says on a page of ours where it shall go.
    Claim,
    /// The member types where it shall go.
    Typed,
}

impl ReturnWay {
    fn of(form: &Form) -> ReturnWay {
        match form.text("way") {
            Some("claim") => ReturnWay::Claim,
            Some("typed") => ReturnWay::Typed,
            _ => ReturnWay::Elsewhere,
        }
    }
}

/// A decision that was taken, and by whom.
pub(crate) struct Taken {
    pub(crate) decision: TakenDecision,
    pub(crate) by: Option<String>,
    /// The payment that the money was used for, if it is another one than it was sent for.
    pub(crate) payment: Option<UsedFor>,
    /// The refund by which it goes back to the customer; none where it was given back elsewhere.
    pub(crate) refund_url: Option<String>,
    /// Whether it was given back elsewhere.
    pub(crate) elsewhere: bool,
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
    returning: Option<(ReturnWay, TypedAccount)>,
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
    match ReturnWay::of(&form) {
        ReturnWay::Elsewhere => decide(&page, id, &form, Choice::Return).await,
        way => return_by_refund(&page, id, &form, way).await,
    }
}

/// Gives the money back by a refund: where to, the customer or the member says.
async fn return_by_refund(page: &Page, id: ReceiptId, form: &Form, way: ReturnWay) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let (words, note) = (page.words(), note_of(form));
    let amount = page.desk.receipt(id).await?.receipt.amount;
    let destination = match way {
        ReturnWay::Typed => TypedAccount::read(words, form, amount).map(Some),
        ReturnWay::Claim | ReturnWay::Elsewhere => Ok(None),
    };
    let (status, account, mistake, notice) = match destination {
        Err(account) => (StatusCode::UNPROCESSABLE_ENTITY, *account, None, None),
        Ok(destination) => {
            let account = TypedAccount::unchecked(form);
            match page.desk.return_receipt(id, destination, note.clone()).await {
                Ok(held) => return Ok(returned(page, &held)),
                Err(Error::Invalid(_)) => {
                    (StatusCode::UNPROCESSABLE_ENTITY, account, Some(note_mistake(words, &note)), None)
                }
                Err(Error::AlreadyDecided) => {
                    (StatusCode::CONFLICT, account, None, Some(fl!(words, "receipt-decided-already")))
                }
                Err(error) => return Err(error.into()),
            }
        }
    };
    let (choice, answer) = (Choice::Return, Answer { note, mistake });
    receipt_page(page, id, Some(Failed { status, choice, answer, notice, returning: Some((way, account)) })).await
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
    receipt_page(page, id, Some(Failed { status, choice, answer: Answer { note, mistake }, notice, returning: None }))
        .await
}

/// Leads to the refund by which the money goes back.
fn returned(page: &Page, held: &UnappliedReceipt) -> Response {
    let refund = held.decided.as_ref().and_then(|decided| decided.refund);
    let path = refund.map_or_else(|| "/balance/receipts".to_owned(), refund_path);
    page.redirect(page.path(&path), Done::RefundCreated)
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
    let mut accepting = Answer::default();
    let mut returning =
        Returning { answer: Answer::default(), way: ReturnWay::Elsewhere, account: TypedAccount::empty() };
    match failed {
        Some(Failed { choice: Choice::Accept { .. }, answer, .. }) => accepting = answer,
        Some(Failed { choice: Choice::Return, answer, returning: typed, .. }) => {
            let (way, account) = typed.unwrap_or((returning.way, returning.account));
            returning = Returning { answer, way, account };
        }
        None => {}
    }
    let assign = suggestions(page, held).await?;
    let fit = page.desk.receipt_fit(held.id, None).await?;
    let accept = effect(page.words(), held, &fit).map(|effect| Accepting { effect, answer: accepting });
    Ok(Offered::Choice { accept, assign, returning: Box::new(returning) })
}

async fn taken(page: &Page, held: &UnappliedReceipt, decision: TakenDecision) -> Result<Taken, Error> {
    let mut taken = Taken { decision, by: None, payment: None, refund_url: None, elsewhere: false };
    let Some(decided) = &held.decided else { return Ok(taken) };
    taken.by = decided_by(page, decided).await?;
    taken.refund_url = decided.refund.map(|id| refund_url(&page.base(), id));
    taken.elsewhere = decided.decision == Decision::Returned && decided.refund.is_none();
    if let Decision::Accepted { payment_id, .. } = decided.decision
        && payment_id != held.payment_id
    {
        let payment = page.desk.payment(payment_id).await?;
        let url = format!("{}/payments/{payment_id}", page.base());
        taken.payment = Some(UsedFor { url, reference: payment.terms.reference });
    }
    Ok(taken)
}
