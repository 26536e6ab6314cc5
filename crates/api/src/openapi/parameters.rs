//! Descriptions of request parameters for the OpenAPI document. Their limits are the constants that the code checks against, so
//! the two cannot differ.

use domain::search::{TERM_CHARACTERS, WORD_LEAST, WORDS_MOST};
use utoipa::{
    PartialSchema,
    openapi::{
        KnownFormat, ObjectBuilder, RefOr, Required, Schema, SchemaFormat,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::Type,
    },
};
use web::query::{DEFAULT_PAGE_SIZE, FIRST_PAGE, LARGEST_PAGE_SIZE, LAST_PAGE, SEARCH_CHARACTERS};
use wire::schemas::{GivenDateTime, ONE_LINE};

use crate::body::IDEMPOTENCY_KEY_CHARACTERS;

/// Declares a type that lists the parameters of an endpoint, for its `params(...)`.
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

/// The id in a path.
pub(crate) fn path<Id: PartialSchema>(name: &str) -> Parameter {
    parameter(ParameterIn::Path, name, "The id. A malformed id is answered like an unknown one.", Id::schema()).build()
}

/// An optional query parameter.
pub(crate) fn query<T: PartialSchema>(name: &str, description: &str) -> Parameter {
    parameter(ParameterIn::Query, name, description, T::schema()).build()
}

/// The project that a session works on. With a key the parameter is ignored, since a key has its own project.
pub(crate) fn project() -> Parameter {
    let description = "With a session: the project. Members of a single project may omit it.";
    query::<String>("project_id", description)
}

pub(crate) fn page() -> Parameter {
    let schema = whole_number(LAST_PAGE, FIRST_PAGE);
    parameter(ParameterIn::Query, "page", "The page's number; a page past the end is empty.", schema).build()
}

pub(crate) fn page_size() -> Parameter {
    let schema = whole_number(LARGEST_PAGE_SIZE, DEFAULT_PAGE_SIZE);
    parameter(ParameterIn::Query, "page_size", "The most entries on a page.", schema).build()
}

fn whole_number(largest: i64, default: i64) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1))
        .maximum(Some(largest))
        .default(Some(default.into()))
}

/// Only what belongs to one payment.
pub(crate) fn of_payment(description: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    parameter(ParameterIn::Query, "payment_id", description, schema).build()
}

pub(crate) fn search(description: &str) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(SEARCH_CHARACTERS))
        .pattern(Some(ONE_LINE))
        .examples(["order"]);
    parameter(ParameterIn::Query, "search", description, schema).build()
}

pub(crate) fn q() -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(WORD_LEAST))
        .max_length(Some(TERM_CHARACTERS))
        .pattern(Some(words()))
        .examples(["siti 150.000"]);
    let description = "Words that all occur, in any case, each in any of: the reference, the customer's name, e-mail address \
        and phone number, the account number, the title of the payment link, the values of `metadata`. A word may also be the \
        amount, or the first 8 characters or more of the payment's id. Digits with separators are also read as one account \
        number, phone number or amount. At most 8 words, one of them with at least 3 characters.";
    parameter(ParameterIn::Query, "q", description, schema).build()
}

/// The pattern of terms: at most so many words, one of them long enough to be found by an index.
fn words() -> String {
    const SPACES: &str = "\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
    let (space, letter) = (format!("[ {SPACES}]"), format!("[^\\u0000-\\u0020\\u007f-\\u009f{SPACES}]"));
    let long_after = |before: usize| {
        let after = WORDS_MOST - 1 - before;
        format!("(?:{letter}+{space}+){{{before}}}{letter}{{{WORD_LEAST},}}(?:{space}+{letter}+){{0,{after}}}")
    };
    let words: Vec<String> = (0..WORDS_MOST).map(long_after).collect();
    format!("^{space}*(?:{}){space}*$", words.join("|"))
}

/// The first instant of a range of creation.
pub(crate) fn created_from() -> Parameter {
    query::<GivenDateTime>("created_from", "Only what was created at this date-time or later.")
}

/// The end of a range of creation.
pub(crate) fn created_to() -> Parameter {
    query::<GivenDateTime>(
        "created_to",
        "Only what was created before this date-time; it must be later than `created_from`.",
    )
}

pub(crate) fn idempotency_key(required: Required) -> Parameter {
    // Where the header is optional, an empty value is the same as none.
    let least = usize::from(required == Required::True);
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(least))
        .max_length(Some(IDEMPOTENCY_KEY_CHARACTERS))
        .pattern(Some("^[!-~]*$"))
        .examples(["order-1-first-try"]);
    let description =
        "A new value for each new request. Retries with the same key and body get what the first one created.";
    parameter(ParameterIn::Header, "Idempotency-Key", description, schema).required(required).build()
}

pub(crate) fn accept_language() -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String).examples(["en"]);
    let description = "The language of `payment_steps` and `bank_name`: `id` by default, or `en`.";
    parameter(ParameterIn::Header, "Accept-Language", description, schema).build()
}
