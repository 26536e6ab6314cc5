//! A merchant whose bank issues QRIS, gives payments back and sends transfers, with customers at other banks.

use std::time::Duration;

use demobank::{AccountState, NewAccount, Service, Transfer, TransferState};
use domain::{
    audit::Actor,
    destination::DestinationRequest,
    id::PaymentId,
    idempotency::{Endpoint, Idempotency},
    method::Method,
    project::Project,
    refund::{Refund, request::RefundRequest, transfer::TransferAttempt},
};
use engine::{Created, Engine};
use serde_json::Value;
use testkit::Kit;

use super::{
    acquirers::{Acquired, acquired_for},
    json::text,
    payments::fresh_key,
};

const SOURCE: &str = "7000123456";
pub(crate) const BALANCE: i64 = 100_000_000;
/// Where customers have their accounts: the merchant's bank and another.
pub(crate) const OWN_BANK: &str = "022";
pub(crate) const OTHER_BANK: &str = "014";
pub(crate) const CUSTOMER: &str = "1234567890";

pub(crate) struct RefundBank {
    pub(crate) acquired: Acquired,
    pub(crate) engine: Engine,
    pub(crate) project: Project,
}

impl RefundBank {
    /// A bank of this profile, which gives money back and transfers.
    pub(crate) async fn open(kit: &Kit, profile: &str, settings: &[(&str, &str)]) -> RefundBank {
        let own = [
            ("refund", if profile == "dana" { "58" } else { "78" }),
            ("transfer", "intrabank,bi_fast,online"),
            ("source_account", SOURCE),
            ("own_bank", OWN_BANK),
            ("not_found_after", "3600"),
        ];
        // Wallets have no transfers between banks.
        let own: Vec<_> = own.into_iter().filter(|(name, _)| profile == "generic" || *name == "refund").collect();
        let all = [&own[..], settings].concat();
        let acquired = acquired_for(kit, kit.production().await, profile, Method::Qris, &all).await;
        let bank = &acquired.asked;
        bank.open_account(NewAccount {
            bank: OWN_BANK.to_owned(),
            number: SOURCE.to_owned(),
            name: "TOKO".to_owned(),
            owner: Some(acquired.client_id.clone()),
            balance: BALANCE,
        });
        for code in [OWN_BANK, OTHER_BANK] {
            let (bank_code, number) = (code.to_owned(), CUSTOMER.to_owned());
            let customer =
                NewAccount { bank: bank_code, number, name: "SITI NURHALIZA".to_owned(), owner: None, balance: 0 };
            bank.open_account(customer);
        }
        let engine = kit.engine.by(Actor::CommandLine);
        let project = engine.project(acquired.project.id).await.unwrap();
        RefundBank { acquired, engine, project }
    }

    /// A payment that a customer has paid by QRIS.
    pub(crate) async fn paid(&self) -> Value {
        let payment = self.acquired.payment().await;
        self.is_paid(&payment).await;
        payment
    }

    /// A customer pays a payment, and we know of it.
    pub(crate) async fn is_paid(&self, payment: &Value) {
        self.acquired.pays(payment).await;
        while self.engine.ask_due().await.unwrap() > 0 {}
    }

    pub(crate) async fn refund(&self, payment: &Value, amount: i64) -> Refund {
        self.ask(payment, RefundRequest { amount: Some(amount), ..RefundRequest::default() }).await
    }

    /// A refund to the customer's account at a bank.
    pub(crate) async fn refund_to(&self, payment: &Value, amount: i64, bank: &str) -> Refund {
        let destination = DestinationRequest {
            bank: Some(bank.to_owned()),
            account_number: Some(CUSTOMER.to_owned()),
            account_name: None,
        };
        let request =
            RefundRequest { amount: Some(amount), destination: Some(destination), ..RefundRequest::default() };
        self.ask(payment, request).await
    }

    async fn ask(&self, payment: &Value, request: RefundRequest) -> Refund {
        let key = Idempotency {
            project_id: self.project.id,
            endpoint: Endpoint::Refunds,
            key: fresh_key(),
            request: [0; 16],
        };
        let id: PaymentId = text(payment, "id").parse().unwrap();
        match self.engine.create_refund(&self.project, key, id, request).await.unwrap() {
            Created::New(refund) | Created::Replayed(refund) => refund,
        }
    }

    /// The bank with a payment that was paid.
    pub(crate) async fn with_payment(kit: &Kit, profile: &str, settings: &[(&str, &str)]) -> (RefundBank, Value) {
        let bank = RefundBank::open(kit, profile, settings).await;
        let payment = bank.paid().await;
        (bank, payment)
    }

    /// A refund and its attempts after a round at once, and so many after as much time each.
    pub(crate) async fn follow(
        &self,
        kit: &Kit,
        refund: &Refund,
        (step, count): (Duration, usize),
    ) -> (Refund, Vec<TransferAttempt>) {
        self.round().await;
        self.rounds(kit, step, count).await;
        (
            self.engine.refund(self.project.id, refund.id).await.unwrap(),
            kit.store.refund_attempts(refund.id).await.unwrap(),
        )
    }

    /// The refund with this id, as it is now.
    pub(crate) async fn of(&self, id: &str) -> Refund {
        self.engine.refund(self.project.id, id.parse().unwrap()).await.unwrap()
    }

    /// Sends what is ready and asks what is due, once.
    async fn round(&self) {
        self.engine.send_ready_refunds().await.unwrap();
        self.engine.ask_about_refunds().await.unwrap();
    }

    /// Lets time pass, in steps.
    async fn rounds(&self, kit: &Kit, step: Duration, count: usize) {
        for _ in 0..count {
            kit.clock.advance(step);
            self.round().await;
        }
    }

    /// What the bank has carried out.
    pub(crate) fn done(&self) -> Vec<Transfer> {
        self.acquired.asked.transfers().into_iter().filter(|transfer| transfer.state == TransferState::Done).collect()
    }

    pub(crate) fn calls(&self, service: Service) -> usize {
        self.acquired.asked.calls_of(service).len()
    }

    /// What the customer has at a bank.
    pub(crate) fn arrived(&self, bank: &str) -> i64 {
        self.acquired.asked.account(bank, CUSTOMER).unwrap().balance
    }

    pub(crate) fn set_customer(&self, bank: &str, state: AccountState) {
        self.acquired.asked.set_account_state(bank, CUSTOMER, state).unwrap();
    }

    /// The merchant's account.
    pub(crate) const fn source() -> &'static str {
        SOURCE
    }
}
