//! The checkout in production: a real provider, which may fail as the database may, and no panel.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use domain::{bank::Bank, id::PaymentId, method::Method, receipt::ReceiptKey};
use engine::{Engine, Outcome};
use gateway::{BoxFuture, Issue, Observation, Provider, ProviderError, Providers, Simulator};
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database};

use crate::support::{
    bank_accounts::account_of,
    customer::{Customer, attribute, heading, is_page, led_to, link_path, pay_path, payment_of},
    json::text,
    links::create_link,
    nodes::Node,
    payments::{count_payments, pending_qris, status, unapplied},
    rows::rows,
};

on_every_database![
    in_production_there_is_no_panel_and_nothing_at_its_address,
    a_bank_that_is_known_to_be_down_leaves_the_others_usable,
    a_provider_that_fails_gets_the_form_back_and_leaves_nothing_behind,
    a_change_that_the_provider_fails_keeps_the_old_code,
    a_link_that_no_bank_account_serves_says_so_in_both_languages_and_takes_no_form,
    while_the_database_is_away_a_page_says_to_try_again_and_a_form_leaves_nothing_behind,
    a_payment_confirmed_while_its_replacement_is_made_is_paid_and_alone,
];

const BCA: &str = "virtual_account:bca";
const MANDIRI: &str = "virtual_account:mandiri";

/// A provider that can report a bank as down, fail without warning, or be so slow that
/// a payment is confirmed before it answers.
#[derive(Default)]
struct Acquirer {
    simulator: Simulator,
    known_down: Mutex<Option<Method>>,
    fails: AtomicBool,
    confirms_meanwhile: Mutex<Option<(Engine, PaymentId)>>,
}

impl Acquirer {
    fn set_failing(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }
}

impl Provider for Acquirer {
    fn issue<'a>(&'a self, issue: Issue<'a>) -> BoxFuture<'a, Result<String, ProviderError>> {
        Box::pin(async move {
            let confirmed = self.confirms_meanwhile.lock().unwrap().take();
            if let Some((engine, payment_id)) = confirmed {
                let receipt = ReceiptKey { provider: "bank".to_owned(), id: payment_id.to_string() };
                let outcome = Outcome::Paid { amount: issue.amount, paid_at: issue.created_at };
                engine.observe(Observation { receipt, payment_id, outcome }).await.unwrap();
            }
            match self.fails.load(Ordering::SeqCst) {
                true => Err(ProviderError::Down),
                false => self.simulator.issue(issue).await,
            }
        })
    }

    fn is_up(&self, method: Method) -> bool {
        *self.known_down.lock().unwrap() != Some(method)
    }
}

/// A node whose production projects have a provider, one such project, and a link of it.
struct Shop {
    node: Node,
    acquirer: Arc<Acquirer>,
    project: TestProject,
    link: Value,
}

impl Shop {
    async fn open(kit: &Kit, members: Value) -> Shop {
        let acquirer = Arc::new(Acquirer::default());
        let providers = Providers { sandbox: Simulator::default(), production: Some(acquirer.clone()) };
        let node = Node::with_providers(kit, providers).await;
        let project = kit.production().await;
        let link = create_link(&project, members).await;
        Shop { node, acquirer, project, link }
    }

    fn customer(&self) -> Customer {
        Customer::at(self.node.address)
    }
}

async fn in_production_there_is_no_panel_and_nothing_at_its_address(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, json!({})).await;
    let customer = shop.customer();
    let payment = customer.pays_by(&shop.project, &shop.link, "qris").await;
    let page = customer.open(&pay_path(&payment)).await;
    is_page("pending", &page, 200);
    assert!(!page.text.contains("simulate"), "{}", page.text);
    let before = rows(&kit.database);
    let nothing = customer.open("/pay/nothing").await;
    for outcome in ["paid", "failed", "processing", "junk"] {
        let refused = customer.press(&payment, outcome).await;
        is_page(outcome, &refused, 404);
        assert_eq!(refused.text, nothing.text, "as where there is nothing");
    }
    let path = format!("{}/simulate", pay_path(&payment));
    assert_eq!(customer.open(&path).await.text, nothing.text, "also to whoever looks");
    let json = customer.request(reqwest::Method::POST, &path).json(&json!({ "outcome": "paid" }));
    is_page("not a form", &customer.send(json).await, 404);
    assert_eq!(rows(&kit.database), before);
    // In the sandbox the same address works.
    let sandbox = kit.sandbox().await;
    let direct = pending_qris(&sandbox, 15_000).await;
    assert_eq!(led_to(&customer.press(&direct, "paid").await), pay_path(&direct));
    shop.node.stop().await;
}

async fn a_bank_that_is_known_to_be_down_leaves_the_others_usable(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, json!({})).await;
    *shop.acquirer.known_down.lock().unwrap() = Some(Method::VirtualAccount(Bank::Bca));
    let page = shop.customer().open(&link_path(&shop.link)).await;
    is_page("the choice", &page, 200);
    for row in page.text.split("<input type=\"radio\"").skip(1) {
        let is_disabled = row.split('>').next().unwrap().contains(" disabled");
        assert_eq!(is_disabled, attribute(row, "value") == BCA, "{row}");
    }
    for method in ["qris", MANDIRI] {
        let payment = shop.customer().pays_by(&shop.project, &shop.link, method).await;
        assert_eq!(text(&payment, "status"), "pending");
    }
    shop.node.stop().await;
}

