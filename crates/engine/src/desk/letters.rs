//! The letters of a project, and whether its customers get receipts.

use domain::{access::Act, audit::Deed};
use store::{Change, LetterFilter, LetterWrite, Listed, Window};

use super::Desk;
use crate::{Error, ShownLetter};

impl Desk {
    /// Letters about the project, newest first. They name customers and members, so they are for those who configure it.
    pub async fn letters(&self, window: Window) -> Result<Listed<ShownLetter>, Error> {
        self.check(Act::Configure)?;
        self.engine.letters(&LetterFilter { project_id: Some(self.id()), ..LetterFilter::default() }, window).await
    }

    /// Whether letters are sent at all.
    pub fn has_mail(&self) -> bool {
        self.engine.has_mail()
    }

    /// Whether customers who left an address get a receipt.
    pub async fn sends_receipts(&self) -> Result<bool, Error> {
        self.engine.sends_receipts(self.id()).await
    }

    pub async fn switch_receipts(&self, are_on: bool) -> Result<(), Error> {
        self.check(Act::Configure)?;
        let switched = LetterWrite::ReceiptsSwitched { project_id: self.id(), are_on };
        let word = if are_on { "on" } else { "off" };
        let change = Change::from(switched).with(self.role_held()).with(self.engine.audit(
            Some(self.id()),
            Deed::ReceiptLettersChanged,
            word,
            "",
        ));
        self.engine.store.commit(change).await.map_err(|error| super::role_lost(error.into()))
    }
}
