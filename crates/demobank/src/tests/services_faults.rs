//! The ways in which the bank fails at its doors.

use std::time::Duration;

use serde_json::{Value, json};

use super::shop::{Shop, read};
use crate::{CodeState, Fault, Habits, NotifyHabit, PayOrder, QrFault, Service, services::read_qris};

/// Orders a QR while the bank fails: the answer, and whether there is a code.
async fn failing(shop: &Shop, reference: &str, fault: Fault) -> (Option<(u16, Value)>, bool) {
    shop.asked.fail_next_of(Service::Generate, fault);
    let answer = shop.call(Service::Generate, &shop.qr_order(reference)).await;
    (answer, shop.asked.code(reference).is_some())
}

#[tokio::test]
async fn a_fault_waits_for_its_service_and_lasts_as_long_as_it_is_told() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.asked.fail_next_of(Service::Query, Fault::Status(503));
    shop.qr("R1").await;
    assert_eq!(shop.code(Service::Query, &shop.about("R1")).await, "503 5035100");
    assert_eq!(shop.code(Service::Query, &shop.about("R1")).await, "200 2005100");
    shop.asked.fail_every(Service::Query, Some(Fault::Status(429)));
    shop.asked.fail_next(Fault::Case(404, "01"));
    for expected in ["404 4045101", "429 4295100", "429 4295100"] {
        assert_eq!(shop.code(Service::Query, &shop.about("R1")).await, expected);
    }
    assert_eq!(shop.code(Service::Cancel, &shop.about("R1")).await, "200 2007700");
    shop.asked.fail_every(Service::Query, None);
    assert_eq!(shop.status("R1").await.0, "05");
}

#[tokio::test]
async fn each_fault_says_whether_the_work_was_done() {
    let shop = Shop::open(Habits::GENERIC).await;
    let rows = [
        (Fault::LostBefore, None, false),
        (Fault::LostAfter, None, true),
        (Fault::Status(500), Some("5004700"), false),
        (Fault::StatusAfter(500), Some("5004700"), true),
        (Fault::StatusAfter(202), Some("2024700"), true),
        (Fault::Duplicate, Some("4094700"), true),
        (Fault::WrongCode("4044701".into()), Some("4044701"), true),
        (Fault::BrokenJson, None, true),
        (Fault::Redirect("http://127.0.0.1:9/".into()), None, false),
        (Fault::SkewedClock(400_000), Some("4004701"), false),
        (Fault::SkewedClock(-200_000), Some("2004700"), true),
        (Fault::Late(Duration::from_millis(5)), Some("2004700"), true),
        (Fault::ContentType("text/html"), Some("2004700"), true),
        (Fault::WhiteSpace, Some("2004700"), true),
        (Fault::WrongStatus(404), Some("2004700"), true),
    ];
    for (index, (fault, code, is_done)) in rows.into_iter().enumerate() {
        let (answer, is_there) = failing(&shop, &format!("R{index}"), fault.clone()).await;
        let got = answer.as_ref().map(|(_, body)| body["responseCode"].as_str().unwrap());
        assert_eq!((got, is_there), (code, is_done), "{fault:?}");
        let call = shop.asked.calls_of(Service::Generate).pop().unwrap();
        assert_eq!(call.reference, format!("R{index}"));
        let of_call = shop.asked.codes().into_iter().filter(|code| code.reference == call.reference);
        assert_eq!(of_call.count(), usize::from(is_done));
    }
}

#[tokio::test]
async fn a_call_that_is_held_goes_on_when_it_is_released_even_if_the_caller_hung_up() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.asked.fail_next_of(Service::Generate, Fault::HeldBefore);
    {
        let request = shop.request(&shop.prepare(Service::Generate, &shop.qr_order("R1"))).await;
        let mut sending = Box::pin(request.send());
        tokio::select! {
            _ = &mut sending => panic!("the call is held"),
            () = shop.asked.wait_held(1) => {}
        }
    }
    assert!(shop.asked.code("R1").is_none());
    shop.asked.release();
    while shop.asked.code("R1").is_none() {
        tokio::task::yield_now().await;
    }
    shop.asked.fail_next_of(Service::Generate, Fault::HeldAfter);
    let (order, release) = (shop.qr_order("R2"), async {
        shop.asked.wait_held(1).await;
        assert!(shop.asked.code("R2").is_some());
        shop.asked.release();
    });
    let (answer, ()) = tokio::join!(shop.call(Service::Generate, &order), release);
    assert_eq!(answer.unwrap().0, 200);
}

