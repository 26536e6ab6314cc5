//! Calls of the API with a dashboard session in place of a key: which routes take one, and from which pages and
//! members.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    user::{SESSION_IDLE, SESSION_LONGEST},
};
use engine::ProjectUpdate;
use reqwest::{
    Method, RequestBuilder,
    header::{AUTHORIZATION, COOKIE, ORIGIN},
};
use serde_json::{Value, json};
use testkit::{Api, Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    dashboard::sandbox_with_owner,
    json::id,
    nodes::Node,
    options::rate_limit,
    people::Person,
    refusals::refused,
    routes::{altered, method_and_path, routes},
};

on_every_database![when_sessions_cannot_be_looked_up_authentication_is_unavailable_and_nobody_is_let_in];

on_sqlite_alone![
    a_session_opens_keys_project_events_receipts_and_refunds_and_every_other_route_still_demands_a_key,
    where_authorization_is_sent_the_key_decides_and_the_session_is_not_looked_at,
    viewers_read_and_developers_and_owners_make_keys_too,
    a_cashiers_session_opens_no_route,
    a_session_names_its_project_unless_there_is_only_one,
    only_members_find_a_project_and_no_session_finds_another_projects_event,
    a_removed_member_is_refused_at_once,
    with_a_session_only_pages_of_our_own_may_call_and_no_answer_is_for_another_origin,
    an_ended_or_made_up_session_opens_nothing,
    a_session_ends_when_it_is_idle_and_after_half_a_day_however_much_it_is_used,
    each_session_has_a_rate_of_its_own_which_is_judged_after_the_site_and_before_the_project with rate_limit(1),
];

const UNKNOWN: &str = "prj_01kzdq3f5ve8x9m2r7t4w6y8za";
/// The routes that take a session, and the status that an owner gets.
const OPEN: [(&str, u16); 12] = [
    ("GET /v1/api-keys", 200),
    ("GET /v1/audit", 200),
    ("GET /v1/events", 200),
    ("GET /v1/events/{eventID}", 200),
    ("GET /v1/project", 200),
    ("GET /v1/receipts", 200),
    // The id of an event is the id of no receipt.
    ("GET /v1/receipts/{receiptID}", 404),
    ("GET /v1/refunds", 200),
    ("GET /v1/refunds/{refundID}", 404),
    ("POST /v1/api-keys", 201),
    ("POST /v1/receipts/{receiptID}/accept", 404),
    ("POST /v1/receipts/{receiptID}/return", 404),
];

/// A signed-in browser that calls the API; every answer is compared with the document.
pub(crate) struct Session {
    pub(crate) api: Api,
    pub(crate) cookie: String,
}

impl Session {
    pub(crate) fn of(kit: &Kit, person: &Person) -> Session {
        let token = person.token().unwrap();
        Session { api: kit.anonymous(), cookie: format!("lunas_session={}", token.reveal()) }
    }

