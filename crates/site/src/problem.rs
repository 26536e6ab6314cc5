//! The page for an error: what happened, and where to go from there.

use askama::Template;
use axum::{
    http::{HeaderValue, header},
    response::Response,
};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        page_error::{PageError, ProblemKind},
        render::{page, switch_query},
        visitor::Visitor,
    },
};

use crate::frame::Frame;

#[derive(Template)]
#[template(path = "problem.html")]
struct Problem {
    frame: Frame,
    heading: String,
    text: String,
    /// For support; none where there is nothing to look up.
    reference: Option<String>,
}

pub(crate) fn error_page(app: &App, visitor: &Visitor, error: &PageError) -> Response {
    // The requested path is not shown. A link of a query alone leads to the same path.
    let frame = Frame { switch_url: switch_query(visitor), ..Frame::of(app, visitor) };
    let words = frame.words;
    let (heading, text) = match error.kind() {
        ProblemKind::NotFound => (fl!(words, "problem-missing"), fl!(words, "problem-missing-text")),
        ProblemKind::Forbidden | ProblemKind::TooMany | ProblemKind::NotUnderstood => {
            (fl!(words, "problem-refused"), fl!(words, "problem-refused-text"))
        }
        ProblemKind::Unavailable | ProblemKind::Broken => {
            (fl!(words, "problem-failed"), fl!(words, "problem-failed-text"))
        }
    };
    let reference = visitor.request_id.clone().filter(|_| error.kind() != ProblemKind::NotFound);
    let mut response = page(error.status, &Problem { frame, heading, text, reference });
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
