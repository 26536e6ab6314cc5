//! One operation of the API as its page shows it, read from the document.

use serde_json::Value;

use super::{
    example::{self, example},
    json::Json,
    member::{Member, Nested, member, members_of},
    openapi::{OpenApi, entries, members},
    prose::Prose,
    snippet::Request,
};

/// The parts of the path at which operations are: their tag and their own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) tag: String,
    pub(crate) name: String,
}

pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) place: Place,
    /// The tag as people read it.
    pub(crate) tag: String,
    /// In capitals, such as `POST`.
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) summary: Prose,
    pub(crate) description: Option<Prose>,
    pub(crate) authentication: Authentication,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    pub(crate) successes: Vec<Success>,
    pub(crate) errors: Vec<ErrorRow>,
    /// What the examples send.
    pub(super) request: Request,
    /// The ids of operations that usually follow.
    pub(crate) next: Vec<String>,
}

/// How a caller proves who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authentication {
    None,
    Key,
    KeyOrSession,
}

pub(crate) struct Parameter {
    /// `path`, `query` or `header`.
    pub(crate) place: String,
    pub(crate) member: Member,
}

pub(crate) struct Body {
    pub(crate) is_required: bool,
    pub(crate) schema: Option<String>,
    pub(crate) members: Vec<Member>,
    pub(crate) example: String,
}

pub(crate) struct Success {
    pub(crate) status: String,
    pub(crate) description: Prose,
    pub(crate) schema: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) headers: Vec<String>,
    pub(crate) example: Option<String>,
}

/// One error code that the operation answers with.
pub(crate) struct ErrorRow {
    pub(crate) status: String,
    pub(crate) code: String,
    pub(crate) meaning: Prose,
}

impl Operation {
    pub(super) fn read(document: OpenApi<'_>, path: &str, method: &str, operation: &Value) -> Operation {
        let text = |name: &str| operation[name].as_str().unwrap_or_default();
        let (id, tag) = (text("operationId"), entries(&operation["tags"]).next().and_then(Value::as_str));
        let tag = tag.unwrap_or("Other");
        let parameters: Vec<&Value> = entries(&operation["parameters"]).map(|part| document.resolve(part)).collect();
        let body_schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body_example = (!body_schema.is_null()).then(|| example(document, body_schema));
        let authentication = authentication(document, operation);
        let request = request(document, path, method, &parameters, authentication, body_example.clone());
        Operation {
            place: Place { tag: slug(tag), name: slug(id) },
            id: id.to_owned(),
            tag: tag.to_owned(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            title: title(text("summary")),
            summary: Prose::read(text("summary")),
            description: operation["description"].as_str().map(Prose::read),
            authentication,
            parameters: parameters.iter().map(|parameter| read_parameter(document, parameter)).collect(),
            body: body_example.map(|example| read_body(document, operation, body_schema, &example)),
            successes: responses(operation, true).map(|(status, part)| success(document, status, part)).collect(),
            errors: responses(operation, false).flat_map(|(status, part)| error_rows(document, status, part)).collect(),
            request,
            next: next(operation),
        }
    }

    /// Whether the summary says more than the title.
    pub(crate) fn has_longer_summary(&self) -> bool {
        self.summary.plain().trim_end_matches('.') != self.title
    }
}

/// A name in the form that addresses have: `listPayments` and `API keys` become `list-payments` and `api-keys`.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    let mut after_small = false;
    for character in name.chars() {
        if character.is_ascii_uppercase() && after_small {
            slug.push('-');
        }
        after_small = character.is_ascii_lowercase() || character.is_ascii_digit();
        slug.push(if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' });
    }
    slug
}

/// The first clause of a summary.
fn title(summary: &str) -> String {
    let end = summary.find([';', '.', ':']).unwrap_or(summary.len());
    Prose::read(&summary[..end]).plain()
}

/// An operation without `security` has the document's, and one with an empty list needs no authentication.
fn authentication(document: OpenApi<'_>, operation: &Value) -> Authentication {
    let security = operation.get("security").unwrap_or(&document.0["security"]);
    let accepts = |name: &str| entries(security).any(|scheme| scheme.get(name).is_some());
    match (accepts("api_key"), accepts("session")) {
        (true, true) => Authentication::KeyOrSession,
        (true, false) => Authentication::Key,
        _ => Authentication::None,
    }
}

fn read_parameter(document: OpenApi<'_>, parameter: &Value) -> Parameter {
    let text = |name: &str| parameter[name].as_str().unwrap_or_default();
    let is_required = parameter["required"] == true;
    let mut member = member(document, text("name"), &parameter["schema"], is_required);
    member.description = parameter["description"].as_str().map(Prose::read).or(member.description);
    Parameter { place: text("in").to_owned(), member }
}

fn read_body(document: OpenApi<'_>, operation: &Value, schema: &Value, example: &Json) -> Body {
    Body {
        is_required: operation["requestBody"]["required"] == true,
        schema: document.shape(schema).name.map(str::to_owned),
        members: members_of(document, schema, Nested::All),
        example: example.pretty(),
    }
}

/// The answers of an operation that are a success, among them that the client has the answer already, or those that are errors.
fn responses(operation: &Value, are_successes: bool) -> impl Iterator<Item = (&str, &Value)> {
    members(&operation["responses"]).filter(move |(status, _)| status.starts_with(['2', '3']) == are_successes)
}

fn success(document: OpenApi<'_>, status: &str, response: &Value) -> Success {
    let response = document.resolve(response);
    let content = members(&response["content"]).next();
    let schema = content.map(|(_, content)| &content["schema"]).filter(|schema| !schema.is_null());
    Success {
        status: status.to_owned(),
        description: Prose::read(response["description"].as_str().unwrap_or_default()),
        schema: schema.and_then(|schema| document.shape(schema).name).map(str::to_owned),
        media_type: content.map(|(media_type, _)| media_type.to_owned()),
        headers: members(&response["headers"]).map(|(name, _)| name.to_owned()).collect(),
        example: schema.map(|schema| example(document, schema).pretty()),
    }
}

/// One row for each code that the answer's schema allows. Their meanings are in the description, each behind its code.
pub(super) fn error_rows(document: OpenApi<'_>, status: &str, response: &Value) -> Vec<ErrorRow> {
    let response = document.resolve(response);
    let description = response["description"].as_str().unwrap_or_default();
    let codes = &response["content"]["application/json"]["schema"]["properties"]["error"]["properties"]["code"]["enum"];
    let mut rows: Vec<ErrorRow> = Vec::new();
    for code in entries(codes).filter_map(Value::as_str) {
        if rows.iter().all(|row| row.code != code) {
            let meaning = Prose::read(meaning(description, code));
            rows.push(ErrorRow { status: status.to_owned(), code: code.to_owned(), meaning });
        }
    }
    rows
}

/// The part of a description behind one code and before the next.
fn meaning<'a>(description: &'a str, code: &str) -> &'a str {
    let start = format!("`{code}`: ");
    let text = description.split_once(&start).map_or("", |(_, text)| text);
    let is_code = |rest: &str| {
        let code = rest.split_once("`: ").map_or("", |(code, _)| code);
        !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    let end = text.match_indices("; `").find(|(at, joint)| is_code(&text[at + joint.len()..]));
    end.map_or(text, |(at, _)| &text[..at])
}

