//! Payment links: creating, listing, changing and cancelling them.

use domain::{
    audit::Deed,
    id::{LinkId, ProjectId},
    idempotency::Idempotency,
    link::Link,
    link_edit::{EditRefusal, LinkTerms},
    orders::{LinkOrder, LinkRequest},
    project::Project,
};
use store::{Change, CommitError, Guard, LinkFilter, LinkWrite, Listed, PaymentWrite, Window, Write};

use crate::{Created, DECIDE_MOST, Engine, Error, random_text};

const REFERENCE_ALPHABET: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const REFERENCE_CHARACTERS: usize = 10;

impl Engine {
    pub async fn create_link(
        &self,
        project: &Project,
        idempotency: Option<Idempotency>,
        request: LinkRequest,
    ) -> Result<Created<Link>, Error> {
        // A key that was used before returns its link, even if the rules would reject the request now.
        if let Some(link) = self.replayed_link(project, idempotency.as_ref()).await? {
            return Ok(Created::Replayed(link));
        }
        let order = request.check(project, self.now())?;
        match self.make_link(project, idempotency.clone(), order).await {
            // Another request with the same key was faster.
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::IdempotencyKey))) => {
                let link = self.replayed_link(project, idempotency.as_ref()).await?;
                link.map(Created::Replayed).ok_or(Error::Contended)
            }
            made => made.map(Created::New),
        }
    }

    async fn replayed_link(&self, project: &Project, idempotency: Option<&Idempotency>) -> Result<Option<Link>, Error> {
        let Some(idempotency) = idempotency else { return Ok(None) };
        match self.bound_to(idempotency).await? {
            Some(id) => self.link(project.id, id).await.map(Some),
            None => Ok(None),
        }
    }

    async fn make_link(
        &self,
        project: &Project,
        idempotency: Option<Idempotency>,
        order: LinkOrder,
    ) -> Result<Link, Error> {
        let now = self.now();
        let generated = || format!("PL-{}", random_text(REFERENCE_ALPHABET, REFERENCE_CHARACTERS));
        let link = Link {
            id: self.mint(now),
            project_id: project.id,
            reference: order.reference.unwrap_or_else(generated),
            title: order.title,
            description: order.description,
            amount: order.amount,
            pricing: order.pricing,
            methods: order.methods,
            allow_multiple_payments: order.allow_multiple_payments,
            customer_fields: order.customer_fields,
            metadata: order.metadata,
            return_url: order.return_url,
            expires_at: order.expires_at,
            cancelled_at: None,
            claimed_by: None,
            created_at: now,
            version: 1,
        };
        let resource = link.id.to_string();
        let bind = idempotency.map(|idempotency| Write::Bind { idempotency, resource });
        let line = self.audit_person(project.id, Deed::LinkCreated, link.id);
        let change = Change::default().with_all(bind).with(LinkWrite::Created { link: link.clone() }).with_all(line);
        self.store.commit(change).await?;
        Ok(link)
    }

    pub async fn link(&self, project_id: ProjectId, id: LinkId) -> Result<Link, Error> {
        let link = self.store.link(id).await?;
        link.filter(|link| link.project_id == project_id).ok_or(Error::NotFound("payment link"))
    }

    pub async fn links(
        &self,
        project_id: ProjectId,
        filter: &LinkFilter,
        window: Window,
    ) -> Result<Listed<Link>, Error> {
        Ok(self.store.links(project_id, filter, window).await?)
    }

    /// Whether some payment of the link is paid.
    pub(crate) async fn link_is_paid(&self, link: &Link) -> Result<bool, Error> {
        Ok(link.claimed_by.is_some() || self.store.link_is_paid(link.id).await?)
    }

    /// Changes a link from the terms that the caller has seen, while it is active and unpaid. Payments that were begun before keep
    /// their own expiry.
    pub(crate) async fn edit_link(
        &self,
        project: &Project,
        id: LinkId,
        from: &LinkTerms,
        to: LinkTerms,
    ) -> Result<Result<(), EditRefusal>, Error> {
        let to = to.check(from, self.now())?;
        for _ in 0..DECIDE_MOST {
            let (link, now) = (self.link(project.id, id).await?, self.now());
            if let Some(refusal) = link.edit_refusal(now, project, self.link_is_paid(&link).await?) {
                return Ok(Err(refusal));
            }
            if LinkTerms::of(&link) != *from {
                return Ok(Err(EditRefusal::ChangedMeanwhile));
            }
            let changed = to.changed(from);
            if changed.is_empty() {
                return Ok(Ok(()));
            }
            let line = self.audit(Some(project.id), Deed::LinkEdited, id, changed.join(", "));
            let (reference, from, to) = (link.reference, from.clone(), to.clone());
            let change = Change::from(LinkWrite::Edited { id, reference, from, to, at: now }).with(line);
            match self.store.commit(change).await {
                Ok(()) => return Ok(Ok(())),
                // It was changed, paid or cancelled since: read again, and answer that.
                Err(CommitError::Conflict(Guard::LinkEditable)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// Cancels an active link and its pending payments.
    pub async fn cancel_link(&self, project: &Project, id: LinkId) -> Result<Link, Error> {
        for _ in 0..DECIDE_MOST {
            let link = self.link(project.id, id).await?;
            let now = self.now();
            if link.cancelled_at.is_some() {
                // The caller will rely on the answer that the link is cancelled, so the cancellation must be durable.
                self.store.confirm().await?;
            }
            let link = link.cancel(now, project).map_err(|_| Error::LinkNotActive)?;
            let change = Change::from(LinkWrite::Cancelled { id, at: now })
                .with(PaymentWrite::PendingCancelled { link_id: id, but: None, at: now })
                .with_all(self.audit_person(project.id, Deed::LinkCancelled, id));
            match self.store.commit(change).await {
                Ok(()) => return Ok(link),
                // Another request has cancelled it since: read again, and answer that.
                Err(CommitError::Conflict(Guard::LinkActive)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }
}
