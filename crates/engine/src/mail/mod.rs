//! Letters: queued with what causes them, in the same commit. They are sent by `reconcile/post/`.

mod alerts;
mod approvals;
mod causes;
mod choices;
mod erased;
mod notice_targets;
mod notices;
pub(crate) mod queue;
mod reads;
mod refunds;
mod summaries;
mod test_letter;

use crate::{
    Engine,
    memory::mail::{Mail, Notices},
};

pub(crate) use notice_targets::SendingTo;
pub use notice_targets::{NoticeSettings, ShownNoticeTarget};
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

    /// From now on notices are queued and sent, to those URLs that are set. Only the first call counts.
    pub fn set_up_notices(&self, notices: Notices) {
        if !self.mail_room.set_up_notices(notices) {
            tracing::warn!("notices were set up before, and stay as they were");
        }
    }

    pub(crate) fn notices(&self) -> Option<&Notices> {
        self.mail_room.notices()
    }

    /// Whether anybody can be told of anything.
    pub(crate) fn has_letters(&self) -> bool {
        self.has_mail() || self.notices().is_some()
    }

    pub(crate) fn mail(&self) -> Option<&Mail> {
        self.mail_room.mail()
    }
}
