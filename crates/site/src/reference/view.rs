//! What the templates of the reference are filled with.

use askama::Template;
use i18n_embed_fl::fl;
use url::Url;

use super::{
    member::Member,
    model::{Group, Reference, Schema},
    operation::{Authentication, Operation},
    snippet::{Snippet, snippets},
};
use crate::frame::Frame;

/// The addresses that pages of the reference lead to.
pub(crate) struct Links {
    /// The list of all operations.
    pub(crate) reference: String,
    /// The OpenAPI document itself.
    pub(crate) document: String,
    pub(crate) style: String,
    pub(crate) script: String,
    /// The language of the reference; none where it is that of what stands around it.
    pub(crate) lang: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "reference/view/list.html")]
pub(crate) struct ListPage<'a> {
    pub(crate) frame: Frame,
    pub(crate) links: Links,
    pub(crate) reference: &'a Reference,
}

#[derive(Template)]
#[template(path = "reference/view/operation.html")]
pub(crate) struct OperationPage<'a> {
    frame: Frame,
    links: Links,
    reference: &'a Reference,
    operation: &'a Operation,
    group: Option<&'a Group>,
    snippets: Vec<Snippet>,
    /// What stands before the path where the page itself sends a request.
    try_root: String,
    next: Vec<&'a Operation>,
}

struct ParameterGroup<'a> {
    place: &'static str,
    title: &'static str,
    members: Vec<&'a Member>,
}

#[derive(Template)]
#[template(path = "reference/view/schema.html")]
pub(crate) struct SchemaPage<'a> {
    pub(crate) frame: Frame,
    pub(crate) links: Links,
    pub(crate) reference: &'a Reference,
    pub(crate) schema: &'a Schema,
}

impl Links {
    pub(crate) fn operation(&self, operation: &Operation) -> String {
        format!("{}/{}/{}", self.reference, operation.place.tag, operation.place.name)
    }

    /// The part of the list with the operations of the same tag.
    pub(crate) fn group(&self, operation: &Operation) -> String {
        format!("{}#{}", self.reference, operation.place.tag)
    }

    pub(crate) fn schema(&self, name: &str) -> String {
        format!("{}/schemas/{name}", self.reference)
    }
}

impl<'a> OperationPage<'a> {
    /// The page of an operation of the API at `base_url`. Pages are read at `pages_url`.
    pub(crate) fn of(
        frame: Frame,
        links: Links,
        reference: &'a Reference,
        operation: &'a Operation,
        base_url: &str,
        pages_url: &str,
    ) -> OperationPage<'a> {
        OperationPage {
            group: reference.group(operation),
            snippets: snippets(base_url, &operation.request),
            try_root: try_root(base_url, pages_url),
            next: operation.next.iter().filter_map(|id| reference.operation_by_id(id)).collect(),
            frame,
            links,
            reference,
            operation,
        }
    }

    fn is_keyed(&self) -> bool {
        self.operation.authentication != Authentication::None
    }

    fn takes_session(&self) -> bool {
        self.operation.authentication == Authentication::KeyOrSession
    }

    /// The parameters by where they are sent.
    fn parameter_groups(&self) -> Vec<ParameterGroup<'a>> {
        let places = [
            ("path", "Parameters in the path"),
            ("query", "Parameters in the query"),
            ("header", "Headers of the request"),
        ];
        let group = |(place, title)| {
            let parameters = self.operation.parameters.iter().filter(|parameter| parameter.place == place);
            ParameterGroup { place, title, members: parameters.map(|parameter| &parameter.member).collect() }
        };
        places.into_iter().map(group).filter(|group| !group.members.is_empty()).collect()
    }
}

/// The path before `/v1` for requests of the page itself, which go to its own origin only: that of the API where the two share an
/// origin, or else that of the pages.
fn try_root(base_url: &str, pages_url: &str) -> String {
    let (base, pages) = (Url::parse(base_url).ok(), Url::parse(pages_url).ok());
    let shared = base.as_ref().filter(|base| pages.as_ref().is_some_and(|pages| pages.origin() == base.origin()));
    let path = shared.or(pages.as_ref()).map(|url| url.path().trim_end_matches('/').to_owned());
    path.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_sends_requests_to_its_own_origin() {
        let check = |base: &str, pages: &str, root: &str| assert_eq!(try_root(base, pages), root, "{base} {pages}");
        check("https://pay.example", "https://pay.example", "");
        check("https://pay.example/api", "https://pay.example", "/api");
        check("https://pay.example", "https://pay.example/pages", "");
        check("https://api.example/a", "https://pay.example/pages/", "/pages");
    }
}
