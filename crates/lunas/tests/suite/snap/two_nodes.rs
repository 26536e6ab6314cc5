//! Two nodes on one database: what changes on one holds on the other at once.

use std::sync::Arc;

use demobank::{Answer, Contract, Knobs, Style, TokenChoice};
use futures_util::future::join_all;
use testkit::{Api, Kit, on_postgres};

use super::acts::said;
use crate::support::{
    banks::{AMOUNT, Contracted, contracted, number},
    nodes::Node,
    payments::fresh_key,
    samples::virtual_account,
};

/// The same contract, with its doors at another node.
fn at_node(node: &Node, own: &Contracted) -> Contract {
    Contract { inbound_url: format!("http://{}/snap/{}", node.address, own.account), ..own.contract.clone() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_one_node_is_taken_by_the_other() {
    on_postgres(|kit: Arc<Kit>| async move {
        let own = contracted(&kit, Style::BCA).await;
        let payment = own.payment().await;
        let node = Node::beside(&kit).await;
        let token = own.bank.token(&own.contract).await.unwrap();
        let there = Contracted { contract: at_node(&node, &own), ..own };
        let knobs = Knobs { token: TokenChoice::Given(token), ..Knobs::default() };
        assert_eq!(said(&there.ask(&number(&payment), knobs.clone()).await), ("2002400", "00"));
        assert_eq!(said(&there.pay(&number(&payment), knobs).await), ("2002500", "00"));
        there.is_paid_once(&payment, &number(&payment)).await;
        node.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_changed_or_disabled_on_one_node_is_so_on_the_other_at_once() {
    on_postgres(|kit: Arc<Kit>| async move {
        let own = contracted(&kit, Style::BCA).await;
        let number = number(&own.payment().await);
        let node = Node::beside(&kit).await;
        let there = Contracted { contract: at_node(&node, &own), ..own };
        let api = Api::new(node.address, Some(&there.project.key));
        let bank = there.method.bank().unwrap().code();
        let order = virtual_account(&there.project, bank, AMOUNT);
        assert_eq!(said(&there.ask(&number, Knobs::default()).await), ("2002400", "00"));
        api.pay(&fresh_key(), &order).await.expect(201);

        there.set(&kit, "ips", "203.0.113.7").await;
        assert_eq!(there.ask(&number, Knobs::default()).await.message(), "Unauthorized. [Connection not allowed]");
        there.set(&kit, "ips", "any").await;
        assert_eq!(said(&there.ask(&number, Knobs::default()).await), ("2002400", "00"));
        there.set(&kit, "amounts", &format!("10000..{}", AMOUNT - 1)).await;
        api.pay(&fresh_key(), &order).await.refused(400, "VALIDATION_ERROR");
        there.set(&kit, "amounts", "").await;
        api.pay(&fresh_key(), &order).await.expect(201);

        kit.engine.enable_bank_account(there.account, false).await.unwrap();
        assert_eq!(there.ask(&number, Knobs::default()).await.code(), "4012400");
        assert_eq!(there.pay(&number, Knobs::default()).await.code(), "4012500");
        api.pay(&fresh_key(), &order).await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
        kit.engine.enable_bank_account(there.account, true).await.unwrap();
        assert_eq!(said(&there.pay(&number, Knobs::default()).await), ("2002500", "00"));

        kit.engine.unassign_bank_account(there.project.id, there.method).await.unwrap();
        api.pay(&fresh_key(), &order).await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
        node.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_calls_by_turns_at_two_nodes_book_a_payment_once() {
    on_postgres(|kit: Arc<Kit>| async move {
        let own = contracted(&kit, Style::BCA).await;
        let node = Node::beside(&kit).await;
        let payment = own.payment().await;
        let number = number(&payment);
        let there = at_node(&node, &own);
        for same_request in [true, false] {
            let mut prepared = Vec::new();
            let mut knobs = Knobs::default();
            for turn in 0..50 {
                let mut one = own.prepared(&number, &knobs).await;
                // The signed path is the same at both.
                if turn % 2 == 1 {
                    one.url = one.url.replace(&own.contract.inbound_url, &there.inbound_url);
                }
                if same_request {
                    knobs.request_id = Some(one.request_id.clone());
                    knobs.external_id = (turn % 4 > 1).then(|| one.external_id.clone());
                }
                prepared.push(one);
            }
            let answers: Vec<Answer> = join_all(prepared.iter().map(|one| own.send(one))).await;
            // The first fifty are one payment; the next fifty find it paid.
            let flag = if same_request { "00" } else { "01" };
            assert!(answers.iter().all(|answer| answer.flag() == flag), "{answers:?}");
            own.is_paid_once(&payment, &number).await;
        }
        node.stop().await;
    })
    .await;
}
