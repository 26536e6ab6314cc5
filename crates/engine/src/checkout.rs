//! The hosted checkout: what its pages show, and a customer's attempt to pay a link.
//!
//! Customers have no key. Anybody who knows the id of a link or of a payment may open its page. Opening a page changes
//! nothing, except that the first view of a payment is recorded.

use std::{net::IpAddr, sync::Arc, time::Duration};

use domain::{
    hex::hex,
    id::{LinkId, PaymentId},
    idempotency::{Endpoint, Idempotency},
    link::{Link, LinkStanding},
    method::Method,
    money::Rupiah,
    opening::OpeningAttempt,
    payment::{Checkout, Payment, RefundSums, Status},
    pricing::{Price, Pricing},
    project::{Environment, Project},
    receipt::UnappliedReceipt,
    refund::Refund,
    rules::Invalid,
    time::Timestamp,
};
use sha2::{Digest, Sha256};
use store::{AttemptBounds, Change, CommitError, Guard, LinkAttempt, LinkWrite, NetworkBound, PaymentWrite};

use crate::{
    DECIDE_MOST, Engine, Error,
    banks::{Issuer, has_issuer},
    besides::bind,
    payments::Attempted,
};

/// How often the same form may be sent again after its payment has ended unpaid. Each time costs one more read.
const TRIES_PER_FORM: usize = 32;

/// Refunds of held money that a payment's page reads; there is rarely more than one.
const RETURNS_MOST: usize = 5;

/// How many bytes of the hash of a visitor's token are stored: enough that no two visitors share one.
const VISITOR_BYTES: usize = 16;

/// What a customer has chosen to pay a link with.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub method: Method,
    /// How many pieces, or which amount, where the link lets the customer choose.
    pub chosen: Option<i64>,
    pub checkout: Checkout,
    /// Identifies one filled-in form: the same form sent again leads to the same payment.
    pub form: Option<String>,
    /// The payment that the customer asks to replace. It must be one of this link.
    pub replaces: Option<PaymentId>,
    /// The payment that this browser was last sent to. It is ignored if it is not one of this link.
    pub remembered: Option<PaymentId>,
    /// What this browser was given by this link's page before it had a payment. Attempts with the same token are one
    /// visitor's, who has one pending payment at most.
    pub visitor: Option<String>,
    /// The address that attempts are counted by; none where they are not counted.
    pub network: Option<IpAddr>,
}

impl Attempt {
    /// An attempt without a form and without earlier payments, of a visitor who is not known.
    pub fn new(method: Method, checkout: Checkout) -> Attempt {
        Attempt {
            method,
            chosen: None,
            checkout,
            form: None,
            replaces: None,
            remembered: None,
            visitor: None,
            network: None,
        }
    }

    /// The visitor's token as it is stored.
    fn visitor_hash(&self) -> Option<String> {
        self.visitor.as_ref().map(|token| hex(&Sha256::digest(token)[..VISITOR_BYTES]))
    }

    /// Whether `payment` has the same method, the same price and the same customer details.
    fn chooses_like(&self, payment: &Payment, link: &Link) -> bool {
        let customer = payment.terms.checkout.as_ref().map(|checkout| &checkout.customer);
        let price = Price { amount: payment.terms.amount, quantity: payment.terms.quantity };
        payment.terms.method == self.method
            && link.price(self.chosen) == Ok(price)
            && customer == Some(&self.checkout.customer)
    }

    /// The Idempotency-Key of the form with this choice; `after` is what the form led to before.
    fn key(&self, form: &str, link: &Link, after: &str) -> Idempotency {
        let customer = &self.checkout.customer;
        let method = self.method.to_string();
        let chosen = self.chosen.map(|number| number.to_string());
        let parts = [form, &method, &customer.name, &customer.email, &customer.phone, &customer.address, after];
        let mut hash = Sha256::new();
        for part in parts.into_iter().chain(chosen.as_deref()) {
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
    /// Whether its link can be paid by more than one method.
    pub has_other_methods: bool,
    /// Money that came for this payment and could not pay it, newest first.
    pub unapplied: Vec<UnappliedReceipt>,
    /// What paid it, where that was more or less than its amount.
    pub received: Option<Rupiah>,
    /// What was given back of it, or will be, oldest first; then that by which money goes back that could not pay it.
    pub refunds: Vec<Refund>,
}

/// Everything that an attempt was judged by, at one instant.
struct Judged<'a> {
    now: Timestamp,
    page: LinkPage,
    attempt: &'a Attempt,
    /// The Idempotency-Key of the form.
    key: Option<Idempotency>,
    visitor: Option<String>,
    /// The pending payments that the new one replaces.
    replaced: Vec<Payment>,
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
        self.link_page_at(id, self.now()).await
    }

