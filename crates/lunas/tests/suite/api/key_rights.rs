//! What a key may do, and from where: every operation of the API with keys of every set of rights (docs/contract.md,
//! "Rights of keys").

use std::sync::Arc;

use domain::{
    id::KeyId,
    key_networks::KeyNetworks,
    key_rights::{KeyRight, KeyRights},
};
use engine::{NewKey, ProjectUpdate};
use reqwest::header::ORIGIN;
use serde_json::{Value, json};
use testkit::{Api, Kit, Reply, TestProject, contract, on_sqlite_alone};

use crate::support::{
    json::id,
    options::{trusted_proxy, trusted_proxy_and_rate_limit},
    payments::{paid, pending_qris, total},
    receipts::{held_amount, receipts},
    refunds::refund,
    refusals::refused,
    routes::{method_and_path, routes},
    samples,
};

on_sqlite_alone![
    a_key_does_what_it_has_the_right_to_and_no_more,
    a_key_without_rights_revokes_itself_and_no_other,
    the_right_is_checked_before_the_project_the_headers_and_the_body,
    from_elsewhere_a_key_opens_no_operation with trusted_proxy(),
    from_its_networks_a_key_works_as_any_other with trusted_proxy(),
    origin_and_rate_are_checked_before_the_address with trusted_proxy_and_rate_limit(1),
    a_key_with_the_usual_rights_creates_payments_and_decides_nothing,
];

/// What an operation demands of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    /// It only reads.
    Nothing,
    Right(KeyRight),
    /// No key may do it.
    Session,
}

const PAYMENTS: Demand = Demand::Right(KeyRight::Payments);
const HELD_MONEY: Demand = Demand::Right(KeyRight::HeldMoney);
const REFUNDS: Demand = Demand::Right(KeyRight::Refunds);

/// Every operation, what it demands, and its status when it succeeds.
const ROWS: [(&str, Demand, u16); 26] = [
    // Of another key than the caller's.
    ("DELETE /v1/api-keys/{id}", PAYMENTS, 200),
    ("GET /v1/api-keys", Demand::Session, 403),
    ("GET /v1/audit", Demand::Session, 403),
    ("GET /v1/balance", Demand::Nothing, 200),
    ("GET /v1/banks", Demand::Nothing, 200),
    ("GET /v1/events", Demand::Nothing, 200),
    ("GET /v1/events/{eventID}", Demand::Nothing, 200),
    ("GET /v1/payment-links", Demand::Nothing, 200),
    ("GET /v1/payment-links/{paymentLinkID}", Demand::Nothing, 200),
    ("GET /v1/payments", Demand::Nothing, 200),
    ("GET /v1/payments/{paymentID}", Demand::Nothing, 200),
    ("GET /v1/project", Demand::Session, 403),
    ("GET /v1/receipts", Demand::Nothing, 200),
    ("GET /v1/receipts/{receiptID}", Demand::Nothing, 200),
    ("GET /v1/refunds", Demand::Nothing, 200),
    ("GET /v1/refunds/{refundID}", Demand::Nothing, 200),
    ("POST /v1/api-keys", Demand::Session, 403),
    ("POST /v1/payment-links", PAYMENTS, 201),
    ("POST /v1/payment-links/{paymentLinkID}/cancel", PAYMENTS, 200),
    ("POST /v1/payments", PAYMENTS, 201),
    ("POST /v1/payments/{paymentID}/refunds", REFUNDS, 201),
    ("POST /v1/receipts/{receiptID}/accept", HELD_MONEY, 200),
    ("POST /v1/receipts/{receiptID}/return", HELD_MONEY, 200),
    ("POST /v1/refunds/{refundID}/cancel", REFUNDS, 200),
    ("POST /v1/sandbox/payments/{paymentID}/simulate", PAYMENTS, 200),
    ("POST /v1/sandbox/refunds/{refundID}/simulate", REFUNDS, 200),
];

#[test]
fn the_table_has_a_row_for_every_operation() {
    assert_eq!(routes(), ROWS.map(|(route, ..)| route));
}

