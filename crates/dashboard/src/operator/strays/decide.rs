//! Decisions about a stray: to assign it to a payment, after that payment was shown, or to record that it was returned.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::id::{PaymentId, StrayId};
use engine::{BankError, Error, StrayFit};
use i18n_embed_fl::fl;
use web::page::{page_error::PageError, render::switch_query};

use super::{
    stray::{Failed, stray_page},
    wording::{STATE_AMOUNT, StrayFacts, facts},
};
use crate::{
    done::Done,
    labels::{Badge, method_name, payment_badge},
    operator::tabs::{project_path, strays_path},
    page::OperatorPage,
    receipts::wording::{Answer, note_mistake, note_of, reason},
    session::{LastId, SignedForm},
    shell::Shell,
    words::Words,
};

#[derive(Template)]
#[template(path = "operator/strays/decide.html")]
pub(crate) struct AssignPage {
    pub(crate) shell: Shell,
    pub(crate) facts: StrayFacts,
    pub(crate) payment: PaymentFacts,
    /// Why the money would not pay the payment; none where it would.
    pub(crate) unapplied: Option<String>,
    pub(crate) answer: Answer,
}

/// The payment that the money would be assigned to.
pub(crate) struct PaymentFacts {
    pub(crate) id: String,
    pub(crate) project: String,
    pub(crate) project_url: String,
    pub(crate) reference: String,
    pub(crate) method: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
}

/// Shows the payment that was typed. Without one, the stray's own page asks for it.
pub(crate) async fn ask(page: OperatorPage, LastId(id): LastId<StrayId>) -> Result<Response, PageError> {
    let stray = page.operator.stray(id).await?;
    match page.query("payment") {
        Some(typed) if stray.decided.is_none() => {
            assign_page(&page, id, typed.trim(), StatusCode::OK, Answer::default()).await
        }
        _ => stray_page(&page, id, Failed::with(StatusCode::OK)).await,
    }
}

pub(crate) async fn assign(
    page: OperatorPage,
    LastId(id): LastId<StrayId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let (note, typed) = (note_of(&form), form.text("payment").unwrap_or_default().trim());
    let Ok(payment) = typed.parse::<PaymentId>() else { return not_found(&page, id, typed).await };
    match page.operator.assign_stray(id, payment, note.clone()).await {
        Ok(_) => Ok(page.redirect(strays_path(), Done::StrayAssigned)),
        Err(Error::Invalid(_)) => {
            let mistake = Some(note_mistake(page.words(), &note));
            assign_page(&page, id, typed, StatusCode::UNPROCESSABLE_ENTITY, Answer { note, mistake }).await
        }
        Err(error) => failed(&page, id, typed, error).await,
    }
}

pub(crate) async fn return_money(
    page: OperatorPage,
    LastId(id): LastId<StrayId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let note = note_of(&form);
    match page.operator.return_stray(id, note.clone()).await {
        Ok(_) => Ok(page.redirect(strays_path(), Done::StrayReturned)),
        Err(Error::Invalid(_)) => {
            let mistake = Some(note_mistake(page.words(), &note));
            let returning = Answer { note, mistake };
            stray_page(&page, id, Failed { returning, ..Failed::with(StatusCode::UNPROCESSABLE_ENTITY) }).await
        }
        Err(error) => failed(&page, id, "", error).await,
    }
}

/// The stray's page with the reason why a form was not carried out.
async fn failed(page: &OperatorPage, id: StrayId, typed: &str, error: Error) -> Result<Response, PageError> {
    let words = page.words();
    match error {
        Error::AlreadyDecided => {
            let notice = Some(fl!(words, "receipt-decided-already"));
            stray_page(page, id, Failed { notice, ..Failed::with(StatusCode::CONFLICT) }).await
        }
        Error::NotFound("payment") => not_found(page, id, typed).await,
        Error::Bank(BankError::AmountUnknown) => {
            mistaken(page, id, typed, fl!(words, "stray-amount-unknown", command = STATE_AMOUNT)).await
        }
        Error::Bank(BankError::NotProduction) => mistaken(page, id, typed, fl!(words, "stray-payment-sandbox")).await,
        error => Err(error.into()),
    }
}

async fn not_found(page: &OperatorPage, id: StrayId, typed: &str) -> Result<Response, PageError> {
    mistaken(page, id, typed, fl!(page.words(), "stray-payment-unknown")).await
}

async fn mistaken(page: &OperatorPage, id: StrayId, typed: &str, mistake: String) -> Result<Response, PageError> {
    let failed = Failed {
        payment: typed.to_owned(),
        payment_mistake: Some(mistake),
        ..Failed::with(StatusCode::UNPROCESSABLE_ENTITY)
    };
    stray_page(page, id, failed).await
}

/// Shows the payment, and whether the money would pay it.
async fn assign_page(
    page: &OperatorPage,
    id: StrayId,
    typed: &str,
    status: StatusCode,
    answer: Answer,
) -> Result<Response, PageError> {
    let stray = page.operator.stray(id).await?;
    let Ok(payment) = typed.parse::<PaymentId>() else { return not_found(page, id, typed).await };
    let fit = match page.operator.stray_fit(&stray, payment).await {
        Ok(fit) => fit,
        Err(error) => return failed(page, id, typed, error).await,
    };
    let account = page.operator.bank_account(stray.account_id).await?;
    let mut shell = page.shell().await?;
    let facts = facts(page, &stray, &account);
    let language = switch_query(&page.visitor).replace('?', "&");
    shell.switch_url = format!("{}/assign?payment={payment}{language}", facts.url);
    let view = AssignPage {
        facts,
        unapplied: fit.unapplied.map(|why| reason(shell.words, why)),
        payment: payment_facts(page, shell.words, &fit),
        answer,
        shell,
    };
    Ok(page.render(status, &view))
}

fn payment_facts(page: &OperatorPage, words: Words, fit: &StrayFit) -> PaymentFacts {
    let StrayFit { project, payment, .. } = fit;
    PaymentFacts {
        id: payment.id.to_string(),
        project: project.name.clone(),
        project_url: page.url(project_path(project.id)),
        reference: payment.terms.reference.clone(),
        method: method_name(words, payment.terms.method),
        amount: payment.terms.amount.to_string(),
        badge: payment_badge(words, payment.status_at(page.now())),
    }
}
