//! Secrets, tokens and private keys stay where they are: no answer shows them, and none is stored as it is.

use std::sync::Arc;

use demobank::{Answer, Knobs, Style, TokenChoice};
use secrecy::SecretString;
use testkit::{Kit, on_every_database};

use crate::support::banks::{contracted, number};

on_every_database![no_answer_and_no_table_holds_a_secret_a_token_or_a_private_key];

/// How much of a secret must not be anywhere.
const PART: usize = 16;

fn holds(haystack: &[u8], text: &str) -> bool {
    let needle = &text.as_bytes()[text.len() - PART..];
    haystack.windows(PART).any(|window| window == needle)
}

async fn no_answer_and_no_table_holds_a_secret_a_token_or_a_private_key(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let outbound = "outbound-secret-of-this-test".to_owned();
    let secret = SecretString::from(outbound.clone());
    kit.engine.set_bank_outbound(contracted.account, "client".to_owned(), secret).await.unwrap();
    let public = kit.engine.make_bank_key(contracted.account).await.unwrap();
    assert!(public.starts_with("-----BEGIN PUBLIC KEY-----"));
    let token = contracted.bank.token(&contracted.contract).await.unwrap();
    let number = number(&contracted.payment().await);
    let with_token = |token: TokenChoice| Knobs { token, ..Knobs::default() };
    let answers: Vec<Answer> = vec![
        contracted.ask(&number, with_token(TokenChoice::Given(token.clone()))).await,
        contracted.ask(&number, Knobs { signature: Some(token.clone()), ..Knobs::default() }).await,
        contracted.pay(&number, Knobs { raw_body: Some(b"{".to_vec()), ..Knobs::default() }).await,
        contracted.pay(&number, Knobs { missing_header: Some("X-SIGNATURE".to_owned()), ..Knobs::default() }).await,
        contracted.pay(&number, with_token(TokenChoice::Invented)).await,
        contracted.pay(&number, Knobs::default()).await,
    ];
    kit.engine.save_bank_calls().await.unwrap();
    let stored = kit.database.stored();
    assert!(holds(&stored, &contracted.contract.client_id), "the open part is there, so this search finds things");
    for (what, secret) in [("inbound", &contracted.contract.client_secret), ("outbound", &outbound), ("token", &token)]
    {
        assert!(!holds(&stored, secret), "the {what} secret is stored as it is");
        for answer in &answers {
            let headers: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
            assert!(!holds(format!("{headers}{}", answer.text).as_bytes(), secret), "{what}: {answer:?}");
        }
    }
    assert!(!stored.windows(11).any(|window| window == b"PRIVATE KEY"), "a private key is stored as it is");
    let file = kit.engine.bank_account_file(contracted.account).await.unwrap();
    assert!(!holds(
        format!("{:?} {:?}", file.credentials, file.account).as_bytes(),
        &contracted.contract.client_secret
    ));
}