#[test]
fn the_document_names_the_right_of_each_operation_and_its_403() {
    for (route, demand, _) in ROWS {
        let (method, path) = route.split_once(' ').unwrap();
        let operation = &contract().document["paths"][path][method.to_lowercase()];
        let named = match demand {
            // A key needs none to revoke itself.
            _ if method == "DELETE" => None,
            Demand::Right(right) => Some(right.word()),
            Demand::Nothing | Demand::Session => None,
        };
        let schemes = operation["security"].as_array().into_iter().flatten();
        let roles: Vec<&str> =
            schemes.flat_map(|scheme| scheme["api_key"].as_array()).flatten().filter_map(Value::as_str).collect();
        assert_eq!(roles, Vec::from_iter(named), "{route}");
        let described = operation["description"].as_str().unwrap_or_default();
        assert!(named.is_none_or(|right| described.contains(&format!("the right `{right}`"))), "{route}: {described}");
        let refusal = &operation["responses"]["403"];
        let codes =
            &refusal["content"]["application/json"]["schema"]["properties"]["error"]["properties"]["code"]["enum"];
        assert_eq!(codes.as_array().unwrap().iter().filter(|code| **code == "FORBIDDEN").count(), 1, "{route}");
    }
}

/// A key of the project with these rights, and networks if some are given.
async fn key(kit: &Kit, project: &TestProject, rights: KeyRights, networks: &[&str]) -> (KeyId, Api) {
    let name = format!("{:?} {networks:?}", rights.words());
    let new = NewKey { name, rights, networks: KeyNetworks::parse(networks).unwrap() };
    let (key, secret) = kit.engine.create_key(project.id, new).await.unwrap();
    (key.id, project.api.with_key(secret.reveal()))
}

/// A project with one of everything that an operation can be about.
struct World {
    project: TestProject,
    payment: String,
    link: String,
    event: String,
    /// Money that is held for the payment: to accept and to return.
    receipts: [String; 2],
    /// Paid, to be given back.
    sold: String,
    /// To cancel and to simulate.
    refunds: [String; 2],
    spare_key: String,
}

impl World {
    async fn new(kit: &Kit) -> World {
        let project = kit.sandbox().await;
        let payment = pending_qris(&project, 15_000).await;
        let link = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
        let (gone, _) = key(kit, &project, KeyRights::NONE, &[]).await;
        project.api.delete(&format!("/v1/api-keys/{gone}")).await.expect(200);
        let events = project.api.get("/v1/events").await.expect(200);
        let less = held_amount(&project, &payment, 14_000).await;
        let more = held_amount(&project, &payment, 16_000).await;
        let (spare, _) = kit.engine.create_key(project.id, "spare".to_owned()).await.unwrap();
        // Money may pay a payment only once, so this one is for the simulator.
        let simulated = pending_qris(&project, 15_000).await;
        let sold = paid(&project, "sold", 50_000).await;
        let refunds = [refund(&project, &sold, 1_903).await, refund(&project, &sold, 2_903).await];
        World {
            sold: id(&sold).to_owned(),
            refunds: refunds.each_ref().map(|refund| id(refund).to_owned()),
            payment: id(&simulated).to_owned(),
            link: id(&link).to_owned(),
            event: id(&events["data"][0]).to_owned(),
            receipts: [&less, &more].map(|held| id(held).to_owned()),
            spare_key: spare.id.to_string(),
            project,
        }
    }

