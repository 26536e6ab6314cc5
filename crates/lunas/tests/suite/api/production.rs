//! Production projects and the provider behind them (docs/contract.md, decisions §3 and §7).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use domain::{
    id::{LinkId, PaymentId, ProjectId},
    method::Method,
    payment::{Checkout, Payment},
    receipt::ReceiptKey,
};
use engine::{Attempt, Engine, Error, Outcome};
use gateway::{BoxFuture, Issue, Observation, Provider, ProviderError, Providers, Simulator};
use serde_json::{Value, json};
use testkit::{Api, Kit, ManualClock, Reply, TestProject, on_every_database};

use crate::support::{
    json::{text, with, without},
    links::{create_link, try_attempt},
    nodes::Node,
    payments::count_payments,
    samples::{qris, virtual_account},
};

on_every_database![
    a_production_project_without_a_provider_answers_503_and_keeps_the_key_unused,
    a_replay_needs_no_provider,
    after_a_provider_failed_the_same_key_is_safe_to_retry,
    a_link_needs_no_provider_until_somebody_pays_through_it,
    a_link_that_is_cancelled_while_the_provider_works_gains_no_payment,
    a_link_that_expires_while_the_provider_works_gains_no_payment,
    an_attempt_is_stamped_with_the_instant_that_judged_it,
    a_single_use_link_that_comes_into_use_while_the_provider_works_gains_no_payment,
];

/// How long the link of an attempt lives during which something happens.
const LINK_LIFETIME: Duration = Duration::from_hours(1);

/// A bank that can be made to fail.
#[derive(Default)]
struct Bank {
    simulator: Simulator,
    down: AtomicBool,
}

impl Bank {
    fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }
}

impl Provider for Bank {
    fn issue<'a>(&'a self, issue: Issue<'a>) -> BoxFuture<'a, Result<String, ProviderError>> {
        if self.down.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(ProviderError::NotConfigured)));
        }
        self.simulator.issue(issue)
    }
}

/// A second server on the kit's database, whose production projects have a provider.
async fn node_with_bank(kit: &Kit) -> (Node, Arc<Bank>) {
    let bank = Arc::new(Bank::default());
    let providers = Providers { sandbox: Simulator::default(), production: Some(bank.clone()) };
    (Node::with_providers(kit, providers).await, bank)
}

fn api(node: &Node, project: &TestProject) -> Api {
    Api::new(node.address, Some(&project.key))
}

/// A payment without the one member that depends on which server shows it.
fn without_checkout_url(payment: Value) -> Value {
    without(payment, "checkout_url")
}

#[track_caller]
fn unavailable(reply: Reply) {
    let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!(wait >= 1);
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
}

async fn a_production_project_without_a_provider_answers_503_and_keeps_the_key_unused(kit: Arc<Kit>) {
    let project = kit.production().await;
    for body in [qris(&project, 15_000), virtual_account(&project, "bca", 15_000)] {
        unavailable(project.api.pay("key", &body).await);
    }
    assert_eq!(count_payments(&project, "").await, 0);
    // Fields are checked before the provider is called.
    project.api.pay("key", &qris(&project, 99)).await.refused(400, "VALIDATION_ERROR");
    let (node, _) = node_with_bank(&kit).await;
    let other_body = qris(&project, 20_000);
    api(&node, &project).pay("key", &other_body).await.expect(201);
    assert_eq!(count_payments(&project, "").await, 1);
    node.stop().await;
}

async fn a_replay_needs_no_provider(kit: Arc<Kit>) {
    let project = kit.production().await;
    let (node, _) = node_with_bank(&kit).await;
    let body = qris(&project, 15_000);
    let payment = api(&node, &project).pay("key", &body).await.expect(201);
    node.stop().await;
    let reply = project.api.pay("key", &body).await;
    assert_eq!(reply.header("idempotent-replayed"), Some("true"));
    assert_eq!(without_checkout_url(reply.expect(200)), without_checkout_url(payment));
    project.api.pay("key", &with(body.clone(), "amount", 15_001)).await.refused(409, "IDEMPOTENCY_CONFLICT");
    unavailable(project.api.pay("another", &body).await);
    assert_eq!(count_payments(&project, "").await, 1);
}

async fn after_a_provider_failed_the_same_key_is_safe_to_retry(kit: Arc<Kit>) {
    let project = kit.production().await;
    let (node, bank) = node_with_bank(&kit).await;
    let (api, body) = (api(&node, &project), qris(&project, 15_000));
    bank.set_down(true);
    for _ in 0..3 {
        unavailable(api.pay("key", &body).await);
    }
    assert_eq!(count_payments(&project, "").await, 0);
    bank.set_down(false);
    let payment = api.pay("key", &body).await.expect(201);
    bank.set_down(true);
    assert_eq!(api.pay("key", &body).await.expect(200), payment);
    assert_eq!(count_payments(&project, "").await, 1);
    node.stop().await;
}

