//! The members of an object as readers see them: one row each, with type, limits and whether it is required. Members of nested
//! objects follow their object, with its name before theirs.

use serde_json::Value;

use super::{
    example,
    limits::limits,
    openapi::{OpenApi, Shape, entries, members},
    prose::Prose,
};

/// How deep members of members are listed.
const DEPTH_MOST: usize = 6;

/// Which nested objects are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nested {
    /// All, for bodies: the caller who writes one needs all members on one page.
    All,
    /// Those without a name. The others have pages of their own.
    Unnamed,
}

/// One member, or one parameter.
pub(crate) struct Member {
    /// With the names of the objects around it, such as `payment_method.bank`.
    pub(crate) name: String,
    pub(crate) kind: String,
    /// The names of the schemas that it has or may have.
    pub(crate) schemas: Vec<String>,
    pub(crate) is_required: bool,
    pub(crate) is_nullable: bool,
    /// In which form of its object it occurs, where there are several.
    pub(crate) form: Option<Prose>,
    pub(crate) description: Option<Prose>,
    /// The values that it may have, where they are few.
    pub(crate) values: Vec<String>,
    pub(crate) limits: Vec<Prose>,
    pub(crate) example: Option<String>,
}

/// The members of an object schema.
pub(super) fn members_of(document: OpenApi<'_>, schema: &Value, nested: Nested) -> Vec<Member> {
    let mut listed = Vec::new();
    list(document, &document.shape(schema), "", nested, 0, &mut listed);
    listed
}

/// One row, for a parameter or a schema that is no object.
pub(super) fn member(document: OpenApi<'_>, name: &str, schema: &Value, is_required: bool) -> Member {
    let shape = document.shape(schema);
    let (kind, schemas) = kind(document, &shape);
    Member {
        name: name.to_owned(),
        kind,
        schemas,
        is_required,
        is_nullable: shape.is_nullable,
        form: None,
        description: shape.description.map(Prose::read),
        values: values(&shape),
        limits: limits(shape.schema),
        example: example::given(document, schema),
    }
}

fn list(
    document: OpenApi<'_>,
    shape: &Shape<'_>,
    before: &str,
    nested: Nested,
    depth: usize,
    listed: &mut Vec<Member>,
) {
    if depth == DEPTH_MOST {
        return;
    }
    for (name, schema, is_required) in shape.properties() {
        let name = format!("{before}{name}");
        listed.push(member(document, &name, schema, is_required));
        list_inside(document, schema, &name, nested, depth, listed);
    }
    list_forms(document, shape, before, nested, depth, listed);
}

/// Lists the members of a member: of an object, or of the objects in a list.
fn list_inside(
    document: OpenApi<'_>,
    schema: &Value,
    name: &str,
    nested: Nested,
    depth: usize,
    listed: &mut Vec<Member>,
) {
    let mut shape = document.shape(schema);
    let mut joint = ".";
    if shape.kind() == Some("array") {
        shape = document.shape(&shape.schema["items"]);
        joint = "[].";
    }
    if nested == Nested::All || shape.name.is_none() {
        list(document, &shape, &format!("{name}{joint}"), nested, depth + 1, listed);
    }
}

/// Lists the members of each form that an object may have. The member whose value tells the forms apart is listed once.
fn list_forms(
    document: OpenApi<'_>,
    shape: &Shape<'_>,
    before: &str,
    nested: Nested,
    depth: usize,
    listed: &mut Vec<Member>,
) {
    let forms: Vec<Shape<'_>> = shape.variants().into_iter().map(|form| document.shape(form)).collect();
    if nested == Nested::Unnamed && forms.iter().all(|form| form.name.is_some()) {
        return;
    }
    let start = listed.len();
    for (number, form) in forms.iter().enumerate() {
        let label = form_label(document, form, number);
        for (name, schema, is_required) in form.properties() {
            let name = format!("{before}{name}");
            let mut row = member(document, &name, schema, is_required);
            if row.kind == "null" {
                continue;
            }
            let known = listed[start..].iter_mut().find(|known| known.name == name);
            if let Some(known) = known.filter(|_| row.values.len() == 1) {
                known.values.append(&mut row.values);
                known.example = None;
                continue;
            }
            row.form = (row.values.len() != 1).then(|| label.clone());
            listed.push(row);
            list_inside(document, schema, &name, nested, depth, listed);
        }
    }
    // Stable, so that all else stays in its order.
    listed[start..].sort_by_key(|row| row.form.is_some());
}

/// In words which form this is: by the member that has one value only, or else by its number.
fn form_label(document: OpenApi<'_>, form: &Shape<'_>, number: usize) -> Prose {
    let telling = form.properties().into_iter().find_map(|(name, schema, _)| {
        let values = values(&document.shape(schema));
        let [value] = values.as_slice() else { return None };
        Some(format!("where `{name}` is `{value}`"))
    });
    Prose::read(&telling.unwrap_or_else(|| format!("in form {}", number + 1)))
}

fn values(shape: &Shape<'_>) -> Vec<String> {
    let constant = shape.schema.get("const").into_iter();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    entries(&shape.schema["enum"]).chain(constant).map(text).collect()
}

/// The type in words, and the schemas that have pages.
fn kind(document: OpenApi<'_>, shape: &Shape<'_>) -> (String, Vec<String>) {
    let own = shape.name.map(str::to_owned);
    let forms = shape.variants();
    if !forms.is_empty() {
        let named = forms.into_iter().filter_map(|form| document.shape(form).name.map(str::to_owned));
        return ("object".to_owned(), own.into_iter().chain(named).collect());
    }
    if shape.kind() == Some("array") {
        let entry = document.shape(&shape.schema["items"]);
        let (kind, schemas) = kind_of_entries(document, &entry);
        return (format!("list of {kind}"), own.into_iter().chain(schemas).collect());
    }
    let kind = match (shape.kind(), shape.schema["format"].as_str()) {
        (Some("string"), Some("date-time")) => "date-time",
        (Some("string"), Some("uri")) => "URL",
        (Some(kind), _) => kind,
        (None, _) => "any value",
    };
    let has_free_members =
        shape.schema["additionalProperties"].is_object() && members(&shape.schema["properties"]).next().is_none();
    let kind = if has_free_members { "object with members of your own" } else { kind };
    (kind.to_owned(), own.into_iter().collect())
}

fn kind_of_entries(document: OpenApi<'_>, entry: &Shape<'_>) -> (String, Vec<String>) {
    let (kind, schemas) = kind(document, entry);
    let plural = if kind.ends_with('s') { kind } else { format!("{kind}s") };
    (plural, schemas)
}
