//! The order of checks on every `/v1` request: the first check that fails answers, even when later ones would fail too
//! (docs/contract.md, decisions §2).
//!
//! Each request here is wrong from one check on, in every way that its route can be.

use std::sync::Arc;

use reqwest::{
    Method, RequestBuilder,
    header::{CONTENT_TYPE, ORIGIN},
};
use serde_json::{Value, json};
use testkit::{Api, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::id,
    options::rate_limit,
    payments::{paid, total},
    receipts::held_amount,
    refunds::{ask_for_refund, refund},
    refusals::refused,
    routes::{altered, method_and_path, routes},
    samples,
};

on_every_database![the_same_requests_with_nothing_wrong_succeed];

on_sqlite_alone![
    key_then_origin_then_rate_are_checked_before_everything_else_on_every_route with rate_limit(1),
    the_first_check_that_fails_answers_even_when_later_ones_would_fail_too,
    a_missing_bank_account_is_reported_only_when_all_else_is_right,
    an_unknown_path_is_404_with_any_key,
    a_trailing_slash_leads_nowhere_on_every_route,
    a_wrong_method_is_405_with_allow_once_the_key_is_right,
];

/// What can be wrong, in the order in which it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Check {
    Key,
    Origin,
    Rate,
    Permission,
    Project,
    IdempotencyKey,
    /// Not JSON.
    Syntax,
    /// JSON, but a member of the wrong type.
    Shape,
    ProjectIdMissing,
    ProjectIdForeign,
    IdempotencyUse,
    Fields,
    Work,
    /// Nothing is wrong.
    Nothing,
}

/// A check that a route makes: status, code, and what the message names.
type Answer = (Check, u16, &'static str, &'static str);

struct Row {
    route: &'static str,
    /// The route's own checks. The first three checks are the same on every route.
    answers: &'static [Answer],
    /// The status when nothing is wrong; 0 where a key is always refused.
    success: u16,
}

const FORBIDDEN: Answer = (Check::Permission, 403, "FORBIDDEN", "");
const UNAVAILABLE: Answer = (Check::Project, 403, "PROJECT_UNAVAILABLE", "");
const KEY_REQUIRED: Answer = (Check::IdempotencyKey, 400, "IDEMPOTENCY_KEY_REQUIRED", "Idempotency-Key");
const KEY_TOO_LONG: Answer = (Check::IdempotencyKey, 400, "VALIDATION_ERROR", "Idempotency-Key");
const NOT_JSON: Answer = (Check::Syntax, 400, "INVALID_REQUEST", "not valid JSON");
const TEXT_AMOUNT: Answer = (Check::Shape, 400, "INVALID_REQUEST", "`amount`");
const NO_PROJECT: Answer = (Check::ProjectIdMissing, 400, "VALIDATION_ERROR", "`project_id`");
const FOREIGN: Answer = (Check::ProjectIdForeign, 404, "PROJECT_NOT_FOUND", "`project_id`");
const CONFLICT: Answer = (Check::IdempotencyUse, 409, "IDEMPOTENCY_CONFLICT", "Idempotency-Key");
const BAD_AMOUNT: Answer = (Check::Fields, 400, "VALIDATION_ERROR", "`amount`");
const NUMBER_NOTE: Answer = (Check::Shape, 400, "INVALID_REQUEST", "`note`");
const EMPTY_NOTE: Answer = (Check::Fields, 400, "VALIDATION_ERROR", "`note`");
const BAD_OUTCOME: Answer = (Check::Fields, 400, "VALIDATION_ERROR", "`outcome`");
const BAD_PAGE: Answer = (Check::Fields, 400, "VALIDATION_ERROR", "`page`");
const BAD_AT: Answer = (Check::Fields, 400, "VALIDATION_ERROR", "`at`");
const BAD_REFUND: Answer = (Check::Fields, 400, "VALIDATION_ERROR", "`amount`");
const NUMBER_OUTCOME: Answer = (Check::Shape, 400, "INVALID_REQUEST", "`outcome`");
const MISSING: Answer = (Check::Work, 404, "RESOURCE_NOT_FOUND", "");

