//! How letters are sent, which an engine is told once, at its start.

use std::sync::OnceLock;

use gateway::Mailer;

/// How an installation sends letters. Without one, none are queued.
#[derive(Clone, Debug)]
pub struct Mail {
    pub mailer: Mailer,
    /// Where people reach the pages that letters point to: the configured address, and not what a request says.
    pub pages_url: String,
}

/// The mail of an engine, which is set up once.
#[derive(Default)]
pub(crate) struct MailRoom(OnceLock<Mail>);

impl MailRoom {
    /// False where it was set up before; it stays as it was then.
    pub(crate) fn set_up(&self, mail: Mail) -> bool {
        self.0.set(mail).is_ok()
    }

    pub(crate) fn mail(&self) -> Option<&Mail> {
        self.0.get()
    }
}
