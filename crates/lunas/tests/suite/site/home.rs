//! `/` says what this service is and where to go; every other path that no surface has stays an error of the API.

use std::sync::Arc;

use domain::access::Role;
use reqwest::Method;
use testkit::{Kit, Socket, on_every_database, on_sqlite, on_sqlite_with, request_bytes};

use crate::support::{
    customer::{Customer, is_page},
    options::{base_url, without_docs},
    people::{Person, desk},
};

on_every_database![pages_need_no_database];

/// A page that is larger than this is not small.
const SMALL_BYTES: usize = 6 * 1024;

async fn pages_need_no_database(kit: Arc<Kit>) {
    kit.store.close().await;
    for path in ["/", "/docs", "/docs/webhooks", "/docs/search?q=webhook"] {
        let page = Customer::of(&kit).open(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
    }
}

#[tokio::test]
async fn the_home_page_leads_to_docs_reference_and_dashboard_in_both_languages() {
    on_sqlite(|kit| async move {
        for (language, heading) in [
            ("en", "Take payments in rupiah by QRIS and virtual account"),
            ("id", "Terima pembayaran rupiah lewat QRIS dan virtual account"),
        ] {
            let page = Customer::of(&kit).open(&format!("/?lang={language}")).await;
            is_page(language, &page, 200);
            assert!(page.text.contains(&format!("<html lang=\"{language}\">")), "{}", page.text);
            assert!(page.text.contains(&format!("<h1>{heading}</h1>")), "{}", page.text);
            for path in ["/docs", "/docs/api", "/docs/first-payment", "/dashboard"] {
                assert!(page.text.contains(&format!("href=\"{path}\"")), "no link to {path}: {}", page.text);
            }
            assert!(page.text.contains(&format!("<code>http://{}/v1</code>", kit.address)), "{}", page.text);
            assert!(page.text.len() < SMALL_BYTES, "{} bytes", page.text.len());
        }
    })
    .await;
}

#[tokio::test]
async fn only_the_root_itself_is_a_page_and_unknown_paths_stay_errors_of_the_api() {
    on_sqlite(|kit| async move {
        for path in ["//", "//docs", "/index.html", "/doc", "/docsx", "/Docs", "/robots.txt", "/v1", "/favicon.ico"] {
            for method in ["GET", "POST"] {
                let mut socket = Socket::connect(kit.address).await;
                socket.send(&request_bytes(method, path, &[], b"")).await;
                socket.answer().await.unwrap().refused(404, "RESOURCE_NOT_FOUND");
            }
        }
        let customer = Customer::of(&kit);
        for path in ["/docs/nothing", "/docs/", "/docs/id/nothing", "/docs/webhooks/x", "/docs/%ff", "/docs/../v1"] {
            let mut socket = Socket::connect(kit.address).await;
            socket.send(&request_bytes("GET", path, &[], b"")).await;
            is_page(path, &socket.answer().await.unwrap(), 404);
        }
        for path in ["/", "/docs", "/docs/webhooks", "/docs/search"] {
            let wrong = customer.send(customer.request(Method::DELETE, path)).await;
            is_page(path, &wrong, 405);
            let head = customer.send(customer.request(Method::HEAD, path)).await;
            assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""), "{path}");
        }
    })
    .await;
}

#[tokio::test]
async fn without_docs_their_addresses_are_404_and_no_page_leads_there() {
    on_sqlite_with(without_docs(), |kit| async move {
        let customer = Customer::of(&kit);
        for path in ["/docs", "/docs/webhooks", "/docs/search?q=webhook", "/docs/api", "/docs/id/dashboard"] {
            let page = customer.open(path).await;
            is_page(path, &page, 404);
            assert!(!page.text.contains("href=\"/docs"), "{path}: {}", page.text);
        }
        let home = customer.open("/").await;
        is_page("/", &home, 200);
        assert!(!home.text.contains("/docs") && home.text.contains("href=\"/dashboard\""), "{}", home.text);
        assert!(home.text.len() < SMALL_BYTES, "{} bytes", home.text.len());
        customer.open("/openapi.json").await.expect(200);
        assert!(!dashboard_leads_to_docs(&kit, Role::Owner).await);
    })
    .await;
}

#[tokio::test]
async fn the_dashboard_leads_to_the_docs_but_not_a_cashier() {
    on_sqlite(|kit| async move {
        assert!(dashboard_leads_to_docs(&kit, Role::Viewer).await);
        assert!(!dashboard_leads_to_docs(&kit, Role::Cashier).await);
    })
    .await;
}

async fn dashboard_leads_to_docs(kit: &Kit, role: Role) -> bool {
    let project = kit.sandbox().await;
    let email = format!("{role:?}@example.com").to_lowercase();
    let mut person = Person::member(kit, project.id, Role::Owner, &format!("boss-of-{email}")).await;
    if role != Role::Owner {
        person = Person::member(kit, project.id, role, &email).await;
    }
    let path = desk(project.id);
    let page = person.open(&if role == Role::Cashier { format!("{path}/counter") } else { path }).await;
    is_page("dashboard", &page, 200);
    page.text.contains("href=\"/docs\"")
}

#[tokio::test]
async fn behind_a_proxy_with_a_prefix_every_link_has_it() {
    on_sqlite_with(base_url("https://toko.example/bayar/"), |kit| async move {
        for path in ["/", "/docs", "/docs/webhooks", "/docs/search?q=webhook", "/docs/nothing"] {
            let page = Customer::of(&kit).open(path).await;
            let links = page.text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let ours: Vec<&str> = links.filter(|link| link.starts_with('/')).collect();
            assert!(ours.len() > 5, "{path}: {ours:?}");
            assert!(ours.iter().all(|link| link.starts_with("/bayar/")), "{path}: {ours:?}");
        }
    })
    .await;
}
