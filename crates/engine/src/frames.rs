//! Which sites may show the checkout in a frame.

use domain::{
    id::{LinkId, PaymentId},
    project::Project,
};

use crate::{Engine, Error};

impl Engine {
    /// Whether pages of `origin` may show the page of that link in a frame.
    pub async fn may_frame_link(&self, id: LinkId, origin: &str) -> Result<bool, Error> {
        let shown = self.store.shown_link(id).await?.ok_or(Error::NotFound("payment link"))?;
        let project = self.project_at(shown.link.project_id, shown.project_version).await?;
        Ok(allows(&project, origin))
    }

    /// Whether pages of `origin` may show the page of that payment in a frame.
    pub async fn may_frame_payment(&self, id: PaymentId, origin: &str) -> Result<bool, Error> {
        let payment = self.known_payment(id).await?;
        let project = self.project_of(&payment).await?;
        Ok(allows(&project, origin))
    }
}

fn allows(project: &Project, origin: &str) -> bool {
    project.frame_origins.iter().any(|allowed| allowed == origin)
}
