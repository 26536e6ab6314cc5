//! How chats show a link: the tags in its page, and the picture that they name.

use std::{sync::Arc, time::Duration};

use domain::method::Method;
use futures_util::future::join_all;
use reqwest::header::{ETAG, IF_NONE_MATCH};
use serde_json::{Value, json};
use testkit::{Kit, Reply, on_sqlite_alone};

use crate::support::{
    customer::{Customer, attribute, is_page, link_path, unknown},
    dashboard::without_path,
    json::text,
    links::{attempt, cancel_link, create_link},
    payments::simulate_paid,
    rows::rows,
};

on_sqlite_alone![
    a_links_page_tells_chats_its_title_shop_amount_and_picture,
    the_picture_is_a_png_that_may_be_cached_and_sets_no_cookie,
    a_link_that_takes_no_payments_shows_no_amount,
    any_title_can_be_drawn,
    no_picture_is_told_apart_from_any_other_page_that_does_not_exist,
];

const WIDTH_AND_HEIGHT: [u8; 8] = [0, 0, 0x04, 0xb0, 0, 0, 0x02, 0x76];

/// The content of a tag in the head of a page.
fn tag(page: &Reply, name: &str) -> String {
    let (_, rest) = page.text.split_once(&format!("=\"{name}\"")).unwrap_or_else(|| panic!("{name} in {}", page.text));
    attribute(rest, "content").replace("&#38;", "&")
}

/// The path and query of a URL of this server.
fn local(kit: &Kit, url: &str) -> String {
    url.strip_prefix(&kit.pages_url).unwrap_or_else(|| panic!("{url} is absolute")).to_owned()
}

struct Picture {
    headers: Reply,
    png: Vec<u8>,
}

/// Fetches a picture as a program without cookies would.
async fn picture(kit: &Kit, path: &str) -> Picture {
    let stranger = Customer::of(kit);
    let response = stranger.begin(stranger.request(reqwest::Method::GET, path)).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let png = response.bytes().await.unwrap().to_vec();
    Picture { headers: Reply { status, headers, json: Value::Null, text: String::new() }, png }
}

#[track_caller]
fn is_picture(picture: &Picture) {
    assert_eq!(picture.headers.status, 200);
    assert_eq!(picture.headers.header("content-type"), Some("image/png"));
    assert_eq!(picture.png[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(picture.png[16..24], WIDTH_AND_HEIGHT, "1200 x 630");
    assert!(picture.png.len() < 100_000, "{}", picture.png.len());
}

async fn a_links_page_tells_chats_its_title_shop_amount_and_picture(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let shop = kit.engine.project(project.id).await.unwrap().merchant.name;
    let link = create_link(&project, json!({ "title": "Kopi \"susu\"" })).await;
    let url = text(&link, "url");
    for (query, says) in [("", format!("Bayar Rp50.000 ke {shop}.")), ("?lang=en", format!("Pay Rp50.000 to {shop}."))]
    {
        let page = Customer::of(&kit).open(&format!("{}{query}", link_path(&link))).await;
        is_page(query, &page, 200);
        assert!(page.text.contains("<meta name=\"robots\" content=\"noindex,nofollow\">"));
        assert_eq!(
            (tag(&page, "og:title"), tag(&page, "og:site_name")),
            ("Kopi &#34;susu&#34;".to_owned(), shop.clone())
        );
        assert_eq!((tag(&page, "og:description"), tag(&page, "og:url")), (says, url.to_owned()));
        assert_eq!(tag(&page, "twitter:card"), "summary_large_image");
        let image = tag(&page, "og:image");
        assert!(image.starts_with(&format!("{url}/preview.png?")), "{image}");
        assert!(!image.contains("lang="), "fetching it must not choose a language");
        is_picture(&picture(&kit, &local(&kit, &image)).await);
    }
    // What is drawn changes the address, so that chats fetch the new picture.
    let other = create_link(&project, json!({ "title": "Teh" })).await;
    let version = |page: &Reply| tag(page, "og:image").split("&v=").nth(1).unwrap().to_owned();
    let pages = join_all([&link, &other].map(|link| async { Customer::of(&kit).open(&link_path(link)).await })).await;
    assert_ne!(version(&pages[0]), version(&pages[1]));
    let payment = attempt(&kit, &project, &link, Method::Qris).await;
    let paying = Customer::of(&kit).open(&format!("/pay/{}", text(&payment, "id"))).await;
    assert!(!paying.text.contains("og:"), "a payment is its customer's alone");
}

async fn the_picture_is_a_png_that_may_be_cached_and_sets_no_cookie(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let path = format!("{}/preview.png", link_path(&link));
    let before = rows(&kit.database);
    let first = picture(&kit, &path).await;
    is_picture(&first);
    assert_eq!(first.headers.header("cache-control"), Some("public, max-age=600"));
    assert_eq!(first.headers.header("x-robots-tag"), Some("noindex"));
    assert_eq!(first.headers.header("set-cookie"), None);
    let again = join_all((0..20).map(|_| picture(&kit, &path))).await;
    assert!(again.iter().all(|picture| picture.png == first.png));
    let etag = first.headers.headers[ETAG].clone();
    let stranger = Customer::of(&kit);
    let asked = stranger.request(reqwest::Method::GET, &path).header(IF_NONE_MATCH, etag);
    let unchanged = stranger.send(asked).await;
    assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str()), (304, ""));
    let english = picture(&kit, &format!("{path}?in=en")).await;
    is_picture(&english);
    assert_ne!(english.png, first.png);
    assert_eq!(rows(&kit.database), before, "looking changes nothing");
}

