//! What merchants' programs read, whether they asked for it or a webhook brought it: payments, revoked API keys and events as JSON,
//! each with its description for the OpenAPI document.
//!
//! It decides nothing and reads nothing: values of the domain go in, JSON comes out. The engine signs and sends these bytes, and
//! `api` answers with them, so neither has to call the other for them.

pub mod api_key;
pub mod event;
pub mod method;
pub mod payment;
pub mod schemas;
