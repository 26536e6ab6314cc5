//! The JSON API: one file per group of endpoints. A handler decodes, calls the engine and renders; it decides nothing.

pub(crate) mod answer;
pub(crate) mod balance;
pub(crate) mod body;
pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod links;
pub(crate) mod path;
pub(crate) mod payments;
pub(crate) mod project;
pub(crate) mod sandbox;
pub(crate) mod service;
