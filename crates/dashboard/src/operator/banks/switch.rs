//! Enabling and disabling a bank account, each after a question.

use axum::{http::StatusCode, response::Response};
use domain::id::BankAccountId;
use engine::{BankError, Error};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::{account::account_page, wording::missing};
use crate::{
    done::Done,
    operator::{decide::DecisionPage, tabs::bank_path},
    page::OperatorPage,
    session::{LastId, SignedForm},
};

pub(crate) async fn ask_enable(page: OperatorPage, LastId(id): LastId<BankAccountId>) -> Result<Response, PageError> {
    let file = page.operator.bank_account_file(id).await?;
    if !file.missing.is_empty() {
        return refused(&page, id, missing(page.words(), &file.missing)).await;
    }
    ask(&page, id, file.account.name, true).await
}

pub(crate) async fn ask_disable(page: OperatorPage, LastId(id): LastId<BankAccountId>) -> Result<Response, PageError> {
    let account = page.operator.bank_account(id).await?;
    ask(&page, id, account.name, false).await
}

pub(crate) async fn enable(
    page: OperatorPage,
    LastId(id): LastId<BankAccountId>,
    _: SignedForm,
) -> Result<Response, PageError> {
    match page.operator.enable_bank_account(id, true).await {
        Ok(_) => Ok(page.redirect(bank_path(id), Done::BankEnabled)),
        Err(Error::Bank(BankError::Missing(names))) => refused(&page, id, missing(page.words(), &names)).await,
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn disable(
    page: OperatorPage,
    LastId(id): LastId<BankAccountId>,
    _: SignedForm,
) -> Result<Response, PageError> {
    page.operator.enable_bank_account(id, false).await?;
    Ok(page.redirect(bank_path(id), Done::BankDisabled))
}

/// Says on the account's page what it lacks.
async fn refused(page: &OperatorPage, id: BankAccountId, names: String) -> Result<Response, PageError> {
    let why = fl!(page.words(), "bank-enable-missing", names = names);
    account_page(page, StatusCode::CONFLICT, id, Some(why)).await
}

async fn ask(page: &OperatorPage, id: BankAccountId, name: String, enabled: bool) -> Result<Response, PageError> {
    let (shell, words, account) = (page.shell().await?, page.words(), name.as_str());
    let word = if enabled { "enable" } else { "disable" };
    let (heading, effects, button) = match enabled {
        true => (
            fl!(words, "bank-enable-heading", account = account),
            vec![fl!(words, "bank-enable-effect"), fl!(words, "bank-enable-calls")],
            fl!(words, "bank-enable"),
        ),
        false => (
            fl!(words, "bank-disable-heading", account = account),
            vec![fl!(words, "bank-disable-effect"), fl!(words, "bank-disable-calls"), fl!(words, "bank-disable-back")],
            fl!(words, "bank-disable"),
        ),
    };
    let view = DecisionPage {
        shell,
        subject_url: page.url(bank_path(id)),
        action: page.url(format_args!("{}/{word}", bank_path(id))),
        heading,
        subject: name,
        subject_id: id.to_string(),
        effects,
        methods: Vec::new(),
        button,
        bad: !enabled,
    };
    Ok(page.render(StatusCode::OK, &view))
}
