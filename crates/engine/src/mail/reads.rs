//! Letters for people who look at them, and letters that are sent again.

use domain::{
    audit::Deed,
    id::LetterId,
    letter_queue::{KEPT, QueuedLetter, WORTH_SENDING},
    project::Project,
    time::DAY,
};
use letters::{Face, Letter, Shop};
use secrecy::ExposeSecret;
use store::{
    Change, CommitError, Guard, LetterCounts, LetterFilter, LetterWrite, Listed, SealedColumn, SealedLetter, Window,
};

use super::test_letter::host_of;
use crate::{Engine, Error, VaultError};

/// Letters that one round forgets.
const FORGOTTEN_AT_ONCE: i64 = 1_000;

/// A letter in the queue, with the address that it goes to.
#[derive(Clone, Debug)]
pub struct ShownLetter {
    pub letter: QueuedLetter,
    /// None where it cannot be opened any more.
    pub address: Option<String>,
    /// Whether what it says is still known, so that it can be sent again.
    pub has_content: bool,
}

impl Engine {
    /// Letters, newest first.
    pub async fn letters(&self, filter: &LetterFilter, window: Window) -> Result<Listed<ShownLetter>, Error> {
        let listed = self.store.letters(filter, window).await?;
        let mut items = Vec::with_capacity(listed.items.len());
        for letter in listed.items {
            items.push(self.shown(letter).await?);
        }
        Ok(Listed { items, total: listed.total })
    }

    pub async fn shown_letter(&self, id: LetterId) -> Result<ShownLetter, Error> {
        let letter = self.store.letter(id).await?.ok_or(Error::NotFound("letter"))?;
        self.shown(letter).await
    }

    /// Counts what waits, and what ended badly within the time that letters are kept.
    pub async fn letter_counts(&self) -> Result<LetterCounts, Error> {
        Ok(self.store.letter_counts(self.now().minus(DAY)).await?)
    }

    /// Queues a letter once more that has ended.
    pub async fn send_letter_again(&self, id: LetterId) -> Result<(), Error> {
        let now = self.now();
        let again = LetterWrite::SentAgain { id, at: now, expires_at: now.plus(WORTH_SENDING) };
        let change = Change::from(again).with(self.audit(None, Deed::LetterSentAgain, id, ""));
        match self.store.commit(change).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(Guard::LetterEnded)) => Err(Error::NotFound("letter that can be sent again")),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets some of the letters that ended long ago. The next round forgets more.
    pub(crate) async fn forget_letters(&self) -> Result<usize, Error> {
        let before = self.now().minus(KEPT);
        self.store.commit(LetterWrite::Forgotten { before, most: FORGOTTEN_AT_ONCE }.into()).await?;
        Ok(0)
    }

    async fn shown(&self, letter: QueuedLetter) -> Result<ShownLetter, Error> {
        let sealed = self.store.sealed_letter(letter.id).await?;
        let address = sealed.as_ref().and_then(|sealed| self.letter_address(letter.id, sealed).ok());
        let has_content = sealed.is_some_and(|sealed| sealed.content.is_some());
        Ok(ShownLetter { letter, address, has_content })
    }

    pub(crate) fn letter_address(&self, id: LetterId, sealed: &SealedLetter) -> Result<String, VaultError> {
        let opened = self.vault.open(SealedColumn::LetterAddress, &id.to_string(), &sealed.address)?;
        Ok(opened.expose_secret().to_owned())
    }

    /// What a letter says; none where that was deleted.
    pub(crate) fn letter_content(&self, id: LetterId, sealed: &SealedLetter) -> Result<Option<Letter>, VaultError> {
        let Some(content) = &sealed.content else { return Ok(None) };
        let opened = self.vault.open(SealedColumn::LetterContent, &id.to_string(), content)?;
        serde_json::from_str(opened.expose_secret()).map(Some).map_err(|_| VaultError::CannotOpen)
    }

    /// Who a letter comes from: the shop that it is about, or the installation.
    pub(crate) fn letter_face(&self, project: Option<&Project>) -> Face {
        let host = host_of(self.mail_room.pages_url());
        let shop = project.map(|project| Shop {
            name: project.name.clone(),
            colour: project.face.colour,
            contacts: project.face.contacts.clone(),
            logo: project.face.logo.clone(),
        });
        Face { shop, host }
    }
}