    /// Sends a request in which nothing is wrong.
    async fn send(&self, api: &Api, route: &str) -> Reply {
        let own_id = match route {
            _ if route.contains("/api-keys/") => &self.spare_key,
            _ if route.contains("/events/") => &self.event,
            _ if route.contains("/payment-links/") => &self.link,
            _ if route.ends_with("/return") => &self.receipts[1],
            _ if route.contains("/receipts/") => &self.receipts[0],
            _ if route.ends_with("/refunds") => &self.sold,
            _ if route.contains("/sandbox/refunds/") => &self.refunds[1],
            _ if route.contains("/refunds/") => &self.refunds[0],
            _ => &self.payment,
        };
        let (method, path) = method_and_path(route, own_id);
        let request = api.request(method, &path).header("Idempotency-Key", "one");
        let body = match route {
            "POST /v1/payments" => samples::qris(&self.project, 15_000),
            "POST /v1/payment-links" => samples::link(&self.project, 15_000),
            "POST /v1/sandbox/payments/{paymentID}/simulate" => json!({ "outcome": "paid" }),
            "POST /v1/payments/{paymentID}/refunds" => json!({ "amount": 3_903 }),
            "POST /v1/sandbox/refunds/{refundID}/simulate" => json!({ "outcome": "succeeded" }),
            _ if route.ends_with("/accept") => json!({ "note": "x", "accept_difference": true }),
            _ if route.ends_with("/return") => json!({ "note": "x" }),
            _ if route.ends_with("/api-keys") => json!({ "name": "mine" }),
            _ => return api.send(request).await,
        };
        api.send(request.json(&body)).await
    }

    /// How much there is of everything that an operation could change.
    async fn counts(&self, kit: &Kit) -> [i64; 6] {
        let api = &self.project.api;
        let keys = kit.engine.keys(self.project.id).await.unwrap();
        [
            total(api, "/v1/payments?status=pending").await,
            total(api, "/v1/payment-links").await,
            total(api, "/v1/refunds?status=pending").await,
            total(api, "/v1/events").await,
            i64::try_from(receipts(&self.project, "state=held").await.len()).unwrap(),
            i64::try_from(keys.iter().filter(|key| key.revoked_at.is_none()).count()).unwrap(),
        ]
    }
}

async fn a_key_does_what_it_has_the_right_to_and_no_more(kit: Arc<Kit>) {
    let sets = [
        KeyRights::NONE,
        KeyRights::NONE.with(KeyRight::Payments),
        KeyRights::NONE.with(KeyRight::HeldMoney),
        KeyRights::NONE.with(KeyRight::Refunds),
        KeyRights::ALL,
    ];
    for rights in sets {
        let world = World::new(&kit).await;
        let (_, api) = key(&kit, &world.project, rights, &[]).await;
        let before = world.counts(&kit).await;
        let may = |demand: Demand| match demand {
            Demand::Nothing => true,
            Demand::Right(right) => rights.has(right),
            Demand::Session => false,
        };
        // What is refused comes first, so that it would be seen if it changed something.
        for (route, demand, _) in ROWS.into_iter().filter(|(_, demand, _)| !may(*demand)) {
            let row = format!("{route} with {:?}", rights.words());
            let message = refused(&row, world.send(&api, route).await, 403, "FORBIDDEN");
            if let Demand::Right(right) = demand {
                assert_eq!(message, format!("this API key does not have the right `{}`", right.word()), "{row}");
            }
        }
        assert_eq!(world.counts(&kit).await, before, "{:?}", rights.words());
        for (route, _, success) in ROWS.into_iter().filter(|(_, demand, _)| may(*demand)) {
            let reply = world.send(&api, route).await;
            assert_eq!(reply.status.as_u16(), success, "{route} with {:?}: {}", rights.words(), reply.text);
        }
    }
}

async fn a_key_without_rights_revokes_itself_and_no_other(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (own, api) = key(&kit, &project, KeyRights::NONE, &[]).await;
    // Whether another key exists is not told either.
    for other in [&project.key_id.to_string(), "junk", "key_01kzdq3f5ve8x9m2r7t4w6y8za"] {
        refused(other, api.delete(&format!("/v1/api-keys/{other}")).await, 403, "FORBIDDEN");
    }
    project.api.get("/v1/balance").await.expect(200);
    // It may even where the project is not usable.
    kit.update(project.id, ProjectUpdate { active: Some(false), ..Default::default() }).await;
    assert_eq!(id(&api.delete(&format!("/v1/api-keys/{own}")).await.expect(200)), own.to_string());
    api.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
}

