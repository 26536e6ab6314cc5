//! `/docs`: all guides, by group, each with what it is about.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{render::page, visitor::Visitor},
};

use crate::{
    frame::Frame,
    guides,
    words::{code, words},
};

#[derive(Template)]
#[template(path = "list.html")]
struct List {
    frame: Frame,
    groups: Vec<ListGroup>,
}

struct ListGroup {
    title: String,
    guides: Vec<ListGuide>,
}

struct ListGuide {
    url: String,
    title: String,
    summary: String,
    /// The language of the guide; none where it is that of the page.
    lang: Option<&'static str>,
}

pub(crate) async fn show(State(app): State<App>, visitor: Visitor) -> Response {
    let language = visitor.language;
    let guide = |entry: &guides::Entry| {
        let guide = entry.in_language(language);
        ListGuide {
            url: app.settings.urls.url(&guide.path),
            title: guide.title.clone(),
            summary: guide.summary.clone(),
            lang: (guide.language != language).then(|| code(guide.language)),
        }
    };
    let groups = guides::groups().iter().map(|(group, entries)| ListGroup {
        title: group.title(words(language)),
        guides: entries.iter().map(guide).collect(),
    });
    page(StatusCode::OK, &List { groups: groups.collect(), frame: Frame::of(&app, &visitor) })
}
