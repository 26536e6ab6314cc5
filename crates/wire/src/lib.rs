//! The JSON that both API answers and webhooks contain: payments, refunds, revoked API keys and events, each with its schema for the OpenAPI
//! document.
//!
//! Values of the domain go in, JSON comes out: it reads no database and no clock, and decides nothing. The engine signs and sends
//! this JSON and `api` answers with it, so neither depends on the other for it.

pub mod api_key;
pub mod audit;
pub mod event;
pub mod metadata;
pub mod method;
pub mod notice;
pub mod payment;
pub mod refund;
pub mod schemas;
mod steps;
