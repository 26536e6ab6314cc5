use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::snap::json_tokens::{joined, tokens, white_space};

const TOKEN: &str = "sbx.access.token.0001";
const BODY: &[u8] = br#"{"partnerServiceId":"   88899","customerNo":"12345678901","virtualAccountNo":"   8889912345678901","virtualAccountName":"Budi Santoso","trxId":"PAY-0001","totalAmount":{"value":"150000.00","currency":"IDR"},"virtualAccountTrxType":"C","expiredDate":"2026-01-16T10:20:30+07:00"}"#;
const REQUEST: SignedRequest<'_> = SignedRequest {
    method: "POST",
    path: "/v1.0/transfer-va/create-va",
    body: BODY,
    timestamp: "2026-01-15T10:20:30+07:00",
};
/// Computed with other programs in three languages.
const SIGNATURE: &str = "Tvty3E3cc3X+MvsJg9E6QmK4wSh/66Zth6Z9jNmg49egGt8OxqJMNbH8+b/+ZPutf91aPr7ClY5cbRHLp2Q1Aw==";

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate().unwrap());
static PUBLIC: LazyLock<PublicKey> = LazyLock::new(|| PublicKey::from_pem(&KEY.public_key_pem()).unwrap());

fn secret() -> SecretString {
    "sandbox-client-secret-0001".into()
}

/// The request, changed in one part each.
fn changed(request: SignedRequest<'_>) -> [SignedRequest<'_>; 4] {
    [
        SignedRequest { method: "PUT", ..request },
        SignedRequest { path: "/gateway/v1.0/transfer-va/create-va", ..request },
        SignedRequest { body: b"{}", ..request },
        // The same moment in other bytes.
        SignedRequest { timestamp: "2026-01-15T03:20:30Z", ..request },
    ]
}

#[test]
fn type_1_gives_the_bytes_that_other_programs_give() {
    assert_eq!(REQUEST.body_hash(), "53c8b76368e61b4b8ebd952539360be04095b825fe33b58610286570a6cfcf23");
    assert_eq!(sign_type1(&secret(), TOKEN, &REQUEST, Encoding::Base64), SIGNATURE);
    assert!(verify_type1(&secret(), TOKEN, &REQUEST, SIGNATURE));
}

#[test]
fn no_body_is_hashed_as_nothing() {
    let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(SignedRequest { body: b"", ..REQUEST }.body_hash(), nothing);
}

#[test]
fn type_1_is_read_in_base64_and_in_hexadecimal_digits_of_either_case() {
    let digits = sign_type1(&secret(), TOKEN, &REQUEST, Encoding::Hex);
    assert_eq!((digits.len(), SIGNATURE.len()), (HMAC_HEX_CHARACTERS, HMAC_BASE64_CHARACTERS));
    for signature in [SIGNATURE, &digits, &digits.to_uppercase()] {
        assert!(verify_type1(&secret(), TOKEN, &REQUEST, signature), "{signature}");
    }
}

#[test]
fn type_1_fails_for_any_other_request_token_secret_or_signature() {
    for request in changed(REQUEST) {
        assert!(!verify_type1(&secret(), TOKEN, &request, SIGNATURE), "{request:?}");
    }
    assert!(!verify_type1(&secret(), "sbx.access.token.0002", &REQUEST, SIGNATURE));
    assert!(!verify_type1(&"another".into(), TOKEN, &REQUEST, SIGNATURE));
    let flipped = SIGNATURE.replacen('T', "U", 1);
    let not_base64 = SIGNATURE.replacen('T', "*", 1);
    let not_hex = "g".repeat(HMAC_HEX_CHARACTERS);
    let not_ascii = "é".repeat(HMAC_BASE64_CHARACTERS / 2);
    for signature in ["", &flipped, &not_base64, &not_hex, &not_ascii, &SIGNATURE[..86], &format!("{SIGNATURE} ")] {
        assert!(!verify_type1(&secret(), TOKEN, &REQUEST, signature), "{signature}");
    }
}

