//! The hosted checkout: what its pages show, and a customer's attempt to pay a link.
//!
//! Customers have no key. Anybody who knows the id of a link or of a payment may open its page. Opening a page changes
//! nothing, except that the first view of a payment is recorded.

use std::sync::Arc;

use domain::{
    hex::hex,
    id::{LinkId, PaymentId},
    idempotency::{Endpoint, Idempotency},
    link::{Link, LinkStanding},
    method::Method,
    payment::{Checkout, Payment, State, Status},
    project::Project,
    rules::Invalid,
};
use sha2::{Digest, Sha256};
use store::{Change, CommitError, Guard, LinkWrite, PaymentWrite, ShownLink, Write};

use crate::{DECIDE_MOST, Engine, Error};

/// How often the same form may be sent again after its payment has ended unpaid. Each time costs one more read.
const TRIES_PER_FORM: usize = 32;

/// What a customer has chosen to pay a link with.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub method: Method,
    pub checkout: Checkout,
    /// Identifies one filled-in form: the same form sent again leads to the same payment.
    pub form: Option<String>,
    /// The payment that the customer asks to replace. It must be one of this link.
    pub replaces: Option<PaymentId>,
    /// The payment that this browser was last sent to. It is ignored if it is not one of this link.
    pub remembered: Option<PaymentId>,
}

impl Attempt {
    /// An attempt without a form and without earlier payments.
    pub fn new(method: Method, checkout: Checkout) -> Attempt {
        Attempt { method, checkout, form: None, replaces: None, remembered: None }
    }

    /// Whether `payment` has the same method and the same customer details.
    fn chooses_like(&self, payment: &Payment) -> bool {
        let customer = payment.checkout.as_ref().map(|checkout| &checkout.customer);
        payment.method == self.method && customer == Some(&self.checkout.customer)
    }

    /// The Idempotency-Key of the form with this choice; `after` is the payment that the form led to before.
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
        // API clients cannot send a key with a space in it, so a form never collides with a request of the API.
        let key = format!("{} {}", link.id, hex(&hash.finalize()));
        Idempotency { project_id: link.project_id, endpoint: Endpoint::Payments, key, request: [0; 16] }
    }
}

/// A link as its page shows it.
#[derive(Clone, Debug)]
pub struct LinkPage {
    pub project: Arc<Project>,
    pub link: Link,
    /// The methods that the customer can choose from.
    pub methods: Vec<Method>,
    pub standing: LinkStanding,
}

/// A payment as its page shows it.
#[derive(Clone, Debug)]
pub struct PaymentPage {
    pub project: Arc<Project>,
    pub payment: Payment,
    /// The payment's link, and whether that still takes payments.
    pub link: Option<(Link, LinkStanding)>,
}

impl PaymentPage {
    /// Whether its link offers more than one method.
    pub fn has_other_methods(&self) -> bool {
        self.link.as_ref().is_some_and(|(link, _)| offered(&self.project, link).len() > 1)
    }
}

/// The link's methods that the project still offers, QRIS first.
fn offered(project: &Project, link: &Link) -> Vec<Method> {
    let mut methods: Vec<Method> = link.methods.iter().copied().filter(|method| project.offers(*method)).collect();
    methods.sort_by_key(|method| method.bank().is_some());
    methods
}

/// What happens to a customer's earlier payments when they try again.
enum Earlier {
    /// This payment has the same choice, or the bank already has its money: lead the customer to it.
    Kept(Box<Payment>),
    /// These payments are pending with another choice: a new payment replaces them.
    Replaced(Vec<Payment>),
}

impl Engine {
    /// A link as its page shows it.
    pub async fn link_page(&self, id: LinkId) -> Result<LinkPage, Error> {
        let shown = self.store.shown_link(id).await?.ok_or(Error::NotFound("payment link"))?;
        let project = self.project_at(shown.link.project_id, shown.project_version).await?;
        let standing = self.standing(&project, &shown);
        let (methods, link) = (offered(&project, &shown.link), shown.link);
        Ok(LinkPage { project, link, methods, standing })
    }

