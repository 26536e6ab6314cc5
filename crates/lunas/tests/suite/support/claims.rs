//! Refunds that wait for their customer's bank account, and the page on which the account is named.

use domain::{
    id::RefundId,
    idempotency::{Endpoint, Idempotency},
    project::Project,
    refund::{Refund, request::RefundRequest},
};
use engine::Created;
use serde_json::Value;
use testkit::{Kit, Reply, TestProject};

use crate::support::{
    customer::{Customer, hidden},
    json::text,
    payments::{create, fresh_key, simulate_paid},
    samples,
};

/// BCA, and an account there.
pub(crate) const BANK: &str = "014";
pub(crate) const NUMBER: &str = "0123456789";
/// Why most of these refunds are made.
pub(crate) const REASON: &str = "Satu kemasan rusak di jalan";
/// The holder whom the simulator names for [`NUMBER`].
pub(crate) const HOLDER: &str = "PEMILIK UJI COBA 6789";

/// A claim link.
pub(crate) struct ClaimLink {
    pub(crate) id: RefundId,
    pub(crate) project: Project,
    pub(crate) payment: Value,
    /// `/r/<token>`.
    pub(crate) path: String,
}

impl ClaimLink {
    /// A link by which `amount` of a payment by virtual account goes back.
    pub(crate) async fn of(kit: &Kit, project: &TestProject, amount: i64) -> ClaimLink {
        ClaimLink::because(kit, project, amount, REASON).await
    }

    /// The same for a reason of its own.
    pub(crate) async fn because(kit: &Kit, project: &TestProject, amount: i64, reason: &str) -> ClaimLink {
        let payment = create(project, &samples::virtual_account(project, "bca", 150_000)).await;
        let payment = simulate_paid(project, &payment).await;
        ClaimLink::of_payment(kit, project, payment, amount, reason).await
    }

    pub(crate) async fn of_payment(
        kit: &Kit,
        project: &TestProject,
        payment: Value,
        amount: i64,
        reason: &str,
    ) -> ClaimLink {
        let project = kit.engine.project(project.id).await.unwrap();
        let refund = refund(kit, &project, &payment, amount, reason).await;
        let path = path_of(kit, &refund).await.unwrap();
        ClaimLink { id: refund.id, project, payment, path }
    }

    pub(crate) async fn refund(&self, kit: &Kit) -> Refund {
        kit.engine.refund(self.project.id, self.id).await.unwrap()
    }

    /// Sends the first step.
    pub(crate) async fn check(&self, customer: &Customer, bank: &str, number: &str) -> Reply {
        customer.post(&self.path, &[("step", "check"), ("bank", bank), ("number", number)]).await
    }

    /// The ticket that the first step answers with for this account.
    pub(crate) async fn ticket(&self, customer: &Customer, number: &str) -> String {
        let page = self.check(customer, BANK, number).await;
        assert_eq!(page.status, 200, "{}", page.text);
        ticket_in(&page)
    }

    /// Sends the second step.
    pub(crate) async fn confirm(&self, customer: &Customer, ticket: &str) -> Reply {
        customer.post(&self.path, &[("step", "confirm"), ("ticket", ticket)]).await
    }

    /// Names the usual account.
    pub(crate) async fn name_account(&self, customer: &Customer) -> Reply {
        let ticket = self.ticket(customer, NUMBER).await;
        self.confirm(customer, &ticket).await
    }
}

pub(crate) fn ticket_in(page: &Reply) -> String {
    hidden(page).into_iter().find(|(name, _)| name == "ticket").expect("a page to confirm has a ticket").1
}

/// Gives back a part of a payment.
pub(crate) async fn refund(kit: &Kit, project: &Project, payment: &Value, amount: i64, reason: &str) -> Refund {
    let key = Idempotency { project_id: project.id, endpoint: Endpoint::Refunds, key: fresh_key(), request: [0; 16] };
    let request = RefundRequest { amount: Some(amount), reason: Some(reason.to_owned()), ..RefundRequest::default() };
    let payment_id = text(payment, "id").parse().unwrap();
    match kit.engine.create_refund(project, key, payment_id, request).await.unwrap() {
        Created::New(refund) => refund,
        Created::Replayed(_) => panic!("no key is used twice"),
    }
}

/// The path of a refund's claim page; none where it needs no account.
pub(crate) async fn path_of(kit: &Kit, refund: &Refund) -> Option<String> {
    let url = kit.engine.claim_url("http://pages.example", refund).await.unwrap()?;
    Some(url.strip_prefix("http://pages.example").unwrap().to_owned())
}
