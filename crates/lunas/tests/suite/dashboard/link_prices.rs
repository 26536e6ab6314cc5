//! Links whose amount the customer chooses, and links that lead back to the shop, in the dashboard: the form, the link's page, its
//! poster, and a link like it.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::{developer_at, leads},
    json::text,
    links::create_link,
    payments::total,
};

on_sqlite_alone![
    a_link_asks_for_a_quantity_or_an_amount_as_the_form_says on 2 threads,
    a_wrong_price_or_way_back_is_reported_at_its_field_and_creates_nothing on 2 threads,
    a_duplicate_has_the_price_and_the_way_back_of_the_old_link on 2 threads,
];

const LINKS: &str = "/v1/payment-links";

type Fields<'a> = &'a [(&'a str, &'a str)];

async fn made(project: &TestProject, reply: &Reply) -> (String, Value) {
    let path = leads(reply, "link-created");
    let link = project.api.get(&format!("{LINKS}/{}", path.rsplit('/').next().unwrap())).await.expect(200);
    (path, link)
}

async fn a_link_asks_for_a_quantity_or_an_amount_as_the_form_says(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    let back = "https://toko.example/selesai?a=1&b=2";
    let tickets = [("title", "Tiket"), ("pricing", "quantity"), ("amount", "50.000"), ("quantity_max", "10")];
    let tickets = [&tickets[..], &[("amount_min", "x"), ("return_url", back)]].concat();
    let (path, link) = made(&project, &person.post(&base, &tickets).await).await;
    assert_eq!((&link["amount"], &link["quantity_max"]), (&json!(50_000), &json!(10)));
    assert_eq!(text(&link, "return_url"), back);
    let page = person.open(&path).await;
    assert!(page.text.contains("Rp50.000 × 1–10") && page.text.contains("toko.example/selesai"), "{}", page.text);
    assert!(person.open(&format!("{path}/poster")).await.text.contains("<p class=\"amount\">Rp50.000</p>"));

    let donation = [("title", "Donasi"), ("pricing", "open"), ("amount_min", "10.000"), ("amount_max", "Rp 500.000")];
    let donation = [&donation[..], &[("amount", "x"), ("quantity_max", "x")]].concat();
    let (path, link) = made(&project, &person.post(&base, &donation).await).await;
    assert_eq!(
        (&link["amount"], &link["amount_min"], &link["amount_max"]),
        (&json!(0), &json!(10_000), &json!(500_000))
    );
    assert!(person.open(&path).await.text.contains("Rp10.000 – Rp500.000"));
    let poster = person.open(&format!("{path}/poster")).await;
    assert!(!poster.text.contains("class=\"amount\""), "an open amount is not on the poster");

    let (_, link) = made(&project, &person.post(&base, &[("title", "Kopi"), ("amount", "15000")]).await).await;
    assert_eq!((&link["amount"], link.get("quantity_max")), (&json!(15_000), None), "as before without a choice");
    // The preview shows what the customer would choose.
    let phone = person.open(&format!("{base}/fees?pricing=quantity&amount=50000&quantity_max=10")).await;
    assert!(phone.text.contains("Banyaknya: 1 sampai 10") && phone.text.contains("Untuk satu buah."), "{}", phone.text);
    let phone = person.open(&format!("{base}/fees?pricing=open&amount_min=10000&amount_max=500000")).await;
    assert!(phone.text.contains("Isi jumlah") && phone.text.contains("Untuk jumlah terkecil."), "{}", phone.text);
}

async fn a_wrong_price_or_way_back_is_reported_at_its_field_and_creates_nothing(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    let long = format!("https://toko.example/{}", "a".repeat(2_048));
    let quantity = [("pricing", "quantity"), ("amount", "50000"), ("quantity_max", "10")];
    let open = [("pricing", "open"), ("amount_min", "10000"), ("amount_max", "500000")];
    let mut rows: Vec<(Fields, &str, &str)> = Vec::new();
    for wrong in ["", "0", "1", "-1", "100", "2.5", "dua"] {
        rows.push((&quantity, "quantity_max", wrong));
    }
    rows.extend([(&quantity[..], "amount", ""), (&quantity, "amount", "99"), (&quantity, "amount", "x")]);
    rows.extend([(&open[..], "amount_min", ""), (&open, "amount_min", "99"), (&open, "amount_min", "1,5")]);
    rows.extend([
        (&open[..], "amount_max", ""),
        (&open, "amount_max", "9.999"),
        (&open, "amount_max", "1000000000000"),
    ]);
    for wrong in ["javascript:alert(1)", "http://toko.example", "https://a:b@toko.example", "toko.example", &long] {
        rows.push((&quantity, "return_url", wrong));
    }
    for (usual, field, value) in rows {
        let row = format!("{field}: {value:.30}");
        let mut answers: Vec<(&str, &str)> = usual.iter().copied().filter(|(name, _)| *name != field).collect();
        answers.extend([("title", "Tiket"), (field, value)]);
        let reply = person.post(&base, &answers).await;
        is_page(&row, &reply, 422);
        assert_eq!(reply.text.matches("class=\"why\"").count(), 1, "{row}: {}", reply.text);
        assert!(reply.text.contains(&format!("id=\"{field}-why\"")), "{row}: {}", reply.text);
    }
    let low = [("title", "Tiket"), ("pricing", "quantity"), ("amount", "4000"), ("quantity_max", "2")];
    let refused = person.post(&base, &low).await;
    assert!(refused.text.contains("id=\"quantity_max-why\""), "two of them are too little for a bank");
    assert_eq!(total(&project.api, LINKS).await, 0);
}

async fn a_duplicate_has_the_price_and_the_way_back_of_the_old_link(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    let back = "https://toko.example/selesai";
    let tickets = create_link(&project, json!({ "quantity_max": 7, "return_url": back })).await;
    let form = person.open(&format!("{base}/new?from={}", text(&tickets, "id"))).await;
    is_page("tickets", &form, 200);
    for part in ["value=\"quantity\" checked", "value=\"Rp50.000\"", "value=\"7\"", &format!("value=\"{back}\"")] {
        assert!(form.text.contains(part), "{part} in {}", form.text);
    }
    let body = json!({
        "project_id": project.id.to_string(), "title": "Donasi", "amount_min": 10_000, "amount_max": 500_000,
    });
    let donation = project.api.post(LINKS, &body).await.expect(201);
    let form = person.open(&format!("{base}/new?from={}", text(&donation, "id"))).await;
    for part in ["value=\"open\" checked", "value=\"Rp10.000\"", "value=\"Rp500.000\""] {
        assert!(form.text.contains(part), "{part} in {}", form.text);
    }
}
