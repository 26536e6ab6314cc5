//! `POST /v1/payment-links` (docs/contract.md §2.2, §4.5 and decisions §5).

use std::sync::Arc;

use domain::{bank::Bank, fee::FeeOverrides, method::Method, money::Rupiah};
use engine::ProjectUpdate;
use reqwest::Method as Verb;
use serde_json::{Value, json};
use testkit::{Api, Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{json::id, options::base_url, payments::total, refusals::refused, samples};

on_every_database![
    texts_may_be_as_long_as_their_limit_counted_in_characters,
    an_idempotency_key_makes_one_link_however_often_it_is_sent,
    an_idempotency_key_with_another_body_is_a_conflict_and_makes_nothing,
    an_idempotency_key_counts_per_project_and_endpoint,
];

on_sqlite_alone![
    a_link_shows_every_field_it_was_made_with,
    members_that_are_omitted_or_null_get_their_defaults,
    an_omitted_reference_is_made_up_and_differs_every_time,
    there_is_one_fee_preview_per_allowed_method_by_the_projects_own_prices,
    virtual_account_without_a_bank_means_every_bank_the_project_offers,
    a_link_can_only_name_what_the_project_offers,
    the_amount_must_reach_the_highest_minimum_of_the_methods,
    a_field_that_breaks_its_rule_is_named_and_leaves_nothing_behind,
    a_field_of_the_wrong_json_type_is_an_invalid_request,
    expires_at_takes_any_offset_and_the_next_millisecond_is_the_future,
    partial_customer_fields_fill_up_with_false,
    the_url_leads_to_the_configured_checkout with base_url("https://pay.example/"),
    a_malformed_idempotency_key_is_refused_where_it_is_optional_too,
];

const PATH: &str = "/v1/payment-links";

fn account(bank: &str) -> Value {
    json!({ "type": "virtual_account", "bank": bank })
}

/// A valid request with some members changed.
fn with(project: &TestProject, changes: Value) -> Value {
    let mut body = samples::link(project, 15_000);
    for (name, value) in changes.as_object().unwrap() {
        body[name.as_str()] = value.clone();
    }
    body
}

async fn create(api: &Api, key: &str, body: &Value) -> Reply {
    api.send(api.request(Verb::POST, PATH).header("Idempotency-Key", key).json(body)).await
}

async fn a_link_shows_every_field_it_was_made_with(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = json!({
        "project_id": project.id.to_string(),
        "title": "Kopi susu, dua gelas",
        "amount": 15_000,
        "reference": "order-7",
        "description": "Tanpa gula\r\nDingin\n\"segar\" é",
        "expires_at": "2030-01-31T23:59:59.123+07:00",
        "allowed_payment_methods": [{ "type": "qris" }, { "type": "virtual_account", "bank": "bca" }],
        "allow_multiple_payments": true,
        "customer_fields": { "name": true, "email": false, "phone": true, "address": false },
    });
    let link = project.api.post(PATH, &body).await.expect(201);
    let wanted = json!({
        "id": id(&link),
        "project_id": project.id.to_string(),
        "merchant_name": "Toko Kopi",
        "reference": "order-7",
        "title": "Kopi susu, dua gelas",
        "description": "Tanpa gula\r\nDingin\n\"segar\" é",
        "amount": 15_000,
        "currency": "IDR",
        "fee_bearer": "merchant",
        "fee_previews": [
            { "payment_method": { "type": "qris" }, "fee_amount": 105, "customer_amount": 15_000, "merchant_net": 14_895 },
            { "payment_method": account("bca"), "fee_amount": 4_000, "customer_amount": 15_000, "merchant_net": 11_000 },
        ],
        "allowed_payment_methods": [{ "type": "qris" }, account("bca")],
        "allow_multiple_payments": true,
        "customer_fields": { "name": true, "email": false, "phone": true, "address": false },
        "status": "active",
        "created_at": kit.engine.now().to_string(),
        "url": format!("http://{}/p/{}", kit.address, id(&link)),
        "expires_at": "2030-01-31T16:59:59.123Z",
    });
    assert_eq!(link, wanted);
    let suffix = id(&link).strip_prefix("pl_").unwrap();
    assert!(suffix.len() == 26 && suffix.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte)));
    assert_eq!(project.api.get(&format!("{PATH}/{}", id(&link))).await.expect(200), wanted);
    assert_eq!(project.api.get(PATH).await.expect(200)["data"], json!([wanted]));
}

