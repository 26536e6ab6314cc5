//! A payment link: a hosted page for a fixed amount, and the rules that say whether a customer may still pay through
//! it.

use crate::{
    id::{LinkId, PaymentId, ProjectId},
    method::Method,
    money::Rupiah,
    time::Timestamp,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub id: LinkId,
    pub project_id: ProjectId,
    pub reference: String,
    pub title: String,
    pub description: String,
    pub amount: Rupiah,
    pub methods: Vec<Method>,
    pub allow_multiple_payments: bool,
    pub customer_fields: CustomerFields,
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

/// The link is cancelled or past its expiry.
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
    pub fn status_at(&self, now: Timestamp) -> LinkStatus {
        match (self.cancelled_at, self.expires_at) {
            (Some(_), _) => LinkStatus::Cancelled,
            (None, Some(expires_at)) if now > expires_at => LinkStatus::Inactive,
            (None, _) => LinkStatus::Active,
        }
    }

    /// Cancels an active link. The caller cancels its pending payments in the same commit.
    pub fn cancel(self, now: Timestamp) -> Result<Link, NotActive> {
        match self.status_at(now) {
            LinkStatus::Active => Ok(Link { cancelled_at: Some(now), ..self }),
            LinkStatus::Cancelled | LinkStatus::Inactive => Err(NotActive),
        }
    }

    /// What customers see at `now`. `in_use`: some payment of the link is paid or processing.
    pub fn standing_at(&self, now: Timestamp, in_use: bool) -> LinkStanding {
        match self.status_at(now) {
            LinkStatus::Cancelled => LinkStanding::Cancelled,
            _ if self.claimed_by.is_some() => LinkStanding::Paid,
            _ if in_use && !self.allow_multiple_payments => LinkStanding::Processing,
            LinkStatus::Inactive => LinkStanding::Inactive,
            LinkStatus::Active => LinkStanding::Open,
        }
    }

    /// Whether a payment of this link that is confirmed now has to claim the link, and whether it still can.
    pub fn claim(&self) -> LinkClaim {
        match (self.allow_multiple_payments, self.claimed_by) {
            (true, _) => LinkClaim::NotNeeded,
            (false, None) => LinkClaim::Free(self.id),
            (false, Some(_)) => LinkClaim::Taken,
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
    use crate::id::mint;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn link() -> Link {
        Link {
            id: mint(NOW, [1; 10]),
            project_id: mint(NOW, [2; 10]),
            reference: "PL-1".to_owned(),
            title: "Kopi".to_owned(),
            description: String::new(),
            amount: Rupiah::new(50_000),
            methods: vec![Method::Qris],
            allow_multiple_payments: false,
            customer_fields: CustomerFields::default(),
            expires_at: Some(Timestamp::from_millis(NOW.as_millis() + 10)),
            cancelled_at: None,
            claimed_by: None,
            created_at: NOW,
            version: 1,
        }
    }

    fn after(millis: i64) -> Timestamp {
        Timestamp::from_millis(NOW.as_millis() + millis)
    }

    #[test]
    fn a_link_is_inactive_the_millisecond_after_its_expiry() {
        assert_eq!(link().status_at(after(10)), LinkStatus::Active);
        assert_eq!(link().status_at(after(11)), LinkStatus::Inactive);
        assert_eq!(Link { expires_at: None, ..link() }.status_at(after(i64::MAX / 2)), LinkStatus::Active);
    }

    #[test]
    fn only_an_active_link_can_be_cancelled_and_it_stays_cancelled() {
        let cancelled = link().cancel(NOW).unwrap();
        assert_eq!(cancelled.status_at(after(11)), LinkStatus::Cancelled);
        assert_eq!(cancelled.cancel(NOW), Err(NotActive));
        assert_eq!(link().cancel(after(11)), Err(NotActive));
    }

    #[test]
    fn a_link_is_open_until_it_is_cancelled_expired_or_used_up() {
        let paid = Link { claimed_by: Some(mint(NOW, [3; 10])), ..link() };
        let many = Link { allow_multiple_payments: true, ..link() };
        let cancelled = paid.clone().cancel(NOW).unwrap();
        assert_eq!(link().standing_at(NOW, false), LinkStanding::Open);
        assert_eq!(link().standing_at(NOW, true), LinkStanding::Processing);
        assert_eq!(link().standing_at(after(11), false), LinkStanding::Inactive);
        assert_eq!(many.standing_at(NOW, true), LinkStanding::Open);
        assert_eq!(paid.standing_at(NOW, true), LinkStanding::Paid);
        assert_eq!(
            paid.standing_at(after(11), true),
            LinkStanding::Paid,
            "a customer who has paid does not read that it is too late"
        );
        assert_eq!(
            link().standing_at(after(11), true),
            LinkStanding::Processing,
            "nor does one whose payment is processing"
        );
        assert_eq!(cancelled.standing_at(NOW, true), LinkStanding::Cancelled);
    }

    #[test]
    fn an_attempt_never_outlives_its_link() {
        assert_eq!(link().attempt_expires_at(Method::Qris, NOW), after(10));
        assert_eq!(Link { expires_at: None, ..link() }.attempt_expires_at(Method::Qris, NOW), after(900_000));
    }

    #[test]
    fn the_first_confirmed_payment_claims_a_single_use_link() {
        assert_eq!(link().claim(), LinkClaim::Free(link().id));
        assert_eq!(Link { claimed_by: Some(mint(NOW, [3; 10])), ..link() }.claim(), LinkClaim::Taken);
        assert_eq!(Link { allow_multiple_payments: true, ..link() }.claim(), LinkClaim::NotNeeded);
    }
}