#[test]
fn type_2_verifies_with_our_public_key_and_fails_for_any_other_request() {
    let signature = sign_type2(&KEY, &REQUEST);
    assert!(verify_type2(&PUBLIC, &REQUEST, &signature));
    for request in changed(REQUEST) {
        assert!(!verify_type2(&PUBLIC, &request, &signature), "{request:?}");
    }
    // Signed as the standard says, by no code of this module.
    let text = "POST:/v1.0/transfer-va/create-va:53c8b76368e61b4b8ebd952539360be04095b825fe33b58610286570a6cfcf23:\
                2026-01-15T10:20:30+07:00";
    assert!(verify_type2(&PUBLIC, &REQUEST, &STANDARD.encode(KEY.sign(text.as_bytes()))));
    for signature in ["", "*", SIGNATURE, &signature[4..]] {
        assert!(!verify_type2(&PUBLIC, &REQUEST, signature), "{signature}");
    }
}

#[test]
fn type_2_takes_a_body_that_was_signed_minified() {
    let signature = sign_type2(&KEY, &SignedRequest { body: br#"{"a":"b  c"}"#, ..REQUEST });
    let with_body = |body| SignedRequest { body, ..REQUEST };
    assert!(verify_type2(&PUBLIC, &with_body(b"{ \"a\" : \"b  c\" }\n"), &signature));
    assert!(!verify_type2(&PUBLIC, &with_body(br#"{"a":"b c"}"#), &signature));
}

#[test]
fn a_token_request_is_signed_over_client_and_time_alone() {
    let signature = sign_client_timestamp(&KEY, "client-1", REQUEST.timestamp);
    assert!(verify_client_timestamp(&PUBLIC, "client-1", REQUEST.timestamp, &signature));
    assert!(!verify_client_timestamp(&PUBLIC, "client-2", REQUEST.timestamp, &signature));
    assert!(!verify_client_timestamp(&PUBLIC, "client-1", "2026-01-15T10:20:31+07:00", &signature));
    assert!(!verify_client_timestamp(&PUBLIC, "client-1", REQUEST.timestamp, "not base64"));
    let text = format!("client-1|{}", REQUEST.timestamp);
    assert_eq!(signature, STANDARD.encode(KEY.sign(text.as_bytes())));
}

proptest! {
    #[test]
    fn a_signature_over_the_minified_body_holds_for_every_spacing(body in tokens(), spaces in white_space()) {
        let (compact, spaced) = (joined(&body, &[]), joined(&body, &spaces));
        let compact = SignedRequest { body: compact.as_bytes(), ..REQUEST };
        let spaced = SignedRequest { body: spaced.as_bytes(), ..REQUEST };
        let signed_compact = sign_type1(&secret(), TOKEN, &compact, Encoding::Base64);
        let signed_spaced = sign_type1(&secret(), TOKEN, &spaced, Encoding::Base64);
        prop_assert!(verify_type1(&secret(), TOKEN, &compact, &signed_compact));
        prop_assert!(verify_type1(&secret(), TOKEN, &spaced, &signed_compact));
        // Who signs with white space must send the same white space.
        prop_assert!(verify_type1(&secret(), TOKEN, &spaced, &signed_spaced));
        let is_same = compact.body == spaced.body;
        prop_assert_eq!(verify_type1(&secret(), TOKEN, &compact, &signed_spaced), is_same);
    }

    #[test]
    fn a_change_of_any_byte_but_white_space_is_noticed(body in tokens(), at in any::<prop::sample::Index>()) {
        let body = joined(&body, &[]).into_bytes();
        let mut changed = body.clone();
        changed[at.index(body.len())] ^= 0x01;
        let signature = sign_type1(&secret(), TOKEN, &SignedRequest { body: &body, ..REQUEST }, Encoding::Base64);
        let changed = SignedRequest { body: &changed, ..REQUEST };
        prop_assert!(!verify_type1(&secret(), TOKEN, &changed, &signature));
    }

    #[test]
    fn no_text_makes_verification_panic(signature in ".{0,140}") {
        prop_assert!(!verify_type1(&secret(), TOKEN, &REQUEST, &signature));
        prop_assert!(!verify_client_timestamp(&PUBLIC, "client-1", REQUEST.timestamp, &signature));
    }
}
