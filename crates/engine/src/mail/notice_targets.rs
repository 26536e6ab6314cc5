//! Where a project wants notices to go: its URL, and the secret that signs them.

use std::time::Duration;

use domain::{
    audit::Deed,
    id::ProjectId,
    language::Language,
    letter::SummaryPeriod,
    project::{Environment, Project},
    rules::Invalid,
    time::{DAY, Timestamp},
};
use gateway::BlockedAddress;
use letters::{Letter, Test};
use secrecy::ExposeSecret;
use store::{Change, CommitError, Guard, NoticeTarget, NoticeWrite, SealedColumn, SealedNoticeTarget, Write};
use url::Url;

use crate::{Engine, Error, Unsealed, projects::new_webhook_secret};

/// How long notices are still signed with the old secret too after a rotation, as webhooks are.
const ROTATION: Duration = DAY;

/// What an owner sets about notices.
#[derive(Clone, Debug)]
pub struct NoticeSettings {
    pub url: String,
    pub language: Language,
    pub sends_receipts: bool,
    pub summary: Option<SummaryPeriod>,
}

/// What is set, as it is shown.
pub struct ShownNoticeTarget {
    /// None where it cannot be opened any more.
    pub url: Option<String>,
    pub target: NoticeTarget,
    /// Until when notices are signed with the previous secret too.
    pub rotating_until: Option<Timestamp>,
}

/// Where a notice is sent, and what signs it.
pub(crate) struct SendingTo {
    pub(crate) url: String,
    pub(crate) https_only: bool,
    pub(crate) secrets: Vec<Unsealed>,
}

impl Engine {
    /// What a project has set; none where its notices go nowhere.
    pub async fn notice_target(&self, project_id: ProjectId) -> Result<Option<ShownNoticeTarget>, Error> {
        let Some(sealed) = self.store.notice_target(project_id).await? else { return Ok(None) };
        let opened = self.vault.open(SealedColumn::NoticeUrl, &project_id.to_string(), &sealed.url);
        let url = opened.ok().map(|url| url.expose_secret().to_owned());
        Ok(Some(ShownNoticeTarget { url, target: sealed.target, rotating_until: rotating_until(&sealed, self.now()) }))
    }

    /// Sets it; `besides` is committed with it. Answers the secret where the project had none.
    pub(crate) async fn set_notice_target(
        &self,
        project: &Project,
        settings: NoticeSettings,
        besides: Write,
    ) -> Result<Option<Unsealed>, Error> {
        let NoticeSettings { url, language, sends_receipts, summary } = settings;
        self.check_notice_url(&url, project)
            .await?
            .map_err(|reason| Invalid::new("url", format!("is refused: {reason}")))?;
        let row = project.id.to_string();
        let target = NoticeTarget { project_id: project.id, language, sends_receipts, summary };
        let sealed_url = self.vault.seal(SealedColumn::NoticeUrl, &row, url.as_bytes())?;
        let (secret, write) = match self.store.notice_target(project.id).await? {
            Some(_) => (None, NoticeWrite::TargetChanged { target, sealed_url }),
            None => {
                let secret = new_webhook_secret();
                let sealed_secret =
                    self.vault.seal(SealedColumn::NoticeSecret, &row, secret.expose_secret().as_bytes())?;
                (Some(secret), NoticeWrite::TargetCreated { target, sealed_url, sealed_secret })
            }
        };
        let line = self.audit(Some(project.id), Deed::NoticeUrlChanged, &project.name, origin(&url));
        self.commit_target(Change::from(write).with(besides).with(line)).await?;
        Ok(secret)
    }

    pub(crate) async fn remove_notice_target(&self, project: &Project, besides: Write) -> Result<(), Error> {
        let line = self.audit(Some(project.id), Deed::NoticeUrlRemoved, &project.name, "");
        let removed = NoticeWrite::TargetRemoved { project_id: project.id };
        match self.store.commit(Change::from(removed).with(besides).with(line)).await {
            // There is none, or somebody else was faster.
            Err(CommitError::Conflict(Guard::NoticeTarget)) => Err(Error::NotFound("notice URL")),
            removed => Ok(removed?),
        }
    }