    pub(crate) async fn member(kit: &Kit, project: &TestProject, role: Role) -> Session {
        let email = format!("{}@{}.example", role.word(), project.id);
        Session::of(kit, &Person::member(kit, project.id, role, &email).await)
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.api.request(method, path).header(COOKIE, &self.cookie)
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> Reply {
        self.api.send(request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn create_key(&self, query: &str, body: &Value) -> Reply {
        self.send(self.request(Method::POST, &format!("/v1/api-keys{query}")).json(body)).await
    }
}

/// Revokes a key, and returns the id of the event about it.
pub(crate) async fn event_of(kit: &Kit, project: &TestProject) -> String {
    let (key, _) = kit.engine.create_key(project.id, "gone".to_owned()).await.unwrap();
    project.api.delete(&format!("/v1/api-keys/{}", key.id)).await.expect(200);
    id(&project.api.get("/v1/events").await.expect(200)["data"][0]).to_owned()
}

async fn a_session_opens_keys_project_events_receipts_and_refunds_and_every_other_route_still_demands_a_key(
    kit: Arc<Kit>,
) {
    let project = kit.sandbox().await;
    let event = event_of(&kit, &project).await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    let mut opened = 0;
    for route in routes() {
        let (method, path) = method_and_path(&route, &event);
        let body = (method == Method::POST).then(|| json!({ "name": "by session", "note": "x" }));
        let request = session.request(method, &path);
        let reply = session.send(body.iter().fold(request, |request, body| request.json(body))).await;
        match OPEN.iter().find(|(open, _)| *open == route) {
            Some((_, status)) => {
                assert_eq!(reply.status.as_u16(), *status, "{route}: {}", reply.text);
                assert_eq!(reply.header("cache-control"), Some("no-store"), "{route}");
                opened += 1;
            }
            None => drop(refused(&route, reply, 401, "UNAUTHORIZED")),
        }
    }
    assert_eq!(opened, OPEN.len());
    // A wrong method is reported once the session is let in, as with a key.
    session.send(session.request(Method::PUT, "/v1/events")).await.refused(405, "INVALID_REQUEST");
}

async fn where_authorization_is_sent_the_key_decides_and_the_session_is_not_looked_at(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let session = Session::member(&kit, &project, Role::Owner).await;
    let with = |path: &str, value: &str| session.request(Method::GET, path).header(AUTHORIZATION, value);
    for path in ["/v1/api-keys", "/v1/project"] {
        session.send(with(path, &format!("Bearer {}", project.key))).await.refused(403, "FORBIDDEN");
    }
    // The key decides on the project, not the query.
    let event = event_of(&kit, &other).await;
    let path = format!("/v1/events?project_id={}", project.id);
    let events = session.send(with(&path, &format!("Bearer {}", other.key))).await.expect(200);
    assert_eq!(id(&events["data"][0]), event);
    for wrong in ["", "Bearer", "Basic x", &format!("Bearer {}", altered(&project.key))] {
        refused(wrong, session.send(with("/v1/events", wrong)).await, 401, "UNAUTHORIZED");
    }
}

async fn viewers_read_and_developers_and_owners_make_keys_too(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    for (role, may_create) in [(Role::Viewer, false), (Role::Developer, true), (Role::Owner, true)] {
        let session = Session::member(&kit, &project, role).await;
        for path in ["/v1/api-keys", "/v1/events"] {
            session.get(path).await.expect(200);
        }
        assert_eq!(session.get("/v1/project").await.expect(200)["role"], role.word());
        let reply = session.create_key("", &json!({ "name": role.word() })).await;
        match may_create {
            true => drop(reply.expect(201)),
            false => {
                reply.refused(403, "FORBIDDEN");
                // The role is checked before the body is read.
                session.send(session.request(Method::POST, "/v1/api-keys").body("[")).await.refused(403, "FORBIDDEN");
            }
        }
    }
    assert_eq!(kit.engine.keys(project.id).await.unwrap().len(), 3);
}

async fn a_cashiers_session_opens_no_route(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let event = event_of(&kit, &project).await;
    let session = Session::member(&kit, &project, Role::Cashier).await;
    let keys = kit.engine.keys(project.id).await.unwrap().len();
    for route in routes() {
        let (method, path) = method_and_path(&route, &event);
        let body = (method == Method::POST).then(|| json!({ "name": "by session", "note": "x" }));
        let request = session.request(method, &path);
        let reply = session.send(body.iter().fold(request, |request, body| request.json(body))).await;
        match OPEN.iter().any(|(open, _)| *open == route) {
            true => drop(refused(&route, reply, 403, "FORBIDDEN")),
            false => assert!([401, 403].contains(&reply.status.as_u16()) || route.contains("/health"), "{route}"),
        }
    }
    assert_eq!(kit.engine.keys(project.id).await.unwrap().len(), keys);
}

async fn a_session_names_its_project_unless_there_is_only_one(kit: Arc<Kit>) {
    let (one, two, foreign) =
        (sandbox_with_owner(&kit).await, sandbox_with_owner(&kit).await, sandbox_with_owner(&kit).await);
    let person = Person::member(&kit, one.id, Role::Owner, "one@example.com").await;
    let session = Session::of(&kit, &person);
    let shown = async |query: &str| session.get(&format!("/v1/project{query}")).await.expect(200)["id"].clone();
    assert_eq!(shown("").await, one.id.to_string());
    kit.engine.add_member(two.id, &person.user, Role::Viewer).await.unwrap();
    for project in [&one, &two] {
        assert_eq!(shown(&format!("?project_id={}", project.id)).await, project.id.to_string());
    }
    let rows = [
        (String::new(), 400, "VALIDATION_ERROR"),
        ("?project_id=".to_owned(), 400, "VALIDATION_ERROR"),
        (format!("?project_id={}&project_id={}", one.id, one.id), 400, "VALIDATION_ERROR"),
        ("?project_id=%ff".to_owned(), 400, "VALIDATION_ERROR"),
        (format!("?project_id={}", foreign.id), 404, "PROJECT_NOT_FOUND"),
        (format!("?project_id={UNKNOWN}"), 404, "PROJECT_NOT_FOUND"),
        ("?project_id=junk".to_owned(), 404, "PROJECT_NOT_FOUND"),
        (format!("?project_id={}", one.id.to_string().to_uppercase()), 404, "PROJECT_NOT_FOUND"),
    ];
    for (query, status, code) in &rows {
        for (route, _) in OPEN {
            let (method, path) = method_and_path(route, "junk");
            // Membership is checked before role and body.
            let reply = session.send(session.request(method, &format!("{path}{query}"))).await;
            let message = refused(&format!("{route}{query}"), reply, *status, code);
            assert!(message.contains("`project_id`"), "{message}");
            assert!(!message.contains(&foreign.id.to_string()));
        }
    }
}

async fn only_members_find_a_project_and_no_session_finds_another_projects_event(kit: Arc<Kit>) {
    let (project, other) = (sandbox_with_owner(&kit).await, kit.sandbox().await);
    let event = event_of(&kit, &project).await;
    let strangers =
        [Person::new(&kit, "nobody@example.com").await, Person::operator(&kit, "operator@example.com").await];
    for stranger in &strangers {
        let session = Session::of(&kit, stranger);
        for query in [String::new(), format!("?project_id={}", project.id)] {
            session.get(&format!("/v1/project{query}")).await.refused(404, "PROJECT_NOT_FOUND");
            session.get(&format!("/v1/events/{event}{query}")).await.refused(404, "PROJECT_NOT_FOUND");
            let reply = session.create_key(&query, &json!({ "name": "mine" })).await;
            reply.refused(404, "PROJECT_NOT_FOUND");
        }
    }
    let session = Session::member(&kit, &other, Role::Owner).await;
    session.get(&format!("/v1/events/{event}")).await.refused(404, "RESOURCE_NOT_FOUND");
    assert_eq!(session.get("/v1/events").await.expect(200)["data"], json!([]));
    assert_eq!(kit.engine.keys(project.id).await.unwrap().len(), 2);
}

async fn a_removed_member_is_refused_at_once(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let former = Person::member(&kit, project.id, Role::Viewer, "former@example.com").await;
    let session = Session::of(&kit, &former);
    session.get("/v1/events").await.expect(200);
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let visit = kit.engine.visit(&owner.token().unwrap(), String::new(), true).await.unwrap().unwrap();
    let desk = kit.engine.desk(&visit, project.id).await.unwrap();
    desk.remove_member(former.user.id, false).await.unwrap();
    session.get("/v1/events").await.refused(401, "UNAUTHORIZED");
    let session = Session::of(&kit, &Person::signed_in(&kit, former.user).await);
    session.get(&format!("/v1/events?project_id={}", project.id)).await.refused(404, "PROJECT_NOT_FOUND");
}

async fn with_a_session_only_pages_of_our_own_may_call_and_no_answer_is_for_another_origin(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    let shop = "https://shop.example";
    let allowed_origins = Some(vec![shop.to_owned()]);
    kit.update(project.id, ProjectUpdate { allowed_origins, ..Default::default() }).await;
    let own = format!("http://{}", kit.address);
    let rows: [(&[(&str, &str)], bool); 13] = [
        (&[], true),
        (&[("sec-fetch-site", "same-origin")], true),
        (&[("sec-fetch-site", "none")], true),
        (&[("origin", &own)], true),
        (&[("origin", &own), ("sec-fetch-site", "same-origin")], true),
        (&[("sec-fetch-site", "cross-site")], false),
        (&[("sec-fetch-site", "same-site")], false),
        (&[("sec-fetch-site", "")], false),
        (&[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false),
        (&[("origin", shop)], false),
        (&[("origin", "null")], false),
        (&[("origin", &own), ("origin", shop)], false),
        (&[("origin", &own), ("sec-fetch-site", "cross-site")], false),
    ];
    for (index, (headers, is_taken)) in rows.into_iter().enumerate() {
        for (route, _) in OPEN {
            let (method, path) = method_and_path(route, "junk");
            let is_post = method == Method::POST;
            // The project is checked after the origin, so that another site's page learns nothing about it.
            let path = if is_taken { path } else { format!("{path}?project_id=junk") };
            let request = session.request(method, &path).json(&json!({ "name": format!("{index}"), "note": "x" }));
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            let reply = session.send(request).await;
            let row = format!("{route} {headers:?}");
            for name in reply.headers.keys() {
                assert!(!name.as_str().starts_with("access-control-"), "{row}: {name}");
            }
            match is_taken {
                true => assert!(!reply.status.is_client_error() || reply.status == 404, "{row}: {}", reply.text),
                false => drop(refused(&row, reply, 403, "CORS_ORIGIN_FORBIDDEN")),
            }
            assert!(
                !is_post
                    || is_taken
                        == kit.engine.keys(project.id).await.unwrap().iter().any(|key| key.name == format!("{index}"))
            );
        }
    }
    // With a key, the project's own list of origins decides.
    let request = project.api.request(Method::GET, "/v1/events").header(ORIGIN, shop);
    let reply = project.api.send(request.header("sec-fetch-site", "cross-site")).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some(shop));
    reply.expect(200);
}

async fn an_ended_or_made_up_session_opens_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let session = Session::of(&kit, &person);
    session.get("/v1/project").await.expect(200);
    let wrong = [
        "lunas_session=".to_owned(),
        "lunas_session=junk".to_owned(),
        format!("lunas_session={}", "0".repeat(64)),
        session.cookie.to_uppercase(),
        session.cookie.replace("lunas_session", "__Host-lunas_session"),
    ];
    for cookie in wrong {
        let stranger = Session { api: kit.anonymous(), cookie };
        refused(&stranger.cookie, stranger.get("/v1/project").await, 401, "UNAUTHORIZED");
    }
    let visit = kit.engine.visit(&person.token().unwrap(), String::new(), true).await.unwrap().unwrap();
    kit.engine.sign_out(&visit).await.unwrap();
    for (route, _) in OPEN {
        let (method, path) = method_and_path(route, "junk");
        refused(route, session.send(session.request(method, &path)).await, 401, "UNAUTHORIZED");
    }
}

async fn a_session_ends_when_it_is_idle_and_after_half_a_day_however_much_it_is_used(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let idle = Session::of(&kit, &person);
    kit.clock.advance(SESSION_IDLE - Duration::from_secs(1));
    idle.get("/v1/project").await.expect(200);
    kit.clock.advance(SESSION_IDLE - Duration::from_secs(1));
    idle.get("/v1/project").await.expect(200);
    kit.clock.advance(SESSION_IDLE);
    idle.get("/v1/project").await.refused(401, "UNAUTHORIZED");
    let used = Session::of(&kit, &Person::signed_in(&kit, person.user).await);
    let (step, mut passed) = (SESSION_IDLE / 2, Duration::ZERO);
    while passed + step < SESSION_LONGEST {
        kit.clock.advance(step);
        passed += step;
        used.get("/v1/project").await.expect(200);
    }
    kit.clock.advance(step);
    used.get("/v1/project").await.refused(401, "UNAUTHORIZED");
}

async fn each_session_has_a_rate_of_its_own_which_is_judged_after_the_site_and_before_the_project(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let elsewhere = Session::of(&kit, &Person::signed_in(&kit, person.user.clone()).await);
    let session = Session::of(&kit, &person);
    let reply = session.get("/v1/events").await;
    assert_eq!((reply.header("ratelimit-limit"), reply.header("ratelimit-remaining")), (Some("2"), Some("1")));
    reply.expect(200);
    let mut reply = session.get("/v1/project?project_id=junk").await;
    for _ in 0..20 {
        if reply.status == 429 {
            break;
        }
        reply = session.get("/v1/project?project_id=junk").await;
    }
    assert!(reply.header("retry-after").is_some() && reply.header("ratelimit-remaining") == Some("0"));
    reply.refused(429, "RATE_LIMITED");
    let foreign = session.request(Method::GET, "/v1/project").header("sec-fetch-site", "cross-site");
    session.send(foreign).await.refused(403, "CORS_ORIGIN_FORBIDDEN");
    elsewhere.get("/v1/project").await.expect(200);
    project.api.get("/v1/events").await.expect(200);
}

async fn when_sessions_cannot_be_looked_up_authentication_is_unavailable_and_nobody_is_let_in(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    let node = Node::beside(&kit).await;
    kit.database.take_away();
    let session = Session { api: Api::new(node.address, None), ..session };
    for (route, _) in OPEN {
        let (method, path) = method_and_path(route, "junk");
        refused(route, session.send(session.request(method, &path)).await, 503, "AUTH_UNAVAILABLE");
    }
    kit.database.bring_back();
    session.get("/v1/project").await.expect(200);
    node.stop().await;
}
