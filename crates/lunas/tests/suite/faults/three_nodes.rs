//! Several servers on one PostgreSQL database are one service: a change through one of them holds on all of them at
//! once, and work that is due is done once, by any of them.

use std::{collections::BTreeSet, time::Duration};

use domain::{delivery::DeliveryState, method::Method, payment::Checkout};
use engine::{Attempt, Courier, Engine, Error, Reconcilers};
use futures_util::future::join_all;
use gateway::SendLimits;
use serde_json::{Value, json};
use store::{CONNECTIONS, Store};
use testkit::{Answer, Api, Cluster, Kit, Receiver, TestProject, on_postgres};

use crate::support::{
    json::id,
    links::attempt,
    nodes::Node,
    payments::{paid, stored_state, total},
    samples,
    wait::{PATIENCE, until},
    webhooks::wait_for_attempts,
};

/// Longer than any test waits, so that a receiver that hangs does so until it is released.
const PATIENT: SendLimits = SendLimits { connect: PATIENCE, total: Duration::from_secs(120) };

/// The signature headers of three nodes.
const NODE_HEADERS: [&str; 3] = ["X-First-Signature", "X-Second-Signature", "X-Third-Signature"];

/// The test's own server and two beside it.
struct Three<'a> {
    kit: &'a Kit,
    beside: [Node; 2],
}

impl Three<'_> {
    async fn beside(kit: &Kit) -> Three<'_> {
        Three { kit, beside: [Node::beside(kit).await, Node::beside(kit).await] }
    }

    /// The project's API as each node offers it.
    fn apis(&self, project: &TestProject) -> [Api; 3] {
        [self.kit.address, self.beside[0].address, self.beside[1].address]
            .map(|address| Api::new(address, Some(&project.key)))
    }

    fn engines(&self) -> [&Engine; 3] {
        [&self.kit.engine, &self.beside[0].engine, &self.beside[1].engine]
    }

    /// Every node expires, settles and sends. Each signs with a header of its own, so that receivers see who sent what.
    fn reconcile(&self) -> Vec<Reconcilers> {
        let nodes = self.engines().into_iter().zip(NODE_HEADERS);
        let start = |(engine, header): (&Engine, &str)| {
            let courier = Courier { signature_header: header.to_owned(), ..self.kit.courier(PATIENT) };
            Reconcilers::start(engine, courier)
        };
        nodes.map(start).collect()
    }

    async fn stop(self) {
        for node in self.beside {
            node.stop().await;
        }
    }
}

/// How many requests each node has sent to a receiver.
fn sent_by_each(receiver: &Receiver) -> [usize; 3] {
    let received = receiver.received();
    NODE_HEADERS.map(|header| received.iter().filter(|request| request.has_header(header)).count())
}

async fn stop_all(reconcilers: Vec<Reconcilers>) {
    for one in reconcilers {
        one.stop().await;
    }
}

/// The same project, reached through another node.
fn through(api: &Api, project: &TestProject) -> TestProject {
    TestProject { id: project.id, key_id: project.key_id, key: project.key.clone(), api: api.clone() }
}

/// Pays `each` payments through each node, all at once.
async fn pay_through_all(apis: &[Api; 3], project: &TestProject, each: usize) {
    let paying = apis.iter().enumerate().map(|(node, api)| async move {
        let project = through(api, project);
        for number in 0..each {
            paid(&project, &format!("node-{node}-{number}"), 15_000).await;
        }
    });
    join_all(paying).await;
}

/// Checks that each event arrived once, with one recorded attempt.
async fn each_sent_once(kit: &Kit, receiver: &Receiver, count: usize) {
    let received = receiver.received();
    let ids: BTreeSet<String> = received.iter().map(|webhook| webhook.event_id()).collect();
    assert_eq!((received.len(), ids.len()), (count, count), "every event, and none twice");
    for event in ids {
        assert_eq!(wait_for_attempts(kit, &event, 1).await.0.state, DeliveryState::Delivered);
    }
}

fn sql(kit: &Kit, text: &str) -> String {
    Cluster::shared().run(&kit.database.url(), text).unwrap()
}

