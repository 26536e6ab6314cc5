//! A project's webhooks: their URL, their secret, and sending them again.

use domain::{
    access::Act,
    audit::Deed,
    event::EventKind,
    id::EventId,
    idempotency::{Endpoint, Idempotency},
    orders::{MethodRequest, PaymentRequest},
    payment::Payment,
    project::Project,
    time::Timestamp,
};

use gateway::Outcome;

use super::Desk;
use crate::{Created, Error, ProjectUpdate, Unsealed};

/// The amount of a test payment.
const TEST_AMOUNT: i64 = 10_000;

impl Desk {
    /// `None` removes the URL.
    pub async fn set_webhook_url(&self, url: Option<String>) -> Result<Project, Error> {
        self.check(Act::ManageWebhooks)?;
        self.fresh_proof().await?;
        let update = ProjectUpdate { webhook_url: Some(url), ..ProjectUpdate::default() };
        self.engine.update_project(self.id(), update).await
    }

    /// The events that the project gets besides those that every project gets.
    pub async fn set_extra_events(&self, events: Vec<EventKind>) -> Result<Project, Error> {
        self.check(Act::ManageWebhooks)?;
        let update = ProjectUpdate { extra_events: Some(events), ..ProjectUpdate::default() };
        self.engine.update_project(self.id(), update).await
    }

    /// The secret itself. The audit log says that it was shown.
    pub async fn show_webhook_secret(&self) -> Result<Unsealed, Error> {
        self.check(Act::ManageWebhooks)?;
        self.fresh_proof().await?;
        let line = self.engine.audit(Some(self.id()), Deed::WebhookSecretShown, self.id(), "");
        self.engine.store.commit(line.into()).await?;
        self.engine.webhook_secret(self.id()).await
    }

    /// Until when webhooks are signed with the previous secret too.
    pub async fn rotating_until(&self) -> Result<Option<Timestamp>, Error> {
        self.engine.rotating_until(self.id()).await
    }

    pub async fn rotate_webhook_secret(&self, at_once: bool) -> Result<(Unsealed, Timestamp), Error> {
        self.check(Act::ManageWebhooks)?;
        self.fresh_proof().await?;
        self.engine.rotate_webhook_secret(self.id(), at_once).await
    }

    pub async fn resend(&self, event_id: EventId) -> Result<(), Error> {
        self.check(Act::ManageWebhooks)?;
        self.engine.resend(self.id(), event_id).await
    }

    /// Sends again all events from `since` on whose delivery has failed; answers how many those are.
    pub async fn recover(&self, since: Timestamp) -> Result<i64, Error> {
        self.check(Act::ManageWebhooks)?;
        self.engine.recover(self.id(), since).await
    }

    /// Creates a sandbox payment and pays it, so that a webhook is sent. `form` identifies one filled-in form: sent
    /// twice, it creates one payment.
    pub async fn send_test(&self, form: &str) -> Result<Payment, Error> {
        self.check(Act::ManageWebhooks)?;
        self.check_sandbox()?;
        if self.engine.project(self.id()).await?.webhook_url.is_none() {
            return Err(Error::NoWebhookUrl);
        }
        let request = PaymentRequest {
            reference: Some(format!("TEST-{}", &form.chars().take(8).collect::<String>().to_ascii_uppercase())),
            amount: Some(TEST_AMOUNT),
            method: Some(MethodRequest { kind: Some("qris".to_owned()), bank: None }),
            ..PaymentRequest::default()
        };
        let key = format!("test {form}");
        let idempotency = Idempotency { project_id: self.id(), endpoint: Endpoint::Payments, key, request: [0; 16] };
        let (Created::New(payment) | Created::Replayed(payment)) =
            self.engine.create_payment(&self.project, idempotency, request).await?;
        let line = self.engine.audit(Some(self.id()), Deed::WebhookTested, payment.id, "");
        self.engine.store.commit(line.into()).await?;
        let amount = payment.terms.amount;
        let receipt = format!("test:{}", payment.id);
        let observed = self
            .engine
            .simulate(&self.project, payment, Some(&receipt), |paid_at| Outcome::Paid { amount, paid_at })
            .await?;
        Ok(observed.into_payment())
    }
}
