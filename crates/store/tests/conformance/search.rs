//! Search by a part of the reference: a substring, ignoring case, in which no character is special.

use std::time::Duration;

use domain::{
    id::{LinkId, ProjectId, mint},
    link::Link,
    payment::Payment,
    project::Project,
};
use store::{Change, LinkFilter, LinkWrite, Listed, PaymentFilter, PaymentWrite, Store};

use crate::{
    database::{Database, keep, on_every_database},
    migration::add_project,
    samples::{self, EVERYTHING, NOW, entropy, kept_payment, kept_project},
};

on_every_database![
    payments_are_found_by_any_part_of_their_reference,
    payments_are_found_alike_in_the_index_and_before_they_are_in_it,
    links_are_found_by_any_part_of_their_title_or_reference,
    links_are_found_alike_in_the_index_and_before_they_are_in_it,
    a_link_that_is_retitled_or_deleted_leaves_the_index_at_once,
    links_are_indexed_once_by_several_nodes,
    links_of_the_first_version_are_in_the_search_index_once_maintenance_has_passed,
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
        let filler = |_| samples::with_terms(samples::payment(filled), |terms| terms.reference = "QQQ".to_owned());
        let fillers = (0..1_100).map(filler).map(|payment| PaymentWrite::Created { payment });
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
        kept_payment(
            store,
            samples::with_terms(samples::payment(project), |terms| terms.reference = (*text).to_owned()),
        )
        .await;
    }
}

async fn searched(store: &Store, project: &Project, term: &str) -> Listed<Payment> {
    let filter = PaymentFilter { search: Some(term.to_owned()), ..PaymentFilter::default() };
    store.payments(project.id, &filter, EVERYTHING).await.unwrap()
}

async fn assert_found(store: &Store, project: &Project, rows: &[(&str, &[&str])]) {
    for (term, found) in rows {
        let listed = searched(store, project, term).await;
        let references = listed.items.into_iter().map(|payment| payment.terms.reference).collect();
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
            let filter = LinkFilter { search: Some(term.to_owned()), ..LinkFilter::default() };
            let listed = store.links(project.id, &filter, EVERYTHING).await.unwrap();
            let texts = listed.items.into_iter().map(|link| if by_title { link.title } else { link.reference });
            assert_eq!(sorted(texts.collect()), expected(found), "{term:?}");
            assert_eq!(listed.total, found.len() as i64, "{term:?}");
        }
        // A term must not match across the end of the title and the start of the reference.
        let filter = LinkFilter { search: Some("7x".to_owned()), ..LinkFilter::default() };
        assert_eq!(store.links(project.id, &filter, EVERYTHING).await.unwrap().total, 0);
    }
}

/// Enough links that a search uses the index.
const MANY_LINKS: usize = 60;

async fn fill_with_links(store: &Store, project: &Project) {
    let filler = |_| Link { title: "QQQ".to_owned(), ..samples::link(project) };
    let fillers = (0..MANY_LINKS).map(filler).map(|link| LinkWrite::Created { link });
    keep(store, Change::default().with_all(fillers)).await;
}

async fn keep_titles(store: &Store, project: &Project, titles: &[&str]) {
    let link = |title: &&str| Link { title: (*title).to_owned(), ..samples::link(project) };
    keep(store, Change::default().with_all(titles.iter().map(link).map(|link| LinkWrite::Created { link }))).await;
}

async fn titles_found(store: &Store, project: ProjectId, term: &str) -> Vec<String> {
    let filter = LinkFilter { search: Some(term.to_owned()), ..LinkFilter::default() };
    let listed = store.links(project, &filter, EVERYTHING).await.unwrap();
    assert_eq!(listed.total, listed.items.len() as i64, "{term:?}");
    sorted(listed.items.into_iter().map(|link| link.title).collect())
}

async fn links_are_found_alike_in_the_index_and_before_they_are_in_it(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    keep_titles(&store, &project, &TEXTS).await;
    for filled in [&project, &other] {
        fill_with_links(&store, filled).await;
    }
    for is_indexed in [false, true] {
        // Without the empty term, which also finds the fillers.
        for (term, wanted) in ROWS.iter().skip(1) {
            assert_eq!(titles_found(&store, project.id, term).await, expected(wanted), "{term:?} {is_indexed}");
        }
        assert_eq!(titles_found(&store, project.id, "qqq").await.len(), MANY_LINKS);
        assert_eq!(titles_found(&store, other.id, "Order-17").await, [""; 0]);
        while store.extend_search_index(NOW).await.unwrap() {}
    }
    keep_titles(&store, &project, &["Order-18"]).await;
    assert_eq!(titles_found(&store, project.id, "rder-1").await, ["Order-17", "Order-18"]);
    let between = LinkFilter { search: Some("rder-1".to_owned()), created: Some((NOW, NOW)) };
    assert_eq!(store.links(project.id, &between, EVERYTHING).await.unwrap().total, 0);
    database.empty_search_index();
    assert_eq!(titles_found(&store, project.id, "rder-1").await, ["Order-18"], "the index was not used");
}

