//! The JSON of a line of the audit log, as the API answers it and as the dashboard puts it into files.

use domain::{
    audit::{Actor, AuditLine},
    audit_chain::Seal,
    hex::hex,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::schemas;

/// What somebody did in the project.
#[derive(Serialize, ToSchema)]
#[schema(title = "AuditLine", as = AuditLine)]
pub struct AuditLineJson {
    #[schema(value_type = schemas::AuditLineId)]
    pub id: String,
    #[schema(value_type = schemas::DateTime)]
    pub at: String,
    #[schema(value_type = schemas::AuditAction)]
    pub action: &'static str,
    /// The user (`usr_…`) or the API key (`key_…`) that did it; `command-line` for a command on the server, `stranger` for
    /// somebody who was not signed in.
    #[schema(examples("usr_01kzdq3f5ve8x9m2r7t4w6y8za"))]
    pub actor: String,
    /// The address for e-mail of the user who did it, as it is now; null if it was no user, or one who was removed.
    #[schema(required)]
    pub actor_email: Option<String>,
    /// The network address that it came from, where that is known.
    #[schema(required, examples("203.0.113.9"))]
    pub address: Option<String>,
    /// What it was done to: an id, an address for e-mail, a name.
    pub subject: String,
    /// What else there is to know.
    pub detail: String,
    /// The position in the chain of the project, from 1 on; null until the line is sealed, which takes a second or so.
    #[schema(required, minimum = 1, examples(1))]
    pub position: Option<i64>,
    /// The hash over the line and over the hash of the line before it; null until the line is sealed.
    #[schema(required, pattern = "^[0-9a-f]{64}$")]
    pub hash: Option<String>,
}

impl AuditLineJson {
    /// `actor_email`: the address of the user who did it, if there is one.
    pub fn of(line: &AuditLine, seal: Option<&Seal>, actor_email: Option<String>) -> AuditLineJson {
        let (actor, address) = match &line.actor {
            Actor::User { id, address } => (id.to_string(), Some(address.clone())),
            Actor::Key(id) => (id.to_string(), None),
            Actor::CommandLine => ("command-line".to_owned(), None),
            Actor::Stranger { address } => ("stranger".to_owned(), Some(address.clone())),
        };
        AuditLineJson {
            id: line.id.to_string(),
            at: line.at.to_string(),
            action: line.deed.word(),
            actor,
            actor_email,
            address,
            subject: line.subject.clone(),
            detail: line.detail.clone(),
            position: seal.map(|seal| seal.position),
            hash: seal.map(|seal| hex(&seal.hash)),
        }
    }
}
