//! Where notices of a project go. Only owners see the URL and change it, since receipts with what customers have left go there.

use domain::{access::Act, time::Timestamp};

use super::{Desk, role_lost};
use crate::{Error, NoticeSettings, ShownNoticeTarget, Unsealed};

impl Desk {
    /// What is set; none where notices go nowhere.
    pub async fn notice_target(&self) -> Result<Option<ShownNoticeTarget>, Error> {
        self.check(Act::Configure)?;
        self.engine.notice_target(self.id()).await
    }

    /// Sets the URL and what goes there. Answers the secret, this once, where there was no URL.
    pub async fn set_notice_target(&self, settings: NoticeSettings) -> Result<Option<Unsealed>, Error> {
        self.check(Act::Configure)?;
        self.fresh_proof().await?;
        let set = self.engine.set_notice_target(&self.project, settings, self.role_held()).await;
        set.map_err(role_lost)
    }

    pub async fn remove_notice_target(&self) -> Result<(), Error> {
        self.check(Act::Configure)?;
        self.fresh_proof().await?;
        self.engine.remove_notice_target(&self.project, self.role_held()).await.map_err(role_lost)
    }

    pub async fn rotate_notice_secret(&self, at_once: bool) -> Result<(Unsealed, Timestamp), Error> {
        self.check(Act::Configure)?;
        self.fresh_proof().await?;
        self.engine.rotate_notice_secret(&self.project, at_once, self.role_held()).await.map_err(role_lost)
    }

    /// Queues a notice that says nothing but that notices arrive.
    pub async fn test_notice(&self) -> Result<(), Error> {
        self.check(Act::Configure)?;
        self.engine.test_notice(&self.project, self.role_held()).await.map_err(role_lost)
    }
}