async fn the_right_is_checked_before_the_project_the_headers_and_the_body(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, api) = key(&kit, &project, KeyRights::NONE, &[]).await;
    kit.update(project.id, ProjectUpdate { active: Some(false), ..Default::default() }).await;
    for (route, demand, _) in ROWS {
        let (method, path) = method_and_path(route, "junk");
        let reply = api.send(api.request(method, &path).body("[")).await;
        let code = if demand == Demand::Nothing { "PROJECT_UNAVAILABLE" } else { "FORBIDDEN" };
        refused(route, reply, 403, code);
    }
}

/// A request that a proxy passes on from this address.
async fn send_from(api: &Api, route: &str, address: &str) -> Reply {
    let (method, path) = method_and_path(route, "junk");
    api.send(api.request(method, &path).header("x-forwarded-for", address)).await
}

async fn from_elsewhere_a_key_opens_no_operation(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let networks = ["203.0.113.0/24", "2001:db8::/32"];
    let (own, api) = key(&kit, &project, KeyRights::ALL, &networks).await;
    // The address is checked before the project.
    kit.update(project.id, ProjectUpdate { active: Some(false), ..Default::default() }).await;
    for route in routes() {
        for address in ["203.0.112.255", "203.0.114.0", "2001:db9::1", "127.0.0.1"] {
            let message = refused(&route, send_from(&api, &route, address).await, 403, "FORBIDDEN");
            assert_eq!(message, "this API key may not be used from this address", "{route}");
        }
    }
    // Elsewhere the key does not even revoke itself: a thief can do nothing with it.
    let revoke = format!("DELETE /v1/api-keys/{own}");
    refused(&revoke, send_from(&api, &revoke, "198.51.100.1").await, 403, "FORBIDDEN");
    let keys = kit.engine.keys(project.id).await.unwrap();
    assert!(keys.iter().all(|key| key.revoked_at.is_none()));
    refused("inside", send_from(&api, "GET /v1/balance", "203.0.113.255").await, 403, "PROJECT_UNAVAILABLE");
}

async fn from_its_networks_a_key_works_as_any_other(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, api) = key(&kit, &project, KeyRights::USUAL, &["203.0.113.0/24", "198.51.100.7", "2001:db8::/32"]).await;
    for address in ["203.0.113.0", "203.0.113.255", "198.51.100.7", "::ffff:198.51.100.7", "2001:db8:ffff::1"] {
        let reply = send_from(&api, "GET /v1/balance", address).await;
        assert_eq!(reply.status, 200, "{address}: {}", reply.text);
    }
    // What the client itself wrote into the header is not believed.
    let forged = send_from(&api, "GET /v1/balance", "203.0.113.7, 198.51.100.8").await;
    refused("forged", forged, 403, "FORBIDDEN");
    refused("none", api.get("/v1/balance").await, 403, "FORBIDDEN");
}

async fn origin_and_rate_are_checked_before_the_address(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, api) = key(&kit, &project, KeyRights::USUAL, &["203.0.113.7"]).await;
    let foreign = || api.request(reqwest::Method::GET, "/v1/balance").header(ORIGIN, "https://elsewhere.example");
    for _ in 0..3 {
        api.send(foreign()).await.refused(403, "CORS_ORIGIN_FORBIDDEN");
    }
    let mut reply = api.get("/v1/balance").await;
    // The key earns one request a second, so on a slow machine a request may slip through.
    for _ in 0..20 {
        if reply.status == 429 {
            break;
        }
        refused("within the rate", reply, 403, "FORBIDDEN");
        reply = api.get("/v1/balance").await;
    }
    reply.refused(429, "RATE_LIMITED");
}

async fn a_key_with_the_usual_rights_creates_payments_and_decides_nothing(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    let (_, secret) = kit.engine.create_key(world.project.id, "usual".to_owned()).await.unwrap();
    let api = world.project.api.with_key(secret.reveal());
    world.send(&api, "POST /v1/payments").await.expect(201);
    for act in ["accept", "return"] {
        let reply = world.send(&api, &format!("POST /v1/receipts/{{receiptID}}/{act}")).await;
        refused(act, reply, 403, "FORBIDDEN");
    }
    assert_eq!(receipts(&world.project, "state=held").await.len(), 2);
}
