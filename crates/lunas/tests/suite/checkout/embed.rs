//! The checkout in a frame over a shop's page: who may hold the frame, and what keeps working in it.

use std::sync::Arc;

use domain::project::Environment;
use engine::{ProjectUpdate, addresses::frame_origins};
use reqwest::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_sqlite_alone};

use crate::support::{
    customer::{Customer, SetCookie, attribute, hidden, is_page, link_path, pay_path},
    json::text,
    links::create_link,
    options::rate_limit,
    payments::{fetch, pending_qris, report, simulate_paid},
};

on_sqlite_alone![
    the_script_for_shops_is_at_most_3_kb_and_any_site_may_load_it,
    only_an_origin_of_the_projects_list_may_hold_the_frame_and_only_where_it_asks,
    a_customer_pays_in_the_frame_without_leaving_it,
    the_page_in_the_frame_names_its_payment_to_the_shops_page,
    an_error_in_the_frame_is_shown_there with rate_limit(100),
];

const SHOP: &str = "https://shop.example";
/// The most bytes of the script, as it is sent.
const SCRIPT_BYTES_MOST: usize = 3 * 1_024;

/// Lets pages of these origins show the project's checkout.
async fn allow(kit: &Kit, project: &TestProject, origins: &[&str]) {
    let origins: Vec<String> = origins.iter().map(|origin| (*origin).to_owned()).collect();
    let origins = frame_origins(&origins, Environment::Sandbox).unwrap();
    let update = ProjectUpdate { frame_origins: Some(origins), ..ProjectUpdate::default() };
    kit.engine.update_project(project.id, update).await.unwrap();
}

/// Who may show an answer in a frame.
#[track_caller]
fn ancestors(reply: &Reply) -> &str {
    let policy = reply.header("content-security-policy").unwrap();
    let (rest, ancestors) = policy.split_once("frame-ancestors ").unwrap();
    let strict = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                  form-action 'self'; base-uri 'none'; ";
    assert_eq!(rest, strict);
    ancestors
}

async fn the_script_for_shops_is_at_most_3_kb_and_any_site_may_load_it(kit: Arc<Kit>) {
    let customer = Customer::of(&kit);
    for encoding in ["identity", "gzip"] {
        let request = customer.request(reqwest::Method::GET, "/embed.js").header(ACCEPT_ENCODING, encoding);
        let response = customer.begin(request).await;
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(response.status(), 200);
        assert_eq!(header("content-type").as_deref(), Some("text/javascript; charset=utf-8"));
        assert_eq!(header("cache-control").as_deref(), Some("public, max-age=3600"));
        assert_eq!(header("cross-origin-resource-policy").as_deref(), Some("cross-origin"));
        assert_eq!(header("content-encoding").is_some(), encoding == "gzip");
        let (etag, sent) = (header("etag").unwrap(), response.bytes().await.unwrap());
        assert!(!sent.is_empty() && sent.len() <= SCRIPT_BYTES_MOST, "{encoding}: {} bytes", sent.len());
        let again = customer.request(reqwest::Method::GET, "/embed.js").header(IF_NONE_MATCH, etag);
        assert_eq!(customer.send(again).await.status, 304);
    }
}

async fn only_an_origin_of_the_projects_list_may_hold_the_frame_and_only_where_it_asks(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    allow(&kit, &project, &[SHOP, "http://localhost:3000"]).await;
    allow(&kit, &other, &["https://other.example"]).await;
    let link = create_link(&project, json!({})).await;
    let payment = pending_qris(&project, 15_000).await;
    let customer = Customer::of(&kit);
    for path in [link_path(&link), pay_path(&payment)] {
        for (query, held_by) in [
            ("", "'none'"),
            ("?origin=https://shop.example", SHOP),
            ("?origin=https%3A%2F%2Fshop.example", SHOP),
            ("?origin=http://localhost:3000", "http://localhost:3000"),
            ("?origin=https://other.example", "'none'"),
            ("?origin=https://evil.example", "'none'"),
            ("?origin=https://shop.example.evil.example", "'none'"),
            ("?origin=https://shop.example:444", "'none'"),
            ("?origin=HTTPS://shop.example", "'none'"),
            ("?origin=https://shop.example&origin=https://evil.example", "'none'"),
            ("?origin=*", "'none'"),
            ("?origin=null", "'none'"),
            ("?origin=", "'none'"),
            ("?origin=https://shop.example%0d%0aX:1", "'none'"),
            ("?origin=https://shop.example%20*", "'none'"),
        ] {
            let page = customer.open(&format!("{path}{query}")).await;
            assert_eq!((page.status.as_u16(), ancestors(&page)), (200, held_by), "{path}{query}");
            let told = page.text.contains("data-origin=");
            assert_eq!(told, held_by != "'none'", "{path}{query}: {}", page.text);
            if !told {
                is_page(query, &page, 200);
            }
        }
    }
    // What is no page of this project is held by nobody.
    for path in ["/p/junk", "/pay/junk", "/p/pl_01kzdq3f5ve8x9m2r7t4w6y8za", "/nothing"] {
        let page = customer.open(&format!("{path}?origin={SHOP}")).await;
        if path != "/nothing" {
            assert_eq!(ancestors(&page), "'none'", "{path}");
        }
    }
    allow(&kit, &project, &[""]).await;
    assert_eq!(ancestors(&customer.open(&format!("{}?origin={SHOP}", link_path(&link))).await), "'none'");
}

