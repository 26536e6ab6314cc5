//! Letters about what is amiss for a while: webhooks of a project that fail since an hour, and a bank that does not answer. Each
//! stretch is told of once, also where several nodes see it: that it was told is noted in the commit that queues the letters, and
//! forgotten when the stretch is over.

use domain::{id::ProjectId, time::HOUR};
use letters::{BankDown, Letter, WebhookFailing};
use store::{Change, CommitError, Guard, LetterWrite, Write};

use super::queue::Envelope;
use crate::{Engine, Error};

const WEBHOOKS: &str = "webhooks of ";
const BANK: &str = "bank ";
/// Calls of ours that have failed one after another, from which on a bank counts as down.
const FAILED_CALLS: usize = 5;

impl Engine {
    /// Tells owners and developers of projects whose webhooks have failed for an hour.
    pub(crate) async fn tell_of_failing_webhooks(&self) -> Result<usize, Error> {
        if !self.has_letters() {
            return Ok(0);
        }
        let told = self.store.letter_alerts(WEBHOOKS).await?;
        let failing = self.store.webhooks_failing().await?;
        for &(project_id, waiting) in &failing {
            let subject = webhooks_of(project_id);
            if told.contains(&subject) {
                continue;
            }
            let since = self.store.webhooks_failing_since(project_id).await?;
            let Some(since) = since.filter(|since| since.plus(HOUR) <= self.now()) else { continue };
            let project = self.project(project_id).await?;
            let Some(webhook_url) = project.webhook_url.clone() else { continue };
            let letter = Letter::WebhookFailing(WebhookFailing {
                project: project.name.clone(),
                webhook_url,
                failing_since: since,
                waiting: waiting.unsigned_abs(),
                last_answer: self.store.last_failed_attempt(project_id).await?,
                page_url: self.page_url(&format!("/dashboard/{project_id}/notifications")),
            });
            let letters = self.letters_to_members(project_id, &letter).await?;
            self.raise_alert(subject, letters).await?;
        }
        let failing: Vec<String> = failing.into_iter().map(|(id, _)| webhooks_of(id)).collect();
        self.end_alerts(told.into_iter().filter(|subject| !failing.contains(subject))).await?;
        Ok(0)
    }

    /// Tells operators of banks that do not answer.
    pub(crate) async fn tell_of_banks_down(&self) -> Result<usize, Error> {
        let has_url = self.notices().is_some_and(|notices| notices.operators.is_some());
        if !self.has_mail() && !has_url {
            return Ok(0);
        }
        let told = self.store.letter_alerts(BANK).await?;
        let mut well = Vec::new();
        for file in self.bank_accounts().await? {
            let subject = format!("{BANK}{}", file.account.id);
            let health = self.bank_health(&file).await?;
            let down = health.failing.filter(|failing| failing.count >= FAILED_CALLS);
            let Some(failing) = down.filter(|_| file.account.enabled) else {
                // A call or two that failed do not end a stretch, nor begin one.
                well.push(subject);
                continue;
            };
            if told.contains(&subject) {
                continue;
            }
            let letter = Letter::BankDown(BankDown {
                bank_account: file.account.name.clone(),
                failing_since: failing.since,
                last_error: Some(failing.code),
                page_url: self.page_url(&format!("/dashboard/operator/banks/{}", file.account.id)),
            });
            let mut letters = self.operator_notice(&letter)?;
            for operator in self.store.operators().await? {
                letters.extend(self.letter(Envelope::to_user(&operator), &letter)?);
            }
            self.raise_alert(subject, letters).await?;
        }
        self.end_alerts(told.into_iter().filter(|subject| well.contains(subject))).await?;
        Ok(0)
    }

    /// Where nobody is told, nothing is noted either, so that those who can be told later are.
    async fn raise_alert(&self, subject: String, letters: Vec<Write>) -> Result<(), Error> {
        if letters.is_empty() {
            return Ok(());
        }
        let raised = Change::from(LetterWrite::AlertRaised { subject, at: self.now() }).with_all(letters);
        match self.store.commit(raised).await {
            // Another node was faster.
            Ok(()) | Err(CommitError::Conflict(Guard::AlertNew)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn end_alerts(&self, subjects: impl Iterator<Item = String>) -> Result<(), Error> {
        for subject in subjects {
            self.store.commit(LetterWrite::AlertEnded { subject }.into()).await?;
        }
        Ok(())
    }
}

/// What is noted of a project whose webhooks fail.
fn webhooks_of(project_id: ProjectId) -> String {
    format!("{WEBHOOKS}{project_id}")
}
