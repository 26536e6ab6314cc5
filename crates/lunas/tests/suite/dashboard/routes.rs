//! Every address of the dashboard against everybody who may not use it. The table of addresses is compared with the
//! code, so that none can be forgotten.

use std::{collections::BTreeSet, sync::Arc};

use domain::{
    access::{Act, Role},
    language::Language,
    user::{SESSION_IDLE, Token},
};
use reqwest::Method;
use serde_json::json;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use super::{
    routes_in_code::routes_in_code,
    routes_table::{For, Row, table},
};
use crate::support::{
    bank_accounts::{account_of, stray},
    counter::sell,
    customer::{Customer, is_page, payment_of},
    held::held,
    json::text,
    links::create_link,
    payments::{events_of, pending_qris, simulate_paid},
    people::{Person, make},
    refund_pages::batched,
    rows::rows,
};

on_every_database![
    ids_of_another_project_are_not_found_at_ones_own_desk on 2 threads,
    a_role_that_is_high_enough_is_let_in on 2 threads,
];

on_sqlite_alone![
    without_a_session_every_address_asks_to_sign_in on 2 threads,
    with_an_expired_session_every_address_asks_to_sign_in on 2 threads,
    another_projects_owner_finds_nothing_and_an_operator_is_no_member on 2 threads,
    a_role_that_is_too_low_is_refused on 2 threads,
    a_form_counts_only_with_its_own_sessions_token_and_from_our_own_pages on 2 threads,
];

#[test]
fn no_address_of_the_dashboard_is_missing_from_the_table() {
    let table: BTreeSet<(String, String)> =
        table().into_iter().map(|row| (row.path.to_owned(), row.method.to_string())).collect();
    let code = routes_in_code();
    let missing: Vec<_> = code.difference(&table).collect();
    let gone: Vec<_> = table.difference(&code).collect();
    assert_eq!((missing, gone), (Vec::new(), Vec::new()));
}

/// After signing in again, the browser opens the address that the form was sent to.
#[test]
fn every_address_of_a_form_has_something_to_show() {
    let has = |path: &str, method: Method| table().iter().any(|row| row.path == path && row.method == method);
    for row in table().iter().filter(|row| row.path != "/dashboard/sign-out") {
        assert!(has(row.path, Method::GET), "{}", row.path);
    }
}

