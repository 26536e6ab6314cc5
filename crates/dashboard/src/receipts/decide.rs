//! One receipt: what it is, what accepting and returning it would do, and the two forms that do it.

use std::time::Duration;

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use domain::{
    access::Act,
    link::{Link, LinkClaim},
    payment::Payment,
    receipt::{DECISION_NOTE, Decision, ReceiptKey, Unapplied, UnappliedReceipt},
    rules::Fault,
};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        form::Form,
        moment::{Moment, moment},
        page_error::PageError,
        render::{page, switch_query},
        visitor::Visitor,
    },
};

use crate::{
    done::Done,
    fragment::{Badge, payment_badge},
    receipts::{Told, decide_url, reason, told},
    session::{AtDesk, SignedForm},
    shell::{self, Section, Shell},
    words::{Words, words},
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
    /// Why the form came back.
    pub(crate) notice: Option<String>,
    pub(crate) offered: Offered,
}

/// What can be done about it.
pub(crate) enum Offered {
    /// Somebody was quicker, or it was long ago.
    Decided(Told),
    /// It is not for this role to decide.
    Nothing,
    Choice {
        /// None, and why, where it cannot pay its payment.
        accept: Result<Accepting, String>,
        returning: Answer,
    },
}

/// What accepting it would do.
pub(crate) struct Accepting {
    pub(crate) fee: String,
    pub(crate) net: String,
    pub(crate) answer: Answer,
}

/// What was written into a form that came back, and what is wrong with it.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    pub(crate) note: String,
    pub(crate) mistake: Option<String>,
}

/// A form that came back.
struct Back {
    status: StatusCode,
    decision: Decision,
    answer: Answer,
    notice: Option<String>,
}

pub(super) async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    let asked = |name: &str| visitor.query.text(name).ok().flatten();
    let key = receipt_key(asked("provider"), asked("id"))?;
    receipt_page(&app, &visitor, &at, &key, None).await
}

pub(super) async fn accept(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    decide(&app, &visitor, &at, &form, Decision::Accepted).await
}

pub(super) async fn give_back(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    decide(&app, &visitor, &at, &form, Decision::Returned).await
}

async fn decide(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    form: &Form,
    decision: Decision,
) -> Result<Response, PageError> {
    let words = words(visitor.language);
    let key = receipt_key(form.text("provider"), form.text("id"))?;
    // Browsers send two characters for a line break, and count one.
    let note = form.text("note").unwrap_or_default().replace("\r\n", "\n").trim().to_owned();
    let decided = match decision {
        Decision::Accepted => at.desk.accept_receipt(&key, note.clone()).await,
        Decision::Returned => at.desk.return_receipt(&key, note.clone()).await,
    };
    let (status, mistake, notice) = match decided {
        Ok(_) => {
            let done = match decision {
                Decision::Accepted => Done::ReceiptAccepted,
                Decision::Returned => Done::ReceiptReturned,
            };
            let path = format!("/dashboard/{}/balance/receipts", at.desk.project().id);
            return Ok(done.leading_to(app, path));
        }
        Err(Error::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Some(mistake(words, &note)), None),
        Err(Error::AlreadyDecided) => (StatusCode::CONFLICT, None, Some(fl!(words, "receipt-decided-already"))),
        Err(Error::DoesNotFit(why)) => (StatusCode::CONFLICT, None, Some(unfit(words, why))),
        Err(error) => return Err(error.into()),
    };
    let back = Back { status, decision, answer: Answer { note, mistake }, notice };
    receipt_page(app, visitor, at, &key, Some(back)).await
}

/// What is missing cannot be found.
fn receipt_key(provider: Option<&str>, id: Option<&str>) -> Result<ReceiptKey, Error> {
    let (provider, id) = provider.zip(id).ok_or(Error::NotFound("receipt"))?;
    // No database keeps this character, and one of them refuses to be asked for it.
    let is_text = !provider.contains('\0') && !id.contains('\0');
    is_text.then(|| ReceiptKey { provider: provider.to_owned(), id: id.to_owned() }).ok_or(Error::NotFound("receipt"))
}

