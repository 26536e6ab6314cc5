//! Who may call the bank's doors: signatures of both types, tokens, timestamps and external ids.

use super::shop::{Shop, Signed, read};
use crate::{Habits, Service};

async fn code_of(shop: &Shop, signed: &Signed) -> String {
    let (status, body) = read(shop.request(signed).await).await.unwrap();
    format!("{status} {}", body["responseCode"].as_str().unwrap())
}

#[tokio::test]
async fn every_profile_takes_a_call_that_is_signed_its_way() {
    for habits in Habits::ALL {
        let shop = Shop::open(habits).await;
        shop.qr("R1").await;
        assert_eq!(Habits::of(shop.habits.profile).unwrap().signing, shop.habits.signing);
    }
    assert!(Habits::of("sandbox").is_none());
}

#[tokio::test]
async fn a_call_is_refused_if_its_body_or_key_is_not_the_one_that_signed() {
    for habits in [Habits::GENERIC, Habits::DANA] {
        let shop = Shop::open(habits).await;
        let signed = shop.prepare(Service::Generate, &shop.qr_order("R1"));
        let changed = shop.request(&signed).await.body(signed.body.replace("150000", "150001"));
        assert_eq!(read(changed).await.unwrap().1["responseCode"], "4014700");
        let within_a_text = shop.request(&signed).await.body(signed.body.replace("M0001", "M 0001"));
        assert_eq!(read(within_a_text).await.unwrap().1["responseCode"], "4014700");
        assert!(shop.asked.codes().is_empty());
        let spaced = shop.request(&signed).await.body(signed.body.replace(",\"", " ,\n\t\""));
        assert_eq!(read(spaced).await.unwrap().1["responseCode"], "2004700");
    }
    let shop = Shop::open(Habits::DANA).await;
    let signed = Signed { partner_id: "other", ..shop.prepare(Service::Generate, &shop.qr_order("R1")) };
    assert_eq!(code_of(&shop, &signed).await, "400 4004702", "without a key of its own, a caller needs a token");
    assert!(shop.asked.codes().is_empty());
}

#[tokio::test]
async fn an_external_id_is_used_once_a_day_and_by_refused_calls_not_at_all() {
    let shop = Shop::open(Habits::GENERIC).await;
    let signed = shop.prepare(Service::Generate, &shop.qr_order("R1"));
    let changed = shop.request(&signed).await.body("{}");
    assert_eq!(read(changed).await.unwrap().1["responseCode"], "4014700");
    assert_eq!(code_of(&shop, &signed).await, "200 2004700");
    assert_eq!(code_of(&shop, &signed).await, "409 4094700");
    let mut query = shop.prepare(Service::Query, &shop.about("R1"));
    query.external_id.clone_from(&signed.external_id);
    assert_eq!(code_of(&shop, &query).await, "409 4095100");
    // From 10:20 to 00:10 of the next day in Jakarta.
    shop.wait_ms((13 * 60 + 50) * 60_000);
    shop.forget_token().await;
    let mut query = shop.prepare(Service::Query, &shop.about("R1"));
    query.external_id.clone_from(&signed.external_id);
    assert_eq!(code_of(&shop, &query).await, "200 2005100");
}

#[tokio::test]
async fn a_stale_timestamp_and_a_token_whose_life_is_over_are_refused() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.qr("R1").await;
    let stale = shop.prepare(Service::Query, &shop.about("R1"));
    shop.wait_ms(300_001);
    assert_eq!(code_of(&shop, &stale).await, "400 4005101");
    shop.wait_ms(598_998);
    assert_eq!(shop.code(Service::Query, &shop.about("R1")).await, "200 2005100");
    shop.wait_ms(1);
    assert_eq!(shop.code(Service::Query, &shop.about("R1")).await, "401 4015101");
    shop.forget_token().await;
    assert_eq!(shop.code(Service::Query, &shop.about("R1")).await, "200 2005100");
}

#[tokio::test]
async fn bri_wants_milliseconds_and_nine_digits() {
    let shop = Shop::open(Habits::BRIVA_WS).await;
    let mut signed = shop.prepare(Service::Generate, &shop.qr_order("R1"));
    signed.external_id = "12345678".into();
    assert_eq!(code_of(&shop, &signed).await, "400 4004701");
    let mut signed = shop.prepare(Service::Generate, &shop.qr_order("R1"));
    signed.timestamp = crate::time::text(shop.now_ms(), false);
    assert_eq!(code_of(&shop, &signed).await, "400 4004701");
    assert_eq!(shop.code(Service::Generate, &shop.qr_order("R1")).await, "200 2004700");
}

#[tokio::test]
async fn a_method_that_the_bank_does_not_have_is_refused() {
    let shop = Shop::open(Habits::GENERIC).await;
    for (service, method) in [(Service::Generate, "PUT"), (Service::Query, "DELETE"), (Service::DeleteVa, "POST")] {
        let signed = Signed { method, ..shop.prepare(service, &shop.qr_order("R1")) };
        assert_eq!(code_of(&shop, &signed).await, format!("405 405{}00", service.digits()));
    }
    assert!(shop.asked.codes().is_empty());
}
