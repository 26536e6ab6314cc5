//! What people have chosen about their letters, and links that end letters of a kind without signing in.

use domain::{
    audit::{Actor, Deed},
    hex::{hex, unhex},
    id::{ProjectId, UserId},
    language::Language,
    letter::{LetterKind, SummaryPeriod},
};
use secrecy::ExposeSecret;
use store::{Change, LetterChoices, LetterWrite};

use crate::{Engine, Error, Visit, vault::Place};

/// What the links of all users are bound to.
const LINK: &str = "link";
/// No link that we made is longer.
const LINK_CHARACTERS_MOST: usize = 400;

impl Engine {
    /// What the signed-in user has chosen; `language` is that of the page, for who has chosen nothing yet.
    pub async fn letter_choices(&self, visit: &Visit, language: Language) -> Result<LetterChoices, Error> {
        let user_id = visit.user.id;
        if let Some(chosen) = self.store.letter_choices(user_id).await? {
            return Ok(chosen);
        }
        let refused = self.store.letter_refusals(user_id).await?;
        Ok(LetterChoices { user_id, language, summary: None, refused })
    }

    /// Chooses for the signed-in user. Letters that nobody may switch off are not switched off.
    pub async fn choose_letters(
        &self,
        visit: &Visit,
        language: Language,
        summary: Option<SummaryPeriod>,
        wanted: &[LetterKind],
    ) -> Result<(), Error> {
        let optional =
            LetterKind::ALL.iter().copied().filter(|kind| kind.is_optional() && *kind != LetterKind::Summary);
        let refused = optional.filter(|kind| !wanted.contains(kind)).collect();
        let user_id = visit.user.id;
        let change = Change::from(LetterWrite::Chosen(LetterChoices { user_id, language, summary, refused }))
            .with(self.by(visit.actor()).audit(None, Deed::LettersChosen, &visit.user.email, ""));
        Ok(self.store.commit(change).await?)
    }

    /// Whether customers of a project get receipts.
    pub async fn sends_receipts(&self, project_id: ProjectId) -> Result<bool, Error> {
        Ok(self.store.sends_receipts(project_id).await?)
    }

    /// The end of the link that stops letters of this kind to a user; none where nobody may switch them off.
    pub(crate) fn stop_link(&self, user_id: UserId, kind: LetterKind) -> Result<Option<String>, Error> {
        if !kind.is_optional() {
            return Ok(None);
        }
        let says = format!("{user_id} {}", kind.word());
        Ok(Some(hex(&self.vault.seal(Place::LetterStop, LINK, says.as_bytes())?)))
    }

    /// Whom and what the link of a letter stops.
    pub fn read_stop_link(&self, link: &str) -> Result<(UserId, LetterKind), Error> {
        let read = || {
            let sealed = unhex(link).filter(|_| link.len() <= LINK_CHARACTERS_MOST)?;
            let opened = self.vault.open(Place::LetterStop, LINK, &sealed).ok()?;
            let (user_id, kind) = opened.expose_secret().split_once(' ')?;
            let kind = LetterKind::parse(kind).filter(|kind| kind.is_optional())?;
            Some((user_id.parse().ok()?, kind))
        };
        read().ok_or(Error::NotFound("link"))
    }

    /// Ends letters of a kind to a user, as the link of such a letter says. The second time it changes nothing.
    pub async fn stop_letters(&self, link: &str, address: String) -> Result<LetterKind, Error> {
        let (user_id, kind) = self.read_stop_link(link)?;
        let write = match kind {
            LetterKind::Summary => LetterWrite::SummaryStopped { user_id },
            kind => LetterWrite::KindRefused { user_id, kind },
        };
        let stranger = self.by(Actor::Stranger { address });
        let change = Change::from(write).with(stranger.audit(None, Deed::LettersStopped, user_id, kind.word()));
        self.store.commit(change).await?;
        Ok(kind)
    }
}