#[rustfmt::skip]
const ROWS: [Row; 26] = [
    Row { route: "DELETE /v1/api-keys/{id}", answers: &[MISSING], success: 200 },
    Row { route: "GET /v1/api-keys", answers: &[FORBIDDEN], success: 0 },
    Row { route: "GET /v1/audit", answers: &[FORBIDDEN], success: 0 },
    Row { route: "GET /v1/balance", answers: &[UNAVAILABLE, BAD_AT], success: 200 },
    Row { route: "GET /v1/banks", answers: &[UNAVAILABLE, BAD_PAGE], success: 200 },
    Row { route: "GET /v1/events", answers: &[UNAVAILABLE, BAD_PAGE], success: 200 },
    Row { route: "GET /v1/events/{eventID}", answers: &[UNAVAILABLE, MISSING], success: 200 },
    Row { route: "GET /v1/payment-links", answers: &[UNAVAILABLE, BAD_PAGE], success: 200 },
    Row { route: "GET /v1/payment-links/{paymentLinkID}", answers: &[UNAVAILABLE, MISSING], success: 200 },
    Row { route: "GET /v1/payments", answers: &[UNAVAILABLE, BAD_PAGE], success: 200 },
    Row { route: "GET /v1/payments/{paymentID}", answers: &[UNAVAILABLE, MISSING], success: 200 },
    Row { route: "GET /v1/project", answers: &[FORBIDDEN], success: 0 },
    Row { route: "GET /v1/receipts", answers: &[UNAVAILABLE, BAD_PAGE], success: 200 },
    Row { route: "GET /v1/receipts/{receiptID}", answers: &[UNAVAILABLE, MISSING], success: 200 },
    Row { route: "GET /v1/refunds", answers: &[UNAVAILABLE, BAD_PAGE], success: 200 },
    Row { route: "GET /v1/refunds/{refundID}", answers: &[UNAVAILABLE, MISSING], success: 200 },
    Row { route: "POST /v1/api-keys", answers: &[FORBIDDEN], success: 0 },
    Row {
        route: "POST /v1/payment-links",
        answers: &[UNAVAILABLE, KEY_TOO_LONG, NOT_JSON, TEXT_AMOUNT, NO_PROJECT, FOREIGN, CONFLICT, BAD_AMOUNT],
        success: 201,
    },
    Row { route: "POST /v1/payment-links/{paymentLinkID}/cancel", answers: &[UNAVAILABLE, MISSING], success: 200 },
    Row {
        route: "POST /v1/payments",
        answers: &[UNAVAILABLE, KEY_REQUIRED, NOT_JSON, TEXT_AMOUNT, NO_PROJECT, FOREIGN, CONFLICT, BAD_AMOUNT],
        success: 201,
    },
    Row {
        route: "POST /v1/payments/{paymentID}/refunds",
        answers: &[UNAVAILABLE, KEY_REQUIRED, NOT_JSON, TEXT_AMOUNT, CONFLICT, BAD_REFUND, MISSING],
        success: 201,
    },
    Row {
        route: "POST /v1/receipts/{receiptID}/accept",
        answers: &[UNAVAILABLE, NOT_JSON, NUMBER_NOTE, EMPTY_NOTE, MISSING],
        success: 200,
    },
    Row {
        route: "POST /v1/receipts/{receiptID}/return",
        answers: &[UNAVAILABLE, NOT_JSON, NUMBER_NOTE, EMPTY_NOTE, MISSING],
        success: 200,
    },
    Row { route: "POST /v1/refunds/{refundID}/cancel", answers: &[UNAVAILABLE, MISSING], success: 200 },
    Row {
        route: "POST /v1/sandbox/payments/{paymentID}/simulate",
        answers: &[FORBIDDEN, UNAVAILABLE, NOT_JSON, TEXT_AMOUNT, BAD_OUTCOME, MISSING],
        success: 200,
    },
    Row {
        route: "POST /v1/sandbox/refunds/{refundID}/simulate",
        answers: &[FORBIDDEN, UNAVAILABLE, NOT_JSON, NUMBER_OUTCOME, BAD_OUTCOME, MISSING],
        success: 200,
    },
];

/// Projects in every state, and the resources of the usable one.
struct Projects {
    usable: TestProject,
    inactive: TestProject,
    /// In production, neither approved nor active.
    unapproved: TestProject,
    payment: String,
    link: String,
    event: String,
    /// Money that is held for the payment.
    receipts: [String; 2],
    /// Paid, to be given back.
    sold: String,
    /// To cancel and to simulate.
    refunds: [String; 2],
    spare_key: String,
}

