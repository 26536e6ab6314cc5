//! `quantity_max`, and `amount_min` with `amount_max`: links whose customers choose how many they pay for, or type the amount.

use std::sync::Arc;

use domain::{method::Method, payment::Checkout, pricing::Mispriced};
use engine::{Attempt, Error};
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{id, text, with},
    links::{attempt, create_link},
    payments::{count_payments, events_of, fetch, simulate_paid},
    refusals::{Members, Refusals},
    samples,
};

on_every_database![
    a_payment_costs_its_quantity_times_the_amount_and_shows_the_quantity,
    a_payment_of_an_open_link_has_the_amount_that_was_typed_and_its_fee,
];

on_sqlite_alone![
    a_link_shows_what_its_customers_may_choose_and_others_have_no_such_member,
    a_link_whose_price_breaks_a_rule_is_refused_by_name_and_leaves_nothing_behind,
    floors_hold_for_what_is_paid_and_not_for_one_piece,
    a_choice_outside_of_what_the_link_takes_makes_no_payment,
    a_used_key_with_another_price_is_a_conflict,
];

fn open(least: i64, most: i64) -> Value {
    json!({ "amount": null, "amount_min": least, "amount_max": most, "allow_multiple_payments": true })
}

async fn choose(kit: &Kit, link: &Value, method: Method, number: Option<i64>) -> Result<String, Error> {
    let attempt = Attempt { chosen: number, ..Attempt::new(method, Checkout::default()) };
    Ok(kit.engine.attempt_link(text(link, "id").parse().unwrap(), &attempt).await?.id.to_string())
}

async fn chosen(kit: &Kit, project: &TestProject, link: &Value, method: Method, number: i64) -> Value {
    let id = choose(kit, link, method, Some(number)).await.unwrap();
    fetch(project, &json!({ "id": id })).await
}

async fn a_link_shows_what_its_customers_may_choose_and_others_have_no_such_member(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let tickets = create_link(&project, json!({ "amount": 5_000, "quantity_max": 10 })).await;
    assert_eq!((&tickets["amount"], &tickets["quantity_max"]), (&json!(5_000), &json!(10)));
    let gift = create_link(&project, open(500, 1_000_000)).await;
    assert_eq!(
        (&gift["amount"], &gift["amount_min"], &gift["amount_max"]),
        (&json!(0), &json!(500), &json!(1_000_000))
    );
    // Fees are previewed for the least that each method takes.
    for (link, amounts) in [(&tickets, [5_000, 10_000]), (&gift, [500, 10_000])] {
        let previews = link["fee_previews"].as_array().unwrap();
        let of = |kind: &str| previews.iter().find(|preview| preview["payment_method"]["type"] == kind).unwrap();
        assert_eq!([of("qris")["customer_amount"].clone(), of("virtual_account")["customer_amount"].clone()], amounts);
        assert_eq!(of("virtual_account")["merchant_net"], 6_000);
    }
    let plain = create_link(&project, json!({ "quantity_max": null, "amount_min": null, "amount_max": null })).await;
    for name in ["quantity_max", "amount_min", "amount_max", "return_url"] {
        assert_eq!(plain.get(name), None, "{name}");
    }
    assert_eq!(tickets.get("amount_min").or(gift.get("quantity_max")), None);
    let payment = attempt(&kit, &project, &plain, Method::Qris).await;
    assert_eq!((payment.get("quantity"), payment.get("return_url")), (None, None));
    for link in [tickets, gift, plain] {
        let path = format!("/v1/payment-links/{}", id(&link));
        assert_eq!(project.api.get(&path).await.expect(200), link);
        let listed = project.api.get("/v1/payment-links").await.expect(200)["data"].clone();
        assert!(listed.as_array().unwrap().contains(&link), "{listed}");
    }
}

async fn a_payment_costs_its_quantity_times_the_amount_and_shows_the_quantity(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link =
        create_link(&project, json!({ "amount": 7_000, "quantity_max": 99, "allow_multiple_payments": true })).await;
    for (quantity, amount, fee) in [(1, 7_000, 49), (3, 21_000, 147), (99, 693_000, 4_851)] {
        let payment = chosen(&kit, &project, &link, Method::Qris, quantity).await;
        assert_eq!((&payment["quantity"], &payment["amount"]), (&json!(quantity), &json!(amount)));
        assert_eq!((&payment["fee_amount"], &payment["merchant_net"]), (&json!(fee), &json!(amount - fee)));
        let paid = simulate_paid(&project, &payment).await;
        assert_eq!(paid["quantity"], quantity);
        assert_eq!(events_of(&project, &payment, "payment.paid").await[0]["data"], paid);
    }
    let listed = project.api.get("/v1/payments").await.expect(200);
    assert_eq!(
        listed["data"].as_array().unwrap().iter().map(|one| one["quantity"].as_i64()).sum::<Option<i64>>(),
        Some(103)
    );
}

async fn a_payment_of_an_open_link_has_the_amount_that_was_typed_and_its_fee(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, open(500, 100_000)).await;
    for (amount, fee) in [(500, 4), (33_333, 233), (100_000, 700)] {
        let payment = chosen(&kit, &project, &link, Method::Qris, amount).await;
        assert_eq!((&payment["amount"], &payment["fee_amount"]), (&json!(amount), &json!(fee)));
        assert_eq!(payment.get("quantity"), None);
        assert_eq!(simulate_paid(&project, &payment).await["amount"], amount);
    }
    let bca = Method::VirtualAccount(domain::bank::Bank::Bca);
    assert_eq!(chosen(&kit, &project, &link, bca, 10_000).await["fee_amount"], 4_000);
    assert_eq!(project.api.get("/v1/balance").await.expect(200)["pending"], 500 + 33_333 + 100_000 - 937);
}