async fn a_link_that_takes_no_payments_shows_no_amount(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let [paid, cancelled, expired] = [json!({}), json!({}), json!({ "expires_at": "2026-11-14T09:35:00Z" })]
        .map(|members| create_link(&project, members));
    let (paid, cancelled, expired) = (paid.await, cancelled.await, expired.await);
    simulate_paid(&project, &attempt(&kit, &project, &paid, Method::Qris).await).await;
    cancel_link(&project, &cancelled).await;
    kit.clock.advance(Duration::from_mins(6));
    let closed = "Tautan ini tidak menerima pembayaran lagi.";
    let mut pictures = Vec::new();
    for (link, says) in [(&paid, "Sudah lunas."), (&cancelled, closed), (&expired, closed)] {
        let page = Customer::of(&kit).open(&link_path(link)).await;
        is_page(says, &page, 200);
        assert!(tag(&page, "og:description").starts_with(says), "{}", page.text);
        let image = picture(&kit, &local(&kit, &tag(&page, "og:image"))).await;
        is_picture(&image);
        pictures.push(image.png);
    }
    // All three have the same title and amount: only the words for their state differ.
    assert_eq!(pictures[1], pictures[2]);
    assert_ne!(pictures[0], pictures[1]);
}

async fn any_title_can_be_drawn(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for title in ["مقهى الصباح", "שלום", "👩\u{200d}🍳☕🎉", "咖啡", &"W".repeat(255), &"kopi ".repeat(51)]
    {
        let link = create_link(&project, json!({ "title": title })).await;
        is_picture(&picture(&kit, &format!("{}/preview.png", link_path(&link))).await);
    }
}

async fn no_picture_is_told_apart_from_any_other_page_that_does_not_exist(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    let missing = customer.open("/p/junk").await;
    is_page("missing", &missing, 404);
    for id in
        [unknown(&link).as_str(), "junk", "%00", "pay_01kzdq3f5ve8x9m2r7t4w6y8za", &text(&link, "id").to_uppercase()]
    {
        let path = format!("/p/{id}/preview.png");
        let page = customer.open(&path).await;
        is_page(&path, &page, 404);
        assert_eq!(without_path(&page, &path), without_path(&missing, "/p/junk"), "{path}");
    }
    for path in ["preview.jpg", "preview.png/x"] {
        is_page(path, &customer.open(&format!("{}/{path}", link_path(&link))).await, 404);
    }
}
