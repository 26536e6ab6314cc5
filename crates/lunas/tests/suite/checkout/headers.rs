//! Headers, cookies and languages of the checkout's answers, and how often a browser may send forms
//! (docs/contract.md, decisions §2).

use std::sync::Arc;

use reqwest::{Method, header::ACCEPT_LANGUAGE};
use serde_json::{Value, json};
use testkit::{Kit, Reply, on_sqlite_alone};

use crate::support::{
    customer::{
        CHECKOUT_COOKIE, Customer, SetCookie, attribute, hidden, is_page, is_protected_and_cached, link_path, pay_path,
        payment_of,
    },
    json::text,
    links::create_link,
    options::{base_url, rate_limit, trusted_proxy_and_rate_limit},
    payments::{count_payments, pending_qris},
    rows::rows,
};

on_sqlite_alone![
    style_and_script_are_kept_for_ever_and_sent_compressed,
    the_language_is_that_of_the_address_then_the_cookie_then_the_browser_then_indonesian,
    a_language_once_chosen_holds_on_every_page,
    the_switch_of_languages_leads_to_the_same_page,
    an_error_page_shows_the_request_id,
    an_address_may_send_30_forms_a_minute_and_open_as_many_pages_as_it_likes with rate_limit(100),
    customers_behind_a_trusted_proxy_are_counted_each_by_themselves with trusted_proxy_and_rate_limit(100),
    a_rate_of_0_lifts_the_limit_of_forms,
    every_answer_of_the_checkout_has_security_headers_and_hsts_only_over_https,
    cookies_are_hidden_from_scripts_and_limited_to_their_own_page,
];

const LANGUAGE_COOKIE: &str = "lunas_lang";
/// Far more forms than the limit allows in the time in which they are answered.
const MANY: usize = 100;
const HSTS: &str = "strict-transport-security";

fn head_of(response: &reqwest::Response) -> Reply {
    Reply { status: response.status(), headers: response.headers().clone(), json: Value::Null, text: String::new() }
}

/// Every kind of answer to a browser: pages, errors, redirects, data.
async fn answers(customer: &Customer, link: &Value, payment: &Value) -> Vec<(String, Reply)> {
    let page = pay_path(payment);
    let mut answers = Vec::new();
    for path in [
        link_path(link),
        page.clone(),
        format!("{page}/status"),
        format!("{page}/events"),
        format!("{page}/qr.png"),
        format!("{page}/nothing"),
        "/p/junk".to_owned(),
        format!("{page}/simulate"),
    ] {
        for method in [Method::GET, Method::HEAD, Method::DELETE] {
            let response = customer.begin(customer.request(method.clone(), &path)).await;
            answers.push((format!("{method} {path}"), head_of(&response)));
        }
    }
    for fields in [&[("method", "qris")][..], &[]] {
        answers.push((format!("{fields:?}"), customer.post(&link_path(link), fields).await));
    }
    let foreign = customer.form(&link_path(link), &[]).header("Sec-Fetch-Site", "cross-site");
    answers.push(("foreign".to_owned(), customer.send(foreign).await));
    answers.push(("resumed".to_owned(), customer.open(&link_path(link)).await));
    answers
}

async fn every_answer_of_the_checkout_has_security_headers_and_hsts_only_over_https(kit: Arc<Kit>) {
    for (url, hsts) in [("http://bayar.example", None), ("https://bayar.example", Some("max-age=31536000"))] {
        kit.on_another(base_url(url), |kit| async move {
            let project = kit.sandbox().await;
            let link = create_link(&project, json!({})).await;
            let payment = pending_qris(&project, 15_000).await;
            for (row, answer) in answers(&Customer::of(&kit), &link, &payment).await {
                let is_picture = row.ends_with("/qr.png") && answer.status == 200;
                is_protected_and_cached(&row, &answer, if is_picture { "private, no-cache" } else { "no-store" });
                assert_eq!(answer.header(HSTS), hsts, "{row}");
            }
        })
        .await;
    }
}

