//! Letters: which are queued, how they look, who gets them, and how they reach a relay.

mod banks;
mod bounds;
mod causes;
mod choices;
mod commands;
mod foreign_server;
mod notice_settings;
mod notices;
mod sending;
mod summaries;
