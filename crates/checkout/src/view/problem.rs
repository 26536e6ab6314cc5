//! The error page.

use askama::Template;
use i18n_embed_fl::fl;
use web::page::page_error::ProblemKind;

use super::frame::Frame;

/// The error page, with one next action.
#[derive(Template)]
#[template(path = "view/problem.html")]
pub(crate) struct Problem {
    pub(crate) frame: Frame,
    pub(crate) kind: ProblemKind,
    /// The request's id, which the customer gives to support. None on the 404 page, which is identical for all paths.
    pub(crate) support_reference: Option<String>,
    /// The target of the next action; none where there is no page to go back to.
    pub(crate) next_url: Option<String>,
}
