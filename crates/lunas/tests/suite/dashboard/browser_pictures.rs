//! A month of a shop, as its pages show it. With `LUNAS_PICTURES=docs/images` this test takes the documentation's
//! pictures.

use std::{env, fs, path::Path, time::Duration};

use domain::{
    access::Role,
    project::{Environment, MerchantProfile},
    time::Timestamp,
};
use engine::{NewProject, ProjectUpdate};
use gateway::SendLimits;
use serde_json::{Value, json};
use testkit::{Answer, Api, Browser, Kit, Look, Receiver, TestProject, on_sqlite};

use crate::support::{
    dashboard_browser::{at, enter},
    json::{text, with},
    links::create_link,
    payments::{create, report, simulate_paid},
    people::{desk, make},
    repository::root,
    samples,
};

const SARI: &str = "sari@kopisenja.id";
const FIRST_DAY: &str = "2026-10-17T02:10:00Z";
const DAYS: u64 = 29;
const DAY: Duration = Duration::from_hours(24);
/// Prices of coffee, in an order that looks random.
const AMOUNTS: [i64; 11] = [36_000, 18_000, 54_000, 27_500, 142_000, 22_000, 65_000, 31_000, 88_000, 45_000, 24_000];
const ANDROID: &str = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 \
                       Mobile Safari/537.36";

async fn named(kit: &Kit, name: &str, environment: Environment) -> TestProject {
    let new = NewProject { name: name.to_owned(), environment, merchant_name: None };
    let project = kit.engine.create_project(new).await.unwrap().0;
    let (key, secret) = kit.engine.create_key(project.id, "Server toko".to_owned()).await.unwrap();
    let key_text = secret.reveal().to_owned();
    let api = Api::new(kit.address, Some(&key_text));
    TestProject { id: project.id, key_id: key.id, key: key_text, api }
}

/// Creates the other shops of the installation; returns the failing receiver of one of them.
async fn neighbours(kit: &Kit) -> Receiver {
    kit.clock.set(Timestamp::parse(FIRST_DAY).unwrap());
    let approved = ProjectUpdate { approved: Some(true), ..ProjectUpdate::default() };
    let kiosk = named(kit, "Batik Kencana", Environment::Production).await;
    kit.update(kiosk.id, ProjectUpdate { active: Some(false), ..approved.clone() }).await;
    let own = named(kit, "Kopi Senja", Environment::Production).await;
    kit.update(own.id, approved).await;
    let books = named(kit, "Toko Buku Lestari", Environment::Production).await;
    let stall = named(kit, "Warung Bu Tini", Environment::Sandbox).await;
    let owner = make(kit, "tini@warung.example", false).await;
    for project in [&kiosk, &own, &books, &stall] {
        kit.engine.add_member(project.id, &owner, Role::Owner).await.unwrap();
    }
    let receiver = Receiver::answering(Answer::Status(500)).await;
    kit.set_webhook_url(stall.id, Some(&receiver.url())).await;
    for (number, amount) in AMOUNTS.iter().enumerate().take(3) {
        sell(&stall, number, *amount).await;
    }
    receiver
}

async fn sell(project: &TestProject, number: usize, amount: i64) -> Value {
    let body = match number % 4 {
        1 => samples::virtual_account(project, "bca", amount),
        _ => samples::qris(project, amount),
    };
    let payment = create(project, &with(body, "reference", format!("KS-{}", 1_200 + number))).await;
    simulate_paid(project, &payment).await
}

/// Creates payments on each day of a month, more towards its end; returns the sum that was paid.
async fn month(kit: &Kit, shop: &TestProject) -> i64 {
    let (mut number, mut total) = (0, 0);
    for day in 0..DAYS {
        let quiet = day % 7 == 2;
        for _ in 0..(if quiet { 1 } else { 2 + day % 4 + day / 10 }) {
            let amount = AMOUNTS[(number * 5 + number / 3) % AMOUNTS.len()];
            sell(shop, number, amount).await;
            (number, total) = (number + 1, total + amount);
            kit.clock.advance(Duration::from_mins(7));
        }
        let now = Timestamp::parse(FIRST_DAY).unwrap().plus(DAY * u32::try_from(day + 1).unwrap());
        kit.clock.set(now);
    }
    total
}

