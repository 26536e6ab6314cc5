//! `GET /v1/payments?q=`: words in everything that a payment is known by; and the same search at a project's desk.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    id::PaymentId,
    method::Method,
    payment::{Checkout, Customer},
    search::SearchTerm,
};
use engine::{Attempt, Desk, Jump};
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{text, with},
    links::create_link,
    payments::create,
    people::Person,
    samples::{qris, virtual_account},
};

on_every_database![
    q_finds_payments_by_every_field,
    q_combines_with_the_other_filters,
    no_character_of_a_term_is_special,
    a_term_never_finds_another_projects_payments,
    a_desk_finds_payments_links_and_customers_at_once,
    a_whole_id_reference_or_account_number_leads_to_its_page,
];

on_sqlite_alone![a_bad_term_is_refused_with_what_is_wrong_with_it];

struct Shop {
    project: TestProject,
    link: Value,
    account: Value,
    of_customer: PaymentId,
    noted: Value,
}

async fn shop(kit: &Kit) -> Shop {
    let project = kit.sandbox().await;
    let account = with(virtual_account(&project, "bca", 150_000), "reference", "INV-2026-001");
    let account = create(&project, &account).await;
    let link =
        create_link(&project, json!({ "title": "Kopi Susu", "reference": "Kedai", "allow_multiple_payments": true }));
    let link = link.await;
    let customer = Customer {
        name: "Siti Aminah".to_owned(),
        email: "siti@example.com".to_owned(),
        phone: "+62 812-3456-7890".to_owned(),
        address: String::new(),
    };
    let attempt = Attempt::new(Method::Qris, Checkout { customer, ..Checkout::default() });
    let of_customer = kit.engine.attempt_link(text(&link, "id").parse().unwrap(), &attempt).await.unwrap().id;
    let noted = with(qris(&project, 17_500), "metadata", json!({ "meja": "Teras 12" }));
    let noted = create(&project, &with(noted, "reference", "order_17")).await;
    Shop { project, link, account, of_customer, noted }
}

async fn found(project: &TestProject, q: &str) -> Vec<String> {
    let encoded: String = q.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let listed = project.api.get(&format!("/v1/payments?q={encoded}")).await.expect(200);
    let ids: Vec<String> =
        listed["data"].as_array().unwrap().iter().map(|payment| text(payment, "id").to_owned()).collect();
    assert_eq!(listed["pagination"]["total_items"], ids.len(), "{q}");
    ids
}

async fn q_finds_payments_by_every_field(kit: Arc<Kit>) {
    let Shop { project, account, of_customer, noted, .. } = shop(&kit).await;
    let (id, of_customer) = (text(&account, "id"), of_customer.to_string());
    let number = text(&account["instructions"], "virtual_account_number");
    let grouped = number.as_bytes().chunks(4).map(|group| std::str::from_utf8(group).unwrap()).collect::<Vec<_>>();
    for q in
        [number, &grouped.join(" "), &grouped.join("-"), "inv-2026", "001 INV", "Rp150.000", "150000", id, &id[..28]]
    {
        assert_eq!(found(&project, q).await, [id], "{q}");
    }
    for q in ["siti", "AMINAH siti", "example.com", "0812 3456 7890", "+62 812 3456", "6281234567890", "kopi susu"] {
        assert_eq!(found(&project, q).await, [of_customer.as_str()], "{q}");
    }
    for q in ["teras", "TERAS order_17", "17.500"] {
        assert_eq!(found(&project, q).await, [text(&noted, "id")], "{q}");
    }
    for q in ["meja", "siti 150000", "budi", "0813 3456 7890", "150001"] {
        assert_eq!(found(&project, q).await, [""; 0], "{q}");
    }
}

async fn q_combines_with_the_other_filters(kit: Arc<Kit>) {
    let Shop { project, link, .. } = shop(&kit).await;
    let link = text(&link, "id");
    for (query, count) in [
        ("q=siti&method=qris", 1),
        ("q=siti&method=virtual_account", 0),
        ("q=siti&status=pending", 1),
        ("q=siti&status=paid", 0),
        (&format!("q=siti&payment_link_id={link}"), 1),
        (&format!("q=teras&payment_link_id={link}"), 0),
        ("q=teras&search=17", 1),
        ("q=teras&search=inv", 0),
        ("q=siti&page=2", 1),
    ] {
        let listed = project.api.get(&format!("/v1/payments?{query}")).await.expect(200);
        assert_eq!(listed["pagination"]["total_items"], count, "{query}");
    }
}

async fn a_bad_term_is_refused_with_what_is_wrong_with_it(kit: Arc<Kit>) {
    let project = shop(&kit).await.project;
    let long = "a".repeat(10_000);
    for (q, rule) in [
        ("", "must not be empty; leave it out to filter nothing"),
        ("+", "must not be empty"),
        ("a", "must have a word of at least 3 characters"),
        ("ab", "must have a word of at least 3 characters"),
        ("%25", "must have a word of at least 3 characters"),
        ("_", "must have a word of at least 3 characters"),
        ("12", "must have a word of at least 3 characters"),
        ("ab+cd+ef", "must have a word of at least 3 characters"),
        ("aaa+b+c+d+e+f+g+h+i", "must have at most 8 words"),
        (&long[..256], "must have at most 255 characters"),
        (&long, "must have at most 255 characters"),
        ("abc%00", "must not contain control characters"),
        ("abc%0Adef", "must not contain control characters"),
        ("%FF", "must be valid UTF-8"),
        ("abc&q=abc", "must be given only once"),
    ] {
        let message = project.api.get(&format!("/v1/payments?q={q}")).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(message, format!("`q` {rule}"), "{}", &q[..q.len().min(20)]);
    }
}

