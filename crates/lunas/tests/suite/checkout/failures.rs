//! A page whose handler panics or takes too long is answered with an error page like any other, which names the request.

use std::time::Duration;

use testkit::on_sqlite;

use crate::support::faulty_server::{FaultyServer, SECRET_DETAIL};

/// A page that fails, and how it is answered.
struct Failing {
    path: &'static str,
    request_timeout: Duration,
    status: u16,
    retry_after: Option<&'static str>,
}

#[tokio::test]
async fn a_page_that_panics_or_takes_too_long_is_an_error_page_that_names_its_request() {
    let panics =
        Failing { path: "/pay/x/panic", request_timeout: Duration::from_secs(60), status: 500, retry_after: None };
    let hangs = Failing {
        path: "/pay/x/hang",
        request_timeout: Duration::from_millis(50),
        status: 503,
        retry_after: Some("1"),
    };
    on_sqlite(async |kit| {
        for Failing { path, request_timeout, status, retry_after } in [panics, hangs] {
            let page = FaultyServer::start(&kit, request_timeout).await.get(path).await;
            assert_eq!((page.status.as_u16(), page.header("retry-after")), (status, retry_after), "{}", page.text);
            assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
            assert_eq!(
                (page.header("cache-control"), page.header("x-robots-tag")),
                (Some("no-store"), Some("noindex"))
            );
            let policy = page.header("content-security-policy").unwrap();
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(page.text.contains(page.header("x-request-id").unwrap()), "{}", page.text);
            assert!(!page.text.contains(SECRET_DETAIL), "{}", page.text);
        }
    })
    .await;
}