async fn a_provider_that_fails_gets_the_form_back_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, json!({})).await;
    let customer = shop.customer();
    customer.open(&link_path(&shop.link)).await;
    let form = [("attempt", "a-form"), ("method", BCA)];
    shop.acquirer.set_failing(true);
    let before = rows(&kit.database);
    for _ in 0..3 {
        let refused = customer.post(&link_path(&shop.link), &form).await;
        is_page("the provider fails", &refused, 503);
        assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
        let failed =
            refused.text.split("<input type=\"radio\"").skip(1).find(|row| attribute(row, "value") == BCA).unwrap();
        assert!(failed.split('>').next().unwrap().ends_with(" disabled"), "another one is to be chosen: {failed}");
        assert!(refused.text.contains(refused.header("x-request-id").unwrap()), "support can find the request");
    }
    assert_eq!(rows(&kit.database), before);
    shop.acquirer.set_failing(false);
    let payment = payment_of(&shop.project, &customer.post(&link_path(&shop.link), &form).await).await;
    shop.acquirer.set_failing(true);
    assert_eq!(led_to(&customer.post(&link_path(&shop.link), &form).await), pay_path(&payment));
    assert_eq!(count_payments(&shop.project, "").await, 1);
    shop.node.stop().await;
}

async fn a_change_that_the_provider_fails_keeps_the_old_code(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, json!({})).await;
    let customer = shop.customer();
    let old = customer.pays_by(&shop.project, &shop.link, "qris").await;
    shop.acquirer.set_failing(true);
    let form = [("replaces", text(&old, "id")), ("method", BCA)];
    is_page("the provider fails", &customer.post(&link_path(&shop.link), &form).await, 503);
    assert_eq!(status(&shop.project, &old).await, "pending");
    assert_eq!(led_to(&customer.open(&link_path(&shop.link)).await), pay_path(&old));
    shop.node.stop().await;
}

async fn a_link_that_no_bank_account_serves_says_so_in_both_languages_and_takes_no_form(kit: Arc<Kit>) {
    let project = kit.production().await;
    let link = create_link(&project, json!({})).await;
    let (customer, before) = (Customer::of(&kit), rows(&kit.database));
    for (language, says, contact) in [
        ("en", "This shop cannot take payments by this link yet", "contact Toko Kopi"),
        ("id", "Toko ini belum bisa menerima pembayaran lewat tautan ini", "hubungi Toko Kopi"),
    ] {
        let page = customer.open(&format!("{}?lang={language}", link_path(&link))).await;
        is_page(language, &page, 200);
        assert_eq!(heading(&page), says);
        assert!(page.text.contains(contact), "{}", page.text);
        assert!(!page.text.contains("<form") && !page.text.contains("<button"), "{}", page.text);
        let refused = customer.post(&link_path(&link), &[("method", "qris")]).await;
        is_page(language, &refused, 409);
        assert_eq!(heading(&refused), says);
    }
    assert_eq!(rows(&kit.database), before);
    // As soon as an account serves one of its methods, the link offers that one and no other.
    account_of(&kit, project.id).await;
    let page = customer.open(&link_path(&link)).await;
    let offered: Vec<String> =
        page.text.split("<input type=\"radio\"").skip(1).map(|row| attribute(row, "value")).collect();
    assert_eq!(offered, [BCA]);
}

async fn while_the_database_is_away_a_page_says_to_try_again_and_a_form_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = pending_qris(&project, 15_000).await;
    // A node that has no read connection yet, and whose database becomes unreachable before it opens one.
    let node = Node::beside(&kit).await;
    let before = rows(&kit.database);
    kit.database.take_away();
    let customer = Customer::at(node.address);
    let (choice, page, form) = (link_path(&link), pay_path(&payment), [("method", "qris"), ("attempt", "a-form")]);
    for (row, refused) in [
        ("the choice", customer.open(&choice).await),
        ("the form", customer.post(&choice, &form).await),
        ("the payment", customer.open(&page).await),
        ("its status", customer.open(&format!("{page}/status")).await),
        ("its events", customer.open(&format!("{page}/events")).await),
        ("the panel", customer.press(&payment, "paid").await),
    ] {
        is_page(row, &refused, 503);
        assert_eq!(refused.header("retry-after"), Some("1"), "{row}");
        assert!(refused.text.contains(refused.header("x-request-id").unwrap()), "{row}");
        assert!(!refused.text.contains("lunas.db") && !refused.text.contains("SQL"), "{row}");
    }
    is_page("what cannot be there", &customer.open("/pay/junk").await, 404);
    kit.database.bring_back();
    assert_eq!(rows(&kit.database), before);
    let made = payment_of(&project, &customer.post(&choice, &form).await).await;
    assert_eq!(led_to(&customer.post(&choice, &form).await), pay_path(&made));
    node.stop().await;
}

async fn a_payment_confirmed_while_its_replacement_is_made_is_paid_and_alone(kit: Arc<Kit>) {
    for many in [false, true] {
        let shop = Shop::open(&kit, json!({ "allow_multiple_payments": many })).await;
        let customer = shop.customer();
        let old = customer.pays_by(&shop.project, &shop.link, "qris").await;
        let meanwhile = (shop.node.engine.clone(), text(&old, "id").parse().unwrap());
        *shop.acquirer.confirms_meanwhile.lock().unwrap() = Some(meanwhile);
        let form = [("replaces", text(&old, "id")), ("method", BCA)];
        assert_eq!(led_to(&customer.post(&link_path(&shop.link), &form).await), pay_path(&old));
        assert_eq!((status(&shop.project, &old).await.as_str(), count_payments(&shop.project, "").await), ("paid", 1));
        assert_eq!(unapplied(&shop.project).await, 0);
        shop.node.stop().await;
    }
}
