//! What stands at the doors' addresses: methods, other paths, and accounts that nobody may call.

use std::{collections::BTreeMap, sync::Arc};

use demobank::{Contract, Knobs, Style};
use engine::NewBankAccount;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Kit, on_sqlite_alone, plain_client};

use super::acts::{both_refuse, said};
use crate::support::{
    banks::{Contracted, contracted, number},
    options::rate_limit,
    rows::rows,
};

on_sqlite_alone![
    the_doors_take_post_only,
    other_paths_below_the_folder_have_snaps_shape,
    unknown_and_disabled_accounts_refuse_strangers_in_the_same_words,
    a_browser_of_another_site_gets_no_permission,
    callers_that_prove_nothing_are_turned_away_after_a_while with rate_limit(100),
];

const UNKNOWN: (u16, &str, &str) = (401, "00", "Unauthorized. [Unknown client]");

async fn the_doors_take_post_only(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let knobs = Knobs { method: Some(method.to_owned()), ..Knobs::default() };
        let refusal = (405, "00", "Requested Function Is Not Supported");
        both_refuse(method, &contracted, &number, &knobs, refusal).await;
        let answer = contracted.ask_token(knobs).await;
        assert_eq!((answer.code(), answer.message()), ("4057300", refusal.2));
    }
    assert_eq!(rows(&kit.database), before);
}

async fn other_paths_below_the_folder_have_snaps_shape(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (account, client) = (contracted.account, plain_client().build().unwrap());
    for path in [
        "/snap".to_owned(),
        "/snap/".to_owned(),
        format!("/snap/{account}"),
        format!("/snap/{account}/"),
        format!("/snap/{account}/v1.0/transfer-va"),
        format!("/snap/{account}/v1.0/transfer-va/status"),
        format!("/snap/{account}/v1.1/unknown"),
        format!("/snap/{account}/../../v1/payments"),
    ] {
        for method in [Method::GET, Method::POST, Method::OPTIONS] {
            let url = format!("http://{}{path}", kit.address);
            let response = client.request(method.clone(), url).body("{}").send().await.unwrap();
            let status = response.status().as_u16();
            if path.contains("..") {
                // Clients resolve it before they send: it is no address of a bank.
                continue;
            }
            assert_eq!(response.headers()["content-type"], "application/json", "{method} {path}");
            assert!(response.headers().contains_key("x-timestamp"), "{method} {path}");
            assert!(!response.headers().contains_key("access-control-allow-origin"), "{method} {path}");
            let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
            let expected = json!({ "responseCode": "4040000", "responseMessage": "Invalid Routing" });
            assert_eq!((status, body), (404, expected), "{method} {path}");
        }
    }
}

async fn unknown_and_disabled_accounts_refuse_strangers_in_the_same_words(kit: Arc<Kit>) {
    let own = contracted(&kit, Style::BCA).await;
    let number = number(&own.payment().await);
    own.bank.token(&own.contract).await.unwrap();
    let new = NewBankAccount { name: "new".to_owned(), profile: "bca".to_owned(), settings: BTreeMap::new() };
    let never_enabled = kit.engine.create_bank_account(new).await.unwrap().id.to_string();
    kit.engine.enable_bank_account(own.account, false).await.unwrap();
    let before = rows(&kit.database);
    let token = own.bank.token(&own.contract).await.unwrap();
    let mut texts = Vec::new();
    for (name, exists) in [
        (own.account.to_string(), true),
        (never_enabled, true),
        ("nonsense".to_owned(), false),
        (own.project.id.to_string(), false),
    ] {
        let inbound_url = format!("http://{}/snap/{name}", kit.address);
        let contract = Contract { inbound_url, ..own.contract.clone() };
        let there = Contracted { contract, bank: Arc::clone(&own.bank), project: kit.sandbox().await, ..own };
        let knobs = Knobs { token: demobank::TokenChoice::Given(token.clone()), ..Knobs::default() };
        let asked = there.ask(&number, knobs.clone()).await;
        assert_eq!((asked.code(), asked.message()), ("4012400", UNKNOWN.2), "{name}");
        let stranger = ("X-CLIENT-KEY".to_owned(), "nobody".to_owned());
        let answer = there.ask_token(Knobs { headers: vec![stranger], ..Knobs::default() }).await;
        assert_eq!((answer.code(), answer.message()), ("4017300", UNKNOWN.2), "{name}");
        texts.push([asked.text, answer.text]);
        if !exists {
            both_refuse(&name, &there, &number, &knobs, UNKNOWN).await;
        }
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "strangers do not learn which accounts there are: {texts:?}");
    assert_eq!(of_banks(&kit), of_banks_in(&before));
    kit.engine.enable_bank_account(own.account, true).await.unwrap();
    assert_eq!(said(&own.ask(&number, Knobs::default()).await), ("2002400", "00"));
}

/// The rows of the banks' tables.
fn of_banks(kit: &Kit) -> Vec<String> {
    of_banks_in(&rows(&kit.database))
}

fn of_banks_in(rows: &[String]) -> Vec<String> {
    let is_of_banks = |row: &&String| row.starts_with("bank_") || row.contains("<bank_");
    rows.iter().filter(is_of_banks).cloned().collect()
}

async fn a_browser_of_another_site_gets_no_permission(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let origin = vec![("Origin".to_owned(), "https://shop.example".to_owned())];
    // That no answer has a CORS header is checked for every answer.
    let knobs = Knobs { headers: origin.clone(), ..Knobs::default() };
    assert_eq!(said(&contracted.ask(&number, knobs).await), ("2002400", "00"));
    let preflight = [origin, vec![("Access-Control-Request-Method".to_owned(), "POST".to_owned())]].concat();
    let knobs = Knobs { headers: preflight, method: Some("OPTIONS".to_owned()), ..Knobs::default() };
    assert_eq!(contracted.ask(&number, knobs).await.code(), "4052400");
}

async fn callers_that_prove_nothing_are_turned_away_after_a_while(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    contracted.bank.token(&contracted.contract).await.unwrap();
    let forged = Knobs { signature: Some("A".repeat(88)), ..Knobs::default() };
    let mut codes = Vec::new();
    // An address gets another attempt each second, so a slow machine takes more of them.
    while codes.len() < 1000 && codes.last().is_none_or(|code| code != "4292400") {
        let asked = (0..20).map(|_| contracted.ask(&number, forged.clone()));
        codes.extend(join_all(asked).await.iter().map(|answer| answer.code().to_owned()));
    }
    assert_eq!(codes.first().map(String::as_str), Some("4012400"));
    assert_eq!(codes.last().map(String::as_str), Some("4292400"));
    // The bank's own calls are counted for themselves.
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
}
