//! A shop's counter: a member types an amount, and the customer scans a QRIS. Each member sees their own sales, of today.

use std::{collections::HashMap, ops::RangeInclusive, sync::Arc};

use domain::{
    access::{Act, Role},
    audit::Deed,
    id::{PaymentId, ProjectId},
    idempotency::{Endpoint, Idempotency},
    method::{Method, MethodKind},
    money::Rupiah,
    orders::{MethodRequest, PaymentRequest},
    payment::{Payment, Status},
    project::Project,
    sale,
    time::midnight,
    user::User,
};
use rand::RngExt;
use store::{Change, CommitError, Guard, OpeningWrite, PaymentWrite};

use crate::{Created, DECIDE_MOST, Engine, Error, Visit, banks::Issuer};

/// Sales that a page lists.
const SALES_MOST: i64 = 50;
/// The member of a sale's metadata that says who made it.
const METADATA: &str = "counter";

/// A member at the counter of a project.
#[derive(Clone)]
pub struct Counter {
    /// Used by this member, for the audit log.
    engine: Engine,
    user: User,
    role: Role,
    project: Arc<Project>,
}

impl Engine {
    /// The counter of a project, for its members whose role may sell.
    pub async fn counter(&self, visit: &Visit, project_id: ProjectId) -> Result<Counter, Error> {
        let membership = self.store.membership(visit.user.id, project_id).await?.ok_or(Error::NotFound("project"))?;
        if !membership.role.may(Act::Sell) {
            return Err(Error::RoleForbids);
        }
        self.check_factor(visit, membership.needs_factor)?;
        let project = self.project_at(project_id, membership.project_version).await?;
        Ok(Counter { engine: self.by(visit.actor()), user: visit.user.clone(), role: membership.role, project })
    }
}

impl Counter {
    pub fn project(&self) -> &Project {
        &self.project
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// The amounts that can be paid by QRIS here. A bank account may take less than the method allows.
    pub async fn amounts(&self) -> Result<RangeInclusive<Rupiah>, Error> {
        let (least, most) = (MethodKind::Qris.floor(), Rupiah::MAX);
        match self.engine.issuer(&self.project, Method::Qris).await {
            Ok(Issuer::Account(open) | Issuer::Bank(open)) => {
                let amounts = &open.parameters.amounts;
                Ok(least.max(*amounts.start())..=most.min(*amounts.end()))
            }
            // Without an account no amount can be paid, which the sale itself is told.
            Ok(Issuer::Simulator) | Err(Error::NoBank(_)) => Ok(least..=most),
            Err(error) => Err(error),
        }
    }

    /// Makes a sale. `form` identifies one press of the button: sent again with the same amount, it leads to the same sale.
    pub async fn sell(&self, form: &str, amount: Rupiah) -> Result<Payment, Error> {
        if !self.project.is_usable() {
            return Err(Error::ProjectUnusable);
        }
        let (now, user_id) = (self.engine.now(), self.user.id);
        // API clients cannot send a key with a space in it, so a sale never collides with a request of the API.
        let key = format!("counter {user_id} {form} {}", amount.get());
        let project_id = self.project.id;
        let idempotency = Idempotency { project_id, endpoint: Endpoint::Payments, key, request: [0; 16] };
        let reference = sale::reference(now, rand::rng().random());
        let request = PaymentRequest {
            reference: Some(reference.clone()),
            amount: Some(amount.get()),
            method: Some(MethodRequest { kind: Some(MethodKind::Qris.word().to_owned()), bank: None }),
            metadata: Some(vec![(METADATA.to_owned(), self.user.email.to_string())]),
            ..PaymentRequest::default()
        };
        let besides = |resource: &str| {
            let sold = PaymentWrite::Sold { resource: resource.to_owned(), project_id, user_id, at: now };
            vec![sold.into(), self.engine.audit(Some(project_id), Deed::SaleCreated, &reference, amount)]
        };
        match self.engine.create_payment_with(&self.project, idempotency, request, &besides).await? {
            Created::New(payment) | Created::Replayed(payment) => Ok(payment),
        }
    }

    /// The sales that this member has made today, newest first.
    pub async fn sales(&self) -> Result<Vec<Payment>, Error> {
        let today = midnight(self.engine.now());
        Ok(self.engine.store.sales(self.project.id, self.user.id, today, SALES_MOST).await?)
    }

    /// What came for these sales in place of their amounts; all others are left out.
    pub async fn received_instead(&self, sales: &[Payment]) -> Result<HashMap<PaymentId, Rupiah>, Error> {
        self.engine.received_instead(self.project.id, sales).await
    }

    /// A sale of this member; others do not exist here.
    pub async fn sale(&self, id: PaymentId) -> Result<Payment, Error> {
        if !self.engine.store.is_sale_of(self.project.id, self.user.id, id).await? {
            return Err(Error::NotFound("sale"));
        }
        self.engine.payment(self.project.id, id).await
    }

    /// Gives a pending sale up: its code is voided. A sale that was given up before stays so.
    pub async fn cancel(&self, id: PaymentId) -> Result<Payment, Error> {
        for _ in 0..DECIDE_MOST {
            let (payment, now) = (self.sale(id).await?, self.engine.now());
            if payment.status_at(now) == Status::Cancelled {
                self.engine.store.confirm().await?;
                return Ok(payment);
            }
            let (reference, amount) = (payment.terms.reference.clone(), payment.terms.amount);
            let transition = payment.replace(now).map_err(|_| Error::NotEditable)?;
            let told = transition.event.map(|owed| self.engine.event_write(&transition.payment, owed, now));
            let change = Change::from(OpeningWrite::VoidQueued { payment_id: id, at: now })
                .with(PaymentWrite::Moved {
                    id,
                    version: transition.payment.version,
                    state: transition.payment.state,
                    settles_at: None,
                    link_id: None,
                })
                .with_all(told)
                .with(self.engine.audit(Some(self.project.id), Deed::SaleCancelled, reference, amount));
            match self.engine.store.commit(change).await {
                Ok(()) => return self.sale(id).await,
                // Money has come, or it was given up elsewhere: judge anew.
                Err(CommitError::Conflict(Guard::PaymentVersion)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }
}
