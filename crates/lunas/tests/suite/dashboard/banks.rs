//! What operators see of bank accounts, and what members of a project see of the methods that they serve.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    audit::Deed,
    bank::Bank,
    bank_account::KEY_AGE_MOST,
    id::{BankAccountId, ProjectId},
    method::Method,
    money::Rupiah,
    project::Environment,
};
use engine::{PaymentAsked, ProjectUpdate};
use serde_json::Value;
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    bank_accounts::{SERVICE_ID, account_of, new_account, set_credentials},
    bank_keys::public_bank_key,
    customer::is_page,
    dashboard::{audited, element, leads},
    json::text,
    payments::create,
    people::{Person, desk},
    rows::rows,
    samples,
};

on_every_database![an_accounts_page_leads_to_the_first_money, the_log_of_calls_has_codes_in_words_newest_first];

on_sqlite_alone![
    without_accounts_the_page_says_how_to_begin,
    the_list_shows_at_a_glance_who_uses_an_account_and_what_it_lacks,
    keys_that_are_older_than_a_year_are_pointed_out,
    an_accounts_page_names_the_command_of_the_next_step,
    what_the_bank_needs_is_shown_and_no_secret_ever,
    settings_in_force_are_shown_and_own_ones_marked,
    enabling_and_disabling_ask_first_and_are_audited,
    an_account_that_lacks_something_is_not_enabled,
    project_pages_say_which_methods_can_take_money,
    members_learn_which_methods_can_take_money_and_who_can_change_that,
    calls_without_proof_are_listed_apart_and_are_no_last_call,
];

const BANKS: &str = "/dashboard/operator/banks";
const BCA: Method = Method::VirtualAccount(Bank::Bca);

fn page_of(id: BankAccountId) -> String {
    format!("{BANKS}/{id}?lang=en")
}

fn contains_all(page: &Reply, texts: &[&str]) {
    for text in texts {
        assert!(page.text.contains(text), "{text} is not in {}", page.text);
    }
}

async fn without_accounts_the_page_says_how_to_begin(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let page = operator.open(BANKS).await;
    is_page("no accounts", &page, 200);
    contains_all(&page, &["Belum ada rekening bank", "lunas bank add --profile bca"]);
    assert!(!page.text.contains("/dashboard/operator/strays\">Putuskan"), "no stray is waiting");
    is_page("unknown", &operator.open(&format!("{BANKS}/bac_01kc2m8r5gfq9t3v7x1y4z6a8b")).await, 404);
    is_page("malformed", &operator.open(&format!("{BANKS}/junk")).await, 404);
}

async fn the_list_shows_at_a_glance_who_uses_an_account_and_what_it_lacks(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let project = kit.production().await;
    let id = account_of(&kit, project.id).await;
    kit.clock.advance(Duration::from_millis(1));
    new_account(&kit, "Cabang", &[]).await;
    kit.engine.note_bank_call(id, kit.engine.now(), 24, "2002400", Duration::from_millis(7));
    kit.engine.save_bank_calls().await.unwrap();
    let page = operator.open(&format!("{BANKS}?lang=en")).await;
    is_page("two accounts", &page, 200);
    let (first, second) = page.text.split_once("Cabang").unwrap();
    for shown in
        ["BCA utama", "BCA virtual account", "Enabled", "Toko (BCA virtual account)", "Inquiry (24): Bill shown"]
    {
        assert!(first.contains(shown), "{shown}: {first}");
    }
    for shown in ["Not ready", "No project", "Never", "Missing: partner_service_id, the bank’s public key"] {
        assert!(second.contains(shown), "{shown}: {second}");
    }
}

async fn keys_that_are_older_than_a_year_are_pointed_out(kit: Arc<Kit>) {
    let project = kit.production().await;
    let id = account_of(&kit, project.id).await;
    kit.clock.advance(KEY_AGE_MOST);
    let operator = Person::operator(&kit, "operator@example.com").await;
    let old = "The bank’s public key is older than a year.";
    assert!(!operator.open(&page_of(id)).await.text.contains(old));
    kit.clock.advance(Duration::from_millis(1));
    contains_all(&operator.open(&page_of(id)).await, &[old]);
    contains_all(&operator.open(BANKS).await, &[old]);
    kit.engine.import_bank_key(id, &public_bank_key()).await.unwrap();
    kit.engine.rotate_bank_account(id).await.unwrap();
    assert!(!operator.open(&page_of(id)).await.text.contains(old));
}

