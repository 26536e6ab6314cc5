//! The chooser of links whose customers say how many they pay for, or type the amount.

use std::sync::Arc;

use domain::{access::Role, method::Method};
use serde_json::{Value, json};
use testkit::{Browser, Kit, Look, Reply, on_every_database, on_sqlite, on_sqlite_alone};

use crate::support::{
    acquirers::acquired_for,
    customer::{Customer, is_page, link_path, pay_path, payment_of},
    json::text,
    links::create_link,
    payments::{count_payments, simulate_paid},
    people::{Person, desk},
    rows::rows,
};

on_every_database![a_form_with_another_number_replaces_the_payment_and_the_same_one_resumes_it];

on_sqlite_alone![
    a_customer_says_how_many_and_pays_for_all_of_them,
    a_customer_types_the_amount_as_indonesians_write_it,
    a_number_that_the_link_does_not_take_is_refused_at_its_field_and_leaves_nothing_behind,
    an_amount_that_the_chosen_method_does_not_take_is_refused_at_its_field,
    the_dashboard_and_its_file_show_the_quantity,
    a_banks_own_limits_hold_and_its_code_keeps_the_quantity_and_the_way_back,
];

fn tickets() -> Value {
    json!({ "amount": 7_000, "quantity_max": 5, "allow_multiple_payments": true })
}

fn gift() -> Value {
    json!({ "amount": null, "amount_min": 500, "amount_max": 100_000, "allow_multiple_payments": true })
}

/// The field of that name as the page has it.
#[track_caller]
fn field(page: &Reply, name: &str) -> String {
    let (_, rest) = page.text.split_once(&format!("<input id=\"{name}\"")).unwrap_or_else(|| panic!("{}", page.text));
    rest.split_once('>').unwrap().0.to_owned()
}

async fn a_customer_says_how_many_and_pays_for_all_of_them(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, tickets()).await;
    let customer = Customer::of(&kit);
    let page = customer.open(&link_path(&link)).await;
    is_page("chooser", &page, 200);
    let input = field(&page, "quantity");
    for part in ["type=\"number\"", "min=\"1\"", "max=\"5\"", "value=\"1\"", "aria-describedby=\"quantity-hint\""] {
        assert!(input.contains(part), "{part}: {input}");
    }
    assert!(page.text.contains("Harga satuan") && page.text.contains("Rp7.000"), "{}", page.text);
    let reply = customer.choose(&link, &[("method", "qris"), ("quantity", "3")]).await;
    let payment = payment_of(&project, &reply).await;
    assert_eq!((&payment["amount"], &payment["quantity"]), (&json!(21_000), &json!(3)));
    let page = customer.open(&pay_path(&payment)).await;
    assert!(page.text.contains("Rp21.000") && page.text.contains("3 × Rp7.000"), "{}", page.text);
    simulate_paid(&project, &payment).await;
    let receipt = customer.open(&pay_path(&payment)).await;
    assert!(receipt.text.contains("Rp21.000") && receipt.text.contains("3 × Rp7.000"), "{}", receipt.text);
}

async fn a_customer_types_the_amount_as_indonesians_write_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, gift()).await;
    let page = Customer::of(&kit).open(&link_path(&link)).await;
    assert!(page.text.contains("Dari Rp500 sampai Rp100.000."), "{}", page.text);
    for (typed, amount) in [("25000", 25_000), ("Rp 25.500", 25_500), ("500", 500), ("100.000,-", 100_000)] {
        let reply = Customer::of(&kit).choose(&link, &[("method", "qris"), ("amount", typed)]).await;
        let payment = payment_of(&project, &reply).await;
        assert_eq!(payment["amount"], amount, "{typed}");
        assert_eq!(payment.get("quantity"), None);
    }
}

