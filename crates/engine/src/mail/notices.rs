//! Queueing notices: a letter once more, for a URL. It is queued with its cause like any letter, and once for each URL, however many
//! people get the letter.

use domain::{
    id::{LetterId, ProjectId},
    language::Language,
    letter_queue::Channel,
};
use letters::Letter;
use secrecy::ExposeSecret;
use store::{LetterWrite, NewLetter, SealedColumn, Write};

use super::queue::worth_until;
use crate::{Engine, Error, VaultError};

/// A URL that notices are queued for.
struct NoticeUrl<'a> {
    project_id: Option<ProjectId>,
    url: &'a str,
    language: Language,
}

impl Engine {
    /// The writes that queue a letter as a notice of a project, if the project has a URL and wants such letters there.
    pub(crate) async fn project_notice(
        &self,
        project_id: ProjectId,
        letter: &Letter,
        cause: Option<String>,
    ) -> Result<Vec<Write>, Error> {
        if self.notices().is_none() {
            return Ok(Vec::new());
        }
        let Some(sealed) = self.store.notice_target(project_id).await? else { return Ok(Vec::new()) };
        if !sealed.target.wants(letter.kind()) {
            return Ok(Vec::new());
        }
        // What causes a notice, such as money that came, must not fail since the notice does.
        let url = match self.vault.open(SealedColumn::NoticeUrl, &project_id.to_string(), &sealed.url) {
            Ok(url) => url,
            Err(error) => {
                tracing::error!(%error, %project_id, "the URL for notices cannot be opened, so one was not queued");
                return Ok(Vec::new());
            }
        };
        let language = sealed.target.language;
        self.notice(NoticeUrl { project_id: Some(project_id), url: url.expose_secret(), language }, letter, cause)
    }

    /// The same for what operators are told.
    pub(crate) fn operator_notice(&self, letter: &Letter) -> Result<Vec<Write>, Error> {
        self.notice_to_operators(letter, None)
    }

    /// The same, once for that cause.
    pub(crate) fn operator_notice_once(&self, letter: &Letter, cause: &str) -> Result<Vec<Write>, Error> {
        self.notice_to_operators(letter, Some(cause.to_owned()))
    }

    fn notice_to_operators(&self, letter: &Letter, cause: Option<String>) -> Result<Vec<Write>, Error> {
        let operators = self.notices().and_then(|notices| notices.operators.as_ref());
        let Some(operators) = operators else { return Ok(Vec::new()) };
        self.notice(NoticeUrl { project_id: None, url: &operators.url, language: operators.language }, letter, cause)
    }

    fn notice(&self, to: NoticeUrl<'_>, letter: &Letter, cause: Option<String>) -> Result<Vec<Write>, Error> {
        if !letter.kind().may_be_notice() {
            return Ok(Vec::new());
        }
        let now = self.now();
        let id: LetterId = self.mint(now);
        let row = id.to_string();
        let content = serde_json::to_vec(letter).map_err(|_| VaultError::CannotOpen)?;
        let queued = LetterWrite::Queued(NewLetter {
            id,
            kind: letter.kind(),
            channel: Channel::Notice,
            project_id: to.project_id,
            user_id: None,
            address: self.vault.seal(SealedColumn::LetterAddress, &row, to.url.as_bytes())?,
            recipient: self.notices_of(to.project_id),
            language: to.language,
            content: self.vault.seal(SealedColumn::LetterContent, &row, &content)?,
            cause: cause.map(|cause| format!("notice {cause}")),
            at: now,
            expires_at: worth_until(letter, now),
        });
        Ok(vec![queued.into()])
    }

    /// Stands for the URL of a project or of the installation where notices to it are counted. It stays the same when the URL is
    /// changed.
    fn notices_of(&self, project_id: Option<ProjectId>) -> String {
        let of = project_id.map_or_else(|| "the installation".to_owned(), |id| id.to_string());
        self.recipient(&format!("the URL of {of}"))
    }
}
