//! What people do with webhooks: read deliveries, send them again, rotate the secret, check a URL.

use std::{sync::Arc, time::Duration};

use domain::{
    audit::Deed,
    delivery::{Attempt, Delivery},
    id::{EventId, ProjectId},
    project::{Environment, Project},
    rules::Invalid,
    time::{DAY, Timestamp},
};
use gateway::AddressGuard;
use secrecy::ExposeSecret;
use store::{Change, CommitError, Guard, SealedColumn, SealedSecrets, WebhookWrite};

use crate::{DECIDE_MOST, Engine, Error, Unsealed, projects::new_webhook_secret};

/// How long webhooks are still signed with the old secret too after a rotation.
const ROTATION: Duration = DAY;
/// Deliveries that one commit makes due again.
const RECOVERED_AT_ONCE: i64 = 500;

impl Engine {
    /// An event's delivery and its attempts; none if the project had no webhook URL.
    pub async fn delivery(&self, event_id: EventId) -> Result<Option<(Delivery, Vec<Attempt>)>, Error> {
        let Some(delivery) = self.store.delivery(event_id).await? else { return Ok(None) };
        Ok(Some((delivery, self.store.attempts(event_id).await?)))
    }

    /// An event's delivery without its attempts.
    pub async fn delivery_state(&self, event_id: EventId) -> Result<Option<Delivery>, Error> {
        Ok(self.store.delivery(event_id).await?)
    }

    /// Sends an event again, whatever the state of its delivery; the receiver recognises it by its id.
    pub async fn resend(&self, project_id: ProjectId, event_id: EventId) -> Result<(), Error> {
        let event = self.store.event(project_id, event_id).await?.ok_or(Error::NotFound("event"))?;
        if self.project(project_id).await?.webhook_url.is_none() {
            return Err(Error::NoWebhookUrl);
        }
        let urgent = event.kind().is_urgent();
        let change = Change::from(WebhookWrite::Resent { event_id: event.id, project_id, urgent, at: self.now() })
            .with(self.audit(Some(project_id), Deed::WebhookResent, event.id, ""));
        Ok(self.store.commit(change).await?)
    }

    /// Sends again all of a project's events from `since` on whose delivery has failed; answers how many those are.
    pub async fn recover(&self, project_id: ProjectId, since: Timestamp) -> Result<i64, Error> {
        if self.project(project_id).await?.webhook_url.is_none() {
            return Err(Error::NoWebhookUrl);
        }
        let failed = self.store.failed_deliveries(project_id, since).await?;
        let line = self.audit(Some(project_id), Deed::WebhooksRecovered, failed, format!("since {since}"));
        self.store.commit(line.into()).await?;
        // In batches, so that other commits can run in between. Deliveries that fail again meanwhile are not counted
        // twice.
        for _ in 0..failed.div_euclid(RECOVERED_AT_ONCE) + 1 {
            let (at, most) = (self.now(), RECOVERED_AT_ONCE);
            self.store.commit(WebhookWrite::Recovered { project_id, since, at, most }.into()).await?;
        }
        Ok(failed)
    }