/// How many steps are done, and the command of the next one.
fn progress(page: &Reply) -> (usize, String) {
    let command = page.text.contains(" id=\"next-command\"").then(|| element(&page.text, "next-command"));
    (page.text.matches("<li class=\"done\">").count(), command.unwrap_or_default())
}

async fn seen(operator: &Person, id: BankAccountId) -> (usize, String) {
    progress(&operator.open(&page_of(id)).await)
}

async fn an_accounts_page_names_the_command_of_the_next_step(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let id = new_account(&kit, "BCA", &[]).await;
    assert_eq!(seen(&operator, id).await, (0, format!("lunas bank set {id} partner_service_id=…")));
    let settings = [("partner_service_id".to_owned(), SERVICE_ID.to_owned())].into();
    kit.engine.set_bank_account(id, &settings).await.unwrap();
    assert_eq!(seen(&operator, id).await, (1, format!("lunas bank key {id} --import bank.pem")));
    kit.engine.import_bank_key(id, &public_bank_key()).await.unwrap();
    assert_eq!(seen(&operator, id).await, (2, format!("lunas bank inbound {id}")));
    kit.engine.set_bank_inbound(id, None, None).await.unwrap();
    assert_eq!(seen(&operator, id).await, (3, format!("lunas bank assign {id} --project … --method bca")));
}

async fn an_accounts_page_leads_to_the_first_money(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let project = kit.project(Environment::Production).await;
    let id = new_account(&kit, "BCA", &[("partner_service_id", SERVICE_ID)]).await;
    set_credentials(&kit, id).await;
    kit.engine.assign_bank_account(id, project.id, BCA).await.unwrap();
    assert_eq!(seen(&operator, id).await, (4, String::new()));
    contains_all(&operator.open(&page_of(id)).await, &["Approve and activate a project"]);
    kit.update(project.id, ProjectUpdate { approved: Some(true), ..ProjectUpdate::default() }).await;
    assert_eq!(seen(&operator, id).await.0, 5);
    kit.engine.enable_bank_account(id, true).await.unwrap();
    assert_eq!(seen(&operator, id).await.0, 6);
    kit.engine.note_bank_call(id, kit.engine.now(), 73, "2007300", Duration::from_millis(3));
    kit.engine.save_bank_calls().await.unwrap();
    assert_eq!(seen(&operator, id).await.0, 7);
    let payment = create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
    pay_at_bank(&kit, id, &payment).await;
    contains_all(&operator.open(&page_of(id)).await, &["8 of 8 steps done"]);
}

async fn pay_at_bank(kit: &Kit, id: BankAccountId, payment: &Value) {
    let open = kit.engine.bank_door(id).await.unwrap().unwrap();
    let asked = PaymentAsked {
        external_id: "1".to_owned(),
        request_id: "1".to_owned(),
        number: text(&payment["instructions"], "virtual_account_number").to_owned(),
        amount: Rupiah::new(payment["amount"].as_i64().unwrap()),
        total: None,
        paid_at: kit.engine.now(),
    };
    kit.engine.judge_payment(&open, asked).await.unwrap();
}

async fn what_the_bank_needs_is_shown_and_no_secret_ever(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let id = new_account(&kit, "BCA", &[("partner_service_id", SERVICE_ID)]).await;
    let secret = set_credentials(&kit, id).await;
    let public_key = kit.engine.make_bank_key(id).await.unwrap();
    let outbound = "our own secret there";
    kit.engine.set_bank_outbound(id, "our-client".to_owned(), outbound.to_owned().into()).await.unwrap();
    let page = operator.open(&page_of(id)).await;
    let doors = format!("http://{}/snap/{id}/v1.0", kit.address);
    for (element_id, value) in [
        ("door-token", format!("{doors}/access-token/b2b")),
        ("door-inquiry", format!("{doors}/transfer-va/inquiry")),
        ("door-payment", format!("{doors}/transfer-va/payment")),
        ("client-id", "bank-client".to_owned()),
    ] {
        assert_eq!(element(&page.text, element_id), value);
    }
    assert_eq!(element(&page.text, "public-key").trim(), public_key.trim());
    contains_all(&page, &["our-client", "data-copy-from=\"public-key\""]);
    for hidden in [secret.as_str(), outbound, "PRIVATE KEY"] {
        assert!(!page.text.contains(hidden), "{hidden}");
    }
    // The bank is told about the next one, which it may use from now on.
    kit.engine.set_bank_inbound(id, Some("next-client".to_owned()), None).await.unwrap();
    assert_eq!(element(&operator.open(&page_of(id)).await.text, "client-id"), "next-client");
}