async fn a_customer_pays_in_the_frame_without_leaving_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    let link = create_link(&project, json!({})).await;
    let framed = format!("{}?origin={SHOP}&lang=en", link_path(&link));
    // A browser that keeps no cookies in frames is known by its form; one that does keeps them apart from all others.
    let customer = Customer::of(&kit);
    let page = customer.open(&framed).await;
    let cookies = SetCookie::all(&page.headers);
    let checkout = cookies.iter().find(|cookie| cookie.name == "lunas_checkout").unwrap();
    assert_eq!(checkout.flags, ["HttpOnly", "SameSite=None", "Secure", "Partitioned"]);
    let forgetful = Customer::of(&kit);
    let mut fields: Vec<(String, String)> = hidden(&page);
    fields.push(("method".to_owned(), "qris".to_owned()));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let reply = forgetful.post(&framed, &fields).await;
    let led = reply.header("location").unwrap().to_owned();
    assert!(reply.status == 303 && led.ends_with(&format!("?lang=en&origin={SHOP}")), "{led}");
    let pending = forgetful.open(&led).await;
    assert!(ancestors(&pending) == SHOP && pending.text.contains("<html lang=\"en\">"), "{}", pending.text);
    // The same form again leads to the same payment.
    assert_eq!(Customer::of(&kit).post(&framed, &fields).await.header("location"), Some(led.as_str()));
    // The browser with its cookie comes back to its payment, in the frame.
    let mine = customer.post(&framed, &fields).await;
    assert_eq!(mine.header("location"), Some(led.as_str()));
    assert_eq!(customer.open(&framed).await.header("location"), Some(led.as_str()));
    let (page, query) = led.split_once('?').unwrap();
    let paid = forgetful.post(&format!("{page}/simulate?{query}"), &[("outcome", "paid")]).await;
    assert_eq!(paid.header("location"), Some(led.as_str()));
    // A frame that nobody allowed is none: nothing is carried on.
    let evil = format!("{}?origin=https://evil.example", link_path(&create_link(&project, json!({})).await));
    let reply = Customer::of(&kit).choose_at(&evil, &[("method", "qris")]).await;
    assert!(!reply.header("location").unwrap().contains("evil"));
}

async fn the_page_in_the_frame_names_its_payment_to_the_shops_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    let chooser = customer.open(&format!("{}?origin={SHOP}", link_path(&link))).await;
    assert!(!chooser.text.contains("data-payment="), "{}", chooser.text);
    let told = async |payment: &Value| {
        let page = customer.open(&format!("{}?origin={SHOP}", pay_path(payment))).await;
        let (_, script) = page.text.split_once("data-origin=").unwrap();
        let script = format!(" data-origin={}", script.split('>').next().unwrap());
        assert_eq!(attribute(&script, "data-origin"), SHOP);
        assert_eq!(attribute(&script, "data-payment"), text(payment, "id"));
        assert_eq!(attribute(&script, "data-reference"), text(payment, "reference"));
        attribute(&script, "data-status")
    };
    let (paid, failed) = (pending_qris(&project, 15_000).await, pending_qris(&project, 15_000).await);
    assert_eq!(told(&paid).await, "pending");
    simulate_paid(&project, &paid).await;
    report(&project, &failed, "failed").await;
    assert_eq!((told(&paid).await, told(&failed).await), ("paid".to_owned(), "failed".to_owned()));
    let expired = pending_qris(&project, 15_000).await;
    report(&project, &expired, "expired").await;
    assert_eq!(told(&fetch(&project, &expired).await).await, "expired");
}

async fn an_error_in_the_frame_is_shown_there(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    let path = format!("{}?origin={SHOP}", link_path(&link));
    // Without a method the form comes back; after too many forms an error page does.
    for _ in 0..100 {
        let page = customer.post(&path, &[]).await;
        assert_eq!(ancestors(&page), SHOP, "{}", page.text);
        if page.status == 429 {
            return;
        }
        assert_eq!(page.status, 422);
    }
    panic!("no form was refused");
}
