//! `/docs/search?q=`: results without script, the best first, with excerpts, and bounded.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use testkit::{Reply, on_sqlite};
use tokio::time::timeout;

use crate::support::customer::{Customer, is_page};

/// The most results that a search shows.
const RESULTS_MOST: usize = 20;

/// The addresses of the results.
fn results(page: &Reply) -> Vec<String> {
    let Some((_, list)) = page.text.split_once("<ol class=\"results\">") else { return Vec::new() };
    let list = list.split_once("</ol>").unwrap().0;
    list.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_search_finds_the_section_with_the_words_and_marks_them() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        for (words, first) in [
            ("invariants", "/docs/invariants"),
            ("WEBHOOKS", "/docs/webhooks"),
            ("webhook+signature", "/docs/webhooks#the-signature"),
            ("held+money", "/docs/using-the-api#held-money"),
        ] {
            let page = customer.open(&format!("/docs/search?q={words}&lang=en")).await;
            is_page(words, &page, 200);
            let found = results(&page);
            assert!(found.iter().take(3).any(|url| url == first), "{words}: {found:?}");
            assert!(found.len() <= RESULTS_MOST, "{words}: {found:?}");
            assert!(page.text.contains("<mark>"), "{words}: {}", page.text);
            for url in found {
                assert_eq!(customer.open(&url).await.status, 200, "{url}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn searches_that_come_before_the_index_is_made_wait_for_it_and_agree() {
    on_sqlite(|kit| async move {
        let customers: Vec<Customer> = (0..20).map(|_| Customer::of(&kit)).collect();
        let search = |customer: &Customer| customer.request(Method::GET, "/docs/search?q=pa+th&lang=en");
        // Some of the first go away, and the index is made all the same.
        for customer in &customers[..5] {
            let _ = timeout(Duration::from_millis(1), search(customer).send()).await;
        }
        let pages = join_all(customers.iter().map(|customer| customer.send(search(customer)))).await;
        for page in &pages {
            is_page("pa th", page, 200);
            assert_eq!(results(page), results(&pages[0]));
        }
        assert_eq!(results(&pages[0]).len(), RESULTS_MOST);
    })
    .await;
}

#[tokio::test]
async fn a_search_without_words_or_results_says_what_to_do() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        for (query, said) in [
            ("", "Type one or more words"),
            ("?q=", "Type one or more words"),
            ("?q=a&q=b", "Type one or more words"),
            ("?q=%ff", "Type one or more words"),
            ("?q=x", "No guide has these words"),
            ("?q=xyzzyquux", "No guide has these words"),
            ("?q=%00%01", "Type one or more words"),
        ] {
            let joint = if query.is_empty() { '?' } else { '&' };
            // A query that cannot be decoded counts as empty, its language too.
            let request = customer.request(Method::GET, &format!("/docs/search{query}{joint}lang=en"));
            let page = customer.send(request.header("Accept-Language", "en")).await;
            is_page(query, &page, 200);
            assert!(page.text.contains(said), "{query}: {}", page.text);
            assert!(results(&page).is_empty() && page.text.contains("href=\"/docs\""), "{query}: {}", page.text);
        }
    })
    .await;
}

#[tokio::test]
async fn a_hostile_search_is_shown_as_text_and_cut() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        let page = customer.open("/docs/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22payment").await;
        is_page("script", &page, 200);
        assert_eq!(page.text.matches("<script").count(), 1, "{}", page.text);
        assert!(page.text.contains("value=\"&#60;script&#62;alert(1)&#60;/script&#62;&#34;payment\""), "{}", page.text);
        let long = customer.open(&format!("/docs/search?q={}", "payment+%F0%9F%98%80".repeat(400))).await;
        is_page("long", &long, 200);
        assert!(long.text.len() < 40 * 1024, "{} bytes", long.text.len());
        assert!(results(&long).len() <= RESULTS_MOST);
        let many: String = (0..1_000).map(|number| format!("w{number}+the+")).collect();
        is_page("many", &customer.open(&format!("/docs/search?q={many}")).await, 200);
    })
    .await;
}
