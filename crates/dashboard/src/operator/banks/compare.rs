//! Comparing a day of a bank account with the bank, when an operator asks for it.

use axum::{http::StatusCode, response::Response};
use domain::{bank_request::parse_day, id::BankAccountId};
use engine::{BankError, Error};
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::{account::account_page_with, compared::Typed};
use crate::{
    done::Done,
    operator::tabs::bank_path,
    page::OperatorPage,
    session::{LastId, SignedForm},
    words::Words,
};

pub(crate) async fn compare(
    page: OperatorPage,
    LastId(id): LastId<BankAccountId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let (words, text) = (page.words(), form.text("date").unwrap_or_default().trim().to_owned());
    let Some(day) = parse_day(&text) else {
        let mistake = fl!(words, "compare-no-day");
        return mistaken(&page, id, text, mistake).await;
    };
    match page.operator.compare_bank_day(id, day).await {
        Ok(Some(_)) => Ok(page.redirect(bank_path(id), Done::DayCompared)),
        Ok(None) => Ok(page.redirect(bank_path(id), Done::DayBeingCompared)),
        Err(Error::Bank(BankError::DayNotOver(_))) => mistaken(&page, id, text, fl!(words, "compare-not-over")).await,
        Err(Error::Bank(BankError::DayBeforeAccount(_))) => {
            mistaken(&page, id, text, fl!(words, "compare-before-account")).await
        }
        Err(Error::Bank(error)) => {
            let why = why(words, &error);
            let typed = Typed { date: Some(text), mistake: None };
            account_page_with(&page, StatusCode::CONFLICT, id, why, typed).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn mistaken(
    page: &OperatorPage,
    id: BankAccountId,
    date: String,
    mistake: String,
) -> Result<Response, PageError> {
    let typed = Typed { date: Some(date), mistake: Some(mistake) };
    account_page_with(page, StatusCode::UNPROCESSABLE_ENTITY, id, None, typed).await
}

/// Why the day was not compared.
fn why(words: Words, error: &BankError) -> Option<String> {
    Some(match error {
        BankError::BeingCompared => fl!(words, "done-day-being-compared"),
        BankError::NotComparable => fl!(words, "compare-impossible"),
        error => {
            let reason = error.to_string();
            fl!(words, "compare-failed", reason = reason)
        }
    })
}