async fn settings_in_force_are_shown_and_own_ones_marked(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let id = new_account(&kit, "BCA", &[("partner_service_id", SERVICE_ID), ("deadline", "7")]).await;
    let page = operator.open(&page_of(id)).await;
    let own = "<span class=\"badge info\">Own</span>";
    contains_all(
        &page,
        &[
            &format!("<code>deadline</code></dt><dd>7 {own}"),
            &format!("<code>partner_service_id</code></dt><dd>{SERVICE_ID} {own}"),
            "<code>channel_id</code></dt><dd>95231</dd>",
            "<code>skew</code></dt><dd>300</dd>",
        ],
    );
    assert_eq!(page.text.matches(own).count(), 2);
}

async fn enabling_and_disabling_ask_first_and_are_audited(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let id = new_account(&kit, "BCA", &[("partner_service_id", SERVICE_ID)]).await;
    set_credentials(&kit, id).await;
    for (word, enabled, deed) in
        [("enable", true, Deed::BankAccountEnabled), ("disable", false, Deed::BankAccountDisabled)]
    {
        let path = format!("{BANKS}/{id}/{word}");
        let before = rows(&kit.database);
        let question = operator.open(&path).await;
        is_page(word, &question, 200);
        contains_all(&question, &[&id.to_string(), &format!("action=\"{path}\"")]);
        assert_eq!(rows(&kit.database), before, "asking changes nothing");
        assert_eq!(leads(&operator.post(&path, &[]).await, &format!("bank-{word}d")), format!("{BANKS}/{id}"));
        assert_eq!(kit.engine.bank_account(id).await.unwrap().enabled, enabled);
        let lines = audited(&kit, deed).await;
        assert_eq!(lines.len(), 1);
        assert!(matches!(&lines[0].0, domain::audit::Actor::User { id, .. } if *id == operator.user.id));
        assert_eq!(lines[0].1, id.to_string());
    }
}

async fn an_account_that_lacks_something_is_not_enabled(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let id = new_account(&kit, "BCA", &[]).await;
    let before = rows(&kit.database);
    let path = format!("{BANKS}/{id}/enable");
    for reply in [operator.open(&path).await, operator.post(&path, &[]).await] {
        is_page("incomplete", &reply, 409);
        contains_all(&reply, &["belum bisa diaktifkan", "partner_service_id", "kunci publik bank"]);
    }
    assert!(!operator.open(&page_of(id)).await.text.contains(&path), "there is no button for it");
    assert_eq!(rows(&kit.database), before);
}

async fn the_log_of_calls_has_codes_in_words_newest_first(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let id = new_account(&kit, "BCA", &[("inquiry_expired", "404xx20")]).await;
    contains_all(&operator.open(&page_of(id)).await, &["Nobody has called yet"]);
    let calls = [
        (73, "2007300", "Token given"),
        (73, "4017300", "Signature, clock or sender not accepted"),
        (24, "2002400", "Bill shown"),
        (24, "4042412", "Unknown number"),
        (24, "4042420", "Bill expired"),
        (25, "2002500", "Money taken"),
        (25, "2022500", "Not decided"),
        (25, "4042513", "Wrong amount"),
        (25, "4042514", "Already paid"),
        (25, "4042518", "Repeated request"),
        (25, "4092500", "External ID used twice"),
        (25, "4002502", "A field is missing"),
        (25, "4012501", "Token not valid"),
        (25, "5002500", "Failed on our side"),
        (25, "4052500", "Refused"),
    ];
    for (position, (service, code, _)) in calls.iter().enumerate() {
        kit.clock.advance(Duration::from_millis(1));
        let latency = Duration::from_millis(position as u64);
        kit.engine.note_bank_call(id, kit.engine.now(), *service, code, latency);
    }
    kit.engine.save_bank_calls().await.unwrap();
    let page = operator.open(&page_of(id)).await;
    let (_, log) = page.text.split_once("id=\"calls-title\"").unwrap();
    let shown: Vec<&str> = log.split("<tr>").skip(2).collect();
    assert_eq!(shown.len(), calls.len());
    for (row, (position, (service, code, meaning))) in shown.iter().zip(calls.iter().enumerate().rev()) {
        let expected = [format!("({service})"), (*code).to_owned(), (*meaning).to_owned(), format!("{position} ms")];
        assert!(expected.iter().all(|text| row.contains(text)), "{expected:?}: {row}");
    }
}

