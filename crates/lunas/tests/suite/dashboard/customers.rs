//! The page of a customer: their payments and sums, of one project alone, and gone with their data.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    dashboard::payments::{owner, references},
    support::{
        customer::{Customer, is_page, payment_of},
        json::text,
        links::create_link,
        payments::{pending_qris, simulate, simulate_paid},
        people::{Person, desk},
        rows::erase_customer,
    },
};

on_every_database![
    a_customers_page_has_all_their_payments_and_what_was_paid_of_them,
    money_that_is_held_for_a_customer_is_on_their_page,
    a_customer_is_gone_with_their_data,
];

on_sqlite_alone![a_payment_of_nobody_or_of_another_project_leads_to_no_customer];

async fn customer(person: &Person, project: &TestProject, payment: &Value) -> Reply {
    person.open(&format!("{}/customers/{}", desk(project.id), text(payment, "id"))).await
}

/// A link that asks for everything, with that reference.
async fn asking(project: &TestProject, reference: &str) -> Value {
    let fields = json!({ "name": true, "email": true, "phone": true });
    let members = json!({ "reference": reference, "allow_multiple_payments": true, "customer_fields": fields });
    create_link(project, members).await
}

/// A payment of somebody new to the browser, through a link of its own.
async fn payment(kit: &Kit, project: &TestProject, reference: &str, [name, email, phone]: [&str; 3]) -> Value {
    kit.clock.advance(Duration::from_millis(1));
    let answers = [("method", "virtual_account:bca"), ("name", name), ("email", email), ("phone", phone)];
    let link = asking(project, reference).await;
    payment_of(project, &Customer::of(kit).choose(&link, &answers).await).await
}

async fn a_customers_page_has_all_their_payments_and_what_was_paid_of_them(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = owner(&kit, &project).await;
    let siti = ["Siti <b>", "siti@example.com", "0812 3456"];
    let first = payment(&kit, &project, "PL-1", siti).await;
    simulate_paid(&project, &first).await;
    payment(&kit, &project, "PL-2", ["Budi", "budi@example.com", "0813"]).await;
    payment(&kit, &project, "PL-3", ["Aisyah", "siti@example.com", "0819"]).await;
    let last = payment(&kit, &project, "PL-4", ["S. Aisyah", "s@example.com", "0812 3456"]).await;
    payment(&kit, &other, "PL-9", siti).await;
    let shown = person.open(&format!("{}/payments/{}", desk(project.id), text(&first, "id"))).await;
    let leads = format!("href=\"{}/customers/{}\"", desk(project.id), text(&first, "id"));
    assert!(shown.text.contains(&leads), "the payment leads to its customer");
    let page = customer(&person, &project, &first).await;
    is_page("first", &page, 200);
    assert_eq!(references(&page), ["PL-4", "PL-3", "PL-1"]);
    for known in
        ["<h1>Siti &#60;b&#62;</h1>", "siti@example.com", "0812 3456", "<b>Rp50.000</b>", "<b>1 dibayar dari 3</b>"]
    {
        assert!(page.text.contains(known), "{known} is not in {}", page.text);
    }
    assert!(!page.text.contains("PL-9") && !page.text.contains("menunggu keputusan"));
    let by_phone = customer(&person, &project, &last).await;
    assert_eq!(references(&by_phone), ["PL-4", "PL-1"], "found by the phone number alone");
    let english = person.open(&format!("{}/customers/{}?lang=en", desk(project.id), text(&first, "id"))).await;
    assert!(english.text.contains("1 of 3 paid"));
}

async fn money_that_is_held_for_a_customer_is_on_their_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    let first = payment(&kit, &project, "PL-1", ["Siti", "siti@example.com", "0812"]).await;
    let again = payment(&kit, &project, "PL-2", ["Siti", "siti@example.com", "0812"]).await;
    let another = payment(&kit, &project, "PL-3", ["Budi", "budi@example.com", "0813"]).await;
    for (payment, receipt, amount) in [(&first, "r1", 49_999), (&again, "r2", 1), (&another, "r3", 7_000)] {
        let report = json!({ "outcome": "paid", "amount": amount, "receipt_id": receipt });
        simulate(&project, payment, &report).await.expect(200);
    }
    let page = customer(&person, &project, &first).await;
    assert!(page.text.contains("Rp50.000 menunggu keputusan Anda."), "{}", page.text);
    assert!(page.text.contains("<b>Rp0</b>"), "held money has paid nothing");
}

async fn a_payment_of_nobody_or_of_another_project_leads_to_no_customer(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = owner(&kit, &project).await;
    let direct = pending_qris(&project, 15_000).await;
    is_page("direct", &customer(&person, &project, &direct).await, 404);
    let members = json!({ "customer_fields": { "name": true } });
    let named = create_link(&project, members).await;
    let reply = Customer::of(&kit).choose(&named, &[("method", "qris"), ("name", "Siti")]).await;
    let named = payment_of(&project, &reply).await;
    is_page("a name is nobody's alone", &customer(&person, &project, &named).await, 404);
    let foreign = payment(&kit, &other, "PL-9", ["Siti", "siti@example.com", "0812"]).await;
    is_page("another project's", &customer(&person, &project, &foreign).await, 404);
    for wrong in ["pay_x", "siti@example.com", "pay_01kzdq3f5ve8x9m2r7t4w6y8za"] {
        is_page(wrong, &person.open(&format!("{}/customers/{wrong}", desk(project.id))).await, 404);
    }
}

async fn a_customer_is_gone_with_their_data(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    let siti = ["Siti Aisyah", "siti@example.com", "0812"];
    let first = payment(&kit, &project, "PL-1", siti).await;
    let second = payment(&kit, &project, "PL-2", siti).await;
    assert_eq!(references(&customer(&person, &project, &first).await), ["PL-2", "PL-1"]);
    erase_customer(&kit.database, text(&second, "id"));
    is_page("forgotten", &customer(&person, &project, &second).await, 404);
    assert_eq!(references(&customer(&person, &project, &first).await), ["PL-1"]);
    erase_customer(&kit.database, text(&first, "id"));
    is_page("forgotten", &customer(&person, &project, &first).await, 404);
    for path in ["/payments", "/search?q=aisyah", "/search?q=siti%40example.com"] {
        let page = person.open(&format!("{}{path}", desk(project.id))).await;
        assert!(page.status == 200 && !page.text.contains("Siti"), "{path}");
    }
}
