//! Webhooks: which are sent, how they look, where they may go, and when they are retried.

mod answers;
mod docs_page;
mod extra_events;
mod isolation;
mod retries;
mod secret_keys;
mod sending;
mod shy_receiver;
mod stripe_library;
mod urgent;
mod urls;
