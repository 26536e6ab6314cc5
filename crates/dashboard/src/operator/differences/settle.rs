//! One difference: what it is, what to do about it, and the form that records what was done.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::bank_difference::{DifferenceKey, DifferenceKind};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::{page_error::PageError, render::switch_query};

use super::wording::{DifferenceFacts, facts};
use crate::{
    done::Done,
    operator::tabs::differences_path,
    page::OperatorPage,
    receipts::wording::{Answer, note_mistake},
    session::SignedForm,
    shell::Shell,
};

#[derive(Template)]
#[template(path = "operator/differences/settle.html")]
pub(crate) struct DifferencePage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) action: String,
    pub(crate) facts: DifferenceFacts,
    /// Why the form was not carried out.
    pub(crate) notice: Option<String>,
    pub(crate) answer: Answer,
}

/// What was sent, and why it was not carried out.
struct Failed {
    status: StatusCode,
    notice: Option<String>,
    answer: Answer,
}

pub(crate) async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let key = difference_key(page.query("account"), page.query("subject"), page.query("kind"))?;
    let nothing = Failed { status: StatusCode::OK, notice: None, answer: Answer::default() };
    difference_page(&page, &key, nothing).await
}

pub(crate) async fn settle(page: OperatorPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let key = difference_key(form.text("account"), form.text("subject"), form.text("kind"))?;
    // Browsers send a line break as two characters, but count it as one.
    let note = form.text("note").unwrap_or_default().replace("\r\n", "\n").trim().to_owned();
    let words = page.words();
    let failed = match page.operator.settle_difference(&key, note.clone()).await {
        Ok(_) => return Ok(page.redirect(differences_path(), Done::DifferenceSettled)),
        Err(Error::Invalid(_)) => {
            let mistake = Some(note_mistake(words, &note));
            Failed { status: StatusCode::UNPROCESSABLE_ENTITY, notice: None, answer: Answer { note, mistake } }
        }
        Err(Error::AlreadySettled) => Failed {
            status: StatusCode::CONFLICT,
            notice: Some(fl!(words, "difference-settled-already")),
            answer: Answer::default(),
        },
        Err(error) => return Err(error.into()),
    };
    difference_page(&page, &key, failed).await
}

/// The key that an address or a form names; a difference without a complete key does not exist.
fn difference_key(account: Option<&str>, subject: Option<&str>, kind: Option<&str>) -> Result<DifferenceKey, Error> {
    let unknown = || Error::NotFound("difference");
    let account_id = account.and_then(|text| text.parse().ok()).ok_or_else(unknown)?;
    let kind = kind.and_then(DifferenceKind::parse).ok_or_else(unknown)?;
    // Neither database stores a NUL character, and PostgreSQL refuses a query that contains one.
    let subject = subject.filter(|text| !text.contains('\0')).ok_or_else(unknown)?.to_owned();
    Ok(DifferenceKey { account_id, subject, kind })
}

async fn difference_page(page: &OperatorPage, key: &DifferenceKey, failed: Failed) -> Result<Response, PageError> {
    let mut shell = page.shell().await?;
    let difference = page.operator.difference(key).await?;
    let account = page.operator.bank_account(key.account_id).await?;
    let facts = facts(page, &difference, &account);
    // The address of a form that was sent names no difference.
    let language = switch_query(&page.visitor).replace('?', "&");
    shell.switch_url = format!("{}{language}", facts.url);
    let view = DifferencePage {
        list_url: page.url(differences_path()),
        action: page.url(format_args!("{}/settle", differences_path())),
        facts,
        notice: failed.notice,
        answer: failed.answer,
        shell,
    };
    Ok(page.render(failed.status, &view))
}