impl Projects {
    /// Only the projects, which is enough where requests fail before any look-up. Sends no request.
    async fn without_resources(kit: &Kit) -> Projects {
        let deactivate = || engine::ProjectUpdate { active: Some(false), ..Default::default() };
        let inactive = kit.sandbox().await;
        kit.update(inactive.id, deactivate()).await;
        let unapproved = kit.project(domain::project::Environment::Production).await;
        kit.update(unapproved.id, deactivate()).await;
        let nothing = String::new;
        Projects {
            usable: kit.sandbox().await,
            inactive,
            unapproved,
            payment: nothing(),
            link: nothing(),
            event: nothing(),
            receipts: [nothing(), nothing()],
            sold: nothing(),
            refunds: [nothing(), nothing()],
            spare_key: nothing(),
        }
    }

    /// With a payment, money held for it, a paid payment and refunds of it, a link and an event, and the Idempotency-Key `used` used on
    /// all endpoints that take one.
    async fn with_resources(kit: &Kit) -> Projects {
        let mut world = Projects::without_resources(kit).await;
        let api = &world.usable.api;
        let payment = api.pay("used", &samples::qris(&world.usable, 15_000)).await.expect(201);
        let link = api.request(Method::POST, "/v1/payment-links").header("Idempotency-Key", "used");
        let link = api.send(link.json(&samples::link(&world.usable, 15_000))).await.expect(201);
        let (gone, _) = kit.engine.create_key(world.usable.id, "gone".to_owned()).await.unwrap();
        api.delete(&format!("/v1/api-keys/{}", gone.id)).await.expect(200);
        let event = api.get("/v1/events").await.expect(200);
        let less = held_amount(&world.usable, &payment, 14_000).await;
        let more = held_amount(&world.usable, &payment, 16_000).await;
        let (spare, _) = kit.engine.create_key(world.inactive.id, "spare".to_owned()).await.unwrap();
        let sold = paid(&world.usable, "sold", 50_000).await;
        let used = ask_for_refund(api, id(&sold), "used", &json!({ "amount": 1_903 })).await.expect(201);
        let refunds = [used, refund(&world.usable, &sold, 2_903).await];
        world.sold = id(&sold).to_owned();
        world.refunds = refunds.each_ref().map(|refund| id(refund).to_owned());
        world.payment = id(&payment).to_owned();
        world.link = id(&link).to_owned();
        world.event = id(&event["data"][0]).to_owned();
        world.receipts = [&less, &more].map(|held| id(held).to_owned());
        world.spare_key = spare.id.to_string();
        world
    }