    async fn link_page_at(&self, id: LinkId, now: Timestamp) -> Result<LinkPage, Error> {
        let shown = self.store.shown_link(id).await?.ok_or(Error::NotFound("payment link"))?;
        let project = self.project_at(shown.link.project_id, shown.project_version).await?;
        let standing = shown.link.standing_at(now, shown.in_use, &project);
        let mut methods = self.payable_methods(&shown.link, &project).await?;
        // QRIS first.
        methods.sort_by_key(|method| method.bank().is_some());
        Ok(LinkPage { project, link: shown.link, methods, standing })
    }

    /// A payment of any project, by its id alone.
    pub async fn known_payment(&self, id: PaymentId) -> Result<Payment, Error> {
        self.store.payment(id).await?.ok_or(Error::NotFound("payment"))
    }

    /// A payment as its page shows it.
    pub async fn payment_page(&self, id: PaymentId) -> Result<PaymentPage, Error> {
        let payment = self.known_payment(id).await?;
        let shown = match payment.terms.link_id {
            None => None,
            Some(id) => self.store.shown_link(id).await?,
        };
        let project = match &shown {
            None => Arc::new(self.project(payment.terms.project_id).await?),
            Some(shown) => self.project_at(payment.terms.project_id, shown.project_version).await?,
        };
        let link = shown.map(|shown| {
            let standing = shown.link.standing_at(self.now(), shown.in_use, &project);
            (shown.link, standing)
        });
        let has_other_methods = match &link {
            Some((link, _)) => self.payable_methods(link, &project).await?.len() > 1,
            None => false,
        };
        let unapplied = self.store.receipts_sent_for(payment.terms.project_id, &[payment.id]).await?;
        let received =
            self.received_instead(payment.terms.project_id, std::slice::from_ref(&payment)).await?.remove(&id);
        let refunds = self.refunds_told_of(&payment, &unapplied).await?;
        Ok(PaymentPage { project, payment, link, has_other_methods, unapplied, received, refunds })
    }

    /// The refunds that a payment's page tells of. Most payments have none, and nothing is read for those.
    async fn refunds_told_of(&self, payment: &Payment, unapplied: &[UnappliedReceipt]) -> Result<Vec<Refund>, Error> {
        let mut refunds = match payment.refunds == RefundSums::default() {
            true => Vec::new(),
            false => self.store.refunds_of_payment(payment.id).await?,
        };
        for id in unapplied.iter().filter_map(|money| money.decided.as_ref()?.refund).take(RETURNS_MOST) {
            refunds.extend(self.store.refund(id).await?);
        }
        Ok(refunds)
    }

    /// The title of what a payment pays; none where it has no link, or that has none.
    pub async fn payment_title(&self, payment: &Payment) -> Result<Option<String>, Error> {
        let Some(link_id) = payment.terms.link_id else { return Ok(None) };
        let title = self.store.shown_link(link_id).await?.map(|shown| shown.link.title);
        Ok(title.filter(|title| !title.is_empty()))
    }

    /// The payment that claimed a single-use link, if the visitor who made `remembered` made that one too: they paid a code
    /// for which they had chosen another since.
    pub async fn own_claim(&self, link: &Link, remembered: PaymentId) -> Result<Option<PaymentId>, Error> {
        let Some(claimed_by) = link.claimed_by else { return Ok(None) };
        let claiming = self.store.latest_attempt(link.id, Some(claimed_by), None).await?;
        let remembering = self.store.latest_attempt(link.id, Some(remembered), None).await?;
        let is_own = claiming.zip(remembering).is_some_and(|(one, other)| one.visitor == other.visitor);
        Ok(is_own.then_some(claimed_by))
    }

    /// The methods that a customer can pay a link by. One that no bank account can take money by would only disappoint,
    /// and so would one whose account takes no amount of the link's.
    async fn payable_methods(&self, link: &Link, project: &Project) -> Result<Vec<Method>, Error> {
        let mut payable = Vec::new();
        for method in link.offered_methods(project) {
            if has_issuer(project, method) && self.issuer(project, method).await?.takes_of(link, method) {
                payable.push(method);
            }
        }
        Ok(payable)
    }