async fn a_number_that_the_link_does_not_take_is_refused_at_its_field_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut tickets = tickets();
    tickets["customer_fields"] = json!({ "name": true });
    let (tickets, gift) = (create_link(&project, tickets).await, create_link(&project, gift()).await);
    let before = rows(&kit.database);
    let (outside, digits, missing) =
        ("Di luar batas yang diterima.", "Tulis dengan angka saja.", "Bagian ini perlu diisi.");
    for (link, name, value, why) in [
        (&tickets, "quantity", "0", outside),
        (&tickets, "quantity", "6", outside),
        (&tickets, "quantity", "100", outside),
        (&tickets, "quantity", "-1", outside),
        (&tickets, "quantity", "abc", digits),
        (&tickets, "quantity", "1.5", digits),
        (&tickets, "quantity", "99999999999999999999", digits),
        (&tickets, "quantity", "", missing),
        (&gift, "amount", "499", outside),
        (&gift, "amount", "100.001", outside),
        (&gift, "amount", "9999999999999", outside),
        (&gift, "amount", "0", outside),
        (&gift, "amount", "-500", digits),
        (&gift, "amount", "1.5", digits),
        (&gift, "amount", "<b>\"", digits),
        (&gift, "amount", " ", missing),
    ] {
        let answers = [("method", "qris"), ("name", "Siti"), (name, value)];
        let page = Customer::of(&kit).choose(link, &answers).await;
        is_page(value, &page, 422);
        let input = field(&page, name);
        assert!(input.contains("aria-invalid=\"true\""), "{value}: {input}");
        assert!(input.contains(&format!("aria-describedby=\"{name}-why {name}-hint\"")), "{value}: {input}");
        let shown = value.replace('<', "&#60;").replace('>', "&#62;").replace('"', "&#34;");
        assert!(input.contains(&format!("value=\"{shown}\"")), "{value}: {input}");
        assert!(page.text.contains(&format!("id=\"{name}-why\">{why}")), "{value}: {}", page.text);
        assert!(page.text.contains("value=\"qris\" required checked"), "{value}: the method stays chosen");
        assert_eq!(page.text.contains("value=\"Siti\""), name == "quantity", "{value}: the other fields stay");
    }
    assert_eq!(rows(&kit.database), before);
}

async fn an_amount_that_the_chosen_method_does_not_take_is_refused_at_its_field(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (tickets, gift) = (create_link(&project, tickets()).await, create_link(&project, gift()).await);
    let before = rows(&kit.database);
    let why = "Cara bayar ini menerima paling sedikit Rp10.000. Ubah jumlahnya atau pilih cara lain.";
    for (link, name, value) in [(&tickets, "quantity", "1"), (&gift, "amount", "9.999")] {
        let page = Customer::of(&kit).choose(link, &[("method", "virtual_account:bca"), (name, value)]).await;
        is_page(name, &page, 422);
        assert!(page.text.contains(&format!("id=\"{name}-why\">{why}")), "{}", page.text);
        assert!(field(&page, name).contains(&format!("value=\"{value}\"")));
        assert!(page.text.contains("value=\"virtual_account:bca\" required checked"), "{}", page.text);
    }
    assert_eq!(rows(&kit.database), before);
    let reply = Customer::of(&kit).choose(&tickets, &[("method", "virtual_account:bca"), ("quantity", "2")]).await;
    assert_eq!(payment_of(&project, &reply).await["amount"], 14_000);
}

async fn a_form_with_another_number_replaces_the_payment_and_the_same_one_resumes_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, tickets()).await;
    let customer = Customer::of(&kit);
    let two = [("method", "qris"), ("quantity", "2")];
    let first = payment_of(&project, &customer.choose(&link, &two).await).await;
    let change = format!("{}?change={}", link_path(&link), text(&first, "id"));
    assert!(field(&customer.open(&change).await, "quantity").contains("value=\"2\""), "it starts with what was chosen");
    let same = payment_of(&project, &customer.choose_at(&change, &two).await).await;
    assert_eq!(same["id"], first["id"]);
    let reply = customer.choose_at(&change, &[("method", "qris"), ("quantity", "4")]).await;
    let other = payment_of(&project, &reply).await;
    assert_eq!((&other["amount"], &other["quantity"]), (&json!(28_000), &json!(4)));
    let path = format!("/v1/payments/{}", text(&first, "id"));
    assert_eq!(project.api.get(&path).await.expect(200)["status"], "cancelled");
}

