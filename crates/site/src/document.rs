//! How the OpenAPI document comes here. This crate does not know who makes it.

use serde_json::Value;

/// Gives the OpenAPI document, which is built when a page first needs it.
pub type Document = fn() -> &'static Value;
