//! The logs of an account: the bank's calls and ours in one, and beside it the calls at its doors that have not proved to be
//! the bank's. Anybody can send those, so they replace none of the bank's and are no call of the bank.

use std::{sync::Arc, time::Duration};

use demobank::{Knobs, Style};
use testkit::{Kit, on_every_database, on_sqlite_alone, plain_client};

use crate::support::banks::{contracted, number};

on_every_database![every_call_of_an_account_is_in_a_log_with_its_code, calls_without_proof_replace_no_call_of_the_bank];

on_sqlite_alone![an_account_that_only_strangers_have_called_has_no_last_call];

async fn every_call_of_an_account_is_in_a_log_with_its_code(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    contracted.ask(&number, Knobs::default()).await;
    contracted.ask(&number, Knobs { signature: Some("A".repeat(88)), ..Knobs::default() }).await;
    contracted.pay(&number, Knobs { method: Some("GET".to_owned()), ..Knobs::default() }).await;
    contracted.pay(&number, Knobs { length: Some(65_537), ..Knobs::default() }).await;
    contracted.pay(&number, Knobs { missing_header: Some("CHANNEL-ID".to_owned()), ..Knobs::default() }).await;
    // The bank has signed what is wrong with these.
    contracted.pay(&number, Knobs { raw_body: Some(b"{".to_vec()), ..Knobs::default() }).await;
    contracted.pay(&number, Knobs { missing_member: Some("paidAmount".to_owned()), ..Knobs::default() }).await;
    contracted.pay(&number, Knobs::default()).await;
    let grant = Knobs { raw_body: Some(b"{}".to_vec()), ..Knobs::default() };
    contracted.ask_token(grant).await;
    contracted.ask_token(Knobs { signature: Some("AAAA".to_owned()), ..Knobs::default() }).await;
    kit.engine.save_bank_calls().await.unwrap();
    let file = kit.engine.bank_account_file(contracted.account).await.unwrap();
    let codes = |calls: &[engine::BankCall]| -> Vec<(i64, String)> {
        calls.iter().rev().map(|call| (call.service, call.code.clone())).collect()
    };
    let of = |rows: &[(i64, &str)]| -> Vec<(i64, String)> {
        rows.iter().map(|(service, code)| (*service, (*code).to_owned())).collect()
    };
    let proved = [(73, "2007300"), (24, "2002400"), (25, "4002500"), (25, "4002502"), (25, "2002500"), (73, "4007302")];
    assert_eq!(codes(&file.calls), of(&proved));
    let unproved = [(24, "4012400"), (25, "4052500"), (25, "4002500"), (25, "4002502"), (73, "4017300")];
    assert_eq!(codes(&file.unproved), of(&unproved));
}

/// Regression: 230 unsigned posts replaced all 200 calls that the log keeps, and were the bank's "last call".
async fn calls_without_proof_replace_no_call_of_the_bank(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    contracted.ask(&number, Knobs::default()).await;
    let last = kit.engine.now();
    let client = plain_client().build().unwrap();
    let url = format!("{}/v1.0/transfer-va/payment", contracted.contract.inbound_url);
    for round in 0..2 {
        for _ in 0..115 {
            let status = client.post(&url).body("{}").send().await.unwrap().status().as_u16();
            assert!((400..500).contains(&status), "{status}");
        }
        kit.clock.advance(Duration::from_secs(1));
        kit.engine.save_bank_calls().await.unwrap();
        let file = kit.engine.bank_account_file(contracted.account).await.unwrap();
        let codes: Vec<&str> = file.calls.iter().map(|call| call.code.as_str()).collect();
        assert_eq!(codes, ["2002400", "2007300"], "round {round}");
        assert_eq!(file.last_call_of_bank().map(|call| call.at), Some(last));
        assert_eq!(file.unproved.len(), 50, "they are bounded for themselves");
    }
    contracted.pay(&number, Knobs::default()).await;
    kit.engine.save_bank_calls().await.unwrap();
    let file = kit.engine.bank_account_file(contracted.account).await.unwrap();
    assert_eq!(file.last_call_of_bank().map(|call| call.code.as_str()), Some("2002500"));
}

async fn an_account_that_only_strangers_have_called_has_no_last_call(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let stranger = vec![("X-CLIENT-KEY".to_owned(), "nobody".to_owned())];
    contracted.ask_token(Knobs { headers: stranger, ..Knobs::default() }).await;
    kit.engine.save_bank_calls().await.unwrap();
    let file = kit.engine.bank_account_file(contracted.account).await.unwrap();
    assert!(file.last_call_of_bank().is_none());
    assert_eq!((file.calls.len(), file.unproved.len()), (0, 1));
    let health = kit.engine.bank_health(&file).await.unwrap();
    assert!(health.groups.is_empty(), "figures are of the bank's calls and ours");
}
