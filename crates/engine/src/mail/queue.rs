//! Queueing letters: what a use case adds to its own change. Where mail is not set up, it adds nothing.

use domain::{
    hex::hex,
    id::{LetterId, ProjectId, UserId},
    language::Language,
    letter_queue::{Channel, WORTH_SENDING},
    time::Timestamp,
    user::{Email, User},
};
use letters::Letter;
use store::{LetterWrite, NewLetter, SealedColumn, Write};

use crate::{Engine, Error, VaultError};

/// Who gets a letter, and what it is about besides.
pub(crate) struct Envelope<'a> {
    pub(crate) to: &'a Email,
    pub(crate) user_id: Option<UserId>,
    pub(crate) project_id: Option<ProjectId>,
    /// The language, if its user has chosen none.
    pub(crate) language: Language,
    /// What it is queued for at most once; none where that is nothing.
    pub(crate) cause: Option<String>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn to_user(user: &'a User) -> Envelope<'a> {
        let language = Language::Indonesian;
        Envelope { to: &user.email, user_id: Some(user.id), project_id: None, language, cause: None }
    }

    pub(crate) fn to_address(email: &'a Email, language: Language) -> Envelope<'a> {
        Envelope { to: email, user_id: None, project_id: None, language, cause: None }
    }

    pub(crate) fn about(self, project_id: ProjectId) -> Envelope<'a> {
        Envelope { project_id: Some(project_id), ..self }
    }

    /// Each of several who get a letter for one cause has a cause of their own.
    pub(crate) fn once_for(self, cause: &str) -> Envelope<'a> {
        let cause = self.user_id.map_or_else(|| cause.to_owned(), |id| format!("{cause} {id}"));
        Envelope { cause: Some(cause), ..self }
    }
}

impl Engine {
    /// The writes that queue a letter to a user about their account, for the change of what causes it.
    pub(crate) fn letter_to_user(&self, user: &User, letter: &Letter) -> Result<Vec<Write>, Error> {
        self.letter(Envelope::to_user(user), letter)
    }

    pub(crate) fn letter(&self, envelope: Envelope<'_>, letter: &Letter) -> Result<Vec<Write>, Error> {
        if !self.has_mail() {
            return Ok(Vec::new());
        }
        let now = self.now();
        let id: LetterId = self.mint(now);
        let row = id.to_string();
        let address = envelope.to.as_str();
        let content = serde_json::to_vec(letter).map_err(|_| VaultError::CannotOpen)?;
        let queued = LetterWrite::Queued(NewLetter {
            id,
            kind: letter.kind(),
            channel: Channel::Mail,
            project_id: envelope.project_id,
            user_id: envelope.user_id,
            address: self.vault.seal(SealedColumn::LetterAddress, &row, address.as_bytes())?,
            recipient: self.recipient(address),
            language: envelope.language,
            content: self.vault.seal(SealedColumn::LetterContent, &row, &content)?,
            cause: envelope.cause,
            at: now,
            expires_at: worth_until(letter, now),
        });
        Ok(vec![queued.into()])
    }

    /// Stands for an address where letters to it are counted.
    pub(crate) fn recipient(&self, address: &str) -> String {
        hex(&self.vault.derive(&format!("letters to {address}"))[..16])
    }

    /// The whole URL of a page, for letters.
    pub(crate) fn page_url(&self, path: &str) -> String {
        format!("{}{path}", self.mail_room.pages_url())
    }
}

/// Until when it is worth sending: a link that has expired helps nobody.
pub(super) fn worth_until(letter: &Letter, now: Timestamp) -> Timestamp {
    let longest = now.plus(WORTH_SENDING);
    match letter {
        Letter::Invitation(invitation) => invitation.expires_at.min(longest),
        Letter::PasswordReset(reset) => reset.expires_at.min(longest),
        _ => longest,
    }
}
