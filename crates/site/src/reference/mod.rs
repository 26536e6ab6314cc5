//! The API reference: pages made from the OpenAPI document, one for each operation and each schema. What they say is what the
//! document says, so they cannot differ from the API; nothing about an endpoint is written here.
//!
//! The document is in English, and so are these pages.

mod example;
mod json;
mod limits;
mod member;
mod model;
mod openapi;
mod operation;
mod pages;
mod prose;
mod sections;
mod snippet;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use pages::{SCRIPT, STYLE, routes};
pub(crate) use sections::sections;
