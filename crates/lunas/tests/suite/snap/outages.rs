//! While it is not known what was stored, a bank is told that nothing is decided: never that we refuse.

use std::sync::Arc;

use demobank::{Answer, Conclusion, Contract, Knobs, Style};
use testkit::{Kit, on_every_database};

use super::acts::{call, said};
use crate::support::{
    banks::{Contracted, contracted, number},
    nodes::Node,
    rows::rows,
    wait::until,
};

on_every_database![
    while_the_database_is_away_every_door_says_so_and_nothing_is_refused on 2 threads,
];

#[track_caller]
fn is_undecided(answer: &Answer) {
    assert!([202, 500, 504].contains(&answer.status), "{}", answer.text);
    assert!(answer.code().ends_with("00"), "{}", answer.text);
    assert!(!["00", "01"].contains(&answer.flag()), "{}", answer.text);
    if answer.conclusion.is_some() {
        assert_eq!(answer.conclusion, Some(Conclusion::Suspended), "{}", answer.text);
    }
}

async fn while_the_database_is_away_every_door_says_so_and_nothing_is_refused(kit: Arc<Kit>) {
    let own = contracted(&kit, Style::BCA).await;
    let payment = own.payment().await;
    let number = number(&payment);
    own.bank.token(&own.contract).await.unwrap();
    // A node that has no read connection yet, and whose database becomes unreachable before it opens one.
    let node = Node::beside(&kit).await;
    let inbound_url = format!("http://{}/snap/{}", node.address, own.account);
    let token = own.bank.token(&own.contract).await.unwrap();
    let contract = Contract { inbound_url, ..own.contract.clone() };
    let there = Contracted { contract, ..own };
    let before = rows(&kit.database);
    kit.database.take_away();
    let words = [("24", "5002400", "General Error"), ("25", "2022500", "Request In Progress")];
    for (service, code, message) in words {
        let knobs = Knobs { token: demobank::TokenChoice::Given(token.clone()), ..Knobs::default() };
        let answer = call(&there, service, &number, knobs).await;
        assert_eq!((answer.code(), answer.message()), (code, message));
        is_undecided(&answer);
        assert!(!answer.text.contains("lunas.db") && !answer.text.contains("SQL"), "{}", answer.text);
    }
    assert_eq!(there.ask_token(Knobs::default()).await.code(), "5007300");
    kit.database.bring_back();
    assert_eq!(rows(&kit.database), before);
    until(async || there.ask(&number, Knobs::default()).await.status == 200).await;
    assert_eq!(said(&there.pay(&number, Knobs::default()).await), ("2002500", "00"));
    there.is_paid_once(&payment, &number).await;
    node.stop().await;
}
