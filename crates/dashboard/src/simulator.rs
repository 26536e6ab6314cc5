//! Playing the bank in the sandbox: what waits can be paid, refused or let expire, and a code can be paid as a bank's app would.
//! In production there is nothing at this address.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
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
    page::{
        form::Form,
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    done::Done,
    fragment::{Badge, method_name, payment_badge},
    session::{AtDesk, LastId, SignedForm},
    shell::{self, Section, Shell},
    typed::{self, NoAmount, fresh_form, known_form, only_for},
    words::{self, Words},
};

/// Payments shown at once; the newest are the ones that somebody tries.
const WAITING_MOST: i64 = 50;
/// Longer than any code that a customer is given.
const CODE_CHARACTERS_MOST: usize = 512;

#[derive(Template)]
#[template(path = "simulator.html")]
pub(super) struct SimulatorPage {
    pub(super) shell: Shell,
    pub(super) base: String,
    pub(super) may_simulate: bool,
    pub(super) rows: Vec<WaitingRow>,
    /// Whether there are more than are shown.
    pub(super) more: bool,
    pub(super) code: String,
    pub(super) code_mistake: Option<String>,
    pub(super) found: Option<Found>,
    pub(super) news: Option<SimulatorNews>,
}

pub(super) struct WaitingRow {
    pub(super) url: String,
    pub(super) reference: String,
    pub(super) amount: String,
    pub(super) method: String,
    pub(super) expires: Moment,
    /// Where its buttons lead.
    pub(super) action: String,
}

/// What a bank's app shows of a code before it pays.
pub(super) struct Found {
    pub(super) merchant: String,
    pub(super) amount: String,
    pub(super) reference: String,
    pub(super) url: String,
    pub(super) method: String,
    pub(super) badge: Badge,
    pub(super) action: String,
    pub(super) attempt: String,
    /// Another amount to try.
    pub(super) typed: String,
    pub(super) mistake: Option<String>,
}

pub(super) struct SimulatorNews {
    pub(super) text: String,
    pub(super) bad: bool,
}

/// What the bank is to report.
enum Report {
    Paid { amount: Option<Rupiah> },
    Failed,
    Expired,
}

impl Report {
    /// The state that a payment has once it took this report.
    const fn leads_to(&self) -> Status {
        match self {
            Report::Paid { .. } => Status::Paid,
            Report::Failed => Status::Failed,
            Report::Expired => Status::Expired,
        }
    }
}

pub(super) fn routes() -> Router<App> {
    // Whoever has to sign in before a form is taken comes back to its address, and finds the page there.
    Router::new()
        .route("/dashboard/{project}/simulator", get(show))
        .route("/dashboard/{project}/simulator/{payment}", get(show).post(act))
}

fn only_in_sandbox(at: &AtDesk) -> Result<(), Error> {
    match at.desk.project().environment {
        Environment::Sandbox => Ok(()),
        Environment::Production => Err(Error::NotFound("page")),
    }
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    only_in_sandbox(&at)?;
    let view = view(&app, &visitor, &at).await?;
    let typed = visitor.query.text("code").ok().flatten().unwrap_or_default();
    if typed.is_empty() {
        return Ok(page(StatusCode::OK, &view));
    }
    let (words, code) = (view.shell.words, typed.to_owned());
    match find(&at, typed).await {
        Ok(payment) => {
            let found = Some(found(&app, &at, words, &payment, fresh_form()));
            Ok(page(StatusCode::OK, &SimulatorPage { code, found, ..view }))
        }
        Err(Error::NotFound(_)) => {
            let code_mistake = Some(fl!(words, "sim-code-unknown"));
            Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &SimulatorPage { code, code_mistake, ..view }))
        }
        Err(error) => Err(error.into()),
    }
}

/// The live payment of a code. Account numbers are read with the gaps that people leave in them; a QRIS payload holds names, whose
/// spaces belong to it.
async fn find(at: &AtDesk, typed: &str) -> Result<Payment, Error> {
    let typed = typed.trim();
    let is_gap = |character: char| character.is_whitespace() || matches!(character, '-' | '.');
    let is_account = typed.chars().all(|character| character.is_ascii_digit() || is_gap(character));
    let code: String = match is_account {
        true => typed.chars().filter(|character| !is_gap(*character)).collect(),
        false => typed.chars().filter(|character| !matches!(character, '\r' | '\n' | '\t')).collect(),
    };
    if code.is_empty() || code.chars().nth(CODE_CHARACTERS_MOST).is_some() || code.contains(char::is_control) {
        return Err(Error::NotFound("payment"));
    }
    at.desk.payment_by_code(&code).await
}

async fn view(app: &App, visitor: &Visitor, at: &AtDesk) -> Result<SimulatorPage, Error> {
    let shell = shell::at_desk(app, visitor, at, Section::Simulator).await?;
    let base = shell::base(app, at.desk.project());
    let waiting = at.desk.waiting(WAITING_MOST + 1).await?;
    let shown = usize::try_from(WAITING_MOST).unwrap_or(usize::MAX);
    let rows = waiting.iter().take(shown).map(|payment| WaitingRow {
        url: format!("{base}/payments/{}", payment.id),
        reference: payment.reference.clone(),
        amount: payment.amount.to_string(),
        method: method_name(shell.words, payment.method),
        expires: moment(payment.expires_at, visitor.language),
        action: format!("{base}/simulator/{}", payment.id),
    });
    Ok(SimulatorPage {
        may_simulate: at.desk.may(Act::Simulate),
        rows: rows.collect(),
        more: waiting.len() > shown,
        code: String::new(),
        code_mistake: None,
        found: None,
        news: None,
        base,
        shell,
    })
}

