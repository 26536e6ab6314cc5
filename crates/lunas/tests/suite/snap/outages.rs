//! While it is not known what was stored, a bank is told that nothing is decided: never that we refuse.

use std::sync::Arc;

use demobank::{Answer, Conclusion, Contract, Knobs, Style};
use testkit::{Kit, on_every_database};

use super::acts::{call, said};
use crate::support::{
    banks::{Contracted, contracted, contracted_with, number},
    held_writes::HeldWrites,
    nodes::Node,
    payments::status,
    rows::rows,
    wait::until,
};

on_every_database![
    while_the_database_is_away_every_door_says_so_and_nothing_is_refused on 2 threads,
    a_commit_that_comes_too_late_is_undecided_and_its_resend_gets_the_first_result on 2 threads,
];

#[track_caller]
fn is_undecided(answer: &Answer) {
    assert!([500, 504].contains(&answer.status), "{}", answer.text);
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
    for (service, code) in [("24", "5002400"), ("25", "5002500")] {
        let knobs = Knobs { token: demobank::TokenChoice::Given(token.clone()), ..Knobs::default() };
        let answer = call(&there, service, &number, knobs).await;
        assert_eq!((answer.code(), answer.message()), (code, "General Error"));
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

async fn a_commit_that_comes_too_late_is_undecided_and_its_resend_gets_the_first_result(kit: Arc<Kit>) {
    for (style, code) in [(Style::BCA, "4042518"), (Style::BSI, "2002500")] {
        let contracted = contracted_with(&kit, style, &[("deadline", "1")]).await;
        let payment = contracted.payment().await;
        let number = number(&payment);
        contracted.bank.token(&contracted.contract).await.unwrap();
        let held = HeldWrites::of(&kit.database, "bank_requests").await;
        let answer = contracted.pay(&number, Knobs::default()).await;
        is_undecided(&answer);
        assert_eq!(answer.code(), "5042500");
        is_undecided(&contracted.ask(&number, Knobs::default()).await);
        held.end();
        // The commit goes on though nobody waits for it any more.
        until(async || status(&contracted.project, &payment).await == "paid").await;
        let resent = contracted.pay(&number, Knobs::resend_of(&answer.sent)).await;
        assert_eq!((said(&resent), resent.conclusion), ((code, "00"), Some(Conclusion::Booked)));
        contracted.is_paid_once(&payment, &number).await;
    }
}