#[tokio::test]
async fn three_nodes_that_send_at_once_send_each_event_once() {
    on_postgres(|kit| async move {
        let three = Three::beside(&kit).await;
        let mut hooked = Vec::new();
        for _ in 0..3 {
            hooked.push(kit.hooked(Answer::Status(200)).await);
        }
        let reconcilers = three.reconcile();
        let apis: Vec<_> = hooked.iter().map(|(project, _)| three.apis(project)).collect();
        join_all(apis.iter().zip(&hooked).map(|(apis, (project, _))| pay_through_all(apis, project, 20))).await;
        for (_, receiver) in &hooked {
            receiver.arrived(60).await;
        }
        stop_all(reconcilers).await;
        for (_, receiver) in &hooked {
            each_sent_once(&kit, receiver, 60).await;
        }
        let sent: usize = hooked.iter().map(|(_, receiver)| sent_by_each(receiver).iter().sum::<usize>()).sum();
        assert_eq!(sent, 180, "no two nodes did the same work");
        assert_eq!(sql(&kit, "SELECT COUNT(*), COUNT(DISTINCT event_id) FROM attempts"), "180|180");
        three.stop().await;
    })
    .await;
}

/// One node sends at most four webhooks of a project at a time, so twelve are in flight only when all three send.
#[tokio::test]
async fn every_node_takes_part_in_sending() {
    on_postgres(|kit| async move {
        let (project, receiver) = kit.hooked(Answer::Hang).await;
        let three = Three::beside(&kit).await;
        pay_through_all(&three.apis(&project), &project, 14).await;
        let reconcilers = three.reconcile();
        receiver.arrived(12).await;
        assert_eq!(sent_by_each(&receiver), [4, 4, 4]);
        receiver.answer(Answer::Status(200));
        receiver.release();
        receiver.arrived(42).await;
        stop_all(reconcilers).await;
        each_sent_once(&kit, &receiver, 42).await;
        three.stop().await;
    })
    .await;
}

#[tokio::test]
async fn three_nodes_expire_and_settle_each_payment_once() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let three = Three::beside(&kit).await;
        let apis = three.apis(&project);
        pay_through_all(&apis, &project, 50).await;
        let pending = join_all((0..150).map(|number| {
            let (api, order) = (&apis[number % 3], samples::qris(&project, 15_000));
            async move { api.pay(&format!("pending-{number}"), &order).await.expect(201) }
        }));
        assert_eq!(pending.await.len(), 150);
        let owed = project.api.get("/v1/balance").await.expect(200)["pending"].as_i64().unwrap();
        kit.clock.advance(Duration::from_hours(48));
        let reconcilers = three.reconcile();
        until(async || {
            let balance = project.api.get("/v1/balance").await.expect(200);
            balance["available"].as_i64() == Some(owed) && !kit.store.any_to_expire(kit.engine.now()).await.unwrap()
        })
        .await;
        stop_all(reconcilers).await;
        let balance = project.api.get("/v1/balance").await.expect(200);
        assert_eq!((balance["pending"].as_i64(), balance["available"].as_i64()), (Some(0), Some(owed)));
        let settled = "SELECT COUNT(*), COUNT(DISTINCT payment_id) FROM postings WHERE kind = 'settled'";
        assert_eq!(sql(&kit, settled), "150|150");
        let expired = "SELECT COUNT(*), MIN(version), MAX(version) FROM payments WHERE state = 'expired'";
        assert_eq!(sql(&kit, expired), "150|2|2", "each expiry was written down once");
        three.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_commit_on_one_node_notifies_the_others() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let three = Three::beside(&kit).await;
        let heard = three.engines().len() - 1;
        let mut told: Vec<_> = three.beside.iter().map(|node| node.store.commit_signal()).collect();
        // The first events show that every node listens by now.
        let mut number = 0;
        for told in &mut told {
            while !told.has_changed().unwrap() {
                number += 1;
                paid(&project, &format!("begin-{number}"), 15_000).await;
            }
        }
        for round in 0..20 {
            // Notifications of earlier commits arrive before this ends, so that only this round's can arrive after.
            tokio::time::sleep(Duration::from_millis(50)).await;
            told.iter_mut().for_each(|told| told.mark_unchanged());
            paid(&project, &format!("k-{round}"), 15_000).await;
            let woken = join_all(told.iter_mut().map(|told| tokio::time::timeout(PATIENCE, told.changed()))).await;
            assert_eq!(woken.into_iter().filter(|woken| matches!(woken, Ok(Ok(())))).count(), heard);
        }
        three.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nodes_without_notifications_find_due_work_by_polling() {
    on_postgres(|kit| async move {
        let (project, receiver) = kit.hooked(Answer::Status(200)).await;
        let three = Three::beside(&kit).await;
        let sending = Reconcilers::start(&three.beside[0].engine, kit.courier(PATIENT));
        for round in 0..10 {
            sql(
                &kit,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND query = 'LISTEN lunas'",
            );
            paid(&project, &format!("k-{round}"), 15_000).await;
            receiver.arrived(round + 1).await;
        }
        sending.stop().await;
        each_sent_once(&kit, &receiver, 10).await;
        three.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_revoked_key_is_refused_by_every_node_from_the_moment_of_the_answer() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let three = Three::beside(&kit).await;
        let apis = three.apis(&project);
        for round in 0..60 {
            let (key, secret) = kit.engine.create_key(project.id, format!("key {round}")).await.unwrap();
            let tried = apis.each_ref().map(|api| api.with_key(secret.reveal()));
            let uses = || join_all(tried.iter().cycle().take(6).map(|api| api.get("/v1/payments")));
            for reply in uses().await {
                reply.expect(200);
            }
            apis[round % 3].delete(&format!("/v1/api-keys/{}", key.id)).await.expect(200);
            for reply in uses().await {
                reply.refused(401, "UNAUTHORIZED");
            }
        }
        three.stop().await;
    })
    .await;
}

