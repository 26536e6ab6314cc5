//! What an honest bank sends, keeps and concludes.

use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::door::{Kit, NOW_MS, NUMBER, Seen, paid};
use crate::{Conclusion, Inquiry, Knobs, Payment, Service, Style, TokenChoice};

fn calls(kit: &Kit) -> Vec<Seen> {
    kit.door.seen().into_iter().filter(|seen| !seen.path.ends_with("/b2b")).collect()
}

fn names(body: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn an_inquiry_has_the_members_and_headers_of_the_standard() {
    let kit = Kit::open().await;
    let answer = kit.bank.inquire(&kit.contract(Style::BCA), Inquiry::of(NUMBER), Knobs::default()).await;
    assert_eq!((answer.status, answer.code(), answer.flag(), answer.conclusion), (200, "2002400", "00", None));
    assert_eq!(
        (answer.message(), answer.reason(), answer.header("X-Timestamp")),
        ("Successful", "Success", Some("then"))
    );
    let seen = calls(&kit).remove(0);
    assert_eq!(seen.path, "/pre/snap/acc1/v1.0/transfer-va/inquiry");
    assert_eq!(seen.header("CHANNEL-ID"), "95231");
    assert_eq!(seen.header("X-PARTNER-ID"), "12345");
    assert_eq!(seen.header("authorization"), "Bearer token1");
    assert!(seen.header("X-EXTERNAL-ID").bytes().all(|byte| byte.is_ascii_digit()));
    let body = seen.json();
    let expected = "additionalInfo amount channelCode customerNo hashedSourceAccountNo inquiryRequestId language \
                    partnerServiceId passApp sourceBankCode trxDateInit virtualAccountNo";
    assert_eq!(names(&body).join(" "), expected);
    assert_eq!(body["partnerServiceId"], "   12345");
    assert_eq!(body["customerNo"], "00000000017");
    assert_eq!(body["virtualAccountNo"], "   1234500000000017");
    assert_eq!(body["trxDateInit"], "2026-01-15T10:20:30+07:00");
}

#[tokio::test]
async fn a_payment_has_the_members_of_the_standard() {
    let kit = Kit::open().await;
    let payment = Payment { total_amount: Some(160_000), trx_id: "T1".into(), ..Payment::of(NUMBER, 150_000) };
    kit.bank.pay(&kit.contract(Style::BCA), payment, Knobs::default()).await;
    let body = calls(&kit).remove(0).json();
    let expected = "additionalInfo billDetails channelCode cumulativePaymentAmount customerNo flagAdvise freeTexts \
                    hashedSourceAccountNo journalNum paidAmount paidBills partnerServiceId paymentRequestId paymentType \
                    referenceNo sourceBankCode subCompany totalAmount trxDateTime trxId virtualAccountEmail \
                    virtualAccountName virtualAccountNo virtualAccountPhone";
    assert_eq!(names(&body).join(" "), expected);
    assert_eq!(body["paidAmount"], json!({ "value": "150000.00", "currency": "IDR" }));
    assert_eq!(body["totalAmount"], json!({ "value": "160000.00", "currency": "IDR" }));
    assert_eq!((&body["flagAdvise"], &body["trxId"]), (&json!("N"), &json!("T1")));
    assert_eq!(body["trxDateTime"], "2026-01-15T10:20:30+07:00");
}

#[tokio::test]
async fn each_profile_has_its_own_habits() {
    let kit = Kit::open().await;
    for style in Style::ALL {
        let contract = kit.contract(style.clone());
        kit.bank.inquire(&contract, Inquiry::of(NUMBER), Knobs::default()).await;
        kit.bank.pay(&contract, Payment::of(NUMBER, 1), Knobs::default()).await;
        let [inquiry, payment]: [Seen; 2] = calls(&kit).try_into().ok().unwrap();
        let id = |body: &Value, name: &str| body[name].as_str().unwrap().to_owned();
        let asked = id(&inquiry.json(), "inquiryRequestId");
        let reported = id(&payment.json(), "paymentRequestId");
        let (external, timestamp) = (payment.header("X-EXTERNAL-ID"), payment.header("X-TIMESTAMP"));
        let profile = style.profile;
        assert_eq!(asked == reported, profile == "bca", "{profile}");
        assert_eq!(asked.len(), style.request_id_length, "{profile}");
        assert_eq!(external == reported, profile == "bsi", "{profile}");
        assert_eq!(external.bytes().all(|byte| byte.is_ascii_digit()), profile != "briva-online", "{profile}");
        assert!(external.len() <= 36 && external.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{profile}");
        assert_eq!(timestamp.len() == 29, profile == "briva-online", "{profile}: {timestamp}");
        assert_eq!(Style::of(profile).unwrap().channel_id, payment.header("CHANNEL-ID"));
    }
    assert_eq!(Style::BCA.request_id_length, 30);
    assert!(Style::of("sandbox").is_none());
}

#[tokio::test]
async fn the_second_payment_after_one_inquiry_has_a_request_id_of_its_own() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    let inquiry = kit.bank.inquire(&contract, Inquiry::of(NUMBER), Knobs::default()).await;
    let first = kit.bank.pay(&contract, Payment::of(NUMBER, 1), Knobs::default()).await;
    let second = kit.bank.pay(&contract, Payment::of(NUMBER, 1), Knobs::default()).await;
    assert_eq!(inquiry.sent.request_id, first.sent.request_id);
    assert_ne!(first.sent.request_id, second.sent.request_id);
    assert_ne!(first.sent.external_id, second.sent.external_id);
}

#[tokio::test]
async fn a_token_is_used_until_its_life_ends_and_then_renewed() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    let token = async |choice: TokenChoice| {
        let knobs = Knobs { token: choice, ..Knobs::default() };
        kit.bank.pay(&contract, Payment::of(NUMBER, 1), knobs).await;
        calls(&kit).remove(0).headers.get("authorization").map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(token(TokenChoice::Valid).await.unwrap(), "Bearer token1");
    kit.now_ms.store(NOW_MS + 899_999, Ordering::SeqCst);
    assert_eq!(token(TokenChoice::Valid).await.unwrap(), "Bearer token1");
    kit.now_ms.store(NOW_MS + 900_000, Ordering::SeqCst);
    assert_eq!(token(TokenChoice::Last).await.unwrap(), "Bearer token1");
    assert_eq!(token(TokenChoice::Valid).await.unwrap(), "Bearer token2");
    assert_eq!(token(TokenChoice::Given("x".into())).await.unwrap(), "Bearer x");
    assert_eq!(token(TokenChoice::Absent).await, None);
    let invented = token(TokenChoice::Invented).await.unwrap();
    assert!(invented.len() > 40 && !invented.contains("token"));
    // A refused token is not used again.
    kit.door.reply(401, json!({ "responseCode": "4012501" }));
    token(TokenChoice::Valid).await;
    assert_eq!(token(TokenChoice::Valid).await.unwrap(), "Bearer token3");
}

#[tokio::test]
async fn calls_at_the_same_moment_share_one_token() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    join_all((0..10).map(|_| kit.bank.pay(&contract, Payment::of(NUMBER, 1), Knobs::default()))).await;
    let seen = kit.door.seen();
    assert_eq!(seen.len(), 11);
    assert_eq!(seen.iter().filter(|seen| seen.path.ends_with("/b2b")).count(), 1);
}

