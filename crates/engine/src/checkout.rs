//! The hosted checkout: what its pages show, and one customer's attempt to pay a link.
//!
//! Customers have no key. Who knows the id of a link or of a payment may see its page, and looking changes nothing but
//! that the payment counts as seen.

use std::{fmt::Write as _, sync::Arc};

use domain::{
    id::{LinkId, PaymentId},
    idempotency::{Endpoint, Idempotency},
    link::{Link, LinkStanding},
    method::Method,
    payment::{Checkout, Payment, State, Status},
    project::Project,
    rules::Invalid,
};
use sha2::{Digest, Sha256};
use store::{Change, CommitError, Guard, ShownLink, Write};

use crate::{DECIDE_MOST, Engine, Error};

/// How often one filling-in of a form may come to nothing and be sent again. Each time costs a read more.
const TRIES_PER_FORM: usize = 32;

/// How one customer wants to pay a link.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub method: Method,
    pub checkout: Checkout,
    /// Tells one filling-in of the form from another: the same one sent again leads to the same payment.
    pub form: Option<String>,
    /// The payment that the customer asks to replace. It must be one of this link.
    pub replaces: Option<PaymentId>,
    /// The payment that this browser was last led to. It counts for nothing where it is not one of this link.
    pub remembered: Option<PaymentId>,
}

impl Attempt {
    /// An attempt by someone of whom no more is known.
    pub fn new(method: Method, checkout: Checkout) -> Attempt {
        Attempt { method, checkout, form: None, replaces: None, remembered: None }
    }

    /// The same choice as `payment` was made by.
    fn chooses_like(&self, payment: &Payment) -> bool {
        let customer = payment.checkout.as_ref().map(|checkout| &checkout.customer);
        payment.method == self.method && customer == Some(&self.checkout.customer)
    }

    /// What the form is known by once it is sent with this choice; `after` is the payment that it led to before.
    fn key(&self, form: &str, link: &Link, after: Option<PaymentId>) -> Idempotency {
        let customer = &self.checkout.customer;
        let method = self.method.to_string();
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        let mut hash = Sha256::new();
        for part in [form, &method, &customer.name, &customer.email, &customer.phone, &customer.address, after.as_str()]
        {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        // No client can send a key with a space in it, so a form is never taken for a request of the API.
        let mut key = format!("{} ", link.id);
        for byte in hash.finalize() {
            // Writing to a text cannot fail.
            let _ = write!(key, "{byte:02x}");
        }
        Idempotency { project_id: link.project_id, endpoint: Endpoint::Payments, key, request: [0; 16] }
    }
}

/// A link as its page shows it.
#[derive(Clone, Debug)]
pub struct LinkPage {
    pub project: Arc<Project>,
    pub link: Link,
    /// What can be chosen.
    pub methods: Vec<Method>,
    pub standing: LinkStanding,
}

/// A payment as its page shows it.
#[derive(Clone, Debug)]
pub struct PaymentPage {
    pub project: Arc<Project>,
    pub payment: Payment,
    /// The link it was made through, and how that stands now.
    pub link: Option<(Link, LinkStanding)>,
}

impl PaymentPage {
    /// Whether its link has another method to choose.
    pub fn has_other_methods(&self) -> bool {
        self.link.as_ref().is_some_and(|(link, _)| offered(&self.project, link).len() > 1)
    }
}

/// What can be chosen: the link's methods, as far as the project still offers them, QRIS first.
fn offered(project: &Project, link: &Link) -> Vec<Method> {
    let mut methods: Vec<Method> = link.methods.iter().copied().filter(|method| project.offers(*method)).collect();
    methods.sort_by_key(|method| method.bank().is_some());
    methods
}

/// What becomes of a customer's earlier payments when they try again.
enum Earlier {
    /// This one is what they want, or the bank has its money.
    Stands(Box<Payment>),
    /// These are still waiting, and they choose otherwise.
    GiveWay(Vec<Payment>),
}

impl Engine {
    /// A link for whoever opens its page.
    pub async fn link_page(&self, id: LinkId) -> Result<LinkPage, Error> {
        let shown = self.store.shown_link(id).await?.ok_or(Error::NotFound("payment link"))?;
        let project = self.project_at(shown.link.project_id, shown.project_version).await?;
        let standing = self.standing(&project, &shown);
        let (methods, link) = (offered(&project, &shown.link), shown.link);
        Ok(LinkPage { project, link, methods, standing })
    }

    /// A payment for whoever knows its id.
    pub async fn known_payment(&self, id: PaymentId) -> Result<Payment, Error> {
        self.store.payment(id).await?.ok_or(Error::NotFound("payment"))
    }

    /// A payment for whoever opens its page.
    pub async fn payment_page(&self, id: PaymentId) -> Result<PaymentPage, Error> {
        let payment = self.known_payment(id).await?;
        let shown = match payment.link_id {
            None => None,
            Some(id) => self.store.shown_link(id).await?,
        };
        let project = match &shown {
            None => Arc::new(self.project(payment.project_id).await?),
            Some(shown) => self.project_at(payment.project_id, shown.project_version).await?,
        };
        let link = shown.map(|shown| {
            let standing = self.standing(&project, &shown);
            (shown.link, standing)
        });
        Ok(PaymentPage { project, payment, link })
    }