fn found(app: &App, at: &AtDesk, words: Words, payment: &Payment, attempt: String) -> Found {
    let (project, base) = (at.desk.project(), shell::base(app, at.desk.project()));
    Found {
        merchant: project.merchant.name.clone(),
        amount: payment.amount.to_string(),
        reference: payment.reference.clone(),
        url: format!("{base}/payments/{}", payment.id),
        method: method_name(words, payment.method),
        badge: payment_badge(words, payment.status_at(app.engine.now())),
        action: format!("{base}/simulator/{}", payment.id),
        attempt,
        typed: String::new(),
        mistake: None,
    }
}

async fn act(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<PaymentId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    only_in_sandbox(&at)?;
    only_for(&at.desk, Act::Simulate)?;
    let payment = at.desk.payment(id).await?;
    let words = words::words(visitor.language);
    let typed = form.text("amount").unwrap_or_default();
    let report = match form.text("outcome") {
        Some("paid") => match amount(words, typed) {
            Ok(amount) => Report::Paid { amount },
            Err(why) => {
                let found = found(&app, &at, words, &payment, known_form(form.text("attempt")));
                let found = Some(Found { typed: typed.to_owned(), mistake: Some(why), ..found });
                let news = Some(SimulatorNews { text: fl!(words, "typed-look"), bad: true });
                let view = SimulatorPage { found, news, ..view(&app, &visitor, &at).await? };
                return Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &view));
            }
        },
        Some("failed") => Report::Failed,
        Some("expired") => Report::Expired,
        _ => return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY)),
    };
    let status = payment.status_at(app.engine.now());
    let told = match status.is_final() {
        // A page that was left open sends no more money to what has ended.
        true => Err(Error::NotEditable),
        false => tell(&at, id, &form, &report).await,
    };
    let path = format!("/dashboard/{}/simulator", payment.project_id);
    match told {
        Ok(Told::Done) => Ok(Done::Simulated.leading_to(&app, path)),
        Ok(Told::Held(held)) => {
            let amount = held.to_string();
            let news = Some(SimulatorNews { text: fl!(words, "sim-held", amount = amount), bad: false });
            Ok(page(StatusCode::OK, &SimulatorPage { news, ..view(&app, &visitor, &at).await? }))
        }
        Err(Error::NotEditable) => {
            let status = at.desk.payment(id).await?.status_at(app.engine.now());
            // Who presses twice has what they wanted.
            if status == report.leads_to() {
                return Ok(Done::Simulated.leading_to(&app, path));
            }
            let status = payment_badge(words, status).text;
            conflict(&app, &visitor, &at, fl!(words, "sim-ended", status = status)).await
        }
        Err(Error::ProjectUnusable) => conflict(&app, &visitor, &at, fl!(words, "sim-unusable")).await,
        Err(error) => Err(error.into()),
    }
}

/// What became of a report.
enum Told {
    Done,
    /// The money came and pays nothing; somebody has to decide about it.
    Held(Rupiah),
}

async fn tell(at: &AtDesk, id: PaymentId, form: &Form, report: &Report) -> Result<Told, Error> {
    let observed = match report {
        Report::Expired => return at.desk.expire(id).await.map(|_| Told::Done),
        Report::Failed => at.desk.simulate(id, &format!("desk:{id}:failed"), |_, _| Outcome::Failed).await?,
        Report::Paid { amount } => {
            // A button reports the same money however often it is pressed; each filling-in of the form is money of its own.
            let receipt = match form.text("attempt") {
                Some(attempt) => format!("desk:{id}:{}", known_form(Some(attempt))),
                None => format!("desk:{id}:paid"),
            };
            let paid = |payment: &Payment, paid_at| Outcome::Paid { amount: amount.unwrap_or(payment.amount), paid_at };
            at.desk.simulate(id, &receipt, paid).await?
        }
    };
    match (observed, report) {
        (Observed::Unapplied(payment, _), Report::Paid { amount }) => Ok(Told::Held(amount.unwrap_or(payment.amount))),
        (Observed::Ended(_), _) => Err(Error::NotEditable),
        _ => Ok(Told::Done),
    }
}

/// Another amount than the payment's own, if one was typed.
fn amount(words: Words, typed: &str) -> Result<Option<Rupiah>, String> {
    match typed::rupiah(typed) {
        Err(NoAmount::Missing) => Ok(None),
        Ok(amount) if amount > Rupiah::ZERO => Ok(Some(amount)),
        Ok(_) | Err(NoAmount::NotWhole) => Err(fl!(words, "typed-amount")),
        Err(NoAmount::TooLarge) => {
            let most = Rupiah::MAX.to_string();
            Err(fl!(words, "typed-amount-large", most = most))
        }
    }
}

async fn conflict(app: &App, visitor: &Visitor, at: &AtDesk, text: String) -> Result<Response, PageError> {
    let news = Some(SimulatorNews { text, bad: true });
    Ok(page(StatusCode::CONFLICT, &SimulatorPage { news, ..view(app, visitor, at).await? }))
}
