//! The addresses of the reference: `/docs/api`, `/docs/api/<tag>/<operation>` and `/docs/api/schemas/<name>`. A page is the same for
//! everybody who reads in one language, so it is rendered and compressed once.

use std::sync::{Arc, OnceLock};

use axum::{
    Extension, Router,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue},
    response::Response,
    routing::get,
};
use domain::language::Language;
use i18n_embed_fl::fl;
use web::{
    App, Failure,
    page::{
        assets::Asset,
        page_error::PageError,
        render::{other_language, stored_page},
        visitor::Visitor,
    },
    stored_file::StoredFile,
};

use super::{
    model::{Group, Reference},
    operation::Operation,
    view::{Links, ListPage, OperationPage, SchemaPage},
};
use crate::{
    document::Document,
    frame::{Frame, MenuEntry, MenuGroup},
    words::code,
};

pub(crate) static STYLE: Asset = Asset::style("reference", &[include_str!("../../assets/reference.css")]);
pub(crate) static SCRIPT: Asset = Asset::script("try-it", &[include_str!("../../assets/try_it.js")]);
/// Browsers ask each time whether the page is still the same: it changes with the program and with the visitor's language.
const REVALIDATED: HeaderValue = HeaderValue::from_static("private, no-cache");

/// The reference and its rendered pages, in both languages of what stands around them.
pub(super) struct ReferencePages {
    document: Document,
    read: OnceLock<(Reference, Vec<RenderedPage>)>,
}

type RenderedPage = [OnceLock<StoredFile>; 2];

/// Which page of the reference.
#[derive(Clone, Copy)]
enum Which {
    List,
    Operation(usize),
    Schema(usize),
}

/// The pages of the reference, below `/docs/api`.
pub(crate) fn routes(document: Document) -> Router<App> {
    Router::new()
        .route("/docs/api", get(show_list))
        .route("/docs/api/{tag}/{operation}", get(show_operation))
        .route("/docs/api/schemas/{name}", get(show_schema))
        .layer(Extension(Arc::new(ReferencePages { document, read: OnceLock::new() })))
}

type Pages = Extension<Arc<ReferencePages>>;

async fn show_list(
    State(app): State<App>,
    Extension(pages): Pages,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    pages.answer(&app, &visitor, &headers, Which::List)
}

async fn show_operation(
    State(app): State<App>,
    Extension(pages): Pages,
    Path((tag, operation)): Path<(String, String)>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let place = pages.reference().operations.iter().position(|one| one.place.tag == tag && one.place.name == operation);
    pages.answer(&app, &visitor, &headers, Which::Operation(place.ok_or(Failure::NoSuchPath)?))
}

async fn show_schema(
    State(app): State<App>,
    Extension(pages): Pages,
    Path(name): Path<String>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let place = pages.reference().schemas.iter().position(|schema| schema.name == name);
    pages.answer(&app, &visitor, &headers, Which::Schema(place.ok_or(Failure::NoSuchPath)?))
}

impl ReferencePages {
    fn read(&self) -> &(Reference, Vec<RenderedPage>) {
        self.read.get_or_init(|| {
            let reference = Reference::read((self.document)());
            let pages = 1 + reference.operations.len() + reference.schemas.len();
            (reference, (0..pages).map(|_| RenderedPage::default()).collect())
        })
    }

    fn reference(&self) -> &Reference {
        &self.read().0
    }

    fn answer(&self, app: &App, visitor: &Visitor, headers: &HeaderMap, which: Which) -> Result<Response, PageError> {
        let (reference, pages) = self.read();
        let number = match which {
            Which::List => 0,
            Which::Operation(number) => 1 + number,
            Which::Schema(number) => 1 + reference.operations.len() + number,
        };
        let page = &pages[number][usize::from(visitor.language == Language::English)];
        let page = match page.get() {
            Some(made) => made,
            None => {
                let made = render(app, visitor, reference, which)?;
                page.get_or_init(|| made)
            }
        };
        Ok(page.answer(headers, REVALIDATED))
    }
}

fn render(app: &App, visitor: &Visitor, reference: &Reference, which: Which) -> Result<StoredFile, PageError> {
    let urls = &app.settings.urls;
    let other = code(other_language(visitor.language));
    // Without the query of this request, since the page is rendered once for all.
    let switch_url = urls.url(format_args!("{}?lang={other}", visitor.path));
    let links = Links {
        reference: urls.url("/docs/api"),
        document: urls.url("/openapi.json"),
        style: urls.url(STYLE.path()),
        script: urls.url(SCRIPT.path()),
        lang: (visitor.language != Language::English).then(|| code(Language::English)),
    };
    let frame = Frame::of(app, visitor);
    let menu_label = fl!(frame.words, "menu-operations");
    let frame = Frame { switch_url, menu_label, menu: menu(reference, &links, which), ..frame };
    match which {
        Which::List => stored_page(&ListPage { frame, links, reference }),
        Which::Operation(number) => {
            let operation = &reference.operations[number];
            let settings = &app.settings;
            stored_page(&OperationPage::of(frame, links, reference, operation, &settings.base_url, &settings.pages_url))
        }
        Which::Schema(number) => {
            let schema = &reference.schemas[number];
            stored_page(&SchemaPage { frame, links, reference, schema })
        }
    }
}

/// The menu beside a page: all operations by tag.
fn menu(reference: &Reference, links: &Links, which: Which) -> Vec<MenuGroup> {
    let current = match which {
        Which::Operation(number) => Some(reference.operations[number].id.as_str()),
        Which::List | Which::Schema(_) => None,
    };
    let entry = |operation: &Operation| MenuEntry {
        url: links.operation(operation),
        title: operation.title.clone(),
        lang: links.lang,
        current: current == Some(operation.id.as_str()),
    };
    let group = |group: &Group| MenuGroup {
        title: group.name.clone(),
        entries: reference.operations_of(group).into_iter().map(entry).collect(),
    };
    reference.groups.iter().map(group).collect()
}