async fn receipt_page(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    key: &ReceiptKey,
    back: Option<Back>,
) -> Result<Response, PageError> {
    let held = at.desk.receipt(key).await?;
    let payment = at.desk.payment(held.payment_id).await?;
    let link = match payment.link_id {
        Some(id) => Some(at.desk.link(id).await?),
        None => None,
    };
    let mut shell = shell::at_desk(app, visitor, at, Section::Balance).await?;
    let (words, now) = (shell.words, app.engine.now());
    let base = shell::base(app, at.desk.project());
    // A form that came back has no address that could be opened again.
    let language = switch_query(visitor).replace('?', "&");
    shell.switch_url = format!("{}{language}", decide_url(&base, key));
    shell.live_url = shell.live_url.filter(|_| back.is_none());
    let (status, notice) = back.as_ref().map_or((StatusCode::OK, None), |back| (back.status, back.notice.clone()));
    let view = DecidePage {
        list_url: format!("{base}/balance/receipts"),
        provider: key.provider.clone(),
        id: key.id.clone(),
        amount: held.receipt.amount.to_string(),
        paid: moment(held.receipt.paid_at, visitor.language),
        received: moment(held.receipt.received_at, visitor.language),
        reason: reason(words, held.reason),
        payment_url: format!("{base}/payments/{}", payment.id),
        reference: payment.reference.clone(),
        payment_amount: payment.amount.to_string(),
        payment_badge: payment_badge(words, payment.status_at(now)),
        notice,
        offered: offered(app, visitor, at, &held, payment, link.as_ref(), back),
        shell,
    };
    Ok(page(status, &view))
}

fn offered(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    held: &UnappliedReceipt,
    payment: Payment,
    link: Option<&Link>,
    back: Option<Back>,
) -> Offered {
    let words = words(visitor.language);
    if let Some(told) = told(words, visitor, held) {
        return Offered::Decided(told);
    }
    if !at.desk.may(Act::DecideReceipts) {
        return Offered::Nothing;
    }
    let (mut accepting, mut returning) = (Answer::default(), Answer::default());
    match back {
        Some(Back { decision: Decision::Accepted, answer, .. }) => accepting = answer,
        Some(Back { decision: Decision::Returned, answer, .. }) => returning = answer,
        None => {}
    }
    let (fee, net) = (payment.fee.to_string(), payment.merchant_net().to_string());
    let claim = link.map_or(LinkClaim::NotNeeded, Link::claim);
    // Asked of the same rule that decides, for when it would settle does not matter here.
    let accept = match payment.accept(&held.receipt, claim, Duration::ZERO, app.engine.now()) {
        Ok(_) => Ok(Accepting { fee, net, answer: accepting }),
        Err(why) => Err(unfit(words, why)),
    };
    Offered::Choice { accept, returning }
}

/// What is wrong with a note.
fn mistake(words: Words, note: &str) -> String {
    match DECISION_NOTE.fault(note) {
        Some(Fault::TooLong { most }) => {
            let most = most.to_string();
            fl!(words, "receipt-note-long", most = most)
        }
        Some(Fault::Malformed) => fl!(words, "receipt-note-malformed"),
        Some(Fault::Empty) | None => fl!(words, "receipt-note-missing"),
    }
}

/// Why it cannot pay its payment, whatever anybody decides.
fn unfit(words: Words, why: Unapplied) -> String {
    match why {
        Unapplied::WrongAmount => fl!(words, "receipt-unfit-amount"),
        Unapplied::AlreadyPaid => fl!(words, "receipt-unfit-paid"),
        Unapplied::LinkClaimed => fl!(words, "receipt-unfit-link"),
        // Late money is just what can be accepted.
        Unapplied::TooLate => reason(words, why),
    }
}
