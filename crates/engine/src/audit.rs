//! The audit log: a use case that owes a line commits it together with its change.

use std::sync::Arc;

use domain::{
    audit::{Actor, AuditLine, Deed},
    audit_chain::{Seal, SealedLine},
    id::{ProjectId, UserId},
    user::User,
};
use store::{AuditFilter, Listed, Window, Write};

use crate::{Engine, Error};

/// A line of the audit log with its seal, and its user if a user did it.
#[derive(Clone, Debug)]
pub struct Audited {
    pub line: AuditLine,
    /// None until the line is sealed, which is soon.
    pub seal: Option<Seal>,
    pub user: Option<User>,
}

impl Audited {
    /// The address of the user who did it, unless they were removed.
    pub fn email(&self) -> Option<String> {
        self.user.as_ref().filter(|user| !user.is_removed()).map(|user| user.email.to_string())
    }
}

impl Engine {
    /// The same engine, used by `actor`. Without this call, the audit log names the command line.
    #[must_use]
    pub fn by(&self, actor: Actor) -> Engine {
        Engine { actor: Arc::new(actor), ..self.clone() }
    }

    /// The line to commit with a change.
    pub(crate) fn audit(
        &self,
        project_id: Option<ProjectId>,
        deed: Deed,
        subject: impl ToString,
        detail: impl ToString,
    ) -> Write {
        let now = self.now();
        Write::Audit(AuditLine {
            id: self.mint(now),
            at: now,
            actor: self.actor.as_ref().clone(),
            project_id,
            deed,
            subject: subject.to_string(),
            detail: detail.to_string(),
        })
    }

    /// The line for an action that API keys do very often; it is written only when a signed-in user does it.
    pub(crate) fn audit_person(&self, project_id: ProjectId, deed: Deed, subject: impl ToString) -> Option<Write> {
        let is_person = matches!(*self.actor, Actor::User { .. });
        is_person.then(|| self.audit(Some(project_id), deed, subject, ""))
    }

    pub(crate) async fn audited(
        &self,
        project_id: Option<ProjectId>,
        filter: &AuditFilter,
        window: Window,
    ) -> Result<Listed<Audited>, Error> {
        let listed = self.store.audit_list(project_id, filter, window).await?;
        Ok(Listed { items: self.with_users(listed.items).await?, total: listed.total })
    }

    /// These lines with the users who caused them.
    pub(crate) async fn with_users(&self, lines: Vec<SealedLine>) -> Result<Vec<Audited>, Error> {
        let mut known: Vec<User> = Vec::new();
        let mut items = Vec::with_capacity(lines.len());
        for SealedLine { line, seal } in lines {
            let user = match &line.actor {
                Actor::User { id, .. } => self.known_user(&mut known, *id).await?,
                Actor::Key(_) | Actor::CommandLine | Actor::Stranger { .. } => None,
            };
            items.push(Audited { line, seal, user });
        }
        Ok(items)
    }

    async fn known_user(&self, known: &mut Vec<User>, id: UserId) -> Result<Option<User>, Error> {
        if let Some(user) = known.iter().find(|user| user.id == id) {
            return Ok(Some(user.clone()));
        }
        let user = self.store.user(id).await?;
        known.extend(user.clone());
        Ok(user)
    }
}
