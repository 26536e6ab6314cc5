//! What tests share: a server on a free port with a database of its own, a clock that tests move, clients, a receiver
//! of webhooks, browsers, and PostgreSQL.
//!
//! [`on_every_database!`] is the one place that knows which databases there are; [`on_sqlite_alone!`] is for rules that
//! no database decides.

mod api;
mod browser;
mod client;
mod clock;
mod contract;
mod database;
mod process;
mod receiver;
mod relay;
mod reply;
mod server;
mod socket;

pub use api::Api;
pub use browser::{Browser, Look, TARGET_LEAST, Theme, Transfer, Violation, decode_qr};
pub use client::plain_client;
pub use clock::ManualClock;
pub use contract::{Contract, contract};
pub use database::Database;
pub use pgcluster::{Cluster, StopMode};
pub use process::{Program, Ran, Running};
pub use receiver::{Answer, Received, Receiver};
pub use relay::{Manner, Relay, TakenLetter};
pub use reply::Reply;
pub use server::{Kit, Options, TestProject, on_postgres, on_postgres_with, on_sqlite, on_sqlite_with};
pub use socket::{Socket, exchange, request_bytes};