async fn members_that_are_omitted_or_null_get_their_defaults(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let nulls = json!({
        "reference": null, "description": null, "expires_at": null, "allowed_payment_methods": null,
        "allow_multiple_payments": null, "customer_fields": null,
    });
    for changes in [json!({}), nulls, json!({ "allowed_payment_methods": [], "customer_fields": {} })] {
        let link = project.api.post(PATH, &with(&project, changes)).await.expect(201);
        assert_eq!(link["description"], "");
        assert_eq!(link["expires_at"], Value::Null);
        assert!(link.as_object().unwrap().contains_key("expires_at"));
        assert_eq!(link["allow_multiple_payments"], false);
        let nobody = json!({ "name": false, "email": false, "phone": false, "address": false });
        assert_eq!(link["customer_fields"], nobody);
        let defaults = ["bca", "bni", "bri", "mandiri", "permata"].map(account);
        let defaults = [vec![json!({ "type": "qris" })], defaults.to_vec()].concat();
        assert_eq!(link["allowed_payment_methods"], Value::Array(defaults));
    }
}

async fn an_omitted_reference_is_made_up_and_differs_every_time(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut seen = std::collections::HashSet::new();
    for _ in 0..5 {
        let link = project.api.post(PATH, &samples::link(&project, 15_000)).await.expect(201);
        let reference = link["reference"].as_str().unwrap();
        let made_up = reference.strip_prefix("PL-").unwrap();
        assert_eq!(made_up.len(), 10, "{reference}");
        let base32 = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        assert!(made_up.bytes().all(base32), "{reference}");
        assert!(seen.insert(reference.to_owned()));
    }
}

async fn there_is_one_fee_preview_per_allowed_method_by_the_projects_own_prices(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let qris_only = json!([{ "type": "qris" }]);
    // 0.7 %, rounded half up: 0.7, 3.5 and 69.993 become 1, 4 and 70.
    for (amount, fee) in [(100, 1), (500, 4), (9_999, 70)] {
        let body = with(&project, json!({ "amount": amount, "allowed_payment_methods": qris_only }));
        let link = project.api.post(PATH, &body).await.expect(201);
        let preview = json!([{
            "payment_method": { "type": "qris" }, "fee_amount": fee, "customer_amount": amount,
            "merchant_net": amount - fee,
        }]);
        assert_eq!(link["fee_previews"], preview);
    }
    let fees = FeeOverrides { qris_basis_points: Some(30), virtual_account: Some(Rupiah::new(999_999)) };
    kit.update(project.id, ProjectUpdate { fees: Some(fees), ..Default::default() }).await;
    let link = project.api.post(PATH, &samples::link(&project, 20_000)).await.expect(201);
    let previews = link["fee_previews"].as_array().unwrap();
    let methods: Vec<&Value> = previews.iter().map(|preview| &preview["payment_method"]).collect();
    assert_eq!(methods, link["allowed_payment_methods"].as_array().unwrap().iter().collect::<Vec<_>>());
    assert_eq!((&previews[0]["fee_amount"], &previews[0]["merchant_net"]), (&json!(60), &json!(19_940)));
    // A fee is never above the amount.
    assert_eq!((&previews[1]["fee_amount"], &previews[1]["merchant_net"]), (&json!(20_000), &json!(0)));
}

async fn virtual_account_without_a_bank_means_every_bank_the_project_offers(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for entry in [json!({ "type": "virtual_account" }), json!({ "type": "virtual_account", "bank": null })] {
        let body = with(&project, json!({ "allowed_payment_methods": [entry, { "type": "qris" }] }));
        let link = project.api.post(PATH, &body).await.expect(201);
        let banks = Bank::ALL.map(|bank| account(bank.code()));
        assert_eq!(banks.len(), 13);
        let wanted = [banks.to_vec(), vec![json!({ "type": "qris" })]].concat();
        assert_eq!(link["allowed_payment_methods"], Value::Array(wanted));
        assert_eq!(link["fee_previews"].as_array().unwrap().len(), 14);
    }
    let banks = Some(vec![Bank::Bri, Bank::Bca]);
    kit.update(project.id, ProjectUpdate { banks, ..Default::default() }).await;
    let body = with(&project, json!({ "allowed_payment_methods": [{ "type": "virtual_account" }] }));
    let link = project.api.post(PATH, &body).await.expect(201);
    assert_eq!(link["allowed_payment_methods"], json!([account("bri"), account("bca")]));
}

