//! Asking for a token, and what its failures mean.

use std::collections::BTreeMap;

use domain::time::Timestamp;
use secrecy::ExposeSecret;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

use super::support::{HASTY, KEY, PATIENT, client};
use crate::snap::{
    CallError, Parameters, Profile, PublicKey, SnapClient, TokenRequest, client::http::ANSWER_BYTES_MOST,
    verify_client_timestamp,
};

const BODY: &str = r#"{"grantType":"client_credentials"}"#;
const TOKEN: &str = r#"{"responseCode":"2007300","accessToken":"abc.def","tokenType":"Bearer","expiresIn":"900"}"#;

fn at(base_url: &str) -> Parameters {
    let settings = BTreeMap::from([("base_url".to_owned(), base_url.to_owned())]);
    Profile::named("bca").unwrap().parameters(&settings).unwrap()
}

async fn ask(client: &SnapClient, base_url: &str) -> Result<(String, u64), CallError> {
    let now = Timestamp::parse("2026-01-15T03:20:30.500Z").unwrap();
    let request = TokenRequest { parameters: &at(base_url), client_id: "client-1", key: &KEY, now };
    let token = client.token(request).await?;
    Ok((token.value.expose_secret().to_owned(), token.expires_in.as_secs()))
}

/// A bank for one call that answers `bytes` and closes, and what it was sent.
async fn answering(bytes: Vec<u8>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bank = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(BODY.as_bytes()) {
            assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0, "the request ends with its body");
        }
        // The client may have hung up on an answer that is too long.
        let _ = stream.write_all(&bytes).await;
        String::from_utf8(request).unwrap()
    });
    (format!("http://{address}/gateway"), bank)
}

async fn token_answer(status: &str, body: &str) -> Result<(String, u64), CallError> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    let (url, _bank) = answering([head.as_bytes(), body.as_bytes()].concat()).await;
    ask(&client(PATIENT), &url).await
}