async fn a_link_that_is_retitled_or_deleted_leaves_the_index_at_once(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    keep_titles(&store, &project, &["Kopi Susu", "Roti Bakar"]).await;
    fill_with_links(&store, &project).await;
    while store.extend_search_index(NOW).await.unwrap() {}
    let in_index = || {
        let rows = database.rows();
        // The second is SQLite's.
        let is_row = |row: &&String| row.starts_with("link_search: ") || row.starts_with("link_search_docsize: ");
        (rows.iter().filter(is_row).count(), rows.iter().filter(|row| row.starts_with("link_search_again")).count())
    };
    assert_eq!(in_index(), (MANY_LINKS + 2, 0));
    let retitled = "UPDATE links SET title = 'Teh Poci', search_text = 'teh poci\npl-1' WHERE title = 'Kopi Susu'";
    database.run_beside(retitled).unwrap();
    assert_eq!(in_index(), (MANY_LINKS + 1, 1));
    for _ in 0..2 {
        assert_eq!(titles_found(&store, project.id, "susu").await, [""; 0]);
        assert_eq!(titles_found(&store, project.id, "H POCI").await, ["Teh Poci"]);
        while store.extend_search_index(NOW).await.unwrap() {}
    }
    assert_eq!(in_index(), (MANY_LINKS + 2, 0));
    database.run_beside("DELETE FROM links WHERE title = 'Teh Poci'").unwrap();
    assert_eq!(in_index(), (MANY_LINKS + 1, 0));
    database.run_beside("UPDATE links SET search_text = 'roti\npl-1' WHERE title = 'Roti Bakar'").unwrap();
    database.run_beside("DELETE FROM links WHERE title = 'Roti Bakar'").unwrap();
    assert_eq!(in_index(), (MANY_LINKS, 0), "it does not wait any more");
    assert_eq!(titles_found(&store, project.id, "roti").await, [""; 0]);
}

async fn links_of_the_first_version_are_in_the_search_index_once_maintenance_has_passed(database: Database) {
    let database = database.first_version();
    let project = add_project(&database);
    // Enough links that a search uses the index.
    let link = |number: i32| {
        let id: LinkId = mint(NOW, entropy());
        format!(
            "INSERT INTO links (id, project_id, reference, title, description, search_text, amount, methods, \
             allow_multiple_payments, customer_fields, created_at, version) VALUES ('{id}', '{project}', 'PL', \
             'Kopi {number}', '', 'kopi {number}\npl', 10000, 'qris', 0, '', {}, 1);",
            NOW.as_millis()
        )
    };
    database.run_beside(&(100..160).map(link).collect::<String>()).unwrap();
    let store = database.open().await;
    assert_eq!(titles_found(&store, project, "KOPI 123").await, ["Kopi 123"], "by reading");
    samples::maintain(&store, NOW).await;
    assert_eq!(titles_found(&store, project, "KOPI 123").await, ["Kopi 123"]);
    database.empty_search_index();
    assert_eq!(titles_found(&store, project, "KOPI 123").await, [""; 0], "the index was not used");
}

async fn links_are_indexed_once_by_several_nodes(database: Database) {
    let stores = [database.open().await, database.open().await];
    let project = kept_project(&stores[0]).await;
    keep_titles(&stores[0], &project, &TEXTS).await;
    fill_with_links(&stores[0], &project).await;
    let extended = stores.iter().map(|store| async move { while store.extend_search_index(NOW).await.unwrap() {} });
    futures_util::future::join_all(extended).await;
    for store in &stores {
        assert_eq!(titles_found(store, project.id, "ORDER").await, ["Order-17", "order_17"]);
        assert_eq!(titles_found(store, project.id, "qqq").await.len(), MANY_LINKS);
    }
    assert!(!database.rows().iter().any(|row| row.starts_with("link_search_again")));
}

async fn a_search_sees_its_own_project_only(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let link = samples::link(&project);
    keep(&store, LinkWrite::Created { link: link.clone() }).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    for (asking, found) in [(&project, 1), (&other, 0)] {
        let filter = LinkFilter { search: Some(link.title.clone()), ..LinkFilter::default() };
        assert_eq!(store.links(asking.id, &filter, EVERYTHING).await.unwrap().total, found);
        let filter = PaymentFilter { search: Some(payment.terms.reference.clone()), ..PaymentFilter::default() };
        assert_eq!(store.payments(asking.id, &filter, EVERYTHING).await.unwrap().total, found);
    }
}
