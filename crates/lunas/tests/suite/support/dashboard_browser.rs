//! The dashboard in a real browser: signing in, and a project that has something to show on every page.

use std::{env, fs, path::Path, time::Duration};

use domain::{
    access::Role,
    bank::Bank,
    bank_difference::{ComparedBy, Difference, DifferenceKey, DifferenceKind, Reconciliation, Tally},
    bank_request::jakarta_day,
    id::{BankAccountId, ProjectId},
    key_networks::KeyNetworks,
    key_rights::KeyRights,
    language::Language,
    method::Method,
    money::Rupiah,
    project::{Environment, MerchantProfile},
    user::User,
};
use engine::{NewKey, NewProject, ProjectUpdate};
use gateway::SendLimits;
use serde_json::{Value, json};
use store::OpeningWrite;
use testkit::{Answer, Browser, Kit, Receiver, TestProject};

use crate::support::{
    bank_accounts::{account_of, new_account, stray},
    counter::sell,
    customer::{Customer, payment_of},
    held::receipt_id,
    json::{text, with},
    links::{attempt, cancel_link, create_link},
    payments::{create, events_of, pending_qris, report, simulate, simulate_paid},
    people::{PASSWORD, Person, desk, make},
    refund_pages::batched,
    samples, webhooks,
};

/// A long word without a place to break the line.
pub(crate) const LONG: &str = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
/// What a failing receiver answers.
pub(crate) const BROKEN: &str = "{\"error\":\"database is down\",\"hint\":\"try again later\"}";

/// An address of the server.
pub(crate) fn at(kit: &Kit, path: &str) -> String {
    format!("http://{}{path}", kit.address)
}

/// Opens a page of the dashboard as somebody who is not signed in, signs in there and comes to the page.
pub(crate) async fn enter(browser: &Browser, kit: &Kit, email: &str, path: &str) {
    browser.goto(&at(kit, path)).await;
    sign_in(browser, email).await;
    // The browser logs the 401 of the sign-in page as an error; drop it.
    browser.console_errors().await;
}

/// Fills in the sign-in form, and waits until it is answered.
pub(crate) async fn sign_in(browser: &Browser, email: &str) {
    browser.fill("#email", email).await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form button.main").await;
    browser.wait_for("body.app").await;
}

/// Keeps a picture of the page that is open, where somebody wants to look at it.
pub(crate) async fn keep_picture(browser: &Browser, name: &str) {
    if let Ok(folder) = env::var("LUNAS_SCREENS") {
        fs::write(Path::new(&folder).join(format!("{name}.png")), browser.page_screenshot().await).unwrap();
    }
}

/// Somebody who owns a project.
pub(crate) async fn owner_of(kit: &Kit, project: ProjectId, email: &str) -> User {
    let user = make(kit, email, false).await;
    kit.engine.add_member(project, &user, Role::Owner).await.unwrap();
    user
}

/// A project with one of everything that a page can show, and two more projects.
pub(crate) struct BusyProject {
    pub(crate) project: TestProject,
    /// Answers 500; kept so that it runs as long as this value lives.
    _receiver: Receiver,
    /// Owner of the project, and operator of the installation.
    pub(crate) owner: User,
    /// A production project of the same owner that is not approved yet.
    pub(crate) waiting: ProjectId,
    /// A project of the same owner in which nothing has happened.
    pub(crate) empty: ProjectId,
    /// Placeholders of the table of addresses, and their values here.
    names: Vec<(&'static str, String)>,
    /// A payment whose webhooks fail.
    pub(crate) failed: Value,
    /// A pending payment by virtual account.
    pub(crate) waits: Value,
    pub(crate) undecided: Vec<String>,
}

impl BusyProject {
    pub(crate) async fn new(kit: &Kit) -> BusyProject {
        let (project, receiver) = kit.hooked(Answer::Status(200)).await;
        kit.deliver(SendLimits::default());
        kit.may_leave_deliveries_due();
        let owner = make(kit, "owner@toko.test", true).await;
        let [waiting, empty] = found_projects(kit, &project, &owner).await;
        let mut names = vec![("{project}", project.id.to_string()), ("{user}", owner.id.to_string())];
        names.extend(people(kit, &project, &owner).await);
        names.extend(keys(kit, &project).await);
        let (link, paid, failed) = payments(kit, &project, &receiver).await;
        let undecided = receipts(kit, &project, &owner).await;
        // These stay pending.
        pending_qris(&project, 30_000).await;
        let waits = create(&project, &samples::virtual_account(&project, "bca", 35_000)).await;
        let event = events_of(&project, &paid, "payment.paid").await;
        let person = Person::signed_in(kit, owner.clone()).await;
        names.push(("{sale}", sell(&person, &project, "15000").await));
        names.extend(banks(kit, waiting).await);
        let (refund, batch) = batched(kit, &person, &project, &paid).await;
        names.extend([("{refund}", refund), ("{batch}", batch)]);
        names.push(("{receipt}", undecided[0].clone()));
        // It is valid for half an hour, so it is made last.
        names.push(("{reset}", kit.engine.make_reset_link(&owner).await.unwrap().token.reveal()));
        names.push(("{link}", text(&link, "id").to_owned()));
        names.push(("{payment}", text(&paid, "id").to_owned()));
        names.push(("{event}", text(&event[0], "id").to_owned()));
        BusyProject { project, _receiver: receiver, owner, waiting, empty, names, failed, waits, undecided }
    }

