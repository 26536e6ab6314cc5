//! A payment link: a hosted page for an amount, and the rules that say whether a customer may still pay through
//! it.

use crate::{
    id::{LinkId, PaymentId, ProjectId},
    metadata::Metadata,
    method::Method,
    money::Rupiah,
    payment_terms::{Checkout, PaymentTerms},
    pricing::{Mispriced, Price, Pricing},
    project::Project,
    return_url::ReturnUrl,
    time::Timestamp,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub id: LinkId,
    pub project_id: ProjectId,
    pub reference: String,
    pub title: String,
    pub description: String,
    /// What a payment costs; for one piece, or 0, where `pricing` says so.
    pub amount: Rupiah,
    pub pricing: Pricing,
    /// The methods that the merchant chose. The project may have stopped offering some of them since: customers and
    /// programs see [`Link::offered_methods`].
    pub methods: Vec<Method>,
    pub allow_multiple_payments: bool,
    pub customer_fields: CustomerFields,
    /// What the merchant noted about it; its payments carry the same.
    pub metadata: Option<Metadata>,
    /// Where the pages of its payments lead back to.
    pub return_url: Option<ReturnUrl>,
    pub expires_at: Option<Timestamp>,
    pub cancelled_at: Option<Timestamp>,
    /// On a single-use link, the payment that was confirmed first.
    pub claimed_by: Option<PaymentId>,
    pub created_at: Timestamp,
    pub version: i64,
}

/// Which fields the page asks the customer for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CustomerFields {
    pub name: bool,
    pub email: bool,
    pub phone: bool,
    pub address: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStatus {
    Active,
    Cancelled,
    Inactive,
}

impl LinkStatus {
    pub const fn word(self) -> &'static str {
        match self {
            LinkStatus::Active => "active",
            LinkStatus::Cancelled => "cancelled",
            LinkStatus::Inactive => "inactive",
        }
    }
}

/// How a link limits its payments when money arrives for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkClaim {
    /// A direct payment, or a link that takes any number of payments.
    NotNeeded,
    /// A single-use link that no payment has claimed yet.
    Free(LinkId),
    /// A single-use link that another payment has claimed.
    Taken,
}

/// The link is cancelled, past its expiry, or has no method that its project offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotActive;

/// What a customer sees who opens a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStanding {
    /// The customer can start a payment.
    Open,
    Cancelled,
    Inactive,
    /// A single-use link that was paid.
    Paid,
    /// A single-use link with a payment that the provider is still processing.
    Processing,
}

impl Link {
    /// `active` means that the link can be paid by some method that its project offers now.
    pub fn status_at(&self, now: Timestamp, project: &Project) -> LinkStatus {
        match self.cancelled_at {
            Some(_) => LinkStatus::Cancelled,
            None if self.is_past_expiry(now) || self.offered_methods(project).is_empty() => LinkStatus::Inactive,
            None => LinkStatus::Active,
        }
    }

