//! How people reach it: the `/v1` API, the command line and its configuration, in one binary called `lunas`.
//!
//! Handlers decode, call the engine and render. Nothing here decides about money or speaks SQL.

mod api;
mod app;
mod auth;
pub mod cli;
mod client;
mod cors;
mod error;
mod front;
mod http;
mod limit;
mod routes;
mod wire;

pub use http::{Server, ServerConfig, Timeouts};
pub use routes::openapi_json;
