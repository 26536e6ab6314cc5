//! The signatures against known values and against plain steps.

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::{Engine, engine::general_purpose::STANDARD};

use super::door::{Kit, NUMBER, hmac_by_rfc, key, text_by_standard};
use crate::{
    Inquiry, Knobs, Payment, Signing, Style,
    compose::Signed,
    crypto::{base64, hmac_sha512, sha256_hex},
    json::{minified, with_white_space},
};

const SECRET: &str = "sandbox-client-secret-0001";
const BODY: &str = r#"{"partnerServiceId":"   88899","customerNo":"12345678901","virtualAccountNo":"   8889912345678901","virtualAccountName":"Budi Santoso","trxId":"PAY-0001","totalAmount":{"value":"150000.00","currency":"IDR"},"virtualAccountTrxType":"C","expiredDate":"2026-01-16T10:20:30+07:00"}"#;

#[test]
fn the_signature_is_that_of_the_published_test_vector() {
    assert_eq!(sha256_hex(BODY.as_bytes()), "53c8b76368e61b4b8ebd952539360be04095b825fe33b58610286570a6cfcf23");
    let body = minified(&with_white_space(BODY));
    let path = "/v1.0/transfer-va/create-va";
    let signed = Signed { method: "POST", path, body: body.as_bytes(), timestamp: "2026-01-15T10:20:30+07:00" };
    let signature = base64(&hmac_sha512(SECRET, &signed.with_token("sbx.access.token.0001")));
    assert_eq!(signature, "Tvty3E3cc3X+MvsJg9E6QmK4wSh/66Zth6Z9jNmg49egGt8OxqJMNbH8+b/+ZPutf91aPr7ClY5cbRHLp2Q1Aw==");
}

#[test]
fn the_test_door_knows_the_published_test_vector_too() {
    let (path, token) = ("/v1.0/transfer-va/create-va", Some("sbx.access.token.0001"));
    let text = text_by_standard("POST", path, token, BODY.as_bytes(), "2026-01-15T10:20:30+07:00");
    assert!(STANDARD.encode(hmac_by_rfc(SECRET.as_bytes(), text.as_bytes())).starts_with("Tvty3E3cc3X+MvsJg9E6QmK4"));
}

#[tokio::test]
async fn a_token_is_asked_for_with_the_banks_rsa_signature() {
    let kit = Kit::open().await;
    let answer = kit.bank.ask_token(&kit.contract(Style::BCA), Knobs::default()).await;
    assert_eq!((answer.status, answer.code(), answer.conclusion), (200, "2007300", None));
    let seen = kit.door.seen().remove(0);
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/pre/snap/acc1/v1.0/access-token/b2b"));
    assert_eq!(seen.body, br#"{"grantType":"client_credentials"}"#);
    assert_eq!(seen.header("X-TIMESTAMP"), "2026-01-15T10:20:30+07:00");
    assert_eq!(seen.header("X-CLIENT-KEY"), "client-1");
    verify_rsa("client-1|2026-01-15T10:20:30+07:00", seen.header("X-SIGNATURE"));
}

#[tokio::test]
async fn calls_are_signed_with_the_secret_and_the_token_or_with_the_key_and_no_token() {
    let kit = Kit::open().await;
    for style in Style::ALL {
        let contract = kit.contract(style);
        kit.bank.inquire(&contract, Inquiry::of(NUMBER), Knobs::default()).await;
        kit.bank.pay(&contract, Payment::of(NUMBER, 150_000), Knobs::default()).await;
        let with_key = Knobs { signing: Some(Signing::Key), ..Knobs::default() };
        kit.bank.pay(&contract, Payment::of(NUMBER, 150_000), with_key).await;
    }
    let seen: Vec<_> = kit.door.seen().into_iter().filter(|seen| !seen.path.ends_with("/b2b")).collect();
    assert_eq!(seen.len(), 15);
    for seen in seen {
        let token = seen.headers.get("authorization").map(|value| value.to_str().unwrap().replace("Bearer ", ""));
        let timestamp = seen.header("X-TIMESTAMP");
        let text = text_by_standard(&seen.method, &seen.path, token.as_deref(), &seen.body, timestamp);
        match token {
            Some(_) => {
                let expected = STANDARD.encode(hmac_by_rfc(b"secret-1", text.as_bytes()));
                assert_eq!(seen.header("X-SIGNATURE"), expected);
            }
            None => verify_rsa(&text, seen.header("X-SIGNATURE")),
        }
    }
}

#[track_caller]
fn verify_rsa(text: &str, signature: &str) {
    let pem = key().public_key_pem();
    let der: String = pem.lines().filter(|line| !line.contains("PUBLIC KEY")).collect();
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, STANDARD.decode(der).unwrap());
    key.verify(text.as_bytes(), &STANDARD.decode(signature).unwrap()).expect("the signature is the bank's");
}