async fn a_link_can_only_name_what_the_project_offers(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let default_methods = Some(vec![Method::VirtualAccount(Bank::Bca), Method::VirtualAccount(Bank::Bni)]);
    let banks = Some(vec![Bank::Bni]);
    kit.update(project.id, ProjectUpdate { banks, default_methods, ..Default::default() }).await;
    let body = with(&project, json!({ "allowed_payment_methods": [account("bca")] }));
    let message = project.api.post(PATH, &body).await.refused(400, "VALIDATION_ERROR");
    assert!(message.contains("`allowed_payment_methods[0].bank`"), "{message}");
    // The defaults leave out what the project no longer offers.
    let link = project.api.post(PATH, &samples::link(&project, 15_000)).await.expect(201);
    assert_eq!(link["allowed_payment_methods"], json!([account("bni")]));
    kit.update(project.id, ProjectUpdate { banks: Some(Vec::new()), ..Default::default() }).await;
    for methods in [json!([{ "type": "virtual_account" }]), json!([{ "type": "qris" }, { "type": "virtual_account" }])]
    {
        let body = with(&project, json!({ "allowed_payment_methods": methods }));
        refused("no bank is on offer", project.api.post(PATH, &body).await, 400, "VALIDATION_ERROR");
    }
    assert_eq!(total(&project.api, PATH).await, 1);
}

async fn the_amount_must_reach_the_highest_minimum_of_the_methods(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let qris = json!([{ "type": "qris" }]);
    let bca = json!([account("bca")]);
    let both = json!([account("bca"), { "type": "qris" }]);
    let any_bank = json!([{ "type": "virtual_account" }]);
    for (methods, floor) in [(&qris, 100), (&bca, 10_000), (&both, 10_000), (&any_bank, 10_000), (&Value::Null, 10_000)]
    {
        let body = |amount: i64| with(&project, json!({ "amount": amount, "allowed_payment_methods": methods }));
        let before = total(&project.api, PATH).await;
        let message = refused(
            &format!("{methods} below its floor"),
            project.api.post(PATH, &body(floor - 1)).await,
            400,
            "VALIDATION_ERROR",
        );
        assert!(message.contains("`amount`") && message.contains(&floor.to_string()), "{message}");
        assert_eq!(total(&project.api, PATH).await, before);
        assert_eq!(project.api.post(PATH, &body(floor)).await.expect(201)["amount"], floor);
    }
    let most = samples::link(&project, 999_999_999_999);
    assert_eq!(project.api.post(PATH, &most).await.expect(201)["amount"], 999_999_999_999_i64);
}

