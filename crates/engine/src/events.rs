//! Events with their subject: the payment, refund or key that an event is about, as it was when the event happened.

use domain::{
    event::{Event, News},
    id::{EventId, ProjectId},
};
use store::{EventFilter, EventToSend, Listed, Window};
use wire::event::{EventWithSubject, Subject};

use crate::{Engine, Error};

impl Engine {
    pub async fn event_of(&self, project_id: ProjectId, id: EventId) -> Result<EventWithSubject, Error> {
        let event = self.store.event(project_id, id).await?.ok_or(Error::NotFound("event"))?;
        self.with_subject(event).await
    }

    /// An event of any project, for the operator.
    pub async fn event_of_any(&self, id: EventId) -> Result<Event, Error> {
        self.store.event_of_any(id).await?.ok_or(Error::NotFound("event"))
    }

    pub async fn events(
        &self,
        project_id: ProjectId,
        filter: EventFilter,
        window: Window,
    ) -> Result<Listed<EventWithSubject>, Error> {
        let listed = self.store.events(project_id, filter, window).await?;
        let mut items = Vec::with_capacity(listed.items.len());
        for event in listed.items {
            items.push(self.with_subject(event).await?);
        }
        Ok(Listed { items, total: listed.total })
    }

    /// These events of a project with what is told about them, in the same order.
    pub(crate) async fn events_to_send(
        &self,
        project_id: ProjectId,
        ids: &[EventId],
    ) -> Vec<Result<EventWithSubject, Error>> {
        let mut events = Vec::with_capacity(ids.len());
        for found in self.store.events_to_send(project_id, ids).await {
            events.push(match found {
                Ok(Some(EventToSend { event, payment: Some(payment) })) => {
                    let subject = Subject::Payment(Box::new(payment.as_seen_by(&event)));
                    Ok(EventWithSubject { event, subject })
                }
                // An event about a refund or a key, which are rare.
                Ok(Some(EventToSend { event, payment: None })) => self.with_subject(event).await,
                Ok(None) => Err(Error::NotFound("event")),
                Err(error) => Err(error.into()),
            });
        }
        events
    }

    async fn with_subject(&self, event: Event) -> Result<EventWithSubject, Error> {
        let subject = match event.news {
            News::ApiKeyDeleted { key } => {
                Subject::ApiKey(self.store.key(key).await?.ok_or(Error::NotFound("API key"))?)
            }
            News::Refund { refund, .. } => {
                let refund = self.store.refund(refund).await?.ok_or(Error::NotFound("refund"))?;
                Subject::Refund(Box::new(refund.as_seen_by(&event)))
            }
            News::PaymentPaid { payment, .. }
            | News::PaymentFailed { payment }
            | News::PaymentExpired { payment }
            | News::PaymentCancelled { payment }
            | News::PaymentHeld { payment, .. } => {
                let payment = self.store.payment(payment).await?.ok_or(Error::NotFound("payment"))?;
                Subject::Payment(Box::new(payment.as_seen_by(&event)))
            }
        };
        Ok(EventWithSubject { event, subject })
    }
}
