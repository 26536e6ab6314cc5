//! Pages of the installation, for its operators.

use std::ops::Deref;

use axum::{extract::FromRequestParts, http::request::Parts};
use engine::{Error, Operator};
use web::{App, page::page_error::PageError};

use super::UserPage;
use crate::shell::{Section, Shell};

/// A page for operators; for other users it does not exist.
pub(crate) struct OperatorPage {
    user: UserPage,
    pub(crate) operator: Operator,
}

impl OperatorPage {
    /// What stands around the page.
    pub(crate) async fn shell(&self) -> Result<Shell, Error> {
        self.user.shell(Section::Operator).await
    }
}

impl Deref for OperatorPage {
    type Target = UserPage;

    fn deref(&self) -> &UserPage {
        &self.user
    }
}

impl FromRequestParts<App> for OperatorPage {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<OperatorPage, PageError> {
        let user = UserPage::from_request_parts(parts, app).await?;
        let operator = app.engine.operator(&user.visit)?;
        Ok(OperatorPage { user, operator })
    }
}
