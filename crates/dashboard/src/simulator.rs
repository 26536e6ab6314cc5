//! `/dashboard/<project>/simulator`: the member plays the bank of the sandbox. Pending payments can be paid, failed or
//! expired, and a code can be paid as a bank's app would. A production project has no such page.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    id::PaymentId,
    money::Rupiah,
    payment::{Payment, Status},
    project::Environment,
};
use engine::{Error, Observed, Outcome};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, moment::Moment, page_error::PageError},
};

use crate::{
    attempt,
    done::Done,
    input::{self, NoAmount, amount_mistake},
    labels::{Badge, method_name, payment_badge},
    page::Page,
    session::{LastId, SignedForm},
    shell::{Flash, Section, Shell},
    words::Words,
};

/// Pending payments that are listed, the newest first.
const PENDING_MOST: i64 = 50;
/// Longer than any code that a customer is given.
const CODE_CHARACTERS_MOST: usize = 512;

#[derive(Template)]
#[template(path = "simulator.html")]
pub(crate) struct SimulatorPage {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) may_simulate: bool,
    pub(crate) rows: Vec<PendingRow>,
    /// Whether there are more pending payments than the list shows.
    pub(crate) more: bool,
    pub(crate) code: String,
    pub(crate) code_mistake: Option<String>,
    pub(crate) found: Option<FoundPayment>,
    /// The result of a form. Where it is not bad, money is held and needs a decision.
    pub(crate) flash: Option<Flash>,
}

pub(crate) struct PendingRow {
    pub(crate) url: String,
    pub(crate) reference: String,
    pub(crate) amount: String,
    pub(crate) method: String,
    pub(crate) expires: Moment,
    /// Where its buttons send their form.
    pub(crate) action: String,
}

/// The payment of a code, as a bank's app shows it before it pays.
pub(crate) struct FoundPayment {
    pub(crate) merchant: String,
    pub(crate) amount: String,
    pub(crate) reference: String,
    pub(crate) url: String,
    pub(crate) method: String,
    pub(crate) badge: Badge,
    pub(crate) action: String,
    pub(crate) attempt: String,
    /// What was typed as another amount.
    pub(crate) typed: String,
    pub(crate) mistake: Option<String>,
}

/// What the bank reports.
enum Report {
    Paid { amount: Option<Rupiah> },
    Failed,
    Expired,
}

impl Report {
    /// The status that a payment has after this report.
    const fn leads_to(&self) -> Status {
        match self {
            Report::Paid { .. } => Status::Paid,
            Report::Failed => Status::Failed,
            Report::Expired => Status::Expired,
        }
    }
}

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route("/dashboard/{project}/simulator", get(show))
        .route("/dashboard/{project}/simulator/{payment}", get(show).post(act))
}

fn only_in_sandbox(page: &Page) -> Result<(), Error> {
    match page.project().environment {
        Environment::Sandbox => Ok(()),
        Environment::Production => Err(Error::NotFound("page")),
    }
}

async fn show(page: Page) -> Result<Response, PageError> {
    only_in_sandbox(&page)?;
    let view = view(&page).await?;
    let typed = page.query("code").unwrap_or_default();
    if typed.is_empty() {
        return Ok(page.render(StatusCode::OK, &view));
    }
    let code = typed.to_owned();
    match find(&page, typed).await {
        Ok(payment) => {
            let found = Some(found(&page, &payment, attempt::fresh()));
            Ok(page.render(StatusCode::OK, &SimulatorPage { code, found, ..view }))
        }
        Err(Error::NotFound(_)) => {
            let code_mistake = Some(fl!(page.words(), "sim-code-unknown"));
            Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &SimulatorPage { code, code_mistake, ..view }))
        }
        Err(error) => Err(error.into()),
    }
}

/// The pending payment of a code. An account number is read without the gaps that users type in it; the spaces of a
/// QRIS payload belong to the names in it.
async fn find(page: &Page, typed: &str) -> Result<Payment, Error> {
    let typed = typed.trim();
    let is_gap = |character: char| character.is_whitespace() || matches!(character, '-' | '.');
    let is_account = typed.chars().all(|character| character.is_ascii_digit() || is_gap(character));
    let code: String = if is_account {
        typed.chars().filter(|character| !is_gap(*character)).collect()
    } else {
        typed.chars().filter(|character| !matches!(character, '\r' | '\n' | '\t')).collect()
    };
    if code.is_empty() || code.chars().nth(CODE_CHARACTERS_MOST).is_some() || code.contains(char::is_control) {
        return Err(Error::NotFound("payment"));
    }
    page.desk.payment_by_code(&code).await
}

async fn view(page: &Page) -> Result<SimulatorPage, Error> {
    let (shell, base) = (page.shell(Section::Simulator).await?, page.base());
    let pending = page.desk.waiting(PENDING_MOST + 1).await?;
    let shown = usize::try_from(PENDING_MOST).unwrap_or(usize::MAX);
    let rows = pending.iter().take(shown).map(|payment| PendingRow {
        url: format!("{base}/payments/{}", payment.id),
        reference: payment.terms.reference.clone(),
        amount: payment.terms.amount.to_string(),
        method: method_name(shell.words, payment.terms.method),
        expires: page.moment(payment.terms.expires_at),
        action: format!("{base}/simulator/{}", payment.id),
    });
    Ok(SimulatorPage {
        may_simulate: page.desk.may(Act::Simulate),
        rows: rows.collect(),
        more: pending.len() > shown,
        code: String::new(),
        code_mistake: None,
        found: None,
        flash: None,
        base,
        shell,
    })
}