async fn a_link_needs_no_provider_until_somebody_pays_through_it(kit: Arc<Kit>) {
    let project = kit.production().await;
    let link = create_link(&project, json!({})).await;
    let refused = try_attempt(&kit, &link, Method::Qris).await;
    assert!(matches!(refused, Err(Error::Provider(_))), "{refused:?}");
    assert_eq!(count_payments(&project, "").await, 0);
}

/// What happens to a link while the provider creates a code for a new attempt.
#[derive(Clone, Copy)]
enum Meanwhile {
    Cancelled(ProjectId, LinkId),
    /// Time passes.
    Passed(Duration),
    /// The bank reports this about the link's other payment.
    Reported(PaymentId, Outcome),
}

/// A bank so slow that something happens before it answers.
struct SlowBank {
    simulator: Simulator,
    engine: Engine,
    clock: Arc<ManualClock>,
    meanwhile: Meanwhile,
}

impl Provider for SlowBank {
    fn issue<'a>(&'a self, issue: Issue<'a>) -> BoxFuture<'a, Result<String, ProviderError>> {
        Box::pin(async move {
            match self.meanwhile {
                Meanwhile::Cancelled(project_id, link_id) => {
                    let project = self.engine.project(project_id).await.unwrap();
                    self.engine.cancel_link(&project, link_id).await.unwrap();
                }
                Meanwhile::Passed(time) => self.clock.advance(time),
                Meanwhile::Reported(payment_id, outcome) => {
                    let receipt = ReceiptKey { provider: "bank".to_owned(), id: payment_id.to_string() };
                    self.engine.observe(Observation { receipt, payment_id, outcome }).await.unwrap();
                }
            }
            self.simulator.issue(issue).await
        })
    }
}

/// Starts a payment on a single-use link with one pending payment, while something happens to that link.
async fn attempt_while(
    kit: &Kit,
    project: &TestProject,
    meanwhile: impl Fn(LinkId, Payment) -> Meanwhile,
) -> Result<Payment, Error> {
    let expires_at = kit.engine.now().plus(LINK_LIFETIME).to_string();
    let link_id = text(&create_link(project, json!({ "expires_at": expires_at })).await, "id").parse().unwrap();
    let (node, _) = node_with_bank(kit).await;
    let sibling = node.engine.attempt_link(link_id, &Attempt::new(Method::Qris, Checkout::default())).await.unwrap();
    node.stop().await;
    let meanwhile = meanwhile(link_id, sibling);
    let bank = SlowBank {
        simulator: Simulator::default(),
        engine: kit.engine.clone(),
        clock: Arc::clone(&kit.clock),
        meanwhile,
    };
    let providers = Providers { sandbox: Simulator::default(), production: Some(Arc::new(bank)) };
    let node = Node::with_providers(kit, providers).await;
    let attempted = node.engine.attempt_link(link_id, &Attempt::new(Method::Qris, Checkout::default())).await;
    node.stop().await;
    attempted
}

async fn a_link_that_is_cancelled_while_the_provider_works_gains_no_payment(kit: Arc<Kit>) {
    let project = kit.production().await;
    let refused =
        attempt_while(&kit, &project, |link_id, _| Meanwhile::Cancelled(project.id, link_id)).await.unwrap_err();
    assert!(matches!(refused, Error::LinkNotActive), "{refused:?}");
    assert_eq!((count_payments(&project, "").await, count_payments(&project, "status=cancelled").await), (1, 1));
}

async fn a_link_that_expires_while_the_provider_works_gains_no_payment(kit: Arc<Kit>) {
    let project = kit.production().await;
    let late = LINK_LIFETIME + Duration::from_millis(1);
    let refused = attempt_while(&kit, &project, |_, _| Meanwhile::Passed(late)).await.unwrap_err();
    assert!(matches!(refused, Error::LinkNotActive), "{refused:?}");
    assert_eq!((count_payments(&project, "").await, count_payments(&project, "status=expired").await), (1, 1));
}

async fn an_attempt_is_stamped_with_the_instant_that_judged_it(kit: Arc<Kit>) {
    let project = kit.production().await;
    let began = kit.engine.now();
    let made = attempt_while(&kit, &project, |_, _| Meanwhile::Passed(LINK_LIFETIME)).await.unwrap();
    assert_eq!((made.created_at, kit.engine.now()), (began, began.plus(LINK_LIFETIME)));
}

async fn a_single_use_link_that_comes_into_use_while_the_provider_works_gains_no_payment(kit: Arc<Kit>) {
    for status in ["paid", "processing"] {
        let project = kit.production().await;
        let refused = attempt_while(&kit, &project, |_, sibling| {
            let paid = Outcome::Paid { amount: sibling.amount, paid_at: sibling.created_at };
            Meanwhile::Reported(sibling.id, if status == "paid" { paid } else { Outcome::Processing })
        });
        let refused = refused.await.unwrap_err();
        assert!(matches!(refused, Error::NotEditable), "{refused:?}");
        assert_eq!(
            (count_payments(&project, "").await, count_payments(&project, &format!("status={status}")).await),
            (1, 1)
        );
    }
}