#[tokio::test]
async fn one_idempotency_key_sent_to_three_nodes_at_once_makes_one_payment() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let three = Three::beside(&kit).await;
        let apis = three.apis(&project);
        for round in 0..100 {
            // The number of account numbers per millisecond is limited.
            kit.clock.advance(Duration::from_millis(1));
            let (key, order) = (format!("k-{round}"), samples::virtual_account(&project, "bca", 15_000));
            let replies = join_all(apis.iter().cycle().take(6).map(|api| api.pay(&key, &order))).await;
            let made = replies.iter().filter(|reply| reply.status == 201).count();
            assert_eq!(made, 1, "one of them makes it: {replies:?}");
            let ids: BTreeSet<String> = replies
                .into_iter()
                .map(|reply| {
                    let status = reply.status.as_u16();
                    id(&reply.expect(if status == 201 { 201 } else { 200 })).to_owned()
                })
                .collect();
            assert_eq!(ids.len(), 1, "and all answer with it");
        }
        assert_eq!(total(&project.api, "/v1/payments").await, 100);
        three.stop().await;
    })
    .await;
}

#[tokio::test]
async fn one_receipt_reported_through_three_nodes_at_once_pays_once() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let three = Three::beside(&kit).await;
        let apis = three.apis(&project);
        for round in 0..60 {
            let payment = project.api.pay(&format!("k-{round}"), &samples::qris(&project, 15_000)).await.expect(201);
            let path = format!("/v1/sandbox/payments/{}/simulate", id(&payment));
            let report = json!({ "outcome": "paid", "receipt_id": format!("receipt-{round}") });
            for reply in join_all(apis.iter().cycle().take(6).map(|api| api.post(&path, &report))).await {
                assert_eq!(reply.expect(200)["status"], "paid");
            }
        }
        assert_eq!(total(&project.api, "/v1/events").await, 60);
        assert_eq!(sql(&kit, "SELECT COUNT(*) FROM receipts"), "60");
        assert_eq!(sql(&kit, "SELECT COUNT(*) FROM postings"), "60");
        assert_eq!(project.api.get("/v1/balance").await.expect(200)["unapplied"], 0);
        three.stop().await;
    })
    .await;
}

