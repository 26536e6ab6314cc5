//! Letters: which are queued, how they look, who gets them, and how they reach a relay.

mod approvals;
mod banks;
mod bounds;
mod causes;
mod choices;
mod commands;
mod customer_language;
mod documented;
mod foreign_server;
mod notice_bounds;
mod notice_settings;
mod notices;
mod refund_notices;
mod refunds;
mod sending;
mod summaries;