async fn a_field_that_breaks_its_rule_is_named_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let now = kit.engine.now().to_string();
    let methods = |entries: Value| json!({ "allowed_payment_methods": entries });
    let rows = [
        (json!({ "title": null }), "`title`"),
        (json!({ "title": "" }), "`title`"),
        (json!({ "title": "x".repeat(256) }), "`title`"),
        (json!({ "title": "a\nb" }), "`title`"),
        (json!({ "title": "a\u{0}b" }), "`title`"),
        (json!({ "amount": null }), "`amount`"),
        (json!({ "amount": 0 }), "`amount`"),
        (json!({ "amount": -15_000 }), "`amount`"),
        (json!({ "amount": 1_000_000_000_000_i64 }), "`amount`"),
        (json!({ "reference": "" }), "`reference`"),
        (json!({ "reference": "x".repeat(256) }), "`reference`"),
        (json!({ "reference": "a\rb" }), "`reference`"),
        (json!({ "description": "x".repeat(2_001) }), "`description`"),
        (json!({ "description": "a\tb" }), "`description`"),
        (json!({ "description": "a\u{0}b" }), "`description`"),
        (methods(json!([{}])), "`allowed_payment_methods[0].type`"),
        (methods(json!([{ "type": "card" }])), "`allowed_payment_methods[0].type`"),
        (methods(json!([{ "type": "" }])), "`allowed_payment_methods[0].type`"),
        (methods(json!([{ "type": "qris" }, account("BCA")])), "`allowed_payment_methods[1].bank`"),
        (methods(json!([account("")])), "`allowed_payment_methods[0].bank`"),
        (methods(json!([account("bank")])), "`allowed_payment_methods[0].bank`"),
        (methods(json!([{ "type": "qris", "bank": "bca" }])), "`allowed_payment_methods[0].bank`"),
        (methods(json!([{ "type": "qris" }, { "type": "qris" }])), "`allowed_payment_methods[1]`"),
        (methods(json!([account("bca"), account("bri"), account("bca")])), "`allowed_payment_methods[2]`"),
        (methods(json!([account("bca"), { "type": "virtual_account" }])), "`allowed_payment_methods[1]`"),
        (json!({ "expires_at": "" }), "`expires_at`"),
        (json!({ "expires_at": "tomorrow" }), "`expires_at`"),
        (json!({ "expires_at": "2030-02-30T00:00:00Z" }), "`expires_at`"),
        (json!({ "expires_at": "2030-01-31T00:00:00" }), "`expires_at`"),
        (json!({ "expires_at": "2030-01-31" }), "`expires_at`"),
        (json!({ "expires_at": "2020-01-31T00:00:00Z" }), "`expires_at`"),
        (json!({ "expires_at": now }), "`expires_at`"),
    ];
    for (changes, field) in rows {
        let reply = project.api.post(PATH, &with(&project, changes.clone())).await;
        let message = refused(&changes.to_string(), reply, 400, "VALIDATION_ERROR");
        assert!(message.contains(field), "{changes}: {message}");
    }
    assert_eq!(total(&project.api, PATH).await, 0);
}

async fn a_field_of_the_wrong_json_type_is_an_invalid_request(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let rows = [
        (json!({ "project_id": 1 }), "`project_id`"),
        (json!({ "title": 1 }), "`title`"),
        (json!({ "title": ["Kopi"] }), "`title`"),
        (json!({ "amount": "15000" }), "`amount`"),
        (json!({ "amount": 15_000.0 }), "`amount`"),
        (json!({ "amount": true }), "`amount`"),
        (json!({ "reference": 7 }), "`reference`"),
        (json!({ "description": {} }), "`description`"),
        (json!({ "expires_at": 1_900_000_000 }), "`expires_at`"),
        (json!({ "allowed_payment_methods": {} }), "`allowed_payment_methods`"),
        (json!({ "allowed_payment_methods": "qris" }), "`allowed_payment_methods`"),
        (json!({ "allowed_payment_methods": ["qris"] }), "`allowed_payment_methods[0]`"),
        (json!({ "allowed_payment_methods": [{ "type": "qris" }, null] }), "`allowed_payment_methods[1]`"),
        (json!({ "allowed_payment_methods": [{ "type": 1 }] }), "`allowed_payment_methods[0].type`"),
        (json!({ "allow_multiple_payments": "true" }), "`allow_multiple_payments`"),
        (json!({ "allow_multiple_payments": 1 }), "`allow_multiple_payments`"),
        (json!({ "customer_fields": ["name"] }), "`customer_fields`"),
        (json!({ "customer_fields": { "name": "yes" } }), "`customer_fields.name`"),
    ];
    for (changes, field) in rows {
        let reply = project.api.post(PATH, &with(&project, changes.clone())).await;
        let message = refused(&changes.to_string(), reply, 400, "INVALID_REQUEST");
        assert!(message.contains(field), "{changes}: {message}");
    }
    assert_eq!(total(&project.api, PATH).await, 0);
}

async fn texts_may_be_as_long_as_their_limit_counted_in_characters(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (short, long) = ("é".repeat(255), "😀\n".repeat(1_000));
    let body = with(&project, json!({ "title": short, "reference": short, "description": long }));
    let link = project.api.post(PATH, &body).await.expect(201);
    assert_eq!(
        (&link["title"], &link["reference"], &link["description"]),
        (&json!(short), &json!(short), &json!(long))
    );
}