#[tokio::test]
async fn a_token_is_asked_for_with_a_signature_over_client_and_time() {
    let (url, bank) =
        answering(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{TOKEN}", TOKEN.len()).into()).await;
    assert_eq!(ask(&client(PATIENT), &url).await, Ok(("abc.def".to_owned(), 900)));
    let request = bank.await.unwrap();
    assert!(request.starts_with("POST /gateway/openapi/v1.0/access-token/b2b HTTP/1.1\r\n"), "{request}");
    let header = |wanted: &str| {
        let headers = request.lines().filter_map(|line| line.split_once(": "));
        let found = headers.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    assert_eq!(header("Content-Type"), "application/json");
    assert_eq!(header("X-CLIENT-KEY"), "client-1");
    assert_eq!(header("X-TIMESTAMP"), "2026-01-15T10:20:30+07:00");
    let public = PublicKey::from_pem(&KEY.public_key_pem()).unwrap();
    assert!(verify_client_timestamp(&public, "client-1", "2026-01-15T10:20:30+07:00", &header("X-SIGNATURE")));
}

#[tokio::test]
async fn a_token_is_read_in_the_ways_that_banks_write_it() {
    for (body, seconds) in [
        (r#"{"accessToken":"t","tokenType":"bearer","expiresIn":899}"#, 899),
        (r#"{"accessToken":"t","tokenType":"BearerToken","expiresIn":"899 "}"#, 899),
        (r#"{"accessToken":"t"}"#, 900),
        (r#"{"accessToken":"t","expiresIn":null,"responseCode":2007300,"more":[1]}"#, 900),
        (r#"{"accessToken":"t","expiresIn":"soon"}"#, 900),
        (r#"{"accessToken":"t","expiresIn":99999999999}"#, 86_400),
        // The status counts where the code disagrees.
        (r#"{"accessToken":"t","responseCode":"4017300"}"#, 900),
    ] {
        assert_eq!(token_answer("200 OK", body).await, Ok(("t".to_owned(), seconds)), "{body}");
    }
}

#[tokio::test]
async fn a_failure_says_what_can_be_done_about_it() {
    let refused = r#"{"responseCode":"4007301","responseMessage":"Invalid Field Format\n[x]"}"#;
    let words = |text: &str| text.to_owned();
    let no = CallError::Refused { code: words("4007301"), message: words("Invalid Field Format[x]") };
    assert_eq!(token_answer("400 Bad Request", refused).await, Err(no));
    let no = CallError::Refused { code: words("4007301"), message: words("Invalid Field Format[x]") };
    assert_eq!(token_answer("200 OK", refused).await, Err(no));
    let signature = r#"{"responseCode":"4017300","responseMessage":"Unauthorized. [Signature]"}"#;
    let wrong = "the account is not set up right: HTTP 401 4017300 Unauthorized. [Signature]";
    assert_eq!(token_answer("401 Unauthorized", signature).await.unwrap_err().to_string(), wrong);
    for (status, code) in [("403 No", 403), ("404 Not Found", 404), ("302 Found", 302)] {
        let error = token_answer(status, "<html>").await.unwrap_err();
        assert_eq!(error.to_string(), format!("the account is not set up right: HTTP {code}"));
        assert_eq!(error.code(), format!("http_{code}"));
    }
    for (status, code) in [("500 Oops", 500), ("503 Busy", 503), ("429 Slow down", 429)] {
        let error = token_answer(status, "").await.unwrap_err();
        assert_eq!(error.to_string(), format!("the bank cannot be reached now: HTTP {code}"));
    }
    for body in ["", "{", "[]", r#"{"accessToken":""}"#, r#"{"accessToken":"a b"}"#, r#"{"accessToken":7}"#] {
        let unknown = "the bank gave no usable answer: HTTP 200, without an access token";
        assert_eq!(token_answer("200 OK", body).await.unwrap_err().to_string(), unknown, "{body}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let location = format!("302 Found\r\nLocation: http://{}/", listener.local_addr().unwrap());
    assert!(matches!(token_answer(&location, "").await, Err(CallError::Misconfigured(_))));
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn an_answer_without_end_or_none_at_all_is_of_unknown_effect() {
    let long = "x".repeat(ANSWER_BYTES_MOST + 1);
    assert!(matches!(token_answer("200 OK", &long).await, Err(CallError::Unknown(_))));
    let (url, _bank) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec()).await;
    assert!(matches!(ask(&client(PATIENT), &url).await, Err(CallError::Unknown(_))));
    let (url, _bank) = answering(Vec::new()).await;
    assert!(matches!(ask(&client(PATIENT), &url).await, Err(CallError::Unknown(_))));
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let error = ask(&client(HASTY), &url).await.unwrap_err();
    assert_eq!(error.to_string(), "the bank gave no usable answer: it took too long");
}

#[tokio::test]
async fn a_bank_that_is_not_reached_or_not_trusted_has_done_nothing() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for scheme in ["http", "https"] {
        let asked = ask(&client(PATIENT), &format!("{scheme}://{closed}")).await;
        assert!(matches!(asked, Err(CallError::Unavailable(_))), "{asked:?}");
    }
    // A server that speaks no TLS.
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", plain.local_addr().unwrap());
    let bank = tokio::spawn(async move {
        let (mut stream, _) = plain.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let asked = ask(&client(PATIENT), &url).await;
    assert!(matches!(asked, Err(CallError::Unavailable(_))), "{asked:?}");
    bank.await.unwrap();
}

#[tokio::test]
async fn outside_of_development_a_bank_is_called_by_https_alone() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = ask(&SnapClient::new(false).unwrap(), &url).await;
    assert!(matches!(asked, Err(CallError::Misconfigured(_))), "{asked:?}");
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn what_cannot_be_sent_is_a_matter_of_the_setup() {
    let now = Timestamp::from_millis(0);
    for (parameters, client_id) in [
        (at("http://127.0.0.1:9"), "line\nbreak"),
        (Profile::named("bsi").unwrap().parameters(&BTreeMap::new()).unwrap(), "c"),
    ] {
        let request = TokenRequest { parameters: &parameters, client_id, key: &KEY, now };
        let error = client(PATIENT).token(request).await.err().unwrap();
        assert!(matches!(error, CallError::Misconfigured(_)), "{error:?}");
    }
}