async fn calls_without_proof_are_listed_apart_and_are_no_last_call(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let id = new_account(&kit, "BCA", &[]).await;
    assert!(!operator.open(&page_of(id)).await.text.contains("id=\"unproved-title\""));
    kit.engine.note_unproved_call(id, kit.engine.now(), 25, "4012500", Duration::from_millis(7));
    kit.engine.save_bank_calls().await.unwrap();
    let page = operator.open(&page_of(id)).await;
    let (calls, unproved) = page.text.split_once("id=\"unproved-title\"").unwrap();
    assert!(calls.contains("Nobody has called yet"), "{calls}");
    for shown in ["Payment (25)", "4012500", "Anybody, to us", "7 ms"] {
        assert!(unproved.contains(shown), "{shown}: {unproved}");
    }
    contains_all(&operator.open(&format!("{BANKS}?lang=en")).await, &["Never"]);
}

/// The project pages of an operator: the project itself, and the question before it is approved.
fn project_pages(project: ProjectId) -> [String; 2] {
    let page = format!("/dashboard/operator/projects/{project}");
    [format!("{page}?lang=en"), format!("{page}/approve")]
}

async fn project_pages_say_which_methods_can_take_money(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let project = kit.project(Environment::Production).await;
    let state = |method: &str, badge: &str, text: &str| {
        format!("<dt>{method}</dt><dd><span class=\"badge {badge}\">{text}</span></dd>")
    };
    let [page, approve] = project_pages(project.id);
    let none = "<dt>QRIS, Bank Central Asia (BCA), Bank Negara Indonesia (BNI), ";
    for path in [&page, &approve] {
        contains_all(&operator.open(path).await, &[none, ">No bank account assigned<"]);
    }
    let id = account_of(&kit, project.id).await;
    contains_all(
        &operator.open(&page).await,
        &[&state("BCA virtual account", "wait", "Waiting for the project’s approval")],
    );
    contains_all(&operator.open(&approve).await, &[&state("BCA virtual account", "good", "Takes money")]);
    kit.engine.enable_bank_account(id, false).await.unwrap();
    let disabled = state("BCA virtual account", "wait", "Its bank account is disabled");
    for path in [&page, &approve] {
        contains_all(&operator.open(path).await, &[&disabled]);
    }
    kit.update(project.id, ProjectUpdate { banks: Some(vec![Bank::Bni]), ..ProjectUpdate::default() }).await;
    let page = operator.open(&page).await;
    contains_all(&page, &[&state("BCA virtual account", "off", "Not offered in the project’s settings")]);
    assert!(!page.text.contains("Bank Rakyat Indonesia"), "what is neither offered nor assigned is left out");
    let sandbox = kit.sandbox().await;
    let page = operator.open(&project_pages(sandbox.id)[0]).await;
    assert!(!page.text.contains("Methods that can take money"), "a sandbox needs no bank");
}

async fn members_learn_which_methods_can_take_money_and_who_can_change_that(kit: Arc<Kit>) {
    let project = kit.production().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let home = format!("{}?lang=en", desk(project.id));
    let settings = format!("{}/settings", desk(project.id));
    let sentence = "This project cannot take money yet, because none of its methods has an enabled bank account; only \
                    the operator of this installation can change that.";
    contains_all(&owner.open(&home).await, &[sentence]);
    let page = owner.open(&settings).await;
    contains_all(
        &page,
        &["Methods that can take money", "No bank account assigned", "The operator of this installation"],
    );
    assert!(!page.text.contains("/dashboard/operator"), "{}", page.text);
    let id = account_of(&kit, project.id).await;
    assert!(!owner.open(&home).await.text.contains(sentence));
    contains_all(&owner.open(&settings).await, &["Takes money"]);
    kit.engine.enable_bank_account(id, false).await.unwrap();
    contains_all(&owner.open(&home).await, &[sentence]);
    contains_all(&owner.open(&settings).await, &["Its bank account is disabled"]);
    let sandbox = kit.sandbox().await;
    let other = Person::member(&kit, sandbox.id, Role::Owner, "dewi@example.com").await;
    assert!(!other.open(&format!("{}?lang=en", desk(sandbox.id))).await.text.contains("cannot take money"));
}
