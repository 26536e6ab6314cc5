//! Production projects and the provider behind them (§3 and §7 of the decisions).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use domain::method::Method;
use gateway::{BoxFuture, Issue, Provider, ProviderError, Providers, Simulator};
use serde_json::Value;
use testkit::{Api, Kit, Reply, TestProject, on_every_database};

use crate::{
    acts::Node,
    payment_acts::{attempt, total, with, without},
    samples::{link, qris, virtual_account},
};

/// A bank that can be out of order.
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
fn anywhere(payment: Value) -> Value {
    without(payment, "checkout_url")
}

#[track_caller]
fn unavailable(reply: Reply) {
    let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!(wait >= 1);
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
}

#[tokio::test]
async fn a_production_project_without_a_provider_answers_503_and_keeps_the_key_unused() {
    on_every_database(|kit| async move {
        let project = kit.production().await;
        for body in [qris(&project, 15_000), virtual_account(&project, "bca", 15_000)] {
            unavailable(project.api.pay("key", &body).await);
        }
        assert_eq!(total(&project, "").await, 0);
        // Fields are judged before the provider is asked.
        project.api.pay("key", &qris(&project, 99)).await.refused(400, "VALIDATION_ERROR");
        let (node, _) = node_with_bank(&kit).await;
        let other_body = qris(&project, 20_000);
        api(&node, &project).pay("key", &other_body).await.expect(201);
        assert_eq!(total(&project, "").await, 1);
        node.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_replay_needs_no_provider() {
    on_every_database(|kit| async move {
        let project = kit.production().await;
        let (node, _) = node_with_bank(&kit).await;
        let body = qris(&project, 15_000);
        let payment = api(&node, &project).pay("key", &body).await.expect(201);
        node.stop().await;
        let reply = project.api.pay("key", &body).await;
        assert_eq!(reply.header("idempotent-replayed"), Some("true"));
        assert_eq!(anywhere(reply.expect(200)), anywhere(payment));
        project.api.pay("key", &with(body.clone(), "amount", 15_001)).await.refused(409, "IDEMPOTENCY_CONFLICT");
        unavailable(project.api.pay("another", &body).await);
        assert_eq!(total(&project, "").await, 1);
    })
    .await;
}

#[tokio::test]
async fn after_a_provider_failed_the_same_key_is_safe_to_retry() {
    on_every_database(|kit| async move {
        let project = kit.production().await;
        let (node, bank) = node_with_bank(&kit).await;
        let (api, body) = (api(&node, &project), qris(&project, 15_000));
        bank.set_down(true);
        for _ in 0..3 {
            unavailable(api.pay("key", &body).await);
        }
        assert_eq!(total(&project, "").await, 0);
        bank.set_down(false);
        let payment = api.pay("key", &body).await.expect(201);
        bank.set_down(true);
        assert_eq!(api.pay("key", &body).await.expect(200), payment);
        assert_eq!(total(&project, "").await, 1);
        node.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_link_needs_no_provider_until_somebody_pays_through_it() {
    on_every_database(|kit| async move {
        let project = kit.production().await;
        let link = project.api.post("/v1/payment-links", &link(&project, 50_000)).await.expect(201);
        let refused = attempt(&kit, &project, &link, Method::Qris).await;
        assert!(matches!(refused, Err(engine::Error::Provider(_))), "{refused:?}");
        assert_eq!(total(&project, "").await, 0);
    })
    .await;
}
