//! Search: a substring, ignoring case, in which no character is special.

use std::time::Duration;

use domain::{link::Link, payment::Payment, project::Project};
use store::{Change, LinkFilter, LinkWrite, Listed, PaymentFilter, PaymentWrite, Store};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, EVERYTHING, NOW, kept_payment, kept_project},
};

on_every_database![
    payments_are_found_by_any_part_of_their_reference,
    payments_are_found_alike_in_the_index_and_before_they_are_in_it,
    links_are_found_by_any_part_of_their_title_or_reference,
    a_search_sees_its_own_project_only,
];

const TEXTS: [&str; 11] =
    ["Order-17", "order_17", "100% kopi", "100 kopi", r"c:\kopi", "CAFÉ", "naïve", "ΟΔΟΣΑ", "a'b\"c", "[x]*?", "Maße"];

/// A term, and which of the texts contain it.
const ROWS: [(&str, &[&str]); 30] = [
    ("", &TEXTS),
    ("order", &["Order-17", "order_17"]),
    ("ORDER", &["Order-17", "order_17"]),
    ("rder-1", &["Order-17"]),
    ("17", &["Order-17", "order_17"]),
    ("order_17", &["order_17"]),
    ("_", &["order_17"]),
    ("%", &["100% kopi"]),
    ("100%", &["100% kopi"]),
    ("1%k", &[]),
    ("%kopi", &[]),
    ("100", &["100% kopi", "100 kopi"]),
    (r"\", &[r"c:\kopi"]),
    (r":\K", &[r"c:\kopi"]),
    (r"\%", &[]),
    (r"\_", &[]),
    ("café", &["CAFÉ"]),
    ("CAFÉ", &["CAFÉ"]),
    ("É", &["CAFÉ"]),
    ("é", &["CAFÉ"]),
    ("e", &["Order-17", "order_17", "naïve", "Maße"]),
    ("NAÏVE", &["naïve"]),
    // A sigma at the end of a word has another lowercase letter, which must not keep a part of a word from being found.
    ("ΟΔΟΣ", &["ΟΔΟΣΑ"]),
    ("οδος", &["ΟΔΟΣΑ"]),
    ("οδοσα", &["ΟΔΟΣΑ"]),
    ("MASSE", &["Maße"]),
    ("'B\"", &["a'b\"c"]),
    ("[X]", &["[x]*?"]),
    ("*", &["[x]*?"]),
    ("?", &["[x]*?"]),
];

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

fn expected(found: &[&str]) -> Vec<String> {
    sorted(found.iter().map(|text| (*text).to_owned()).collect())
}

async fn payments_are_found_by_any_part_of_their_reference(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    keep_texts(&store, &project, &TEXTS).await;
    assert_found(&store, &project, &ROWS).await;
}

async fn payments_are_found_alike_in_the_index_and_before_they_are_in_it(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    keep_texts(&store, &project, &TEXTS[..5]).await;
    // So many that the search uses the index and requests maintenance for it.
    for filled in [&project, &other] {
        let filler = |_| Payment { reference: "QQQ".to_owned(), ..samples::payment(filled) };
        let fillers = (0..5_100).map(filler).map(|payment| PaymentWrite::Created { payment });
        keep(&store, Change::default().with_all(fillers)).await;
    }
    // Late enough that all of these payments count as stable.
    let later = NOW.plus(Duration::from_hours(2));
    assert!(!store.extend_search_index(later).await.unwrap(), "no search has requested it");
    searched(&store, &project, "order").await;
    while store.extend_search_index(later).await.unwrap() {}
    keep_texts(&store, &project, &TEXTS[5..]).await;
    // Without the empty term, which also finds the fillers.
    assert_found(&store, &project, &ROWS[1..]).await;
    assert_eq!(searched(&store, &other, "Order-17").await.total, 0);
    database.empty_search_index();
    let from_the_index = searched(&store, &project, "rder-1").await;
    assert_eq!(from_the_index.total, 0, "the index was not used");
}

async fn keep_texts(store: &Store, project: &Project, texts: &[&str]) {
    for text in texts {
        kept_payment(store, Payment { reference: (*text).to_owned(), ..samples::payment(project) }).await;
    }
}

async fn searched(store: &Store, project: &Project, term: &str) -> Listed<Payment> {
    let filter = PaymentFilter { search: Some(term.to_owned()), ..PaymentFilter::default() };
    store.payments(project.id, &filter, EVERYTHING).await.unwrap()
}

async fn assert_found(store: &Store, project: &Project, rows: &[(&str, &[&str])]) {
    for (term, found) in rows {
        let listed = searched(store, project, term).await;
        let references = listed.items.into_iter().map(|payment| payment.reference).collect();
        assert_eq!(sorted(references), expected(found), "{term:?}");
        assert_eq!(listed.total, found.len() as i64, "{term:?}");
    }
}

async fn links_are_found_by_any_part_of_their_title_or_reference(database: Database) {
    let store = database.open().await;
    for by_title in [true, false] {
        let project = kept_project(&store).await;
        for text in TEXTS {
            let link = Link { title: "QQQ".to_owned(), reference: "QQQ".to_owned(), ..samples::link(&project) };
            let link = if by_title {
                Link { title: text.to_owned(), ..link }
            } else {
                Link { reference: text.to_owned(), ..link }
            };
            keep(&store, LinkWrite::Created { link }).await;
        }
        for (term, found) in ROWS {
            let filter = LinkFilter { search: Some(term.to_owned()) };
            let listed = store.links(project.id, &filter, EVERYTHING).await.unwrap();
            let texts = listed.items.into_iter().map(|link| if by_title { link.title } else { link.reference });
            assert_eq!(sorted(texts.collect()), expected(found), "{term:?}");
            assert_eq!(listed.total, found.len() as i64, "{term:?}");
        }
        // A term must not match across the end of the title and the start of the reference.
        let filter = LinkFilter { search: Some("7x".to_owned()) };
        assert_eq!(store.links(project.id, &filter, EVERYTHING).await.unwrap().total, 0);
    }
}

async fn a_search_sees_its_own_project_only(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let link = samples::link(&project);
    keep(&store, LinkWrite::Created { link: link.clone() }).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    for (asking, found) in [(&project, 1), (&other, 0)] {
        let filter = LinkFilter { search: Some(link.title.clone()) };
        assert_eq!(store.links(asking.id, &filter, EVERYTHING).await.unwrap().total, found);
        let filter = PaymentFilter { search: Some(payment.reference.clone()), ..PaymentFilter::default() };
        assert_eq!(store.payments(asking.id, &filter, EVERYTHING).await.unwrap().total, found);
    }
}