#[tokio::test]
async fn a_payment_without_a_token_is_not_sent() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    kit.door.reply(401, json!({ "responseCode": "4017300", "responseMessage": "Unauthorized. [Signature]" }));
    let answer = kit.bank.pay(&contract, Payment::of(NUMBER, 1), Knobs::default()).await;
    assert_eq!((answer.sent.service, answer.code(), answer.conclusion), (Service::Token, "4017300", None));
    assert_eq!(kit.door.seen().len(), 1);
}

#[tokio::test]
async fn money_is_booked_once_for_each_request_id_and_by_the_last_conclusion() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    let prepared = kit.bank.prepare_payment(&contract, Payment::of(NUMBER, 150_000), &Knobs::default()).await.unwrap();
    let answers = kit.bank.send_many(&prepared, 5).await;
    assert!(answers.iter().all(|answer| answer.conclusion == Some(Conclusion::Booked)));
    assert_eq!(calls(&kit).len(), 5);
    assert_eq!(kit.bank.booked(&contract, NUMBER), 150_000);

    kit.door.reply(202, paid("2022500", "02"));
    assert_eq!(kit.bank.send(&prepared).await.conclusion, Some(Conclusion::Suspended));
    assert_eq!(kit.bank.booked(&contract, NUMBER), 150_000);

    kit.bank.pay(&contract, Payment::of(NUMBER, 7), Knobs::default()).await;
    assert_eq!(kit.bank.booked(&contract, NUMBER), 150_007);

    kit.door.reply(409, paid("4092500", ""));
    assert_eq!(kit.bank.send(&prepared).await.conclusion, Some(Conclusion::Reversed));
    assert_eq!(kit.bank.booked(&contract, NUMBER), 7);
    assert_eq!(kit.bank.booked(&contract, "1234500000000018"), 0);

    let journal = kit.bank.journal();
    assert_eq!(journal.len(), 9);
    assert_eq!((journal[0].service, journal[8].code.as_str(), journal[8].status), (Service::Token, "4092500", 409));
}

