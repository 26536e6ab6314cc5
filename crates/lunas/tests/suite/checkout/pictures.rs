//! The pictures that anybody may ask for, the card with a payment's QR code and the one that chats show of a link: they are drawn
//! once, a few at a time, and only for who needs them.

use std::{fs, sync::Arc, thread::available_parallelism, time::Duration};

use futures_util::future::join_all;
use reqwest::{
    Method,
    header::{CONTENT_LENGTH, DATE, ETAG, HeaderMap, IF_NONE_MATCH},
};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_sqlite, on_sqlite_alone};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::support::{
    commands::dev,
    customer::{Customer, is_page, link_path, pay_path},
    json::text,
    links::create_link,
    payments::{fresh_key, pending_qris, simulate_paid},
    wait::until,
};

on_sqlite_alone![
    a_qr_picture_is_sent_once_to_each_browser_and_gone_when_its_payment_is,
    who_asks_for_the_headers_of_a_picture_gets_them_without_the_picture,
];

/// Waves of requests, each for twice as many pictures as the one before: the first is enough on a machine with few cores.
const WAVES: [usize; 3] = [64, 128, 256];
/// Requests that are dropped soon after they are sent, each for another picture.
const DROPPED: usize = 150;
const GIVES_UP_AFTER: Duration = Duration::from_millis(3);
/// Threads that a server may start for other reasons, and those that have drawn and are about to end.
const OTHER_THREADS: usize = 8;

fn qr_path(payment: &Value) -> String {
    format!("{}/qr.png", pay_path(payment))
}

/// The headers of an answer that belong to what was asked for.
fn lasting(reply: &Reply) -> HeaderMap {
    let mut headers = reply.headers.clone();
    for own in ["x-request-id", DATE.as_str(), CONTENT_LENGTH.as_str()] {
        headers.remove(own);
    }
    headers
}

async fn head(customer: &Customer, path: &str) -> Reply {
    customer.send(customer.request(Method::HEAD, path)).await
}

/// Asks for a picture; its bytes are no text.
async fn get(customer: &Customer, path: &str) -> (Reply, Vec<u8>) {
    let response = customer.begin(customer.request(Method::GET, path)).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await.unwrap().to_vec();
    (Reply { status, headers, json: Value::Null, text: String::new() }, bytes)
}

async fn a_qr_picture_is_sent_once_to_each_browser_and_gone_when_its_payment_is(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, customer) = (pending_qris(&project, 15_000).await, Customer::of(&kit));
    let path = qr_path(&payment);
    let (first, picture) = get(&customer, &path).await;
    assert_eq!(first.status, 200);
    let tag = first.headers[ETAG].to_str().unwrap().to_owned();
    assert_eq!(get(&customer, &path).await.1, picture);
    for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        for method in [Method::GET, Method::HEAD] {
            let asked = customer.request(method.clone(), &path).header(IF_NONE_MATCH, &known);
            let unchanged = customer.send(asked).await;
            assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str()), (304, ""), "{method} {known}");
            assert_eq!(unchanged.header("etag"), Some(tag.as_str()));
            assert_eq!(unchanged.header("cache-control"), Some("private, no-cache"));
        }
    }
    let changed = customer.request(Method::GET, &path).header(IF_NONE_MATCH, "\"other\"");
    assert_eq!(customer.send(changed).await.status, 200);
    // In another language it is another picture.
    let (english, other) = get(&Customer::of(&kit), &format!("{path}?lang=en")).await;
    assert!(english.headers[ETAG] != tag && other != picture);
    simulate_paid(&project, &payment).await;
    let asked = customer.request(Method::GET, &path).header(IF_NONE_MATCH, tag);
    is_page("paid", &customer.send(asked).await, 404);
    assert_eq!(head(&customer, &path).await.status, 404);
}

