//! How letters are sent, which an engine is told once, at its start.

use std::sync::OnceLock;

use domain::language::Language;
use gateway::Mailer;

use crate::vault::Unsealed;

/// How an installation sends letters. Without one, none are queued.
#[derive(Clone, Debug)]
pub struct Mail {
    pub mailer: Mailer,
    /// Where people reach the pages that letters point to: the configured address, and not what a request says.
    pub pages_url: String,
}

/// How an installation sends letters to URLs, as notices. Without it, none are queued.
#[derive(Clone)]
pub struct Notices {
    /// As for [`Mail`].
    pub pages_url: String,
    /// Where what operators are told goes, besides to their addresses.
    pub operators: Option<OperatorUrl>,
}

/// The URL that an operator has set for the installation.
#[derive(Clone)]
pub struct OperatorUrl {
    pub url: String,
    pub secret: Unsealed,
    pub language: Language,
    pub https_only: bool,
}

/// The ways by which an engine sends letters, each of which is set up once.
#[derive(Default)]
pub(crate) struct MailRoom {
    mail: OnceLock<Mail>,
    notices: OnceLock<Notices>,
}

impl MailRoom {
    /// False where it was set up before; it stays as it was then.
    pub(crate) fn set_up(&self, mail: Mail) -> bool {
        self.mail.set(mail).is_ok()
    }

    /// The same for notices.
    pub(crate) fn set_up_notices(&self, notices: Notices) -> bool {
        self.notices.set(notices).is_ok()
    }

    pub(crate) fn mail(&self) -> Option<&Mail> {
        self.mail.get()
    }

    pub(crate) fn notices(&self) -> Option<&Notices> {
        self.notices.get()
    }

    /// Where people reach the pages that letters point to.
    pub(crate) fn pages_url(&self) -> &str {
        let mail = self.mail().map(|mail| mail.pages_url.as_str());
        mail.or_else(|| self.notices().map(|notices| notices.pages_url.as_str())).unwrap_or_default()
    }
}