    /// A request to `route` that passes all checks before `from` and fails all later ones.
    fn request(&self, route: &str, from: Check) -> RequestBuilder {
        let project = self.caller(route, from);
        let (method, mut path) = method_and_path(route, if from <= Check::Work { "junk" } else { self.own_id(route) });
        if from <= Check::Fields && method == Method::GET {
            path += "?page=0&at=yesterday";
        }
        let key = if from <= Check::Key { altered(&project.key) } else { project.key.clone() };
        let mut request = project.api.with_key(&key).request(method, &path);
        if from <= Check::Origin {
            request = request.header(ORIGIN, "https://elsewhere.example");
        }
        if let Some(value) = idempotency_key(route, from) {
            request = request.header("Idempotency-Key", value);
        }
        match self.body(route, from) {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body),
            // Cancel and DELETE ignore bodies; the other routes here take none.
            None => request.header(CONTENT_TYPE, "text/plain").body("["),
        }
    }

    fn caller(&self, route: &str, from: Check) -> &TestProject {
        match route {
            _ if route.contains("/sandbox/") && from <= Check::Permission => &self.unapproved,
            // Revoking must always be possible.
            "DELETE /v1/api-keys/{id}" => &self.inactive,
            _ if from <= Check::Project => &self.inactive,
            _ => &self.usable,
        }
    }

    fn own_id(&self, route: &str) -> &str {
        match route {
            "DELETE /v1/api-keys/{id}" => &self.spare_key,
            "GET /v1/events/{eventID}" => &self.event,
            _ if route.contains("/payment-links/") => &self.link,
            _ if route.ends_with("/return") => &self.receipts[1],
            _ if route.contains("/receipts/") => &self.receipts[0],
            _ if route.ends_with("/refunds") => &self.sold,
            _ if route.contains("/sandbox/refunds/") => &self.refunds[1],
            _ if route.contains("/refunds/") => &self.refunds[0],
            _ => &self.payment,
        }
    }

    fn body(&self, route: &str, from: Check) -> Option<String> {
        let mut body = match route {
            "POST /v1/payments" => samples::qris(&self.usable, 15_000),
            "POST /v1/payment-links" => samples::link(&self.usable, 15_000),
            "POST /v1/sandbox/payments/{paymentID}/simulate" => json!({ "outcome": "paid" }),
            "POST /v1/payments/{paymentID}/refunds" => json!({ "amount": 3_903 }),
            "POST /v1/sandbox/refunds/{refundID}/simulate" => json!({ "outcome": "succeeded" }),
            "POST /v1/receipts/{receiptID}/accept" => json!({ "note": "x", "accept_difference": true }),
            "POST /v1/receipts/{receiptID}/return" => json!({ "note": "x" }),
            _ => return None,
        };
        if from <= Check::Syntax {
            return Some("[".to_owned());
        }
        if body["note"].is_string() {
            body["note"] = match from {
                _ if from <= Check::Shape => json!(1),
                _ if from <= Check::Fields => json!(""),
                _ => json!("x"),
            };
            return Some(body.to_string());
        }
        if from <= Check::Fields && body["outcome"].is_string() {
            body["outcome"] = json!("lost");
        } else if from <= Check::Fields {
            body["amount"] = json!(if route.ends_with("/refunds") { 0 } else { 1 });
        }
        if from <= Check::Shape && route.contains("/sandbox/refunds/") {
            body["outcome"] = json!(1);
        }
        if from <= Check::ProjectIdForeign && body["project_id"].is_string() {
            body["project_id"] = json!(self.inactive.id.to_string());
        }
        if from <= Check::ProjectIdMissing && body["project_id"].is_string() {
            body["project_id"] = Value::Null;
        }
        if from <= Check::Shape {
            body["amount"] = json!("15000");
        }
        Some(body.to_string())
    }
}

fn idempotency_key(route: &str, from: Check) -> Option<String> {
    match route {
        "POST /v1/payment-links" if from <= Check::IdempotencyKey => Some("x".repeat(256)),
        "POST /v1/payments" | "POST /v1/payment-links" | "POST /v1/payments/{paymentID}/refunds" => match from {
            _ if from <= Check::IdempotencyKey => None,
            _ if from <= Check::IdempotencyUse => Some("used".to_owned()),
            _ => Some("unused".to_owned()),
        },
        _ => None,
    }
}

#[test]
fn the_table_below_has_a_row_for_every_route() {
    assert_eq!(routes(), ROWS.map(|row| row.route));
}

async fn key_then_origin_then_rate_are_checked_before_everything_else_on_every_route(kit: Arc<Kit>) {
    let world = Projects::without_resources(&kit).await;
    for Row { route, .. } in &ROWS {
        let anonymous = kit.anonymous();
        let send = |from| anonymous.send(world.request(route, from));
        refused(route, send(Check::Key).await, 401, "UNAUTHORIZED");
        // More than the burst allows, so the rate is exceeded as well.
        for _ in 0..4 {
            refused(route, send(Check::Origin).await, 403, "CORS_ORIGIN_FORBIDDEN");
        }
        let mut reply = send(Check::Rate).await;
        // The key earns one request a second, so on a slow machine a request may slip through.
        for _ in 0..20 {
            if reply.status == 429 {
                break;
            }
            reply = send(Check::Rate).await;
        }
        refused(route, reply, 429, "RATE_LIMITED");
    }
    let window = engine::Window { offset: 0, limit: 1 };
    for project in [&world.usable, &world.inactive, &world.unapproved] {
        assert_eq!(kit.engine.payments(project.id, &Default::default(), window).await.unwrap().total, 0);
        assert_eq!(kit.engine.links(project.id, &Default::default(), window).await.unwrap().total, 0);
    }
}

