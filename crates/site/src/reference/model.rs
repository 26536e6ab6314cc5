//! The whole reference, read once from the document.

use serde_json::Value;

use super::{
    example::{self, example},
    member::{Member, Nested, member, members_of},
    openapi::{OpenApi, entries, members},
    operation::{ErrorRow, Operation, error_rows, slug},
    prose::Prose,
};

pub(crate) struct Reference {
    pub(crate) version: String,
    pub(crate) introduction: Prose,
    /// The ways to authenticate.
    pub(crate) schemes: Vec<Described>,
    pub(crate) groups: Vec<Group>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) schemas: Vec<Schema>,
    /// The headers of answers.
    pub(crate) headers: Vec<Described>,
    /// The errors that belong to no operation.
    pub(crate) errors: Vec<ErrorRow>,
    /// The id of the example's project, in place of which a caller's own must stand.
    pub(crate) example_project: String,
}

/// A name and what it stands for.
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) description: Prose,
}

/// The operations of one tag.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) slug: String,
    pub(crate) description: Prose,
}

pub(crate) struct Schema {
    pub(crate) name: String,
    pub(crate) description: Option<Prose>,
    /// What it is as a whole: type, values and limits.
    pub(crate) whole: Member,
    pub(crate) members: Vec<Member>,
    pub(crate) example: String,
}

impl Reference {
    pub(crate) fn read(document: &Value) -> Reference {
        let document = OpenApi(document);
        let (info, components) = (&document.0["info"], &document.0["components"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let operations = members(&document.0["paths"]).flat_map(|(path, item)| {
            let methods = members(item).filter(|(_, operation)| operation.get("responses").is_some());
            methods.map(move |(method, operation)| Operation::read(document, path, method, operation))
        });
        let status_of = [("NoSuchPath", "404"), ("MethodNotAllowed", "405")];
        let errors =
            status_of.iter().flat_map(|(name, status)| error_rows(document, status, &components["responses"][*name]));
        Reference {
            version: text(&info["version"]),
            introduction: Prose::read(&text(&info["description"])),
            schemes: described(&components["securitySchemes"]),
            groups: entries(&document.0["tags"]).map(group).collect(),
            operations: operations.collect(),
            schemas: document.schemas().map(|(name, schema)| read_schema(document, name, schema)).collect(),
            headers: described(&components["headers"]),
            errors: errors.collect(),
            example_project: example::given(document, &components["schemas"]["ProjectId"]).unwrap_or_default(),
        }
    }

    pub(crate) fn operations_of(&self, group: &Group) -> Vec<&Operation> {
        self.operations.iter().filter(|operation| operation.place.tag == group.slug).collect()
    }

    pub(crate) fn operation_by_id(&self, id: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    pub(crate) fn group(&self, operation: &Operation) -> Option<&Group> {
        self.groups.iter().find(|group| group.slug == operation.place.tag)
    }

    /// The operations that take or answer a schema by its name.
    pub(crate) fn operations_with(&self, schema: &str) -> Vec<&Operation> {
        let is = |name: &Option<String>| name.as_deref() == Some(schema);
        let has = |operation: &&Operation| {
            operation.body.as_ref().is_some_and(|body| is(&body.schema))
                || operation.successes.iter().any(|success| is(&success.schema))
        };
        self.operations.iter().filter(has).collect()
    }
}

fn described(parts: &Value) -> Vec<Described> {
    let one = |(name, part): (&str, &Value)| Described {
        name: name.to_owned(),
        description: Prose::read(part["description"].as_str().unwrap_or_default()),
    };
    members(parts).map(one).collect()
}

fn group(tag: &Value) -> Group {
    let text = |name: &str| tag[name].as_str().unwrap_or_default();
    Group { name: text("name").to_owned(), slug: slug(text("name")), description: Prose::read(text("description")) }
}

fn read_schema(document: OpenApi<'_>, name: &str, schema: &Value) -> Schema {
    let mut whole = member(document, name, schema, true);
    Schema {
        name: name.to_owned(),
        description: whole.description.take(),
        members: members_of(document, schema, Nested::Unnamed),
        example: example(document, schema).pretty(),
        whole,
    }
}
