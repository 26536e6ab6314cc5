//! The guides: the files of `docs` in the repository, as pages.

use std::fs;

use reqwest::{Method, header::ACCEPT_LANGUAGE};
use testkit::{Kit, Reply, on_sqlite};

use crate::support::{
    customer::{Customer, attribute, is_page},
    repository::root,
};

/// Every guide: its path, and the first line of its file.
pub(super) fn guides() -> Vec<(String, String)> {
    let mut guides = Vec::new();
    for (folder, base) in [("docs", "/docs"), ("docs/guides", "/docs"), ("docs/id", "/docs/id")] {
        let Ok(entries) = fs::read_dir(root().join(folder)) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                // That address is the reference's.
                let name = if name == "api" { "using-the-api".to_owned() } else { name };
                let title = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
                guides.push((format!("{base}/{name}"), title.strip_prefix("# ").unwrap().to_owned()));
            }
        }
    }
    guides.sort();
    assert!(guides.len() > 10, "{guides:?}");
    guides
}

/// The text of a heading as HTML has it.
fn escaped(title: &str) -> String {
    title.replace('`', "").replace('&', "&#38;").replace('\'', "&#39;").replace('"', "&#34;")
}

async fn opened(kit: &Kit, path: &str, language: &str) -> Reply {
    let customer = Customer::of(kit);
    customer.send(customer.request(Method::GET, path).header(ACCEPT_LANGUAGE, language)).await
}

#[tokio::test]
async fn every_file_of_the_docs_is_a_page_and_listed() {
    on_sqlite(|kit| async move {
        let list = opened(&kit, "/docs", "en").await;
        is_page("/docs", &list, 200);
        let in_indonesian = opened(&kit, "/docs", "id").await.text;
        for (path, title) in guides() {
            let page = opened(&kit, &path, "en").await;
            assert_eq!(page.status, 200, "{path}: {}", page.text);
            assert!(page.text.contains(&format!("<h1>{}</h1>", escaped(&title))), "{path} is not called {title}");
            let link = format!("<a href=\"{path}\"");
            let is_listed = list.text.contains(&link) || in_indonesian.contains(&link);
            assert!(is_listed, "{path} is not in the list");
            assert!(page.text.contains("aria-current=\"page\""), "{path} is not in its own menu");
        }
    })
    .await;
}

#[tokio::test]
async fn no_guide_asks_for_what_the_content_security_policy_forbids() {
    on_sqlite(|kit| async move {
        for (path, _) in guides() {
            let page = opened(&kit, &path, "en").await.text;
            assert_eq!(page.matches("<script").count(), 1, "{path}");
            for forbidden in ["<style", " style=", "<img", "<iframe", " onclick", "javascript:"] {
                assert!(!page.contains(forbidden), "{path} has {forbidden}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_guide_is_compressed_and_sent_once_and_has_the_headers_of_every_page() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        let page = customer.open("/docs/webhooks").await;
        assert_eq!(page.header("cache-control"), Some("private, no-cache"));
        for header in ["content-security-policy", "referrer-policy", "x-robots-tag", "x-request-id"] {
            assert!(page.header(header).is_some(), "{header}");
        }
        let small = customer.request(Method::GET, "/docs/webhooks").header("Accept-Encoding", "gzip");
        let small = customer.begin(small).await;
        assert_eq!(small.headers()["content-encoding"], "gzip");
        assert!(small.bytes().await.unwrap().len() < page.text.len() / 2);
        let etag = page.header("etag").unwrap();
        let again = |language: &'static str| {
            let request = customer.request(Method::GET, "/docs/webhooks").header("If-None-Match", etag);
            customer.send(request.header(ACCEPT_LANGUAGE, language))
        };
        assert_eq!(again("id").await.status, 304);
        assert_eq!(again("en").await.status, 200, "the page in the other language is another one");
    })
    .await;
}

#[tokio::test]
async fn what_surrounds_a_guide_is_in_the_visitors_language_and_the_guide_says_its_own() {
    on_sqlite(|kit| async move {
        let page = opened(&kit, "/docs/invariants", "id").await.text;
        assert!(page.contains("<html lang=\"id\">") && page.contains("<article lang=\"en\">"), "{page}");
        assert!(page.contains("Halaman ini hanya ada dalam bahasa Inggris."), "{page}");
        let page = opened(&kit, "/docs/invariants", "en").await.text;
        assert!(page.contains("<html lang=\"en\">") && page.contains("<article>"), "{page}");
        let switch = attribute(page.split("Bahasa Indonesia").next().unwrap().rsplit("<a").next().unwrap(), "href");
        assert_eq!(switch, "/docs/invariants?lang=id");
        let customer = Customer::of(&kit);
        assert!(customer.open(&switch).await.text.contains("<html lang=\"id\">"));
        assert!(customer.open("/docs").await.text.contains("<html lang=\"id\">"), "a language once chosen holds");
    })
    .await;
}

#[tokio::test]
async fn a_guide_in_both_languages_leads_to_its_translation() {
    on_sqlite(|kit| async move {
        let paths: Vec<String> = guides().into_iter().map(|(path, _)| path).collect();
        for own in paths.iter().filter(|path| path.starts_with("/docs/id/")) {
            let english = own.replace("/docs/id/", "/docs/");
            if paths.contains(&english) {
                let page = opened(&kit, &english, "id").await.text;
                let note = format!("<a href=\"{own}\">Baca halaman ini dalam bahasa Indonesia</a>");
                assert!(page.contains(&note), "{english}: {page}");
                let page = opened(&kit, own, "id").await.text;
                assert!(page.contains(&format!("href=\"{english}?lang=en\"")), "{own}: {page}");
                assert!(!page.contains("<article lang"), "{own}: {page}");
            }
        }
    })
    .await;
}
