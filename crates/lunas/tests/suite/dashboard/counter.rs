//! Selling at the counter: real QRIS payments of the project, made by one press each, that the person who made them sees and may
//! give up.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    audit::{Actor, Deed},
    time::DAY,
};
use engine::ProjectUpdate;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{acquired_for, ask_after},
    counter::{counter, sale_of, sell},
    customer::{is_page, is_protected},
    dashboard::{audited, beside_owner, sandbox_with_owner},
    json::text,
    payments::{count_payments, fetch, pending_qris, simulate, simulate_paid, status, unapplied},
    people::{Person, desk},
    rows::rows,
    wait::PATIENCE,
};

on_every_database![
    a_press_that_is_sent_again_makes_one_sale on 2 threads,
    each_member_sees_their_own_sales_of_today_and_no_others,
    a_pending_sale_is_given_up_by_who_made_it_and_money_that_comes_later_is_held,
    a_sale_that_is_paid_cannot_be_given_up,
    a_sale_whose_code_a_bank_issues_is_listed_and_its_code_is_voided_when_it_is_given_up,
];

on_sqlite_alone![
    a_sale_is_a_direct_qris_payment_that_names_who_made_it,
    an_amount_that_cannot_be_paid_by_qris_is_reported_at_its_field_and_makes_nothing,
    an_open_page_hears_how_its_sale_ends,
    a_project_that_takes_no_payments_makes_no_sale,
    members_who_may_create_payments_find_the_counter_in_their_menu,
    a_member_who_becomes_a_cashier_loses_everything_else_at_once,
];

const ATTEMPT: &str = "0123456789abcdef0123456789abcdef";

fn by_id(id: &str) -> Value {
    json!({ "id": id })
}

async fn a_sale_is_a_direct_qris_payment_that_names_who_made_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    let id = sell(&cashier, &project, "Rp 15.000").await;
    let payment = fetch(&project, &by_id(&id)).await;
    assert_eq!((text(&payment, "status"), &payment["amount"]), ("pending", &json!(15_000)));
    assert_eq!(payment["payment_method"]["type"], "qris");
    assert_eq!(payment["metadata"], json!({ "counter": "member@example.com" }));
    let reference = text(&payment, "reference");
    assert!(reference.starts_with("K-20") && reference.len() == 17, "{reference}");
    let page = cashier.open(&format!("{}/{id}", counter(&project))).await;
    is_page("the sale", &page, 200);
    for shown in ["Rp15.000", "Toko Kopi", "data:image/png;base64,", "data-status=\"pending\"", reference, "/pay/"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let [(Actor::User { id: who, .. }, what)] = &audited(&kit, Deed::SaleCreated).await[..] else { panic!("one line") };
    assert_eq!((*who, what.as_str()), (cashier.user.id, reference));
    simulate_paid(&project, &payment).await;
    let page = cashier.open(&format!("{}/{id}", counter(&project))).await;
    assert!(page.text.contains("data-status=\"paid\"") && !page.text.contains("base64"), "{}", page.text);
}

async fn a_press_that_is_sent_again_makes_one_sale(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    let press = |amount: &'static str| {
        let fields = [("amount", amount), ("attempt", ATTEMPT)];
        let (cashier, path) = (&cashier, counter(&project));
        async move { cashier.post(&path, &fields).await }
    };
    let replies = futures_util::future::join_all((0..8).map(|_| press("15000"))).await;
    let first = sale_of(&project, &replies[0]);
    for reply in &replies {
        assert_eq!(sale_of(&project, reply), first);
    }
    assert_eq!((count_payments(&project, "").await, audited(&kit, Deed::SaleCreated).await.len()), (1, 1));
    // The same amount in other words is the same sale; another amount is another one, and so is another person's.
    assert_eq!(sale_of(&project, &press("15.000").await), first);
    assert_ne!(sale_of(&project, &press("16.000").await), first);
    let other = Person::member(&kit, project.id, Role::Developer, "other@example.com").await;
    let theirs = other.post(&counter(&project), &[("amount", "15000"), ("attempt", ATTEMPT)]).await;
    assert_ne!(sale_of(&project, &theirs), first);
    assert_eq!(count_payments(&project, "").await, 3);
}