async fn report_to(api: &Api, payment: &Value, outcome: &str) -> Value {
    let path = format!("/v1/sandbox/payments/{}/simulate", id(payment));
    api.post(&path, &json!({ "outcome": outcome })).await.expect(200)
}

/// How many of the payments of a link are in each state, and how much money came for them.
fn claimed(kit: &Kit, link: &Value) -> String {
    let link = id(link);
    sql(
        kit,
        &format!(
            "SELECT COUNT(*) FILTER (WHERE state = 'paid'), COUNT(*) FILTER (WHERE state = 'pending'), \
             (SELECT COUNT(*) FROM receipts r JOIN payments q ON q.id = r.payment_id WHERE q.link_id = '{link}') \
             FROM payments WHERE link_id = '{link}'"
        ),
    )
}

#[tokio::test]
async fn a_single_use_link_that_is_paid_through_three_nodes_at_once_is_claimed_once() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let three = Three::beside(&kit).await;
        let apis = three.apis(&project);
        for _ in 0..30 {
            let link = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
            let mut payments = Vec::new();
            for _ in 0..5 {
                payments.push(attempt(&kit, &project, &link, Method::Qris).await);
            }
            // Three payments are paid at once; the other two stay pending siblings.
            join_all(apis.iter().zip(&payments).map(|(api, payment)| report_to(api, payment, "paid"))).await;
            assert_eq!(claimed(&kit, &link), "1|0|3", "one pays, all money is kept, and nothing stays open");
        }
        assert_eq!(total(&project.api, "/v1/events").await, 30);
        assert_eq!(project.api.get("/v1/balance").await.expect(200)["unapplied"], 30 * 2 * 15_000);
        three.stop().await;
    })
    .await;
}

/// A new attempt and a report of "processing" on another payment of the link each depend on what the other is about to
/// change.
#[tokio::test]
async fn a_single_use_link_takes_no_attempt_on_any_node_once_a_payment_is_processing() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let three = Three::beside(&kit).await;
        let (apis, engines) = (three.apis(&project), three.engines());
        for round in 0..30 {
            let link = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
            let first = attempt(&kit, &project, &link, Method::Qris).await;
            let link_id = id(&link).parse().unwrap();
            let chosen = Attempt::new(Method::Qris, Checkout::default());
            let tries = || join_all(engines.map(|engine| engine.attempt_link(link_id, &chosen)));
            let (moved, tried) = tokio::join!(report_to(&apis[round % 3], &first, "processing"), tries());
            assert_eq!(moved["status"], "processing");
            for tried in tried {
                assert!(matches!(tried, Ok(_) | Err(Error::NotEditable)), "{tried:?}");
            }
            for refused in tries().await {
                assert!(matches!(refused, Err(Error::NotEditable)), "{refused:?}");
            }
            report_to(&apis[(round + 1) % 3], &first, "paid").await;
            assert_eq!(claimed(&kit, &link).split('|').take(2).collect::<Vec<_>>(), ["1", "0"]);
            assert!(matches!(stored_state(&kit, &first).await, domain::payment::State::Paid { .. }));
        }
        three.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_open_an_empty_database_at_once_create_its_tables_once() {
    for _ in 0..3 {
        let url = Cluster::shared().fresh_database();
        let opened = join_all((0..8).map(|_| {
            let url = url.parse().unwrap();
            tokio::spawn(async move { Store::open_postgres(&url, CONNECTIONS).await })
        }))
        .await;
        for store in opened {
            let store = store.unwrap().unwrap();
            assert!(store.is_ready().await);
            assert_eq!(store.breaches().await.unwrap(), []);
            store.close().await;
        }
        let history =
            Cluster::shared().run(&url, "SELECT COUNT(*), COUNT(DISTINCT version) FROM refinery_schema_history");
        let (made, versions) = history.as_deref().unwrap().split_once('|').unwrap();
        assert_eq!(made, versions);
        Cluster::shared().drop_database(&url);
    }
}