async fn who_asks_for_the_headers_of_a_picture_gets_them_without_the_picture(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, link) = (pending_qris(&project, 15_000).await, create_link(&project, json!({})).await);
    let customer = Customer::of(&kit);
    for path in [qr_path(&payment), format!("{}/preview.png", link_path(&link))] {
        let before = head(&customer, &path).await;
        let (whole, picture) = get(&customer, &path).await;
        assert_eq!((before.status.as_u16(), whole.status.as_u16()), (200, 200), "{path}");
        assert_eq!(lasting(&before), lasting(&whole), "{path}");
        // The length would be known only from the picture. It is left out, and not said to be 0.
        assert_eq!(before.header("content-length"), None, "{path}");
        assert_eq!(whole.header("content-length"), Some(picture.len().to_string().as_str()), "{path}");
        assert_eq!(lasting(&head(&customer, &path).await), lasting(&whole), "{path}");
    }
}

async fn many_payments(project: &TestProject, count: usize) -> Vec<Value> {
    join_all((0..count).map(|_| pending_qris(project, 15_000))).await
}

/// Before, every request waited, however many there were.
#[tokio::test]
async fn requests_for_more_pictures_than_may_wait_are_told_to_come_back() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        for (wave, count) in WAVES.into_iter().enumerate() {
            let payments = many_payments(&project, count).await;
            let undrawn = pending_qris(&project, 15_000).await;
            let (page_path, picture_path, customer) = (pay_path(&undrawn), qr_path(&undrawn), &Customer::of(&kit));
            let pictures = payments.iter().flat_map(|payment| {
                ["id", "en"].map(|language| async move {
                    let path = format!("{}?lang={language}", qr_path(payment));
                    (get(customer, &path).await.0, path)
                })
            });
            // Meanwhile nobody waits for headers, nor for a page.
            let heads = join_all((0..8).map(|_| head(customer, &picture_path)));
            let (answers, heads, page) = tokio::join!(join_all(pictures), heads, customer.open(&page_path));
            assert!(heads.iter().all(|reply| reply.status == 200));
            is_page("page", &page, 200);
            let (refused, drawn): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(reply, _)| reply.status != 200);
            assert!(!drawn.is_empty());
            for (reply, path) in &refused {
                assert_eq!(reply.status, 429, "{path}");
                assert!(reply.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1, "{path}");
                assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
                assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
            }
            if let Some((_, path)) = refused.first() {
                assert_eq!(get(customer, path).await.0.status, 200, "later it is drawn");
                return;
            }
            assert!(wave + 1 < WAVES.len(), "all {count} pictures were drawn at once");
        }
    })
    .await;
}

fn thread_names(process: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok()).collect()
}

/// Before, the limit belonged to the request: a dropped one gave its permit on while its drawing went on, and a flood had hundreds of
/// threads drawing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_dropped_do_not_have_ever_more_threads_drawing() {
    let (_program, running) = dev();
    let (api, project) = (running.api(), running.said("project_id").to_owned());
    let order = json!({
        "project_id": project, "reference": "a", "amount": 15_000, "payment_method": { "type": "qris" },
    });
    let mut paths = Vec::new();
    for _ in 0..DROPPED.div_ceil(2) {
        let payment = api.pay(&fresh_key(), &order).await.expect(201);
        paths.push(format!("/pay/{}/qr.png", text(&payment, "id")));
    }
    let half = (available_parallelism().unwrap().get() / 2).max(1);
    let before = thread_names(running.id()).len();
    for number in 0..DROPPED {
        let language = if number % 2 == 0 { "id" } else { "en" };
        let path = &paths[number / 2];
        let mut stream = TcpStream::connect(running.address()).await.unwrap();
        let request = format!("GET {path}?lang={language} HTTP/1.1\r\nHost: lunas\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        // Dropped while its picture is drawn, unless it is there already.
        let _ = timeout(GIVES_UP_AFTER, stream.read_u8()).await;
        drop(stream);
        let names = thread_names(running.id());
        assert!(names.len() <= before + half + OTHER_THREADS, "{} threads, {before} before: {names:?}", names.len());
    }
    until(async || thread_names(running.id()).iter().all(|name| name.trim() != "quiet-work")).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    let request = format!("GET {} HTTP/1.1\r\nHost: lunas\r\nConnection: close\r\n\r\n", paths[0]);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"), "{}", String::from_utf8_lossy(&answer[..200]));
}
