//! Letters: queued with what causes them, in the same commit. They are sent by `reconcile/post/`.

mod alerts;
mod causes;
mod choices;
mod erased;
pub(crate) mod queue;
mod reads;
mod summaries;
mod test_letter;

use crate::{Engine, memory::mail::Mail};

pub use reads::ShownLetter;

impl Engine {
    /// From now on letters are queued and sent. Only the first call counts.
    pub fn set_up_mail(&self, mail: Mail) {
        if !self.mail_room.set_up(mail) {
            tracing::warn!("mail was set up before, and stays as it was");
        }
    }

    pub fn has_mail(&self) -> bool {
        self.mail().is_some()
    }

    pub(crate) fn mail(&self) -> Option<&Mail> {
        self.mail_room.mail()
    }
}