fn next(operation: &Value) -> Vec<String> {
    let mut next: Vec<String> = Vec::new();
    for (_, response) in responses(operation, true) {
        for (name, _) in members(&response["links"]) {
            if next.iter().all(|known| known != name) {
                next.push(name.to_owned());
            }
        }
    }
    next
}

/// The request that the examples send: with what is required, and with the page of a list.
fn request(
    document: OpenApi<'_>,
    path: &str,
    method: &str,
    parameters: &[&Value],
    authentication: Authentication,
    body: Option<Json>,
) -> Request {
    let mut request = Request {
        method: method.to_uppercase(),
        path: path.to_owned(),
        query: Vec::new(),
        headers: Vec::new(),
        is_keyed: authentication != Authentication::None,
        body,
    };
    for parameter in parameters {
        let (name, schema) = (parameter["name"].as_str().unwrap_or_default(), &parameter["schema"]);
        let is_shown = parameter["required"] == true || schema.get("default").is_some();
        let Some(value) = example::given(document, schema).filter(|_| is_shown) else { continue };
        match parameter["in"].as_str() {
            Some("path") => request.fill_path(name, &value),
            Some("query") => request.query.push((name.to_owned(), value)),
            _ => request.headers.push((name.to_owned(), value)),
        }
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses_are_small_letters_with_hyphens() {
        for (name, address) in [
            ("listPayments", "list-payments"),
            ("getOpenApi", "get-open-api"),
            ("API keys", "api-keys"),
            ("Payment links", "payment-links"),
        ] {
            assert_eq!(slug(name), address);
        }
    }

    #[test]
    fn a_title_is_the_first_clause_of_the_summary() {
        assert_eq!(title("Create an API key; for signed-in owners. The secret"), "Create an API key");
        assert_eq!(title("Get the balance, now or at an earlier time."), "Get the balance, now or at an earlier time");
    }

    #[test]
    fn each_code_has_its_own_meaning() {
        let description = "`A_B`: a rule; `field` is broken; `C`: with a key: no; `A_B`: a rule again";
        assert_eq!(meaning(description, "A_B"), "a rule; `field` is broken");
        assert_eq!(meaning(description, "C"), "with a key: no");
        assert_eq!(meaning(description, "D"), "");
    }
}