    /// Replaces the secret; answers the new one, and until when the old one signs too. While the last rotation is not over, the
    /// caller must pass `at_once`, which ends the oldest secret now.
    pub(crate) async fn rotate_notice_secret(
        &self,
        project: &Project,
        at_once: bool,
        besides: Write,
    ) -> Result<(Unsealed, Timestamp), Error> {
        let (now, row, secret) = (self.now(), project.id.to_string(), new_webhook_secret());
        let sealed = self.store.notice_target(project.id).await?.ok_or(Error::NotFound("notice URL"))?;
        if let Some(until) = rotating_until(&sealed, now).filter(|_| !at_once) {
            return Err(Error::StillRotating { until });
        }
        let current = self.vault.open(SealedColumn::NoticeSecret, &row, &sealed.secret)?;
        let seal = |column, secret: &Unsealed| self.vault.seal(column, &row, secret.expose_secret().as_bytes());
        let rotated = NoticeWrite::SecretRotated {
            project_id: project.id,
            replaced: sealed.secret,
            previous: seal(SealedColumn::PreviousNoticeSecret, &current)?,
            sealed: seal(SealedColumn::NoticeSecret, &secret)?,
            at: now,
        };
        let line = self.audit(Some(project.id), Deed::NoticeSecretRotated, &project.name, "");
        self.commit_target(Change::from(rotated).with(besides).with(line)).await?;
        Ok((secret, now.plus(ROTATION)))
    }

    /// Queues a notice that says nothing but that notices arrive.
    pub(crate) async fn test_notice(&self, project: &Project, besides: Write) -> Result<(), Error> {
        let letter = Letter::Test(Test { sent_at: self.now() });
        let queued = self.project_notice(project.id, &letter, None).await?;
        if queued.is_empty() {
            return Err(Error::NotFound("notice URL"));
        }
        let line = self.audit(Some(project.id), Deed::NoticeTested, &project.name, "");
        Ok(self.store.commit(Change::from(besides).with(line).with_all(queued)).await?)
    }

    /// The same to the URL of the installation.
    pub(crate) async fn test_operator_notice(&self) -> Result<(), Error> {
        let queued = self.operator_notice(&Letter::Test(Test { sent_at: self.now() }))?;
        let origin =
            self.operator_notices_go_to().filter(|_| !queued.is_empty()).ok_or(Error::NotFound("notice URL"))?;
        let line = self.audit(None, Deed::NoticeTested, origin, "");
        Ok(self.store.commit(Change::from(line).with_all(queued)).await?)
    }

    /// The host that notices for operators go to; none where no URL is set. What else is in the URL may be a secret.
    pub(crate) fn operator_notices_go_to(&self) -> Option<String> {
        self.notices()?.operators.as_ref().map(|operators| origin(&operators.url))
    }

    /// Where notices of a project, or of the installation, are sent at `now`; none where no URL is set any more.
    pub(crate) async fn notice_goes_to(&self, project_id: Option<ProjectId>) -> Result<Option<SendingTo>, Error> {
        let Some(project_id) = project_id else {
            let operators = self.notices().and_then(|notices| notices.operators.clone());
            return Ok(operators.map(|operators| SendingTo {
                url: operators.url,
                https_only: operators.https_only,
                secrets: vec![operators.secret],
            }));
        };
        let Some(sealed) = self.store.notice_target(project_id).await? else { return Ok(None) };
        let (row, now) = (project_id.to_string(), self.now());
        let still_signs = rotating_until(&sealed, now).is_some();
        let mut secrets = vec![self.vault.open(SealedColumn::NoticeSecret, &row, &sealed.secret)?];
        if let Some((previous, _)) = sealed.previous.filter(|_| still_signs) {
            secrets.push(self.vault.open(SealedColumn::PreviousNoticeSecret, &row, &previous)?);
        }
        let url = self.vault.open(SealedColumn::NoticeUrl, &row, &sealed.url)?.expose_secret().to_owned();
        let https_only = self.project(project_id).await?.environment == Environment::Production;
        Ok(Some(SendingTo { url, https_only, secrets }))
    }

    /// Why no notice may go to a URL now, as for webhooks.
    async fn check_notice_url(&self, url: &str, project: &Project) -> Result<Result<Url, BlockedAddress>, Error> {
        let https_only = project.environment == Environment::Production;
        let guard = self.webhook_guard().await?.of_project(Some(project.id));
        Ok(guard.check_target(url, https_only).await)
    }

    async fn commit_target(&self, change: Change) -> Result<(), Error> {
        match self.store.commit(change).await {
            Ok(()) => Ok(()),
            // Somebody else has set, removed or rotated it at the same moment.
            Err(CommitError::Conflict(Guard::NoticeTarget)) => Err(Error::Contended),
            Err(error) => Err(error.into()),
        }
    }
}

fn rotating_until(sealed: &SealedNoticeTarget, now: Timestamp) -> Option<Timestamp> {
    let until = sealed.previous.as_ref().map(|(_, rotated_at)| rotated_at.plus(ROTATION));
    until.filter(|until| now < *until)
}

/// What the audit log says of a URL, whose path and query often hold a secret of a gateway.
fn origin(url: &str) -> String {
    Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}
