//! One claim link: what its pages are made of, and its addresses.

use domain::user::Token;
use engine::ClaimPage;
use web::{
    App,
    page::{page_error::PageError, visitor::Visitor},
};

use crate::parts::address;

/// How the path of a claim link begins. What follows grants access, so logs must not hold it.
pub(crate) const CLAIMS: &str = "/r/";

/// Everything that a page of one claim link is made of.
pub(crate) struct ClaimLink<'a> {
    pub(crate) app: &'a App,
    pub(crate) visitor: &'a Visitor,
    pub(crate) token: Token,
    pub(crate) page: ClaimPage,
    /// Of what the payment pays.
    pub(crate) title: Option<String>,
}

impl<'a> ClaimLink<'a> {
    pub(crate) async fn read(app: &'a App, visitor: &'a Visitor, token: Token) -> Result<ClaimLink<'a>, PageError> {
        let page = app.engine.claim(&token).await?;
        let title = app.engine.payment_title(&page.payment).await?;
        Ok(ClaimLink { app, visitor, token, page, title })
    }

    /// An address of this link.
    pub(crate) fn url(&self, more: &str) -> String {
        address(self.app, self.visitor, format_args!("{CLAIMS}{}{more}", self.token.reveal()))
    }
}