    /// Whether codes can be issued for the method right now, as far as is known without a call.
    pub fn is_up(&self, project: &Project, method: Method) -> bool {
        match project.environment {
            Environment::Sandbox => true,
            Environment::Production => {
                let account = project.account(method);
                account.is_some_and(|account| !self.outbound.is_down(account.account_id, self.now()))
            }
        }
    }

    /// A customer's attempt to pay a link: creates a payment, or returns the one that the same attempt has already
    /// created. One instant judges the attempt and is its `created_at`.
    pub async fn attempt_link(&self, id: LinkId, attempt: &Attempt) -> Result<Payment, Error> {
        for _ in 0..DECIDE_MOST {
            let now = self.now();
            let page = self.link_page_at(id, now).await?;
            let (key, bound) = self.form_leads_to(&page.link, attempt, now).await?;
            if let Some(payment) = bound {
                return Ok(payment);
            }
            let token = attempt.visitor_hash();
            let latest = self.store.latest_attempt(id, attempt.remembered, token.as_deref()).await?;
            let (visitor, latest) =
                latest.map_or((token, None), |latest| (Some(latest.visitor), Some(latest.payment_id)));
            let replaced = match self.earlier(&page.link, attempt, latest, now).await? {
                Earlier::Kept(payment) => return Ok(*payment),
                Earlier::Replaced(payments) => payments,
            };
            match self.make_attempt(Judged { now, page, attempt, key, visitor, replaced }).await {
                // Retry: meanwhile the same form was sent, the bank reported a payment, the link was closed, or others
                // have used up its room.
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
        now: Timestamp,
    ) -> Result<(Option<Idempotency>, Option<Payment>), Error> {
        let Some(form) = &attempt.form else { return Ok((None, None)) };
        let mut after = String::new();
        for _ in 0..TRIES_PER_FORM {
            let key = attempt.key(form, link, &after);
            let payment = match self.bound_to(&key).await? {
                None => return Ok((Some(key), None)),
                Some(Attempted::Payment(id)) => self.payment(link.project_id, id).await?,
                Some(Attempted::Opening(id)) => match Box::pin(self.opening_leads_to(id)).await? {
                    Some(payment) => payment,
                    None => {
                        after = id.to_string();
                        continue;
                    }
                },
            };
            match payment.status_at(now) {
                Status::Pending | Status::Processing | Status::Paid => return Ok((Some(key), Some(payment))),
                Status::Failed | Status::Expired | Status::Cancelled => after = payment.id.to_string(),
            }
        }
        // A customer who opens the link again gets a new form.
        Err(Error::Contended)
    }

    /// What happens to the payments that this customer was sent to before: the one to replace, the one that the browser
    /// remembers, and the latest of this visitor. With several pages open these may differ.
    async fn earlier(
        &self,
        link: &Link,
        attempt: &Attempt,
        latest: Option<PaymentId>,
        now: Timestamp,
    ) -> Result<Earlier, Error> {
        let mut before: Vec<PaymentId> = Vec::new();
        let mut replaced = Vec::new();
        for id in [attempt.replaces, attempt.remembered, latest].into_iter().flatten() {
            if before.contains(&id) {
                continue;
            }
            before.push(id);
            let is_asked = attempt.replaces == Some(id);
            let found = self.store.payment(id).await?.filter(|payment| payment.terms.link_id == Some(link.id));
            let Some(payment) = found else {
                if is_asked {
                    return Err(Error::NotFound("payment"));
                }
                continue;
            };
            match payment.status_at(now) {
                Status::Pending if attempt.chooses_like(&payment, link) => return Ok(Earlier::Kept(payment.into())),
                Status::Pending => replaced.push(payment),
                // The bank already has the money: do not let the customer pay a second time.
                Status::Processing => return Ok(Earlier::Kept(payment.into())),
                Status::Paid if is_asked => return Ok(Earlier::Kept(payment.into())),
                Status::Paid | Status::Failed | Status::Expired | Status::Cancelled => {}
            }
        }
        Ok(Earlier::Replaced(replaced))
    }

    async fn make_attempt(&self, judged: Judged<'_>) -> Result<Payment, Error> {
        let Judged { now, page: LinkPage { project, link, standing, .. }, attempt, .. } = &judged;
        match standing {
            LinkStanding::Open => {}
            LinkStanding::Cancelled | LinkStanding::Inactive => return Err(Error::LinkNotActive),
            LinkStanding::Paid | LinkStanding::Processing => return Err(Error::NotEditable),
        }
        // One that the link accepts and no bank account can take money by is our failure, not the customer's.
        if !link.offered_methods(project).contains(&attempt.method) {
            return Err(Invalid::new("method", "is not one that this link accepts").into());
        }
        let price = link.price(attempt.chosen)?;
        let bounds = self.attempt_bounds(link, attempt.network);
        self.check_room(link, &bounds, &judged.replaced, *now).await?;
        let issuer = self.issuer(project, attempt.method).await?;
        if link.pricing != Pricing::Fixed {
            issuer.check_price(attempt.method, price.amount)?;
        }
        let fee = self.fees(project).fee(attempt.method.kind(), price.amount);
        let terms = link.attempt_terms(attempt.method, price, fee, attempt.checkout.clone(), *now);
        let draft = Payment::pending(self.mint(*now), terms, String::new(), *now);
        if let Issuer::Bank(open) = &issuer {
            let opening = OpeningAttempt {
                visitor: judged.visitor.clone(),
                network: bounds.network.map(|bound| bound.network),
                replaces: judged.replaced.iter().map(|payment| payment.id).collect(),
            };
            let besides = |resource: &str| bind(judged.key.as_ref(), resource);
            return Box::pin(self.issue_at_bank(Arc::clone(open), &draft, Some(opening), &besides)).await;
        }
        self.issue_and_commit(project, &issuer, draft, |payment| self.attempted(&judged, &bounds, payment)).await
    }

    /// How many attempts the link takes.
    pub(crate) fn attempt_bounds(&self, link: &Link, network: Option<IpAddr>) -> AttemptBounds {
        let limits = self.settings.attempts;
        let network = network.zip(limits.per_address_most(link)).map(|(network, most)| NetworkBound {
            network: network.to_string(),
            most,
            window: limits.window,
        });
        AttemptBounds { pending_most: limits.pending_most(link), network }
    }

    /// Fails before a code is issued where the link has no room for one more attempt.
    async fn check_room(
        &self,
        link: &Link,
        bounds: &AttemptBounds,
        replaced: &[Payment],
        now: Timestamp,
    ) -> Result<(), Error> {
        // Those that are replaced make room.
        let pending_most = bounds.pending_most + i64::try_from(replaced.len()).unwrap_or_default();
        let room = self.store.attempt_room(link.id, now, &AttemptBounds { pending_most, ..bounds.clone() }).await?;
        // A payment is pending until the end of its last millisecond.
        let pending = room.pending_full_until.map(|until| until.plus(Duration::from_millis(1)));
        match pending.max(room.network_full_until) {
            Some(until) => Err(Error::AttemptsFull { until }),
            None => Ok(()),
        }
    }

    /// Everything that one attempt writes. It may have taken a while to come here, so the commit is refused if the link
    /// has expired meanwhile; a clock that was set back meanwhile does not count.
    fn attempted(&self, judged: &Judged<'_>, bounds: &AttemptBounds, payment: &Payment) -> Change {
        let Judged { now, page, key, visitor, replaced, .. } = judged;
        let link_id = page.link.id;
        let transitions: Vec<_> = replaced.iter().cloned().filter_map(|payment| payment.replace(*now).ok()).collect();
        let cancelled = transitions.iter().map(|transition| PaymentWrite::Moved {
            id: transition.payment.id,
            version: transition.payment.version,
            state: transition.payment.state,
            settles_at: None,
            link_id: transition.payment.terms.link_id,
        });
        let told = transitions
            .iter()
            .filter_map(|transition| transition.event.map(|owed| self.event_write(&transition.payment, owed, *now)));
        let same_visitor = visitor.clone().map(|visitor| PaymentWrite::VisitorReplaced { link_id, visitor, at: *now });
        Change::default()
            .with_all(bind(key.as_ref(), &payment.id.to_string()))
            .with_all(cancelled)
            .with_all(told)
            .with_all(same_visitor)
            .with(LinkWrite::Attempted { id: link_id, at: self.now().max(*now), bounds: bounds.clone() })
            .with(PaymentWrite::Created { payment: payment.clone() })
            .with(LinkWrite::AttemptRecorded(LinkAttempt {
                link_id,
                payment_id: payment.id,
                project_id: payment.terms.project_id,
                visitor: visitor.clone(),
                network: bounds.network.as_ref().map(|bound| bound.network.clone()),
                at: payment.created_at,
            }))
    }
}