async fn a_link_whose_price_breaks_a_rule_is_refused_by_name_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let links = Refusals::links(&project);
    let plain = Members::link(&project);
    for quantity in ["0", "1", "100", "-1", "9223372036854775807"] {
        let message = links.check(plain.with("quantity_max", quantity), 400, "VALIDATION_ERROR").await;
        assert_eq!(message, "`quantity_max` must be from 2 to 99", "{quantity}");
    }
    for (name, literal) in
        [("quantity_max", "\"2\""), ("quantity_max", "2.5"), ("amount_min", "true"), ("amount_max", "[]")]
    {
        let message = links.check(plain.with(name, literal), 400, "INVALID_REQUEST").await;
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
    let open = |rest: &str| plain.without("amount").replacen('{', &format!("{{{rest},"), 1);
    for (body, sentence) in [
        (plain.without("amount"), "`amount` is required"),
        (open(r#""quantity_max":2"#), "`amount` is required"),
        (plain.with("amount_min", "10000"), "`amount` must not be given together with `amount_min` and `amount_max`"),
        (plain.with("amount_max", "10000"), "`amount` must not be given together with `amount_min` and `amount_max`"),
        (open(r#""amount_min":10000"#), "`amount_max` is required together with `amount_min`"),
        (open(r#""amount_max":10000"#), "`amount_min` is required together with `amount_max`"),
        (
            open(r#""amount_min":10000,"amount_max":20000,"quantity_max":2"#),
            "`quantity_max` must not be given together with `amount_min` and `amount_max`",
        ),
        (open(r#""amount_min":20000,"amount_max":19999"#), "`amount_max` must be at least `amount_min`"),
        (open(r#""amount_min":99,"amount_max":19999"#), "`amount_min` must be at least 100 for qris"),
        (open(r#""amount_min":100,"amount_max":9999"#), "`amount_max` must be at least 10000 for virtual_account"),
        (open(r#""amount_min":0,"amount_max":10000"#), "`amount_min` must be from 1 to 999999999999"),
        (open(r#""amount_min":-1,"amount_max":10000"#), "`amount_min` must be from 1 to 999999999999"),
        (open(r#""amount_min":100,"amount_max":1000000000000"#), "`amount_max` must be from 1 to 999999999999"),
    ] {
        assert_eq!(links.check(body, 400, "VALIDATION_ERROR").await, sentence);
    }
    links.left_nothing([0, 0, 0]).await;
}

async fn floors_hold_for_what_is_paid_and_not_for_one_piece(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let members = json!({ "amount": 4_000, "quantity_max": 3, "allow_multiple_payments": true });
    let link = create_link(&project, members).await;
    let bca = Method::VirtualAccount(domain::bank::Bank::Bca);
    for quantity in [1, 2] {
        let refused = choose(&kit, &link, bca, Some(quantity)).await;
        assert!(matches!(refused, Err(Error::Mispriced(Mispriced::TooLittle(least))) if least.get() == 10_000));
        assert_eq!(chosen(&kit, &project, &link, Method::Qris, quantity).await["amount"], 4_000 * quantity);
    }
    assert_eq!(chosen(&kit, &project, &link, bca, 3).await["amount"], 12_000);
    let short = with(samples::link(&project, 4_000), "quantity_max", json!(2));
    let refused = project.api.post("/v1/payment-links", &short).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused, "`quantity_max` times `amount` must be at least 10000 for virtual_account");
    let large = with(samples::link(&project, 500_000_000_000), "quantity_max", json!(2));
    let refused = project.api.post("/v1/payment-links", &large).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused, "`quantity_max` times `amount` must be at most 999999999999");
}

async fn a_choice_outside_of_what_the_link_takes_makes_no_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let tickets = create_link(&project, json!({ "quantity_max": 5 })).await;
    let gift = create_link(&project, open(10_000, 50_000)).await;
    for (link, numbers) in [(&tickets, [0, -1, 6, 100]), (&gift, [9_999, 50_001, 0, -10_000])] {
        for number in numbers {
            let refused = choose(&kit, link, Method::Qris, Some(number)).await;
            assert!(matches!(refused, Err(Error::Mispriced(Mispriced::Outside { .. }))), "{number}: {refused:?}");
        }
        let refused = choose(&kit, link, Method::Qris, None).await;
        assert!(matches!(refused, Err(Error::Mispriced(Mispriced::Missing))), "{refused:?}");
    }
    assert_eq!(count_payments(&project, "").await, 0);
}

async fn a_used_key_with_another_price_is_a_conflict(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(samples::link(&project, 50_000), "quantity_max", json!(5));
    let create = |body: Value| {
        let request = project.api.request(reqwest::Method::POST, "/v1/payment-links");
        project.api.send(request.header("Idempotency-Key", "key").json(&body))
    };
    let link = create(body.clone()).await.expect(201);
    for other in [
        with(body.clone(), "quantity_max", json!(6)),
        with(body.clone(), "quantity_max", Value::Null),
        with(body.clone(), "return_url", json!("https://shop.example/")),
    ] {
        create(other).await.refused(409, "IDEMPOTENCY_CONFLICT");
    }
    assert_eq!(create(body).await.expect(200), link);
}