    /// How a link stands with customers. One whose project takes no payments at the moment, or offers none of its methods any
    /// more, is inactive to them.
    fn standing(&self, project: &Project, shown: &ShownLink) -> LinkStanding {
        let takes_none = || !project.is_usable() || offered(project, &shown.link).is_empty();
        match shown.link.standing_at(self.now(), shown.in_use) {
            LinkStanding::Open if takes_none() => LinkStanding::Inactive,
            standing => standing,
        }
    }

    /// Whether the method can be paid by right now.
    pub fn is_up(&self, project: &Project, method: Method) -> bool {
        self.providers.of(project.environment).is_ok_and(|provider| provider.is_up(method))
    }

    /// One customer's attempt to pay a link: a new payment, or the one that this same attempt has made already.
    pub async fn attempt_link(&self, id: LinkId, attempt: &Attempt) -> Result<Payment, Error> {
        for _ in 0..DECIDE_MOST {
            let page = self.link_page(id).await?;
            let (key, bound) = self.form_leads_to(&page.link, attempt).await?;
            if let Some(payment) = bound {
                return Ok(payment);
            }
            let gives_way = match self.earlier(&page.link, attempt).await? {
                Earlier::Stands(payment) => return Ok(*payment),
                Earlier::GiveWay(payments) => payments,
            };
            match self.make_attempt(&page, attempt, key, gives_way).await {
                // Someone else was quicker: the same form, the bank, or whoever closed the link.
                Err(Error::Refused(CommitError::Conflict(
                    Guard::IdempotencyKey | Guard::PaymentVersion | Guard::LinkOpen,
                ))) => {}
                outcome => return outcome,
            }
        }
        Err(Error::Contended)
    }

    /// The payment that the form has led to, unless it came to nothing and the customer tries once more; and what the form is
    /// known by now.
    async fn form_leads_to(
        &self,
        link: &Link,
        attempt: &Attempt,
    ) -> Result<(Option<Idempotency>, Option<Payment>), Error> {
        let Some(form) = &attempt.form else { return Ok((None, None)) };
        let mut after = None;
        for _ in 0..TRIES_PER_FORM {
            let key = attempt.key(form, link, after);
            let Some(id) = self.bound_to(&key).await? else { return Ok((Some(key), None)) };
            let payment = self.payment(link.project_id, id).await?;
            match payment.status_at(self.now()) {
                Status::Pending | Status::Processing | Status::Paid => return Ok((Some(key), Some(payment))),
                Status::Failed | Status::Expired | Status::Cancelled => after = Some(id),
            }
        }
        // Whoever opens the link anew gets a form of its own.
        Err(Error::Contended)
    }

    /// What becomes of the payments that this customer was led to before. With several pages open there may be two.
    async fn earlier(&self, link: &Link, attempt: &Attempt) -> Result<Earlier, Error> {
        let mut give_way = Vec::new();
        let remembered = attempt.remembered.filter(|id| attempt.replaces != Some(*id));
        for (id, is_asked) in attempt.replaces.map(|id| (id, true)).into_iter().chain(remembered.map(|id| (id, false)))
        {
            let found = self.store.payment(id).await?.filter(|payment| payment.link_id == Some(link.id));
            let Some(payment) = found else {
                if is_asked {
                    return Err(Error::NotFound("payment"));
                }
                continue;
            };
            match payment.status_at(self.now()) {
                Status::Pending if attempt.chooses_like(&payment) => return Ok(Earlier::Stands(payment.into())),
                Status::Pending => give_way.push(payment),
                // The bank was quicker than the change of mind: nobody is led to pay a second time.
                Status::Processing => return Ok(Earlier::Stands(payment.into())),
                Status::Paid if is_asked => return Ok(Earlier::Stands(payment.into())),
                Status::Paid | Status::Failed | Status::Expired | Status::Cancelled => {}
            }
        }
        Ok(Earlier::GiveWay(give_way))
    }

    async fn make_attempt(
        &self,
        page: &LinkPage,
        attempt: &Attempt,
        key: Option<Idempotency>,
        gives_way: Vec<Payment>,
    ) -> Result<Payment, Error> {
        let LinkPage { project, link, methods, standing } = page;
        match standing {
            LinkStanding::Open => {}
            LinkStanding::Cancelled | LinkStanding::Inactive => return Err(Error::LinkNotActive),
            LinkStanding::Paid | LinkStanding::Processing => return Err(Error::NotEditable),
        }
        if !methods.contains(&attempt.method) {
            return Err(Invalid::new("method", "is not one that this link accepts").into());
        }
        let now = self.now();
        let draft = Payment {
            id: self.mint(now),
            project_id: project.id,
            link_id: Some(link.id),
            fee: self.fees(project).fee(attempt.method.kind(), link.amount),
            expires_at: link.attempt_expires_at(attempt.method, now),
            reference: link.reference.clone(),
            amount: link.amount,
            method: attempt.method,
            code: String::new(),
            checkout: Some(attempt.checkout.clone()),
            state: State::Pending,
            created_at: now,
            version: 1,
        };
        let voided = gives_way.into_iter().filter_map(|payment| payment.give_way(now).ok());
        let voided: Vec<Payment> = voided.map(|step| step.payment).collect();
        self.issue_and_commit(project, draft, |payment| {
            let bind = key.clone().map(|idempotency| Write::Bind { idempotency, resource: payment.id.to_string() });
            let voided = voided.iter().map(|payment| Write::PaymentMoved {
                id: payment.id,
                version: payment.version,
                state: payment.state,
                settles_at: None,
                link_id: payment.link_id,
            });
            Change::from(Write::LinkAttempted { id: link.id }).with_all(bind).with_all(voided)
        })
        .await
    }
}
