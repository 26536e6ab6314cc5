//! What the search finds in the reference: each operation by what it does, its path, its members and its error codes, and each
//! schema by its name and its members.

use domain::language::Language;

use super::{
    member::Member,
    model::{Reference, Schema},
    operation::Operation,
    prose::Prose,
};
use crate::{document::Document, section::Section};

pub(crate) fn sections(document: Document) -> Vec<Section> {
    let reference = Reference::read(document());
    let operations = reference.operations.iter().map(of_operation);
    operations.chain(reference.schemas.iter().map(of_schema)).collect()
}

fn of_operation(operation: &Operation) -> Section {
    let mut words =
        vec![operation.summary.plain(), operation.method.clone(), operation.path.clone(), operation.id.clone()];
    words.extend(operation.description.as_ref().map(Prose::plain));
    let members = operation.parameters.iter().map(|parameter| &parameter.member);
    for member in members.chain(operation.body.iter().flat_map(|body| &body.members)) {
        words.push(of_member(member));
    }
    words.extend(operation.errors.iter().map(|row| format!("{} {}", row.code, row.meaning.plain())));
    Section {
        path: format!("/docs/api/{}/{}", operation.place.tag, operation.place.name),
        page_title: operation.title.clone(),
        heading: None,
        text: words.join(" "),
        language: Language::English,
    }
}

fn of_schema(schema: &Schema) -> Section {
    let mut words: Vec<String> = schema.description.as_ref().map(Prose::plain).into_iter().collect();
    words.extend(schema.whole.values.iter().cloned());
    words.extend(schema.members.iter().map(of_member));
    Section {
        path: format!("/docs/api/schemas/{}", schema.name),
        page_title: schema.name.clone(),
        heading: None,
        text: words.join(" "),
        language: Language::English,
    }
}

fn of_member(member: &Member) -> String {
    let description = member.description.as_ref().map(Prose::plain).unwrap_or_default();
    format!("{} {description}", member.name)
}