async fn cookies_are_hidden_from_scripts_and_limited_to_their_own_page(kit: Arc<Kit>) {
    for (url, root, flags) in [
        ("http://bayar.example", "", &["HttpOnly", "SameSite=Lax"][..]),
        ("https://bayar.example", "", &["HttpOnly", "SameSite=Lax", "Secure"]),
        ("https://toko.example/bayar/", "/bayar", &["HttpOnly", "SameSite=Lax", "Secure"]),
    ] {
        kit.on_another(base_url(url), |kit| async move {
            let project = kit.sandbox().await;
            let link = create_link(&project, json!({})).await;
            let customer = Customer::of(&kit);
            let page = customer.open(&format!("{}?lang=en", link_path(&link))).await;
            let sent = customer.post(&link_path(&link), &[("method", "qris")]).await;
            assert_eq!(sent.status, 303);
            let payment = sent.header("location").unwrap().strip_prefix(&format!("{root}/pay/")).unwrap();
            let own = format!("{root}{}", link_path(&link));
            let mut set = SetCookie::all(&page.headers);
            set.extend(SetCookie::all(&sent.headers));
            let names: Vec<&str> = set.iter().map(|cookie| cookie.name.as_str()).collect();
            assert_eq!(names, [CHECKOUT_COOKIE, LANGUAGE_COOKIE, CHECKOUT_COOKIE]);
            for cookie in &set {
                assert_eq!(cookie.flags, flags, "{}", cookie.name);
                assert!(cookie.seconds > 0, "{} is kept", cookie.name);
                let everywhere = format!("{root}/");
                assert_eq!(cookie.path, if cookie.name == CHECKOUT_COOKIE { &own } else { &everywhere }.as_str());
            }
            assert_eq!((set[0].value.len(), set[2].value.as_str()), (32, payment), "a token, then the payment");
            let shown = customer.open(&format!("/pay/{payment}")).await;
            assert!(SetCookie::all(&shown.headers).is_empty(), "a payment's page needs none");
        })
        .await;
    }
}

async fn style_and_script_are_kept_for_ever_and_sent_compressed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let customer = Customer::of(&kit);
    let page = customer.open(&pay_path(&pending_qris(&project, 15_000).await)).await;
    let style = attribute(page.text.split("rel=\"stylesheet\"").nth(1).unwrap(), "href");
    let script = attribute(page.text.split("<script").nth(1).unwrap(), "src");
    for (path, media_type) in [(style, "text/css"), (script, "text/javascript")] {
        let plain = customer.open(&path).await;
        assert_eq!(plain.status, 200, "{path}");
        assert!(plain.header("content-type").unwrap().starts_with(media_type), "{path}");
        assert!(plain.header("cache-control").unwrap().contains("immutable"), "{path}");
        assert_eq!(plain.header("x-content-type-options"), Some("nosniff"));
        let etag = plain.header("etag").unwrap();
        let squeezed = customer.request(Method::GET, &path).header("Accept-Encoding", "gzip, br");
        let squeezed = customer.begin(squeezed).await;
        assert_eq!(squeezed.headers()["content-encoding"], "gzip", "{path}");
        assert!(squeezed.bytes().await.unwrap().len() < plain.text.len() / 2, "{path}");
        let known = customer.request(Method::GET, &path).header("If-None-Match", etag);
        assert_eq!(customer.send(known).await.status, 304, "{path}");
    }
    assert_eq!(customer.open("/assets/nothing.css").await.status, 404);
}

#[track_caller]
fn speaks(row: &str, page: &Reply, language: &str) {
    is_page(row, page, 200);
    assert!(page.text.contains(&format!("<html lang=\"{language}\"")), "{row}: {}", page.text);
    assert_eq!(page.text.matches("<html").count(), 1);
}

async fn the_language_is_that_of_the_address_then_the_cookie_then_the_browser_then_indonesian(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    for (asked, kept, wished, language) in [
        (None, None, None, "id"),
        (None, None, Some("en-GB,en;q=0.9"), "en"),
        (None, None, Some("fr"), "id"),
        (None, Some("id"), Some("en"), "id"),
        (None, Some("en"), Some("id"), "en"),
        (None, Some("fr"), Some("en"), "en"),
        (Some("en"), Some("id"), Some("id"), "en"),
        (Some("id"), Some("en"), Some("en"), "id"),
        (Some("fr"), Some("en"), Some("id"), "en"),
        (Some("EN"), None, None, "id"),
        (Some(""), None, Some("en"), "en"),
    ] {
        let row = format!("{asked:?} {kept:?} {wished:?}");
        let customer = Customer::of(&kit);
        let path = asked.map_or(link_path(&link), |asked| format!("{}?lang={asked}", link_path(&link)));
        let mut request = customer.request(Method::GET, &path);
        if let Some(kept) = kept {
            request = request.header("Cookie", format!("{LANGUAGE_COOKIE}={kept}"));
        }
        let request = wished.into_iter().fold(request, |request, wished| request.header(ACCEPT_LANGUAGE, wished));
        let page = customer.send(request).await;
        speaks(&row, &page, language);
        let set: Vec<String> = SetCookie::all(&page.headers)
            .into_iter()
            .filter(|cookie| cookie.name == LANGUAGE_COOKIE)
            .map(|cookie| cookie.value)
            .collect();
        let chosen: Vec<&str> = asked.into_iter().filter(|asked| *asked == language).collect();
        assert_eq!(set, chosen, "{row}: what was asked for is kept, and nothing else");
    }
}