    /// An address of the table, with its placeholders filled in.
    pub(crate) fn path(&self, template: &str) -> String {
        self.names.iter().fold(template.to_owned(), |path, (name, id)| path.replace(name, id))
    }

    /// An address at this project's desk.
    pub(crate) fn desk(&self, rest: &str) -> String {
        format!("{}{rest}", desk(self.project.id))
    }
}

async fn found_projects(kit: &Kit, project: &TestProject, owner: &User) -> [ProjectId; 2] {
    kit.engine.add_member(project.id, owner, Role::Owner).await.unwrap();
    let merchant =
        MerchantProfile { name: "Kopi Senja".to_owned(), city: "Bandung".to_owned(), postal_code: "40111".to_owned() };
    let origins = vec!["https://kopisenja.example".to_owned()];
    let update = ProjectUpdate { merchant: Some(merchant), allowed_origins: Some(origins), ..ProjectUpdate::default() };
    kit.update(project.id, update).await;
    let mut made = Vec::new();
    for (name, environment) in
        [("Kopi Senja", Environment::Production), ("Baru", Environment::Sandbox), (LONG, Environment::Sandbox)]
    {
        let new = NewProject { name: name.to_owned(), environment, merchant_name: None };
        let project = kit.engine.create_project(new).await.unwrap().0.id;
        kit.engine.add_member(project, owner, Role::Owner).await.unwrap();
        made.push(project);
    }
    kit.update(made[2], ProjectUpdate { active: Some(false), ..ProjectUpdate::default() }).await;
    [made[0], made[1]]
}

/// Creates a bank account that has taken money, one that is new, and strays, one of them with a decision.
async fn banks(kit: &Kit, production: ProjectId) -> Vec<(&'static str, String)> {
    let account = account_of(kit, production).await;
    kit.engine.make_bank_key(account).await.unwrap();
    new_account(kit, LONG, &[]).await;
    let calls = [(73, "2007300"), (24, "2002400"), (24, "4042412"), (25, "2002500"), (25, "4012500"), (25, "5002500")];
    for (service, code) in calls {
        kit.engine.note_bank_call(account, kit.engine.now(), service, code, Duration::from_millis(12));
    }
    kit.engine.save_bank_calls().await.unwrap();
    let returned = stray(kit, account, "bank-1", 15_000).await;
    kit.engine.return_stray(returned, format!("Dikembalikan lewat BCA, bukti {LONG}")).await.unwrap();
    let open = stray(kit, account, "20261115123456789012345678", 999_999_999_999).await;
    compared(kit, account).await;
    vec![("{account}", account.to_string()), ("{stray}", open.to_string())]
}

/// A day that was compared with the bank, and every kind of difference, one of them settled.
async fn compared(kit: &Kit, account_id: BankAccountId) {
    let (now, most) = (kit.engine.now(), Tally { count: 123_456, amount: Rupiah::MAX });
    let day = jakarta_day(now) - 1;
    let row = Reconciliation {
        account_id,
        day,
        by: ComparedBy::ReportAndQuery,
        first_at: now,
        at: now,
        matched: most,
        missing_here: most,
        missing_there: most,
        differing: most,
        bank_fees: most,
    };
    kit.store.commit(OpeningWrite::Reconciled(row).into()).await.unwrap();
    for kind in DifferenceKind::ALL {
        let key = DifferenceKey { account_id, subject: LONG.to_owned(), kind };
        let (ours, theirs) = (Some(Rupiah::MAX), Some(Rupiah::MAX));
        let found = Difference { key: key.clone(), day, payment_id: None, ours, theirs, found_at: now, settled: None };
        kit.store.commit(OpeningWrite::DifferenceFound(found).into()).await.unwrap();
        if kind == DifferenceKind::Fee {
            kit.engine.settle_difference(&key, LONG.to_owned()).await.unwrap();
        }
    }
}

/// Creates members of every role, an invitation and a second session of the owner.
async fn people(kit: &Kit, project: &TestProject, owner: &User) -> Vec<(&'static str, String)> {
    Person::member(kit, project.id, Role::Developer, "developer@toko.test").await;
    Person::member(kit, project.id, Role::Viewer, "viewer@toko.test").await;
    let person = Person::signed_in(kit, owner.clone()).await;
    let visit = kit.engine.visit(&person.token().unwrap(), String::new(), false).await.unwrap().unwrap();
    let own = kit.engine.desk(&visit, project.id).await.unwrap();
    let (invite, token) = own.invite("guest@toko.test", Role::Viewer, Language::Indonesian, None).await.unwrap();
    vec![
        ("{invite}", invite.id.to_string()),
        ("{token}", token.reveal()),
        ("{letter}", "ltr_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned()),
        ("{session}", visit.session.id.to_string()),
    ]
}

async fn keys(kit: &Kit, project: &TestProject) -> Vec<(&'static str, String)> {
    kit.engine.create_key(project.id, "Kasir depan".to_owned()).await.unwrap();
    let networks = ["203.0.113.7", "198.51.100.0/24", "2001:db8:1234:5678:9abc:def0:1234:5678"];
    let networks = KeyNetworks::parse(&networks).unwrap();
    let reader = NewKey { name: LONG.to_owned(), rights: KeyRights::NONE, networks };
    kit.engine.create_key(project.id, reader).await.unwrap();
    let (revoked, _) = kit.engine.create_key(project.id, "Server lama".to_owned()).await.unwrap();
    project.api.delete(&format!("/v1/api-keys/{}", revoked.id)).await.expect(200);
    vec![("{key}", project.key_id.to_string())]
}

/// Payments of every state. Answers with a link, a payment of it that was paid by somebody who told who they are, and
/// one that failed.
async fn payments(kit: &Kit, project: &TestProject, receiver: &Receiver) -> (Value, Value, Value) {
    let everything = json!({
        "title": LONG, "description": format!("{LONG}\n{LONG} dua baris"), "reference": LONG, "amount": 999_999_999_999_i64,
        "allowed_payment_methods": [{ "type": "qris" }, { "type": "virtual_account" }],
    });
    let long = create_link(project, everything).await;
    let expired = attempt(kit, project, &long, Method::VirtualAccount(Bank::Bri)).await;
    let cancelled = create_link(project, json!({ "title": "Kelas seduh manual" })).await;
    attempt(kit, project, &cancelled, Method::Qris).await;
    cancel_link(project, &cancelled).await;
    let over = create_link(project, json!({ "title": "Promo pagi", "expires_at": "2026-11-15T09:35:00Z" })).await;
    attempt(kit, project, &over, Method::Qris).await;
    kit.clock.advance(Duration::from_hours(25));
    assert_eq!(crate::support::payments::status(project, &expired).await, "expired");

    let fields = json!({ "name": true, "email": true, "phone": true, "address": true });
    let members = json!({ "title": "Kopi susu gula aren", "allow_multiple_payments": true, "customer_fields": fields });
    let link = create_link(project, members).await;
    let answers = [
        ("method", "qris"),
        ("name", "Siti Aisyah"),
        ("email", "siti@example.com"),
        ("phone", "081234567890"),
        ("address", "Jl. Melati 1, Bandung"),
    ];
    let paid = payment_of(project, &Customer::of(kit).choose(&link, &answers).await).await;
    simulate_paid(project, &paid).await;
    wait_for_webhook(kit, project, &paid, "paid").await;
    receiver.answer(Answer::Body(500, BROKEN.as_bytes().to_vec()));
    let mut made = Vec::new();
    for (bank, outcome) in [("bca", "paid"), ("bni", "failed"), ("mandiri", "processing")] {
        let body = with(samples::virtual_account(project, bank, 45_000), "reference", format!("INV-{bank}"));
        let payment = create(project, &body).await;
        report(project, &payment, outcome).await;
        if outcome != "processing" {
            wait_for_webhook(kit, project, &payment, outcome).await;
        }
        made.push(payment);
    }
    attempt(kit, project, &link, Method::Qris).await;
    (link, paid, made.remove(1))
}

/// Waits until a payment's webhook was attempted once.
async fn wait_for_webhook(kit: &Kit, project: &TestProject, payment: &Value, outcome: &str) {
    let event = events_of(project, payment, &format!("payment.{outcome}")).await.remove(0);
    webhooks::wait_for_attempts(kit, text(&event, "id"), 1).await;
}

/// Reports money that fits no payment, some with a decision; returns the receipts that still need one.
async fn receipts(kit: &Kit, project: &TestProject, owner: &User) -> Vec<String> {
    let late = pending_qris(project, 15_000).await;
    let short = pending_qris(project, 20_000).await;
    let returned = pending_qris(project, 25_000).await;
    kit.clock.advance(Duration::from_mins(16));
    let mut made = Vec::new();
    for (payment, receipt, amount) in [(&late, "late", 15_000), (&short, "short", 19_000), (&returned, "back", 24_000)]
    {
        let report = json!({ "outcome": "paid", "amount": amount, "receipt_id": receipt });
        simulate(project, payment, &report).await.expect(200);
        made.push(receipt_id(kit, project, payment, receipt).await);
    }
    let person = Person::signed_in(kit, owner.clone()).await;
    let fields = [("note", "Dikembalikan lewat BCA, bukti 12345")];
    let reply = person.post(&format!("{}/balance/receipts/{}/return", desk(project.id), made[2]), &fields).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    made
}
