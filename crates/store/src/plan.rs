//! Turns a change into SQL statements. It decides nothing: what to write, and under which guards, is in the change.

mod audit;
mod banks;
mod bulk_events;
mod factors;
mod keys;
mod ledger;
mod letters;
mod links;
mod maintenance;
mod nodes;
mod notices;
mod openings;
mod password_resets;
mod payments;
mod people;
mod projects;
mod refunds;
mod sealed;
mod sessions;
mod statement;
mod undecided;
mod users;
mod webhooks;

use std::time::Instant;

use domain::idempotency::Idempotency;

use crate::{
    change::{Change, Write},
    error::Guard,
    value::Value,
};

pub(crate) use audit::{COMMAND_LINE, STRANGER};
pub(crate) use statement::{Dialect, Statement};

pub(crate) struct Plan {
    pub(crate) statements: Vec<Statement>,
    /// The links whose rows must be locked before anything else, where several plans run at the same time: each of
    /// these plans depends on a link and its payments together, so two of them must not run on the same link at once.
    pub(crate) links: Vec<Value>,
    /// Where many such plans are made at the same time, so that committing them in batches pays off.
    pub(crate) queue: Option<Queue>,
    /// When it must be committed at the latest; after that it must not be.
    pub(crate) by: Option<Instant>,
}

/// Which plans are committed in batches with each other. Each queue has a connection of its own on PostgreSQL, so that payments
/// do not wait for webhooks to be leased and saved. What says that a node is alive goes with its webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    Payments,
    Webhooks,
}

impl Queue {
    fn of(writes: &[Write]) -> Option<Queue> {
        if !writes.iter().all(Write::is_frequent) {
            return None;
        }
        let is_webhooks = writes.iter().all(|write| matches!(write, Write::Webhook(_) | Write::Node(_)));
        Some(if is_webhooks { Queue::Webhooks } else { Queue::Payments })
    }
}

impl Plan {
    /// Whether it is committed in batches of this queue. A plan without statements needs no commit.
    pub(crate) fn is_for(&self, queue: Queue) -> bool {
        self.queue == Some(queue) && !self.statements.is_empty()
    }
}

pub(crate) fn of(change: Change, dialect: Dialect) -> Plan {
    let mut statements = Vec::with_capacity(change.writes.len() + 3);
    let links: Vec<Value> = change.writes.iter().filter_map(Write::link_to_lock).map(Value::stored).collect();
    let queue = if links.is_empty() { Queue::of(&change.writes) } else { None };
    // The payment of a customer takes over what its opening has kept about them.
    let is_taken_over = change.writes.iter().any(Write::has_checkout);
    for write in keys::in_lock_order(change.writes) {
        match write {
            Write::Installation { name, value } => statements.push(installation(name, value)),
            Write::Bind { idempotency, resource } => statements.push(bind(idempotency, resource)),
            Write::Resealed { column, row, from, to } => statements.push(sealed::resealed(column, row, from, to)),
            Write::Audit(line) => statements.push(audit::line(line)),
            Write::AuditSeals(seals) => audit::seal(&mut statements, seals),
            Write::Project(write) => projects::plan(&mut statements, write, dialect),
            Write::Key(write) => keys::plan(&mut statements, write),
            Write::Link(write) => statements.push(links::plan(write)),
            Write::Payment(write) => payments::plan(&mut statements, write, dialect),
            Write::Ledger(write) => ledger::plan(&mut statements, write),
            Write::Webhook(write) => webhooks::plan(&mut statements, write, dialect),
            Write::Node(write) => nodes::plan(&mut statements, write),
            Write::People(write) => people::plan(&mut statements, write, dialect),
            Write::Session(write) => sessions::plan(&mut statements, write, dialect),
            Write::Factor(write) => factors::plan(&mut statements, write),
            Write::Maintenance(write) => maintenance::plan(&mut statements, write, dialect),
            Write::Bank(write) => banks::plan(&mut statements, write, dialect),
            Write::Letter(write) => letters::plan(&mut statements, write),
            Write::Refund(write) => refunds::plan(&mut statements, write),
            Write::Notice(write) => notices::plan(&mut statements, write),
            Write::Reset(write) => password_resets::plan(&mut statements, write),
            Write::Opening(write) => openings::plan(&mut statements, write, is_taken_over, dialect),
        }
    }
    Plan { statements, links, queue, by: None }
}

fn installation(name: &'static str, value: String) -> Statement {
    Statement::new(
        "INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        [name.into(), value.into()],
    )
    .guarded(Guard::InstallationUnset)
}

fn bind(idempotency: Idempotency, resource: String) -> Statement {
    Statement::new(
        "INSERT INTO idempotency (project_id, endpoint, key, request, resource) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (project_id, endpoint, key) DO NOTHING",
        [
            Value::stored(idempotency.project_id),
            idempotency.endpoint.word().into(),
            idempotency.key.into(),
            idempotency.request.to_vec().into(),
            Value::named(&resource),
        ],
    )
    .guarded(Guard::IdempotencyKey)
}