    /// Generates a new secret; answers it, and until when webhooks are signed with the old one too. At most two secrets
    /// are in use, so while the last rotation is not over, the caller must pass `at_once`, which drops the oldest
    /// secret now.
    pub async fn rotate_webhook_secret(
        &self,
        project_id: ProjectId,
        at_once: bool,
    ) -> Result<(Unsealed, Timestamp), Error> {
        let secret = new_webhook_secret();
        let sealed = self.seal_webhook_secret(SealedColumn::WebhookSecret, project_id, &secret)?;
        let mut before: Option<Unsealed> = None;
        for _ in 0..DECIDE_MOST {
            let now = self.now();
            let secrets = self.webhook_secrets(project_id).await?;
            let current = self.vault.open(SealedColumn::WebhookSecret, &project_id.to_string(), &secrets.current)?;
            // Somebody else has rotated the secret at the same moment, and the caller may not know about it.
            let is_another = before.is_some_and(|before| before.expose_secret() != current.expose_secret());
            if let Some(until) = rotating_until(&secrets, now).filter(|_| !at_once || is_another) {
                return Err(Error::StillRotating { until });
            }
            let rotated = WebhookWrite::SecretRotated {
                project_id,
                replaced: secrets.current,
                previous: self.seal_webhook_secret(SealedColumn::PreviousWebhookSecret, project_id, &current)?,
                sealed: sealed.clone(),
                at: now,
            };
            let line = self.audit(Some(project_id), Deed::WebhookSecretRotated, project_id, "");
            match self.store.commit(Change::from(rotated).with(line)).await {
                Ok(()) => return Ok((secret, now.plus(ROTATION))),
                // The secret has been replaced, or only sealed anew.
                Err(CommitError::Conflict(Guard::WebhookSecret)) => before = Some(current),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    pub(crate) fn seal_webhook_secret(
        &self,
        column: SealedColumn,
        project_id: ProjectId,
        secret: &Unsealed,
    ) -> Result<Vec<u8>, Error> {
        Ok(self.vault.seal(column, &project_id.to_string(), secret.expose_secret().as_bytes())?)
    }

    /// Until when webhooks are signed with the previous secret too.
    pub(crate) async fn rotating_until(&self, id: ProjectId) -> Result<Option<Timestamp>, Error> {
        Ok(rotating_until(&self.webhook_secrets(id).await?, self.now()))
    }

    async fn webhook_secrets(&self, id: ProjectId) -> Result<SealedSecrets, Error> {
        Ok(self.store.webhook_target(id).await?.ok_or(Error::NotFound("project"))?.secrets)
    }

    pub async fn webhook_secret(&self, id: ProjectId) -> Result<Unsealed, Error> {
        let secrets = self.webhook_secrets(id).await?;
        Ok(self.vault.open(SealedColumn::WebhookSecret, &id.to_string(), &secrets.current)?)
    }

    /// The secrets that a project's webhooks are signed with at `now`, newest first.
    pub(crate) fn signing_secrets(
        &self,
        project_id: ProjectId,
        sealed: SealedSecrets,
        now: Timestamp,
    ) -> Result<Vec<Unsealed>, Error> {
        let previous = sealed.previous.filter(|(_, rotated_at)| now < rotated_at.plus(ROTATION));
        let previous = previous.map(|(secret, _)| (SealedColumn::PreviousWebhookSecret, secret));
        let sealed = [Some((SealedColumn::WebhookSecret, sealed.current)), previous];
        let row = project_id.to_string();
        sealed.into_iter().flatten().map(|(column, sealed)| Ok(self.vault.open(column, &row, &sealed)?)).collect()
    }

    /// The address guard of this installation. Only a development installation may send webhooks to its own machine.
    pub async fn webhook_guard(&self) -> Result<AddressGuard, Error> {
        let guard = AddressGuard::new(self.settings.webhook_allow.clone(), self.is_development().await?);
        Ok(guard.sharing(Arc::clone(&self.lookups)))
    }

    /// Rejects a webhook URL that is blocked now. Every delivery checks it again. A name that does not resolve is
    /// rejected like one with a blocked address, so that nobody learns which names exist in the operator's network.
    pub(crate) async fn check_webhook_url(&self, url: &str, project: &Project) -> Result<(), Error> {
        let https_only = project.environment == Environment::Production;
        let guard = self.webhook_guard().await?.of_project(Some(project.id));
        let checked = guard.check_target(url, https_only).await;
        checked.map_err(|reason| Invalid::new("webhook_url", format!("is refused: {reason}")))?;
        Ok(())
    }
}

fn rotating_until(secrets: &SealedSecrets, now: Timestamp) -> Option<Timestamp> {
    let until = secrets.previous.as_ref().map(|(_, rotated_at)| rotated_at.plus(ROTATION));
    until.filter(|until| now < *until)
}