async fn a_language_once_chosen_holds_on_every_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    speaks("asked", &customer.open(&format!("{}?lang=en", link_path(&link))).await, "en");
    let payment = customer.pays_by(&project, &link, "qris").await;
    speaks("the payment", &customer.open(&pay_path(&payment)).await, "en");
    let missed = customer.open("/pay/junk").await;
    assert!(missed.text.contains("<html lang=\"en\""));
    speaks("another browser", &Customer::of(&kit).open(&pay_path(&payment)).await, "id");
}

/// Where the page's language switch leads.
fn switch(page: &Reply) -> String {
    attribute(page.text.split("class=\"lang\"").nth(1).unwrap(), "href").replace("&#38;", "&").replace("&amp;", "&")
}

async fn the_switch_of_languages_leads_to_the_same_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let fields = json!({ "name": true });
    let link = create_link(&project, json!({ "customer_fields": fields })).await;
    let customer = Customer::of(&kit);
    assert_eq!(switch(&customer.open(&link_path(&link)).await), format!("{}?lang=en", link_path(&link)));
    let chosen = customer.choose(&link, &[("method", "qris"), ("name", "Siti")]).await;
    let payment = payment_of(&project, &chosen).await;
    let shown = customer.open(&format!("{}?lang=en&x=y", pay_path(&payment))).await;
    assert_eq!(switch(&shown), format!("{}?lang=id", pay_path(&payment)));
    // The form to change the method stays open in the other language, also after a mistake.
    let change = format!("{}?change={}", link_path(&link), text(&payment, "id"));
    let page = customer.open(&change).await;
    let there = format!("{}?lang=id&change={}", link_path(&link), text(&payment, "id"));
    assert_eq!(switch(&page), there);
    let mistaken = customer.choose_at(&change, &[("method", "virtual_account:bca")]).await;
    is_page("a mistake", &mistaken, 422);
    assert_eq!(switch(&mistaken), there);
    let switched = customer.open(&there).await;
    speaks("switched", &switched, "id");
    assert_eq!(hidden(&switched)[1], ("replaces".to_owned(), text(&payment, "id").to_owned()));
    // An error page leads back to the page that it is about.
    let refused = customer.press(&payment, "junk").await;
    is_page("refused", &refused, 422);
    assert_eq!(switch(&refused), format!("{}?lang=en", pay_path(&payment)));
}

async fn an_error_page_shows_the_request_id(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = pending_qris(&project, 15_000).await;
    let customer = Customer::of(&kit);
    let foreign = customer.form(&link_path(&link), &[]).header("Origin", "https://evil.example");
    let wrong = customer.request(Method::DELETE, &pay_path(&payment));
    let named = customer.request(Method::DELETE, &pay_path(&payment)).header("X-Request-Id", "mine-1");
    for (status, request) in [(403, foreign), (405, wrong), (405, named)] {
        let refused = customer.send(request).await;
        is_page("refused", &refused, status);
        assert!(refused.text.contains(refused.header("x-request-id").unwrap()), "{}", refused.text);
    }
}

/// Sends forms until one is rate limited; returns how many were served before.
async fn until_limited(customer: &Customer, path: &str, fields: &[(&str, &str)]) -> usize {
    for served in 0..MANY {
        let reply = customer.post(path, fields).await;
        if reply.status == 429 {
            is_page("too many", &reply, 429);
            let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&wait), "{wait}");
            return served;
        }
    }
    panic!("{MANY} forms were served");
}

async fn an_address_may_send_30_forms_a_minute_and_open_as_many_pages_as_it_likes(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let customer = Customer::of(&kit);
    let served = until_limited(&customer, &link_path(&link), &[("method", "junk")]).await;
    assert!((30..MANY).contains(&served), "{served}");
    assert_eq!(count_payments(&project, "").await, 0);
    let payment = pending_qris(&project, 15_000).await;
    let before = rows(&kit.database);
    // The panel's buttons are forms too, and a refused form leaves nothing behind.
    until_limited(&customer, &format!("{}/simulate", pay_path(&payment)), &[("outcome", "junk")]).await;
    for _ in 0..MANY {
        is_page("a page", &Customer::of(&kit).open(&link_path(&link)).await, 200);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn customers_behind_a_trusted_proxy_are_counted_each_by_themselves(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    let mut served = 0;
    let of = |address: &'static str| {
        customer.form(&link_path(&link), &[("method", "junk")]).header("X-Forwarded-For", address)
    };
    while customer.send(of("203.0.113.7")).await.status == 422 {
        served += 1;
        assert!(served < MANY);
    }
    assert!(served >= 30, "{served}");
    is_page("another customer", &customer.send(of("203.0.113.8")).await, 422);
}

async fn a_rate_of_0_lifts_the_limit_of_forms(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    for _ in 0..70 {
        let page = Customer::of(&kit).post(&link_path(&link), &[("method", "junk")]).await;
        is_page("a form", &page, 422);
    }
    assert_eq!(text(&link, "status"), "active");
}