#[tokio::test]
async fn a_lost_answer_suspends_and_the_resend_carries_the_same_ids() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    let lost = Knobs { lost_answer: true, ..Knobs::default() };
    let first = kit.bank.pay(&contract, Payment::of(NUMBER, 150_000), lost).await;
    assert!(first.is_silence());
    assert_eq!(first.conclusion, Some(Conclusion::Suspended));
    assert_eq!(kit.bank.booked(&contract, NUMBER), 0);
    kit.door.reply(404, paid("4042518", "00"));
    let again = kit.bank.pay(&contract, Payment::of(NUMBER, 150_000), Knobs::resend_of(&first.sent)).await;
    assert_eq!(again.conclusion, Some(Conclusion::Booked));
    assert_eq!(kit.bank.booked(&contract, NUMBER), 150_000);
    let [one, two]: [Seen; 2] = calls(&kit).try_into().ok().unwrap();
    assert_eq!(one.header("X-EXTERNAL-ID"), two.header("X-EXTERNAL-ID"));
    assert_eq!(one.json()["paymentRequestId"], two.json()["paymentRequestId"]);
    assert_eq!(two.json()["flagAdvise"], "Y");
}

#[tokio::test]
async fn a_server_that_is_gone_is_silence() {
    let kit = Kit::open().await;
    let mut contract = kit.contract(Style::BRIVA_ONLINE);
    let prepared = kit.bank.prepare_payment(&contract, Payment::of(NUMBER, 1), &Knobs::default()).await.unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    contract.inbound_url = format!("http://{free}/snap/acc1");
    let gone = crate::Prepared { url: contract.inbound_url.clone(), ..prepared };
    let answer = kit.bank.send(&gone).await;
    assert_eq!((answer.status, answer.conclusion), (0, Some(Conclusion::Suspended)));
    assert!(kit.bank.token(&contract).await.unwrap_err().is_silence());
}

#[tokio::test]
async fn a_prepared_request_can_be_sent_over_a_socket() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    let prepared = kit.bank.prepare_payment(&contract, Payment::of(NUMBER, 1), &Knobs::default()).await.unwrap();
    kit.door.seen();
    let address = kit.url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let mut socket = tokio::net::TcpStream::connect(&address).await.unwrap();
    socket.write_all(&prepared.to_http()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("2002500"), "{answer}");
    let seen = calls(&kit).remove(0);
    assert_eq!(seen.header("host"), address);
    assert_eq!(seen.body, prepared.body);
    assert_eq!(seen.header("X-SIGNATURE"), prepared.header("x-signature").unwrap());
}