/// A customer chooses a method and pays; returns the payment's id.
async fn customer(kit: &Kit, browser: &Browser, shop: &TestProject, receiver: &Receiver) -> String {
    let fields = json!({ "name": true, "email": true });
    let members = json!({
        "title": "Kopi susu gula aren, 1 liter", "reference": "KS-1309", "amount": 95_000, "customer_fields": fields,
    });
    let link = create_link(shop, members).await;
    browser.devtools("Emulation.setUserAgentOverride", json!({ "userAgent": ANDROID, "acceptLanguage": "en" })).await;
    browser.goto(text(&link, "url")).await;
    browser.fill("#name", "Rina Wulandari").await;
    browser.fill("#email", "rina@example.com").await;
    browser.choose("input[value=qris]").await;
    browser.click("form button.main").await;
    let url = browser.wait_for_url(|url| url.contains("/pay/")).await;
    kit.clock.advance(Duration::from_secs(74));
    let before = receiver.count();
    browser.click("button[value=paid]").await;
    receiver.arrived(before + 1).await;
    url.rsplit('/').next().unwrap().split(['?', '#']).next().unwrap().to_owned()
}

/// What happened today, so far.
async fn today(kit: &Kit, shop: &TestProject) {
    let late = create(shop, &with(samples::qris(shop, 31_000), "reference", "KS-1310")).await;
    kit.clock.advance(Duration::from_mins(16));
    simulate_paid(shop, &late).await;
    let refused = create(shop, &with(samples::virtual_account(shop, "mandiri", 142_000), "reference", "KS-1311")).await;
    report(shop, &refused, "failed").await;
    kit.clock.advance(Duration::from_mins(3));
    create(shop, &with(samples::virtual_account(shop, "bni", 88_000), "reference", "KS-1312")).await;
    kit.clock.advance(Duration::from_mins(2));
}

async fn keep(browser: &Browser, name: &str) {
    if let Ok(folder) = env::var("LUNAS_PICTURES") {
        browser.devtools("Emulation.setScrollbarsHidden", json!({ "hidden": true })).await;
        fs::write(root().join(Path::new(&folder)).join(name), browser.screenshot().await).unwrap();
    }
}

#[tokio::test]
async fn a_month_of_a_shop_adds_up_on_its_pages() {
    on_sqlite(|kit| async move {
        let _broken = neighbours(&kit).await;
        let shop = named(&kit, "Kopi Senja", Environment::Sandbox).await;
        let merchant = MerchantProfile {
            name: "Kopi Senja".to_owned(),
            city: "Bandung".to_owned(),
            postal_code: "40111".to_owned(),
        };
        kit.update(shop.id, ProjectUpdate { merchant: Some(merchant), ..ProjectUpdate::default() }).await;
        let sari = make(&kit, SARI, true).await;
        kit.engine.add_member(shop.id, &sari, Role::Owner).await.unwrap();
        let mut total = month(&kit, &shop).await;
        let receiver = Receiver::start().await;
        kit.set_webhook_url(shop.id, Some(&receiver.url())).await;
        kit.deliver(SendLimits::default());
        kit.may_leave_deliveries_due();
        let browser = Browser::open(Look::desktop().english()).await;
        let payment = customer(&kit, &browser, &shop, &receiver).await;
        today(&kit, &shop).await;
        total += 95_000;

        browser.look_with(Look::desktop().english()).await;
        enter(&browser, &kit, SARI, &desk(shop.id)).await;
        let period: String = browser.text("#volume .total b").await.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(period, total.to_string());
        browser.wait_until("document.querySelector('#guide').childElementCount === 0").await;
        keep(&browser, "dashboard-home.png").await;
        browser.goto(&at(&kit, &format!("{}/payments", desk(shop.id)))).await;
        let paid: String = browser.text(".stats").await.chars().filter(|character| *character != '.').collect();
        assert!(paid.contains(&format!("Rp{total}")), "{paid}");
        keep(&browser, "dashboard-payments.png").await;
        browser.goto(&at(&kit, &format!("{}/balance/receipts", desk(shop.id)))).await;
        browser.click("main td a.row").await;
        browser.wait_for_url(|url| url.contains("/receipts/rcp_")).await;
        keep(&browser, "dashboard-held.png").await;
        browser.goto(&at(&kit, &format!("{}/payments/{payment}", desk(shop.id)))).await;
        browser.wait_for_text("#timeline", "answered 200").await;
        assert!(browser.text("main").await.contains("Rina Wulandari"));
        keep(&browser, "dashboard-payment.png").await;
        browser.goto(&at(&kit, "/dashboard/operator")).await;
        assert_eq!(browser.count("main tbody tr").await, 5);
        keep(&browser, "dashboard-operator.png").await;
        browser.look_with(Look::phone().english()).await;
        browser.goto(&at(&kit, &desk(shop.id))).await;
        browser.wait_for("#volume svg").await;
        keep(&browser, "dashboard-phone.png").await;
    })
    .await;
}