async fn the_first_check_that_fails_answers_even_when_later_ones_would_fail_too(kit: Arc<Kit>) {
    let world = Projects::with_resources(&kit).await;
    for Row { route, answers, .. } in &ROWS {
        for (check, status, code, named) in *answers {
            let reply = kit.anonymous().send(world.request(route, *check)).await;
            let message = refused(&format!("{route} broken from {check:?} on"), reply, *status, code);
            assert!(message.contains(named), "{route} broken from {check:?} on: {message}");
        }
    }
    let api = &world.usable.api;
    for (path, count) in [("payments", 2), ("payment-links", 1), ("refunds", 2), ("events", 2)] {
        assert_eq!(total(api, &format!("/v1/{path}")).await, count, "{path}");
    }
    assert_eq!(total(api, "/v1/refunds?status=pending").await, 2);
    assert_eq!(api.get(&format!("/v1/payments/{}", world.payment)).await.expect(200)["status"], "pending");
}

/// Without this, the requests of the table above could be refused for another reason.
async fn the_same_requests_with_nothing_wrong_succeed(kit: Arc<Kit>) {
    let world = Projects::with_resources(&kit).await;
    for Row { route, success, .. } in ROWS.iter().filter(|row| row.success != 0) {
        let reply = kit.anonymous().send(world.request(route, Check::Nothing)).await;
        assert_eq!(reply.status.as_u16(), *success, "{route}: {}", reply.text);
    }
}

/// The last check of all is the work itself, here the bank account that a production project lacks.
async fn a_missing_bank_account_is_reported_only_when_all_else_is_right(kit: Arc<Kit>) {
    let project = kit.production().await;
    let bad = samples::qris(&project, 99);
    project.api.pay("k-1", &bad).await.refused(400, "VALIDATION_ERROR");
    let reply = project.api.pay("k-1", &samples::qris(&project, 100)).await;
    assert_eq!(reply.header("retry-after"), Some("1"));
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    // The key stays unused, so the same one may carry another body.
    project.api.pay("k-1", &samples::qris(&project, 200)).await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    assert_eq!(project.api.get("/v1/payments").await.expect(200)["pagination"]["total_items"], 0);
}

async fn an_unknown_path_is_404_with_any_key(kit: Arc<Kit>) {
    let key = kit.sandbox().await.key;
    for path in ["/nothing", "/v1", "/v1/", "/v1/nothing", "/v2/payments", "/v1/payments/a/b", "/V1/payments"] {
        for api in [kit.anonymous(), Api::new(kit.address, Some(&key)), Api::new(kit.address, Some("junk"))] {
            for method in [Method::GET, Method::POST, Method::DELETE, Method::PUT] {
                let reply = api.send(api.request(method, path)).await;
                refused(path, reply, 404, "RESOURCE_NOT_FOUND");
            }
        }
    }
}

async fn a_trailing_slash_leads_nowhere_on_every_route(kit: Arc<Kit>) {
    let world = Projects::with_resources(&kit).await;
    for route in routes() {
        let (method, path) = method_and_path(&route, world.own_id(&route));
        let reply = world.usable.api.send(world.usable.api.request(method, &format!("{path}/"))).await;
        assert!(!reply.headers.contains_key("location"), "{route}");
        refused(&route, reply, 404, "RESOURCE_NOT_FOUND");
    }
}

async fn a_wrong_method_is_405_with_allow_once_the_key_is_right(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for path in ["/v1/payments", "/v1/balance", "/v1/api-keys/junk", "/v1/payment-links/junk/cancel"] {
        let anonymous = kit.anonymous();
        refused(path, anonymous.send(anonymous.request(Method::PUT, path)).await, 401, "UNAUTHORIZED");
        let reply = project.api.send(project.api.request(Method::PUT, path)).await;
        let allow = reply.header("allow").unwrap_or_default().to_owned();
        refused(path, reply, 405, "INVALID_REQUEST");
        let wanted = match path {
            "/v1/payments" => "GET,HEAD,POST",
            "/v1/balance" => "GET,HEAD",
            "/v1/api-keys/junk" => "DELETE",
            _ => "POST",
        };
        let mut allowed: Vec<&str> = allow.split(',').map(str::trim).collect();
        allowed.sort_unstable();
        assert_eq!(allowed.join(","), wanted, "{path}");
    }
}