async fn no_character_of_a_term_is_special(kit: Arc<Kit>) {
    let Shop { project, noted, .. } = shop(&kit).await;
    assert_eq!(found(&project, "order_17").await, [text(&noted, "id")]);
    for q in ["order%17", "%%%", "___", "or*der", "\"siti\"", "'siti'", "' OR 1=1 --", "\\\\\\", "siti) OR (kopi"] {
        assert_eq!(found(&project, q).await, [""; 0], "{q}");
    }
    // Letters that are written from right to left, and marks that change the direction.
    let shalom = create(&project, &with(qris(&project, 15_000), "reference", "שלום 1")).await;
    assert_eq!(found(&project, "שלום").await, [text(&shalom, "id")]);
    assert_eq!(found(&project, "\u{202e}siti").await, [""; 0]);
}

async fn a_term_never_finds_another_projects_payments(kit: Arc<Kit>) {
    let (own, other) = (shop(&kit).await, kit.sandbox().await);
    let number = text(&own.account["instructions"], "virtual_account_number");
    for q in ["siti", "inv-2026", "teras", "kopi", "150000", number, text(&own.account, "id")] {
        assert_eq!(found(&other, q).await, [""; 0], "{q}");
    }
}

async fn desk(kit: &Kit, project: &TestProject) -> Desk {
    let email = format!("owner@{}.example", project.id);
    let owner = Person::member(kit, project.id, Role::Owner, &email).await;
    let visit = kit.engine.visit(&owner.token().unwrap(), String::new(), true).await.unwrap().unwrap();
    kit.engine.desk(&visit, project.id).await.unwrap()
}

async fn a_desk_finds_payments_links_and_customers_at_once(kit: Arc<Kit>) {
    let Shop { project, link, of_customer, .. } = shop(&kit).await;
    let desk = desk(&kit, &project).await;
    let search = async |text: &str| desk.search(&SearchTerm::parse(text).unwrap()).await.unwrap();
    let by_title = search("kopi").await;
    assert_eq!(by_title.payments.iter().map(|payment| payment.id).collect::<Vec<_>>(), [of_customer]);
    assert_eq!(by_title.links.iter().map(|link| link.id.to_string()).collect::<Vec<_>>(), [text(&link, "id")]);
    assert_eq!((by_title.more, by_title.customers), (false, Vec::new()), "no customer is called so");
    let by_name = search("aminah").await;
    assert_eq!(by_name.links, []);
    assert_eq!(by_name.customers.len(), 1);
    assert_eq!(
        (by_name.customers[0].payment_id, by_name.customers[0].customer.name.as_str()),
        (of_customer, "Siti Aminah")
    );
    // Another attempt of the same customer is a payment more, and no customer more.
    let customer = Customer { email: "SITI@example.com".to_owned(), ..Customer::default() };
    let attempt = Attempt::new(Method::Qris, Checkout { customer, ..Checkout::default() });
    kit.clock.advance(Duration::from_millis(1));
    let again = kit.engine.attempt_link(text(&link, "id").parse().unwrap(), &attempt).await.unwrap().id;
    let by_email = search("siti@example").await;
    assert_eq!(by_email.payments.iter().map(|payment| payment.id).collect::<Vec<_>>(), [again, of_customer]);
    assert_eq!(by_email.customers.len(), 1);
    assert_eq!(by_email.customers[0].payment_id, again);
    for _ in 0..20 {
        create(&project, &with(qris(&project, 15_000), "reference", "banyak")).await;
    }
    assert!(!search("banyak").await.more);
    create(&project, &with(qris(&project, 15_000), "reference", "banyak")).await;
    let many = search("banyak").await;
    assert_eq!((many.payments.len(), many.more), (20, true));
}

async fn a_whole_id_reference_or_account_number_leads_to_its_page(kit: Arc<Kit>) {
    let Shop { project, link, account, noted, of_customer } = shop(&kit).await;
    let (desk, other) = (desk(&kit, &project).await, desk(&kit, &kit.sandbox().await).await);
    let payment = |payment: &Value| Some(Jump::Payment(text(payment, "id").parse().unwrap()));
    let number = text(&account["instructions"], "virtual_account_number");
    let spaced = format!("{} {}", &number[..4], &number[4..]);
    let link_id = text(&link, "id");
    for (text, leads_to) in [
        (text(&account, "id"), payment(&account)),
        (link_id, Some(Jump::Link(link_id.parse().unwrap()))),
        (" INV-2026-001 ", payment(&account)),
        (number, payment(&account)),
        (&spaced, payment(&account)),
        ("order_17", payment(&noted)),
        ("Kedai", Some(Jump::Payment(of_customer))),
        ("INV-2026-00", None),
        (&number[..15], None),
        ("siti", None),
        ("", None),
        ("x", None),
        ("pay_01kzdq3f5ve8x9m2r7t4w6y8za", None),
    ] {
        assert_eq!(desk.jump(text).await.unwrap(), leads_to, "{text}");
        assert_eq!(other.jump(text).await.unwrap(), None, "{text} of another project");
    }
    // A second payment with the same reference, and there is no one page to go to.
    create(&project, &with(qris(&project, 15_000), "reference", "order_17")).await;
    assert_eq!(desk.jump("order_17").await.unwrap(), None);
    let unused = create_link(&project, json!({ "reference": "Baru" })).await;
    assert_eq!(desk.jump("Baru").await.unwrap(), Some(Jump::Link(text(&unused, "id").parse().unwrap())));
    create_link(&project, json!({ "reference": "Baru" })).await;
    assert_eq!(desk.jump("Baru").await.unwrap(), None);
}