/// A project with one of each resource that an address can name.
pub(super) struct SampleProject {
    pub(super) project: TestProject,
    owner: Person,
    names: Vec<(&'static str, String)>,
}

impl SampleProject {
    pub(super) async fn new(kit: &Kit) -> SampleProject {
        let (project, _receiver) = kit.hooked(testkit::Answer::Status(200)).await;
        let owner = Person::member(kit, project.id, Role::Owner, "owner@toko.test").await;
        let link = create_link(&project, json!({})).await;
        let asks = create_link(&project, json!({ "customer_fields": { "email": true } })).await;
        let answers = [("method", "qris"), ("email", "siti@toko.test")];
        let payment = payment_of(&project, &Customer::of(kit).choose(&asks, &answers).await).await;
        let paid = pending_qris(&project, 15_000).await;
        simulate_paid(&project, &paid).await;
        let receipt = held(kit, &project, &paid, "twice", 15_000).await;
        let event = events_of(&project, &paid, "payment.paid").await;
        let visit = kit.engine.visit(&owner.token().unwrap(), String::new(), false).await.unwrap().unwrap();
        let own = kit.engine.desk(&visit, project.id).await.unwrap();
        let (invite, token) = own.invite("guest@toko.test", Role::Viewer, Language::Indonesian, None).await.unwrap();
        let sale = sell(&owner, &project, "15000").await;
        let account = account_of(kit, kit.production().await.id).await;
        let stray = stray(kit, account, "stray", 15_000).await;
        // One that developers may rotate.
        let (key, _) = kit.engine.create_key(project.id, "usual".to_owned()).await.unwrap();
        let (refund, batch) = batched(kit, &owner, &project, &paid).await;
        let names = vec![
            ("{account}", account.to_string()),
            ("{stray}", stray.to_string()),
            ("{sale}", sale),
            ("{receipt}", receipt.id),
            ("{refund}", refund),
            ("{batch}", batch),
            ("{project}", project.id.to_string()),
            ("{link}", text(&link, "id").to_owned()),
            ("{key}", key.id.to_string()),
            ("{payment}", text(&payment, "id").to_owned()),
            ("{event}", text(&event[0], "id").to_owned()),
            ("{user}", owner.user.id.to_string()),
            ("{session}", visit.session.id.to_string()),
            ("{invite}", invite.id.to_string()),
            ("{letter}", "ltr_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned()),
            ("{token}", token.reveal()),
            ("{reset}", kit.engine.make_reset_link(&owner.user).await.unwrap().token.reveal()),
        ];
        SampleProject { project, owner, names }
    }

    /// Addresses of the counter name this sale.
    pub(super) fn sale_is(&mut self, id: String) {
        self.names.retain(|(name, _)| *name != "{sale}");
        self.names.push(("{sale}", id));
    }

    fn path(&self, row: &Row) -> String {
        self.names.iter().fold(row.path.to_owned(), |path, (name, id)| path.replace(name, id))
    }

    pub(super) async fn ask(&self, person: &Person, row: &Row) -> Reply {
        let path = self.path(row);
        match row.method {
            Method::GET => person.open(&path).await,
            _ => person.post(&path, row.fields).await,
        }
    }
}

/// Sends a form as the owner's page would, with that token and those headers.
async fn send(world: &SampleProject, row: &Row, token: &str, headers: &[(&'static str, &str)]) -> Reply {
    let mut fields = row.fields.to_vec();
    fields.push(("form_token", token));
    let form = world.owner.browser.form(&world.path(row), &fields);
    let form = headers.iter().fold(form, |form, (name, value)| form.header(*name, *value));
    world.owner.browser.send(form).await
}

pub(super) fn said(row: &Row, who: &str) -> String {
    format!("{} {} by {who}", row.method, row.path)
}

async fn without_a_session_every_address_asks_to_sign_in(kit: Arc<Kit>) {
    let world = SampleProject::new(&kit).await;
    let ended = Person::member(&kit, world.project.id, Role::Owner, "ended@toko.test").await;
    ended.post("/dashboard/sign-out", &[]).await;
    let before = rows(&kit.database);
    let (nobody, forged) = (Customer::of(&kit), Customer::of(&kit));
    for row in table().iter().filter(|row| row.is_for != For::Anyone) {
        let path = world.path(row);
        for (who, browser) in [("nobody", &nobody), ("whoever signed out", &ended.browser), ("a forger", &forged)] {
            let request = match row.method {
                Method::GET => browser.request(Method::GET, &path),
                _ => browser.form(&path, row.fields),
            };
            let made_up = format!("lunas_session={}", Token::of([5; 32]).reveal());
            let request = if who == "a forger" { request.header("cookie", made_up) } else { request };
            let reply = browser.send(request).await;
            is_page(&said(row, who), &reply, 401);
            assert!(reply.text.contains("name=\"password\""), "{}", said(row, who));
        }
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn with_an_expired_session_every_address_asks_to_sign_in(kit: Arc<Kit>) {
    let world = SampleProject::new(&kit).await;
    kit.clock.advance(SESSION_IDLE);
    let before = rows(&kit.database);
    for row in table().iter().filter(|row| row.is_for != For::Anyone) {
        let reply = world.ask(&world.owner, row).await;
        is_page(&said(row, "somebody who was away"), &reply, 401);
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn another_projects_owner_finds_nothing_and_an_operator_is_no_member(kit: Arc<Kit>) {
    let world = SampleProject::new(&kit).await;
    let elsewhere = kit.sandbox().await;
    let other = Person::member(&kit, elsewhere.id, Role::Owner, "other@toko.test").await;
    let operator = Person::operator(&kit, "operator@toko.test").await;
    let before = rows(&kit.database);
    for row in table() {
        for (who, person) in [("another project's owner", &other), ("an operator", &operator)] {
            let is_theirs = match row.is_for {
                For::Role(_) => false,
                For::Operators => who == "an operator",
                For::SignedIn | For::Anyone => true,
            };
            if !is_theirs {
                is_page(&said(&row, who), &world.ask(person, &row).await, 404);
            }
        }
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn ids_of_another_project_are_not_found_at_ones_own_desk(kit: Arc<Kit>) {
    let world = SampleProject::new(&kit).await;
    let elsewhere = kit.sandbox().await;
    let other = Person::member(&kit, elsewhere.id, Role::Owner, "other@toko.test").await;
    let before = rows(&kit.database);
    let own = elsewhere.id.to_string();
    let desks = table().into_iter().filter(|row| row.path.matches('{').count() > 1);
    for row in desks.filter(|row| row.path.starts_with("/dashboard/{project}")) {
        let path = world.path(&row).replace(&world.project.id.to_string(), &own);
        let reply = match row.method {
            Method::GET => other.open(&path).await,
            _ => other.post(&path, row.fields).await,
        };
        // Some addresses show their whole section; none may show or change anything of the other project.
        match row.method == Method::GET && reply.status == 200 {
            true => assert!(!reply.text.contains("toko.test") || reply.text.contains("other@toko.test")),
            false => is_page(&said(&row, "another project's owner"), &reply, 404),
        }
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn a_role_that_is_too_low_is_refused(kit: Arc<Kit>) {
    let world = SampleProject::new(&kit).await;
    let people = [
        (Role::Cashier, Person::member(&kit, world.project.id, Role::Cashier, "cashier@toko.test").await),
        (Role::Viewer, Person::member(&kit, world.project.id, Role::Viewer, "viewer@toko.test").await),
        (Role::Developer, Person::member(&kit, world.project.id, Role::Developer, "developer@toko.test").await),
    ];
    let before = rows(&kit.database);
    for row in table() {
        for (role, person) in &people {
            let (who, reply) = match row.is_for {
                // There they come to the counter.
                For::Role(_) if *role == Role::Cashier && row.path == "/dashboard/{project}" => continue,
                For::Role(act) if !role.may(act) => (role.word(), world.ask(person, &row).await),
                For::Operators => {
                    is_page(&said(&row, role.word()), &world.ask(person, &row).await, 404);
                    continue;
                }
                _ => continue,
            };
            is_page(&said(&row, who), &reply, 403);
        }
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn a_role_that_is_high_enough_is_let_in(kit: Arc<Kit>) {
    let mut world = SampleProject::new(&kit).await;
    for role in Role::ALL {
        let person = Person::member(&kit, world.project.id, role, &format!("{}@role.test", role.word())).await;
        // Each has a sale of their own. A stream never ends.
        if role.may(Act::Sell) {
            world.sale_is(sell(&person, &world.project, "15000").await);
        }
        let is_opened =
            |row: &Row| row.method == Method::GET && !row.path.ends_with("/live") && !row.path.ends_with("/events");
        let shown = table().into_iter().filter(is_opened);
        for row in shown.filter(|row| matches!(row.is_for, For::Role(act) if role.may(act))) {
            let status = world.ask(&person, &row).await.status.as_u16();
            // A page for an act that is not possible now says so with 409.
            assert!([200, 409].contains(&status), "{}: {status}", said(&row, role.word()));
        }
    }
}

async fn a_form_counts_only_with_its_own_sessions_token_and_from_our_own_pages(kit: Arc<Kit>) {
    let world = SampleProject::new(&kit).await;
    let operator = make(&kit, "operator@toko.test", true).await;
    kit.engine.add_member(world.project.id, &operator, Role::Owner).await.unwrap();
    let operator = Person::signed_in(&kit, operator).await;
    let world = SampleProject { owner: operator, ..world };
    let own = world.owner.token().unwrap().form_token();
    let another = Token::of([9; 32]).form_token();
    let before = rows(&kit.database);
    for row in table().iter().filter(|row| row.method == Method::POST) {
        if row.is_for != For::Anyone {
            for (what, token) in [("no token", ""), ("another's token", another.as_str()), ("junk", &own[1..])] {
                let reply = send(&world, row, token, &[("sec-fetch-site", "same-origin")]).await;
                is_page(&said(row, what), &reply, 403);
            }
        }
        for headers in [
            [("sec-fetch-site", "cross-site"), ("accept", "text/html")],
            [("sec-fetch-site", "same-site"), ("accept", "text/html")],
            [("origin", "https://evil.example"), ("accept", "text/html")],
            [("origin", "null"), ("accept", "text/html")],
        ] {
            let reply = send(&world, row, &own, &headers).await;
            is_page(&said(row, headers[0].1), &reply, 403);
        }
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}