async fn an_amount_that_cannot_be_paid_by_qris_is_reported_at_its_field_and_makes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    cashier.open(&counter(&project)).await;
    let before = rows(&kit.database);
    for (amount, sentence) in [
        ("", "Wajib diisi."),
        ("0", "antara Rp100 dan"),
        ("99", "antara Rp100 dan"),
        ("-15000", "rupiah bulat"),
        ("15,5", "rupiah bulat"),
        ("lima ribu", "rupiah bulat"),
        ("<b>1</b>", "rupiah bulat"),
        ("1000000000000", "Paling banyak Rp999.999.999.999"),
    ] {
        let page = cashier.post(&counter(&project), &[("amount", amount), ("attempt", ATTEMPT)]).await;
        is_page(amount, &page, 422);
        let (_, why) = page.text.split_once("id=\"amount-why\">").unwrap_or_else(|| panic!("{amount}: {}", page.text));
        assert!(why.split('<').next().unwrap().contains(sentence), "{amount}: {why}");
        assert!(page.text.contains(ATTEMPT), "{amount}: the same press goes on");
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn each_member_sees_their_own_sales_of_today_and_no_others(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    let other = Person::member(&kit, project.id, Role::Cashier, "other@example.com").await;
    pending_qris(&project, 99_000).await;
    let (mine, theirs) = (sell(&cashier, &project, "15000").await, sell(&other, &project, "27000").await);
    simulate_paid(&project, &by_id(&mine)).await;
    let page = cashier.open(&counter(&project)).await;
    assert!(page.text.contains("Rp15.000") && page.text.contains("badge paid"), "{}", page.text);
    assert!(!page.text.contains("Rp27.000") && !page.text.contains("Rp99.000"), "{}", page.text);
    for path in ["", "/status", "/events"] {
        let reply = cashier.open(&format!("{}/{theirs}{path}", counter(&project))).await;
        is_page(path, &reply, 404);
    }
    kit.clock.advance(DAY);
    let cashier = Person::signed_in(&kit, cashier.user).await;
    let page = cashier.open(&counter(&project)).await;
    assert!(page.text.contains("Belum ada penjualan hari ini."), "{}", page.text);
    is_page("yesterday's", &cashier.open(&format!("{}/{mine}", counter(&project))).await, 200);
}

async fn a_pending_sale_is_given_up_by_who_made_it_and_money_that_comes_later_is_held(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    let other = Person::member(&kit, project.id, Role::Owner, "other@example.com").await;
    let id = sell(&cashier, &project, "15000").await;
    let cancel = format!("{}/{id}/cancel", counter(&project));
    is_page("another's", &other.post(&cancel, &[]).await, 404);
    assert_eq!(status(&project, &by_id(&id)).await, "pending");
    for _ in 0..2 {
        assert_eq!(sale_of(&project, &cashier.post(&cancel, &[]).await), id);
    }
    assert_eq!(status(&project, &by_id(&id)).await, "cancelled");
    assert_eq!(audited(&kit, Deed::SaleCancelled).await.len(), 1);
    let page = cashier.open(&format!("{}/{id}", counter(&project))).await;
    assert!(page.text.contains("data-status=\"cancelled\"") && !page.text.contains("base64"), "{}", page.text);
    kit.clock.advance(Duration::from_secs(1));
    simulate(&project, &by_id(&id), &json!({ "outcome": "paid" })).await.expect(200);
    assert_eq!(status(&project, &by_id(&id)).await, "cancelled");
    assert_eq!(unapplied(&project).await, 15_000);
}

async fn a_sale_that_is_paid_cannot_be_given_up(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    let id = sell(&cashier, &project, "15000").await;
    simulate_paid(&project, &by_id(&id)).await;
    let before = rows(&kit.database);
    let page = cashier.post(&format!("{}/{id}/cancel", counter(&project)), &[]).await;
    is_page("paid", &page, 409);
    assert!(page.text.contains("tidak bisa dibatalkan lagi") && page.text.contains("data-status=\"paid\""));
    assert_eq!(rows(&kit.database), before);
}

async fn an_open_page_hears_how_its_sale_ends(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    let id = sell(&cashier, &project, "15000").await;
    let at = |rest: &str| format!("{}/{id}{rest}", counter(&project));
    let reply = cashier.open(&at("/status")).await;
    is_protected("status", &reply);
    assert_eq!(reply.json, json!({ "status": "pending" }));
    let mut stream = cashier.browser.begin(cashier.request(Method::GET, &at("/events"))).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut told = String::new();
    let mut hear = async |status: &str| {
        while !told.contains(&format!("event: status\ndata: {status}\n\n")) {
            let chunk = tokio::time::timeout(PATIENCE, stream.chunk()).await.expect("nothing is told").unwrap();
            told.push_str(std::str::from_utf8(&chunk.expect("the stream goes on")).unwrap());
        }
    };
    hear("pending").await;
    simulate_paid(&project, &by_id(&id)).await;
    hear("paid").await;
    assert_eq!(cashier.open(&at("/status")).await.json, json!({ "status": "paid" }));
}

async fn a_project_that_takes_no_payments_makes_no_sale(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cashier = beside_owner(&kit, &project, Role::Cashier).await;
    let update = ProjectUpdate { active: Some(false), ..ProjectUpdate::default() };
    kit.engine.update_project(project.id, update).await.unwrap();
    let before = rows(&kit.database);
    let page = cashier.post(&counter(&project), &[("amount", "15000")]).await;
    is_page("inactive", &page, 409);
    assert!(page.text.contains("belum bisa menerima pembayaran"), "{}", page.text);
    assert_eq!(rows(&kit.database), before);
}

async fn a_sale_whose_code_a_bank_issues_is_listed_and_its_code_is_voided_when_it_is_given_up(kit: Arc<Kit>) {
    let limits = [("amounts", "10000..50000000")];
    let acquired = acquired_for(&kit, kit.production().await, "midtrans", domain::method::Method::Qris, &limits).await;
    let project = &acquired.project;
    let cashier = beside_owner(&kit, project, Role::Cashier).await;
    let id = sell(&cashier, project, "150.000").await;
    assert_eq!(acquired.asked_to_issue(), 1);
    let page = cashier.open(&counter(project)).await;
    assert!(page.text.contains(&format!("/counter/{id}\"")), "{}", page.text);
    let sale = cashier.open(&format!("{}/{id}", counter(project))).await;
    assert!(sale.text.contains("base64,") && !sale.text.contains(&format!("/pay/{id}")), "{}", sale.text);
    cashier.post(&format!("{}/{id}/cancel", counter(project)), &[]).await;
    assert_eq!(status(project, &by_id(&id)).await, "cancelled");
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(acquired.payable(), [""; 0]);
    // What the bank does not take is said at the field, and the bank is not asked.
    for amount in ["9999", "50000001"] {
        let page = cashier.post(&counter(project), &[("amount", amount), ("attempt", ATTEMPT)]).await;
        is_page(amount, &page, 422);
        assert!(page.text.contains("antara Rp10.000 dan Rp50.000.000"), "{}", page.text);
    }
    assert_eq!(acquired.asked_to_issue(), 1);
}

async fn members_who_may_create_payments_find_the_counter_in_their_menu(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let link = format!("href=\"{}\"", counter(&project));
    for role in Role::ALL {
        let person = Person::member(&kit, project.id, role, &format!("{}@role.test", role.word())).await;
        let home = person.open(&desk(project.id)).await;
        match role {
            Role::Owner | Role::Developer | Role::Viewer => {
                assert_eq!(home.text.contains(&link), role != Role::Viewer, "{}", role.word());
            }
            // They come to the counter in place of a home that they may not see, also after they have signed in.
            Role::Cashier => assert_eq!(home.header("location"), Some(counter(&project).as_str())),
        }
        let account = person.open("/dashboard/account").await;
        is_page(role.word(), &account, 200);
    }
    let cashier = Person::member(&kit, project.id, Role::Cashier, "menu@role.test").await;
    for page in [counter(&project), "/dashboard/account".to_owned()] {
        let page = cashier.open(&page).await;
        assert!(page.text.contains(&link), "{}", page.text);
        for hidden in ["/payments\"", "/settings\"", "/search\"", "/balance\"", "/keys\"", "/links\""] {
            assert!(!page.text.contains(&format!("{}{hidden}", desk(project.id))), "{hidden}");
        }
    }
}

async fn a_member_who_becomes_a_cashier_loses_everything_else_at_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let member = beside_owner(&kit, &project, Role::Viewer).await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let members = format!("{}/settings/members", desk(project.id));
    let page = owner.open(&members).await;
    assert!(page.text.contains("<option value=\"cashier\">Kasir</option>"), "{}", page.text);
    assert!(page.text.contains("Hanya bisa membuka halaman Kasir"), "{}", page.text);
    let mut live = member.browser.begin(member.request(Method::GET, &format!("{}/live", desk(project.id)))).await;
    assert_eq!(live.status(), 200);
    let role = format!("{members}/{}/role", member.user.id);
    assert_eq!(owner.post(&role, &[("role", "cashier")]).await.status, 303);
    is_page("payments", &member.open(&format!("{}/payments", desk(project.id))).await, 403);
    sell(&member, &project, "15000").await;
    // What was open before ends too.
    let end = async { while live.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(PATIENCE, end).await.expect("the stream goes on");
    // An invitation can be for a cashier.
    let page = owner.post(&members, &[("email", "baru@example.com"), ("role", "cashier")]).await;
    is_page("the invitation", &page, 200);
}