#[tokio::test]
async fn a_token_can_die_in_flight_and_the_next_one_lives() {
    let shop = Shop::open(Habits::GENERIC).await;
    let (answer, is_there) = failing(&shop, "R1", Fault::TokenDies).await;
    assert_eq!((answer.unwrap().0, is_there), (401, false));
    assert_eq!(shop.code(Service::Generate, &shop.qr_order("R1")).await, "401 4014701");
    shop.forget_token().await;
    assert_eq!(shop.code(Service::Generate, &shop.qr_order("R1")).await, "200 2004700");
}

#[tokio::test]
async fn a_wrong_qr_is_shown_though_the_bank_has_the_right_one() {
    let shop = Shop::open(Habits::GENERIC).await;
    let content = async |reference: &str, fault: QrFault| {
        let (answer, _) = failing(&shop, reference, Fault::Qr(fault)).await;
        answer.unwrap().1["qrContent"].as_str().unwrap().to_owned()
    };
    assert!(read_qris(&content("R1", QrFault::BadCrc).await).is_err());
    assert_eq!(read_qris(&content("R2", QrFault::OtherAmount(1)).await).unwrap().amount, Some(1));
    assert_eq!(read_qris(&content("R3", QrFault::OtherCurrency).await).unwrap().currency, "840");
    assert!(content("R4", QrFault::Static).await.starts_with("000201010211"));
    assert_eq!(read_qris(&content("R5", QrFault::NoAmount).await).unwrap().amount, None);
    for code in shop.asked.codes() {
        assert_eq!(read_qris(&code.content).unwrap().amount, Some(150_000));
    }
}

#[tokio::test]
async fn an_answer_can_be_long_slow_or_of_bare_numbers() {
    let shop = Shop::open(Habits::GENERIC).await;
    let (answer, _) = failing(&shop, "R1", Fault::Long(1_000_000)).await;
    let length = answer.unwrap().1.to_string().len();
    assert!((1_000_000..1_000_100).contains(&length), "{length}");
    let (answer, _) = failing(&shop, "R2", Fault::Slow(Duration::from_micros(1))).await;
    assert_eq!(answer.unwrap().1["partnerReferenceNo"], "R2");
    let (answer, _) = failing(&shop, "R3", Fault::BareNumbers).await;
    let answer = answer.unwrap().1;
    assert_eq!(answer["responseCode"], json!(2_004_700));
    assert!(answer["qrContent"].is_string(), "it begins with a zero");
    shop.asked.fail_next(Fault::BareNumbers);
    assert!(shop.call(Service::Query, &shop.about("R3")).await.unwrap().1["amount"]["value"].is_number());
    shop.asked.fail_next(Fault::ContentType("text/html"));
    let response = shop.request(&shop.prepare(Service::Query, &shop.about("R3"))).await.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/html");
    shop.asked.fail_next(Fault::Redirect("http://127.0.0.1:9/".into()));
    let response = shop.request(&shop.prepare(Service::Query, &shop.about("R3"))).await.send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["location"]),
        (307, &"http://127.0.0.1:9/".parse().unwrap())
    );
}

#[tokio::test]
async fn a_query_can_lie_about_money() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.qr("R1").await;
    let quietly = PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() };
    shop.asked.pay_code("R1", quietly).await.unwrap();
    shop.asked.fail_next_of(Service::Query, Fault::Says("03"));
    let (status, answer) = shop.status("R1").await;
    assert_eq!((status.as_str(), &answer["paidTime"]), ("03", &Value::Null));
    assert_eq!(shop.status("R1").await.0, "00");
    shop.qr("R2").await;
    for status in ["07", "00"] {
        shop.asked.fail_next_of(Service::Query, Fault::Says(status));
        assert_eq!(shop.status("R2").await.0, status);
    }
    assert_eq!(shop.asked.code("R2").unwrap().state, CodeState::Unpaid);
}

#[tokio::test]
async fn a_bank_that_is_down_refuses_connections_and_comes_back_with_its_memory() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.qr("R1").await;
    shop.doors.close().await;
    let request = shop.request(&shop.prepare(Service::Query, &shop.about("R1"))).await;
    let error = request.send().await.unwrap_err();
    assert!(error.is_connect(), "{error:?}");
    shop.doors.reopen().await.unwrap();
    assert_eq!(shop.status("R1").await.0, "03");
    shop.doors.reopen().await.unwrap();
    assert_eq!(read(shop.request(&shop.prepare(Service::Query, &shop.about("R1"))).await).await.unwrap().0, 200);
}
