//! How people reach it: the `/v1` API, the command line and its configuration, in one binary called `lunas`.
//!
//! Handlers decode, call the engine and render. Nothing here decides about money or speaks SQL.

mod addresses;
mod api;
mod app;
mod auth;
mod checkout;
pub mod cli;
mod client;
mod cors;
mod dashboard;
mod document;
mod error;
mod front;
mod http;
mod limit;
mod pages;
mod project_rules;
mod refusal;
mod routes;
mod wire;

pub use document::openapi_json;
pub use http::{Server, ServerConfig, Timeouts};
