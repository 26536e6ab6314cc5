//! The parameters of requests, described with the limits that the code itself goes by.

use utoipa::{
    PartialSchema,
    openapi::{
        KnownFormat, ObjectBuilder, RefOr, Required, Schema, SchemaFormat,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::Type,
    },
};
use web::query::{DEFAULT_PAGE_SIZE, FIRST_PAGE, LARGEST_PAGE_SIZE, LAST_PAGE, SEARCH_CHARACTERS};
use wire::schemas::ONE_LINE;

use crate::body::IDEMPOTENCY_KEY_CHARACTERS;

/// Declares a type that stands for the parameters of an endpoint, for its `params(...)`.
macro_rules! parameters {
    ($name:ident: $($parameter:expr),+ $(,)?) => {
        enum $name {}

        impl utoipa::IntoParams for $name {
            fn into_params(
                _: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                vec![$($parameter),+]
            }
        }
    };
}
pub(crate) use parameters;

fn parameter(place: ParameterIn, name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> ParameterBuilder {
    let required = if place == ParameterIn::Path { Required::True } else { Required::False };
    ParameterBuilder::new()
        .parameter_in(place)
        .name(name)
        .required(required)
        .description(Some(description))
        .schema(Some(schema))
}

/// The id in an address.
pub(crate) fn path<Id: PartialSchema>(name: &str) -> Parameter {
    parameter(ParameterIn::Path, name, "Whose id; one that is malformed does not exist.", Id::schema()).build()
}

/// An optional query parameter.
pub(crate) fn query<T: PartialSchema>(name: &str, description: &str) -> Parameter {
    parameter(ParameterIn::Query, name, description, T::schema()).build()
}

/// Whose desk a session is to be at. Any text will do beside a key, which has a project of its own.
pub(crate) fn project() -> Parameter {
    let description = "With a session: which project is meant. It may be left out by members of one project only.";
    query::<String>("project_id", description)
}

pub(crate) fn page() -> Parameter {
    let schema = whole_number(LAST_PAGE, FIRST_PAGE);
    parameter(ParameterIn::Query, "page", "Which page; one past the end is empty.", schema).build()
}

pub(crate) fn page_size() -> Parameter {
    let schema = whole_number(LARGEST_PAGE_SIZE, DEFAULT_PAGE_SIZE);
    parameter(ParameterIn::Query, "page_size", "How many entries a page has at most.", schema).build()
}

fn whole_number(largest: i64, default: i64) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1))
        .maximum(Some(largest))
        .default(Some(default.into()))
}

pub(crate) fn search(description: &str) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(SEARCH_CHARACTERS))
        .pattern(Some(ONE_LINE))
        .examples(["order"]);
    parameter(ParameterIn::Query, "search", description, schema).build()
}

pub(crate) fn idempotency_key(required: Required) -> Parameter {
    // Where none is required, an empty one is the same as none.
    let least = usize::from(required == Required::True);
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(least))
        .max_length(Some(IDEMPOTENCY_KEY_CHARACTERS))
        .pattern(Some("^[!-~]*$"))
        .examples(["order-1-first-try"]);
    let description = "New for each attempt. The same key with the same body answers what it made before.";
    parameter(ParameterIn::Header, "Idempotency-Key", description, schema).required(required).build()
}

pub(crate) fn accept_language() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String).examples(["en"]);
    let description = "The language of `payment_steps` and `bank_name`: `id` by default, or `en`.";
    parameter(ParameterIn::Header, "Accept-Language", description, schema).build()
}