    /// A payment of any project, by its id alone.
    pub async fn known_payment(&self, id: PaymentId) -> Result<Payment, Error> {
        self.store.payment(id).await?.ok_or(Error::NotFound("payment"))
    }

    /// A payment as its page shows it.
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

    /// What customers see of a link. It is inactive if its project takes no payments at the moment, or no longer offers
    /// any of its methods.
    fn standing(&self, project: &Project, shown: &ShownLink) -> LinkStanding {
        let takes_none = || !project.is_usable() || offered(project, &shown.link).is_empty();
        match shown.link.standing_at(self.now(), shown.in_use) {
            LinkStanding::Open if takes_none() => LinkStanding::Inactive,
            standing => standing,
        }
    }

    /// Whether the provider can issue codes for the method right now.
    pub fn is_up(&self, project: &Project, method: Method) -> bool {
        self.providers.of(project.environment).is_ok_and(|provider| provider.is_up(method))
    }

    /// A customer's attempt to pay a link: creates a payment, or returns the one that the same attempt has already
    /// created.
    pub async fn attempt_link(&self, id: LinkId, attempt: &Attempt) -> Result<Payment, Error> {
        for _ in 0..DECIDE_MOST {
            let page = self.link_page(id).await?;
            let (key, bound) = self.form_leads_to(&page.link, attempt).await?;
            if let Some(payment) = bound {
                return Ok(payment);
            }
            let replaced = match self.earlier(&page.link, attempt).await? {
                Earlier::Kept(payment) => return Ok(*payment),
                Earlier::Replaced(payments) => payments,
            };
            match self.make_attempt(&page, attempt, key, replaced).await {
                // Retry: meanwhile the same form was sent, the bank reported a payment, or the link was closed.
                Err(Error::UnexpectedConflict(CommitError::Conflict(
                    Guard::IdempotencyKey | Guard::PaymentVersion | Guard::LinkOpen,
                ))) => {}
                outcome => return outcome,
            }
        }
        Err(Error::Contended)
    }

    /// The payment that the form has led to, unless that has ended unpaid and the customer tries again; and the form's
    /// Idempotency-Key for this attempt.
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
        // A customer who opens the link again gets a new form.
        Err(Error::Contended)
    }

    /// What happens to the payments that this customer was sent to before. With several pages open there may be two.
    async fn earlier(&self, link: &Link, attempt: &Attempt) -> Result<Earlier, Error> {
        let mut replaced = Vec::new();
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
                Status::Pending if attempt.chooses_like(&payment) => return Ok(Earlier::Kept(payment.into())),
                Status::Pending => replaced.push(payment),
                // The bank already has the money: do not let the customer pay a second time.
                Status::Processing => return Ok(Earlier::Kept(payment.into())),
                Status::Paid if is_asked => return Ok(Earlier::Kept(payment.into())),
                Status::Paid | Status::Failed | Status::Expired | Status::Cancelled => {}
            }
        }
        Ok(Earlier::Replaced(replaced))
    }

    async fn make_attempt(
        &self,
        page: &LinkPage,
        attempt: &Attempt,
        key: Option<Idempotency>,
        replaced: Vec<Payment>,
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
        let cancelled = replaced.into_iter().filter_map(|payment| payment.replace(now).ok());
        let cancelled: Vec<Payment> = cancelled.map(|transition| transition.payment).collect();
        self.issue_and_commit(project, draft, |payment| {
            let bind = key.clone().map(|idempotency| Write::Bind { idempotency, resource: payment.id.to_string() });
            let cancelled = cancelled.iter().map(|payment| PaymentWrite::Moved {
                id: payment.id,
                version: payment.version,
                state: payment.state,
                settles_at: None,
                link_id: payment.link_id,
            });
            Change::from(LinkWrite::Attempted { id: link.id }).with_all(bind).with_all(cancelled)
        })
        .await
    }
}