async fn the_dashboard_and_its_file_show_the_quantity(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, tickets()).await;
    create_link(&project, gift()).await;
    let reply = Customer::of(&kit).choose(&link, &[("method", "qris"), ("quantity", "3")]).await;
    let payment = payment_of(&project, &reply).await;
    let person = Person::member(&kit, project.id, Role::Owner, "owner@shop.example").await;
    let page = person.open(&format!("{}/payments/{}", desk(project.id), text(&payment, "id"))).await;
    assert!(page.text.contains("3 × Rp7.000"), "{}", page.text);
    let list = person.open(&format!("{}/links", desk(project.id))).await;
    for price in ["Rp7.000 × 1–5", "Rp500 – Rp100.000"] {
        assert!(list.text.contains(price), "{price}: {}", list.text);
    }
    let file = person.open(&format!("{}/payments.csv", desk(project.id))).await;
    let mut lines = file.text.lines();
    assert!(lines.next().unwrap().ends_with(",quantity,received,refunded"), "{}", file.text);
    assert!(lines.next().unwrap().ends_with(",3,0,0"), "{}", file.text);
}

async fn a_banks_own_limits_hold_and_its_code_keeps_the_quantity_and_the_way_back(kit: Arc<Kit>) {
    let project = kit.production().await;
    let there = acquired_for(&kit, project, "midtrans", Method::Qris, &[("amounts", "10000..20000")]).await;
    let mut members = tickets();
    members["allowed_payment_methods"] = json!([{ "type": "qris" }]);
    members["return_url"] = json!("https://shop.example/");
    let link = create_link(&there.project, members).await;
    for (quantity, why) in [("1", "paling sedikit Rp10.000."), ("3", "paling banyak Rp20.000.")] {
        let page = Customer::of(&kit).choose(&link, &[("method", "qris"), ("quantity", quantity)]).await;
        is_page(quantity, &page, 422);
        assert!(page.text.contains(why), "{}", page.text);
    }
    assert_eq!((there.asked_to_issue(), count_payments(&there.project, "").await), (0, 0));
    let reply = Customer::of(&kit).choose(&link, &[("method", "qris"), ("quantity", "2")]).await;
    let payment = payment_of(&there.project, &reply).await;
    assert_eq!((&payment["amount"], &payment["quantity"]), (&json!(14_000), &json!(2)));
    assert_eq!(payment["return_url"], "https://shop.example/");
    // Where no possible amount is taken, there is no method to choose.
    let gift = json!({ "amount": null, "amount_min": 20_001, "amount_max": 30_000 });
    let gift = create_link(&there.project, gift).await;
    let page = Customer::of(&kit).open(&link_path(&gift)).await;
    assert!(!page.text.contains("name=\"method\""), "{}", page.text);
}

#[tokio::test]
async fn the_button_tells_the_total_and_works_without_script_in_a_browser() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let (tickets, gift) = (create_link(&project, tickets()).await, create_link(&project, gift()).await);
        let browser = Browser::open(Look::narrow()).await;
        browser.goto(text(&tickets, "url")).await;
        browser.wait_for_text("form button.main", "Bayar Rp7.000").await;
        browser.fill("#quantity", "3").await;
        browser.wait_for_text("form button.main", "Bayar Rp21.000").await;
        browser.check_page().await;
        browser.goto(text(&gift, "url")).await;
        assert_eq!(browser.text("form button.main").await, "Bayar");
        browser.fill("#amount", "25.000").await;
        browser.wait_for_text("form button.main", "Bayar Rp25.000").await;
        browser.check_page().await;
        assert_eq!(browser.console_errors().await, [""; 0]);
        browser.look_with(Look::phone().without_script().english()).await;
        browser.goto(text(&tickets, "url")).await;
        assert_eq!(browser.text("form button.main").await, "Pay");
        browser.fill("#quantity", "2").await;
        browser.choose("input[value=qris]").await;
        browser.click("form button.main").await;
        browser.wait_for_url(|url| url.contains("/pay/")).await;
        assert!(browser.text("main").await.contains("Rp14.000"));
    })
    .await;
}