async fn expires_at_takes_any_offset_and_the_next_millisecond_is_the_future(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (given, shown) in [
        ("2030-01-31T12:00:00Z", "2030-01-31T12:00:00.000Z"),
        ("2030-01-31T19:00:00+07:00", "2030-01-31T12:00:00.000Z"),
        ("2030-01-31T02:30:00.5-09:30", "2030-01-31T12:00:00.500Z"),
        ("2030-01-31t12:00:00.123456z", "2030-01-31T12:00:00.123Z"),
    ] {
        let link = project.api.post(PATH, &with(&project, json!({ "expires_at": given }))).await.expect(201);
        assert_eq!(link["expires_at"], shown, "{given}");
    }
    let next = kit.engine.now().plus(std::time::Duration::from_millis(1)).to_string();
    let link = project.api.post(PATH, &with(&project, json!({ "expires_at": next }))).await.expect(201);
    assert_eq!((&link["expires_at"], &link["status"]), (&json!(next), &json!("active")));
}

async fn partial_customer_fields_fill_up_with_false(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for field in ["name", "email", "phone", "address"] {
        let body = with(&project, json!({ "customer_fields": { field: true } }));
        let link = project.api.post(PATH, &body).await.expect(201);
        let mut wanted = json!({ "name": false, "email": false, "phone": false, "address": false });
        wanted[field] = json!(true);
        assert_eq!(link["customer_fields"], wanted);
    }
}

async fn the_url_leads_to_the_configured_checkout(kit: Arc<Kit>) {
    let project = kit.production().await;
    let link = project.api.post(PATH, &samples::link(&project, 15_000)).await.expect(201);
    assert_eq!(link["url"], format!("https://pay.example/p/{}", id(&link)));
}

async fn an_idempotency_key_makes_one_link_however_often_it_is_sent(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(&project, json!({ "expires_at": "2026-11-20T00:00:00Z" }));
    let sent: Vec<_> = (0..8)
        .map(|_| {
            let (api, body) = (project.api.clone(), body.clone());
            tokio::spawn(async move { create(&api, "k-1", &body).await })
        })
        .collect();
    let mut statuses = Vec::new();
    let mut ids = std::collections::HashSet::new();
    for reply in sent {
        let reply = reply.await.unwrap();
        let replayed = reply.header("idempotent-replayed").map(str::to_owned);
        assert_eq!(replayed.as_deref(), (reply.status == 200).then_some("true"), "{}", reply.text);
        statuses.push(reply.status.as_u16());
        ids.insert(id(&reply.json).to_owned());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
    assert_eq!((ids.len(), total(&project.api, PATH).await), (1, 1));
    // A replay shows the link as it is now, even where its expires_at would be refused by now.
    kit.clock.set(domain::time::Timestamp::parse("2026-11-20T00:00:00.001Z").unwrap());
    assert_eq!(create(&project.api, "k-1", &body).await.expect(200)["status"], "inactive");
    assert_eq!(total(&project.api, PATH).await, 1);
}

async fn an_idempotency_key_with_another_body_is_a_conflict_and_makes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    create(&project.api, "k-1", &samples::link(&project, 15_000)).await.expect(201);
    for changes in [json!({ "amount": 15_001 }), json!({ "metadata": { "a": "1" } }), json!({ "amount": 1 })] {
        let reply = create(&project.api, "k-1", &with(&project, changes.clone())).await;
        refused(&changes.to_string(), reply, 409, "IDEMPOTENCY_CONFLICT");
    }
    assert_eq!(total(&project.api, PATH).await, 1);
}

async fn an_idempotency_key_counts_per_project_and_endpoint(kit: Arc<Kit>) {
    let (one, other) = (kit.sandbox().await, kit.sandbox().await);
    create(&one.api, "k-1", &samples::link(&one, 15_000)).await.expect(201);
    create(&other.api, "k-1", &samples::link(&other, 16_000)).await.expect(201);
    one.api.pay("k-1", &samples::qris(&one, 17_000)).await.expect(201);
    // Without a key every request makes its own link.
    let body = samples::link(&one, 15_000);
    let (first, second) = (one.api.post(PATH, &body).await.expect(201), one.api.post(PATH, &body).await.expect(201));
    assert_ne!(id(&first), id(&second));
}

async fn a_malformed_idempotency_key_is_refused_where_it_is_optional_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for key in ["x".repeat(256), "with space".to_owned(), "kunci-é".to_owned()] {
        let reply = create(&project.api, &key, &samples::link(&project, 15_000)).await;
        refused(&key, reply, 400, "VALIDATION_ERROR");
    }
    assert_eq!(total(&project.api, PATH).await, 0);
    create(&project.api, &"x".repeat(255), &samples::link(&project, 15_000)).await.expect(201);
}