    pub fn is_past_expiry(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| now > expires_at)
    }

    /// The link's methods that the project offers now.
    pub fn offered_methods(&self, project: &Project) -> Vec<Method> {
        project.offered(&self.methods)
    }

    /// Cancels an active link. The caller cancels its pending payments in the same commit.
    pub fn cancel(self, now: Timestamp, project: &Project) -> Result<Link, NotActive> {
        match self.status_at(now, project) {
            LinkStatus::Active => Ok(Link { cancelled_at: Some(now), ..self }),
            LinkStatus::Cancelled | LinkStatus::Inactive => Err(NotActive),
        }
    }

    /// What customers see at `now`. `in_use`: some payment of the link is processing.
    pub fn standing_at(&self, now: Timestamp, in_use: bool, project: &Project) -> LinkStanding {
        match self.status_at(now, project) {
            LinkStatus::Cancelled => LinkStanding::Cancelled,
            _ if self.claimed_by.is_some() => LinkStanding::Paid,
            _ if in_use && !self.allow_multiple_payments => LinkStanding::Processing,
            LinkStatus::Inactive => LinkStanding::Inactive,
            LinkStatus::Active if !project.is_usable() => LinkStanding::Inactive,
            LinkStatus::Active => LinkStanding::Open,
        }
    }

    /// What a payment costs when the customer has chosen this number of pieces, or typed this amount.
    pub fn price(&self, chosen: Option<i64>) -> Result<Price, Mispriced> {
        self.pricing.price(self.amount, chosen)
    }

    /// What it costs, for people: `Rp50.000`, `Rp50.000 × 1–10` or `Rp10.000 – Rp500.000`.
    pub fn price_text(&self) -> String {
        match self.pricing {
            Pricing::Fixed => self.amount.to_string(),
            Pricing::PerPiece { quantity_max } => format!("{} × 1–{quantity_max}", self.amount),
            Pricing::Open { least, most } => format!("{least} – {most}"),
        }
    }

    /// The smallest amount that a payment by this method can have.
    pub fn least_by(&self, method: Method) -> Rupiah {
        self.pricing.least_from(self.amount, method.kind().floor())
    }

    /// Whether a payment of this link that is confirmed now has to claim the link, and whether it still can.
    pub fn claim(&self) -> LinkClaim {
        match (self.allow_multiple_payments, self.claimed_by) {
            (true, _) => LinkClaim::NotNeeded,
            (false, None) => LinkClaim::Free(self.id),
            (false, Some(_)) => LinkClaim::Taken,
        }
    }

    /// The terms of a payment of this link, by which a customer tries to pay it at `now`.
    pub fn attempt_terms(
        &self,
        method: Method,
        price: Price,
        fee: Rupiah,
        checkout: Checkout,
        now: Timestamp,
    ) -> PaymentTerms {
        PaymentTerms {
            project_id: self.project_id,
            link_id: Some(self.id),
            reference: self.reference.clone(),
            amount: price.amount,
            quantity: price.quantity,
            fee,
            method,
            checkout: Some(checkout),
            metadata: self.metadata.clone(),
            return_url: self.return_url.clone(),
            expires_at: self.attempt_expires_at(method, now),
        }
    }

    /// When a payment that starts now expires: after its method's default lifetime, but never later than the link
    /// itself.
    pub fn attempt_expires_at(&self, method: Method, now: Timestamp) -> Timestamp {
        let usual = now.plus(method.kind().default_lifetime());
        self.expires_at.map_or(usual, |expires_at| usual.min(expires_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bank::Bank,
        face::Face,
        fee::FeeOverrides,
        id::mint,
        project::{Environment, MerchantProfile, SuccessWord},
    };

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn link() -> Link {
        Link {
            id: mint(NOW, [1; 10]),
            project_id: mint(NOW, [2; 10]),
            reference: "PL-1".to_owned(),
            title: "Kopi".to_owned(),
            description: String::new(),
            amount: Rupiah::new(50_000),
            pricing: Pricing::Fixed,
            methods: vec![Method::Qris],
            allow_multiple_payments: false,
            customer_fields: CustomerFields::default(),
            metadata: None,
            return_url: None,
            expires_at: Some(Timestamp::from_millis(NOW.as_millis() + 10)),
            cancelled_at: None,
            claimed_by: None,
            created_at: NOW,
            version: 1,
        }
    }

    fn project() -> Project {
        let merchant =
            MerchantProfile { name: "Toko".to_owned(), city: "Bandung".to_owned(), postal_code: "40115".to_owned() };
        Project {
            id: mint(NOW, [2; 10]),
            name: "Toko".to_owned(),
            environment: Environment::Sandbox,
            merchant,
            active: true,
            approved: false,
            success_word: SuccessWord::Paid,
            webhook_url: None,
            extra_events: Vec::new(),
            face: Face::default(),
            fees: FeeOverrides::default(),
            banks: vec![Bank::Bca],
            default_methods: vec![Method::Qris],
            frame_origins: Vec::new(),
            refunds: crate::refund_settings::RefundSettings::default(),
            accounts: Vec::new(),
            created_at: NOW,
            version: 1,
        }
    }

    fn after(millis: i64) -> Timestamp {
        Timestamp::from_millis(NOW.as_millis() + millis)
    }

    #[test]
    fn a_link_is_inactive_the_millisecond_after_its_expiry() {
        assert_eq!(link().status_at(after(10), &project()), LinkStatus::Active);
        assert_eq!(link().status_at(after(11), &project()), LinkStatus::Inactive);
        assert_eq!(Link { expires_at: None, ..link() }.status_at(after(i64::MAX / 2), &project()), LinkStatus::Active);
    }

    #[test]
    fn only_an_active_link_can_be_cancelled_and_it_stays_cancelled() {
        let cancelled = link().cancel(NOW, &project()).unwrap();
        assert_eq!(cancelled.status_at(after(11), &project()), LinkStatus::Cancelled);
        assert_eq!(cancelled.cancel(NOW, &project()), Err(NotActive));
        assert_eq!(link().cancel(after(11), &project()), Err(NotActive));
    }

    #[test]
    fn a_link_is_open_until_it_is_cancelled_expired_or_used_up() {
        let paid = Link { claimed_by: Some(mint(NOW, [3; 10])), ..link() };
        let many = Link { allow_multiple_payments: true, ..link() };
        let cancelled = paid.clone().cancel(NOW, &project()).unwrap();
        assert_eq!(link().standing_at(NOW, false, &project()), LinkStanding::Open);
        assert_eq!(link().standing_at(NOW, true, &project()), LinkStanding::Processing);
        assert_eq!(link().standing_at(after(11), false, &project()), LinkStanding::Inactive);
        assert_eq!(many.standing_at(NOW, true, &project()), LinkStanding::Open);
        assert_eq!(paid.standing_at(NOW, true, &project()), LinkStanding::Paid);
        assert_eq!(
            paid.standing_at(after(11), true, &project()),
            LinkStanding::Paid,
            "a customer who has paid does not read that it is too late"
        );
        assert_eq!(
            link().standing_at(after(11), true, &project()),
            LinkStanding::Processing,
            "nor does one whose payment is processing"
        );
        assert_eq!(cancelled.standing_at(NOW, true, &project()), LinkStanding::Cancelled);
    }

    #[test]
    fn a_link_is_active_only_while_its_project_offers_one_of_its_methods() {
        let bni = Method::VirtualAccount(Bank::Bni);
        let link = Link { methods: vec![bni, Method::VirtualAccount(Bank::Bca)], ..link() };
        let with = |banks: &[Bank]| Project { banks: banks.to_vec(), ..project() };
        for (banks, status, standing) in [
            (&[Bank::Bca, Bank::Bni][..], LinkStatus::Active, LinkStanding::Open),
            (&[Bank::Bni], LinkStatus::Active, LinkStanding::Open),
            (&[Bank::Mandiri], LinkStatus::Inactive, LinkStanding::Inactive),
            (&[], LinkStatus::Inactive, LinkStanding::Inactive),
        ] {
            let project = with(banks);
            assert_eq!((link.status_at(NOW, &project), link.standing_at(NOW, false, &project)), (status, standing));
            assert_eq!(link.clone().cancel(NOW, &project).is_ok(), status == LinkStatus::Active);
        }
        assert_eq!(link.offered_methods(&with(&[Bank::Bni, Bank::Bri])), [bni]);
    }

    #[test]
    fn a_link_of_a_project_that_takes_no_payments_is_closed_to_customers() {
        let inactive = Project { active: false, ..project() };
        assert_eq!(link().standing_at(NOW, false, &inactive), LinkStanding::Inactive);
    }

    #[test]
    fn an_attempt_never_outlives_its_link() {
        assert_eq!(link().attempt_expires_at(Method::Qris, NOW), after(10));
        assert_eq!(Link { expires_at: None, ..link() }.attempt_expires_at(Method::Qris, NOW), after(900_000));
    }

    #[test]
    fn a_payment_of_a_link_carries_what_the_link_says_and_what_the_customer_chose() {
        let metadata = Some(Metadata { members: vec![("meja".to_owned(), "12".to_owned())] });
        let return_url = Some(ReturnUrl::stored("https://shop.example/back".to_owned()));
        let link = Link { metadata: metadata.clone(), return_url: return_url.clone(), ..link() };
        let price = Price { amount: Rupiah::new(150_000), quantity: Some(3) };
        let terms = link.attempt_terms(Method::Qris, price, Rupiah::new(1_050), Checkout::default(), NOW);
        assert_eq!(
            (terms.project_id, terms.link_id, terms.reference),
            (link.project_id, Some(link.id), link.reference)
        );
        assert_eq!((terms.amount, terms.quantity, terms.fee), (price.amount, price.quantity, Rupiah::new(1_050)));
        assert_eq!((terms.method, terms.checkout), (Method::Qris, Some(Checkout::default())));
        assert_eq!((terms.metadata, terms.return_url), (metadata, return_url));
        assert_eq!(terms.expires_at, after(10));
    }

    #[test]
    fn the_first_confirmed_payment_claims_a_single_use_link() {
        assert_eq!(link().claim(), LinkClaim::Free(link().id));
        assert_eq!(Link { claimed_by: Some(mint(NOW, [3; 10])), ..link() }.claim(), LinkClaim::Taken);
        assert_eq!(Link { allow_multiple_payments: true, ..link() }.claim(), LinkClaim::NotNeeded);
    }
}