fn found(page: &Page, payment: &Payment, attempt: String) -> FoundPayment {
    let (words, base) = (page.words(), page.base());
    FoundPayment {
        merchant: page.project().merchant.name.clone(),
        amount: payment.terms.amount.to_string(),
        reference: payment.terms.reference.clone(),
        url: format!("{base}/payments/{}", payment.id),
        method: method_name(words, payment.terms.method),
        badge: payment_badge(words, payment.status_at(page.now())),
        action: format!("{base}/simulator/{}", payment.id),
        attempt,
        typed: String::new(),
        mistake: None,
    }
}

async fn act(page: Page, LastId(id): LastId<PaymentId>, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    only_in_sandbox(&page)?;
    page.require(Act::Simulate)?;
    let payment = page.desk.payment(id).await?;
    let report = match form.text("outcome") {
        Some("paid") => match amount(page.words(), form.text("amount").unwrap_or_default()) {
            Ok(amount) => Report::Paid { amount },
            Err(why) => return wrong_amount(&page, &payment, &form, why).await,
        },
        Some("failed") => Report::Failed,
        Some("expired") => Report::Expired,
        _ => return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY)),
    };
    // A form of a page that was open for long sends no money to a payment that has ended.
    let status = payment.status_at(page.now());
    if status.is_final() {
        return ended(&page, status, &report).await;
    }
    match send(&page, id, &form, &report).await {
        Ok(Reported::Done) => Ok(simulated(&page)),
        Ok(Reported::Held(held)) => {
            let amount = held.to_string();
            let flash = Some(Flash { text: fl!(page.words(), "sim-held", amount = amount), bad: false });
            Ok(page.render(StatusCode::OK, &SimulatorPage { flash, ..view(&page).await? }))
        }
        Err(Error::NotEditable) => {
            let status = page.desk.payment(id).await?.status_at(page.now());
            ended(&page, status, &report).await
        }
        Err(Error::ProjectUnusable) => conflict(&page, fl!(page.words(), "sim-unusable")).await,
        Err(error) => Err(error.into()),
    }
}

/// What became of a report.
enum Reported {
    Done,
    /// The money arrived but pays nothing; it is held until a member decides about it.
    Held(Rupiah),
}

/// Sends a report of the bank to the payment.
async fn send(page: &Page, id: PaymentId, form: &Form, report: &Report) -> Result<Reported, Error> {
    let observed = match report {
        Report::Expired => return page.desk.expire(id).await.map(|_| Reported::Done),
        Report::Failed => page.desk.simulate(id, &format!("desk:{id}:failed"), |_, _| Outcome::Failed).await?,
        Report::Paid { amount } => {
            // Every press of a row's button reports the same money; each filling-in of the form reports other money, and
            // so does one whose amount was changed before it was sent again.
            let receipt = match form.text("attempt") {
                Some(attempt) => {
                    let amount = amount.map_or_else(String::new, |amount| format!(":{}", amount.get()));
                    format!("desk:{id}:{}{amount}", attempt::sent(Some(attempt)))
                }
                None => format!("desk:{id}:paid"),
            };
            let paid =
                |payment: &Payment, paid_at| Outcome::Paid { amount: amount.unwrap_or(payment.terms.amount), paid_at };
            page.desk.simulate(id, &receipt, paid).await?
        }
    };
    match (observed, report) {
        (Observed::Unapplied(payment, _), Report::Paid { amount }) => {
            Ok(Reported::Held(amount.unwrap_or(payment.terms.amount)))
        }
        // The form was sent twice: the money is still held.
        (Observed::Known(payment), Report::Paid { amount: Some(amount) }) if payment.terms.amount != *amount => {
            Ok(Reported::Held(*amount))
        }
        (Observed::Ended(_), _) => Err(Error::NotEditable),
        _ => Ok(Reported::Done),
    }
}

/// Another amount than the payment's own, if one was typed.
fn amount(words: Words, typed: &str) -> Result<Option<Rupiah>, String> {
    match input::rupiah(typed) {
        Err(NoAmount::Missing) => Ok(None),
        Ok(amount) if amount > Rupiah::ZERO => Ok(Some(amount)),
        Ok(_) => Err(amount_mistake(words, NoAmount::NotWhole)),
        Err(why) => Err(amount_mistake(words, why)),
    }
}

async fn wrong_amount(page: &Page, payment: &Payment, form: &Form, why: String) -> Result<Response, PageError> {
    let view = view(page).await?;
    let found = FoundPayment {
        typed: form.text("amount").unwrap_or_default().to_owned(),
        mistake: Some(why),
        ..found(page, payment, attempt::sent(form.text("attempt")))
    };
    let flash = Some(Flash { text: fl!(page.words(), "mistake-form"), bad: true });
    Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &SimulatorPage { found: Some(found), flash, ..view }))
}

fn simulated(page: &Page) -> Response {
    page.redirect(page.path("/simulator"), Done::Simulated)
}

/// The payment has ended with `status`. Where the report would have led to the same, a member has pressed a button
/// twice.
async fn ended(page: &Page, status: Status, report: &Report) -> Result<Response, PageError> {
    if status == report.leads_to() {
        return Ok(simulated(page));
    }
    let words = page.words();
    let status = payment_badge(words, status).text;
    conflict(page, fl!(words, "sim-ended", status = status)).await
}

async fn conflict(page: &Page, text: String) -> Result<Response, PageError> {
    let flash = Some(Flash { text, bad: true });
    Ok(page.render(StatusCode::CONFLICT, &SimulatorPage { flash, ..view(page).await? }))
}
