//! Search by words in everything that a payment is known by.

use std::time::Duration;

use domain::{
    bank::Bank,
    link::Link,
    metadata::Metadata,
    method::Method,
    money::Rupiah,
    payment::{Checkout, Customer, Payment},
    project::Project,
    search::SearchTerm,
    time::Timestamp,
};
use store::{Change, LinkWrite, PaymentFilter, PaymentWrite, Store};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, EVERYTHING, NOW, after, kept_payment, kept_project},
};

on_every_database![
    words_are_found_in_every_field_before_and_after_a_payment_is_indexed,
    a_term_and_a_part_of_the_reference_must_both_match,
    an_id_is_found_by_its_beginning,
    a_customer_who_is_deleted_leaves_the_index_at_once,
    a_customer_who_is_renamed_is_found_by_the_new_name_only,
    a_link_that_is_retitled_and_metadata_that_is_changed_are_found_as_they_are_now,
    payments_are_indexed_once_by_several_nodes,
    payments_committed_below_the_end_of_the_index_are_found,
    links_are_found_by_words,
    one_payment_or_link_is_found_by_its_whole_reference_or_account_number,
];

/// Late enough that all payments count as stable.
const LATER: Timestamp = after(2 * 3_600_000);
/// Enough payments that a search requests maintenance.
const MANY: usize = 1_100;

/// What each term finds: the account, the customer, the order.
const ROWS: [(&str, [bool; 3]); 44] = [
    ("inv-2026", [true, false, false]),
    ("INV 001", [true, false, false]),
    ("8808 5555 6666 7777", [true, false, false]),
    ("8808-5555-6666-7777", [true, false, false]),
    ("555666677", [true, false, false]),
    ("880855556666777", [true, false, false]),
    ("8808555566667778", [false, false, false]),
    ("150000", [true, false, false]),
    ("150.000", [true, false, false]),
    ("Rp150.000", [true, false, false]),
    ("Rp 150.000", [true, false, false]),
    ("rp. 150.000", [true, false, false]),
    ("15000", [false, false, false]),
    ("Rp8808555566667777", [false, false, false]),
    ("inv 150.000", [true, false, false]),
    ("inv 25000", [false, false, false]),
    ("siti", [false, true, false]),
    ("AMINAH siti", [false, true, false]),
    ("minah", [false, true, false]),
    ("siti@example.com", [false, true, false]),
    ("EXAMPLE.COM", [false, true, false]),
    ("siti budi", [false, false, false]),
    ("siti inv", [false, false, false]),
    ("0812 3456 7890", [false, true, false]),
    ("081234567890", [false, true, false]),
    ("6281234567890", [false, true, false]),
    ("+62 (812) 3456-7890", [false, true, false]),
    ("812-3456", [false, true, false]),
    ("08 12 34 56", [false, true, false]),
    ("0813 3456", [false, false, false]),
    ("kopi gula", [false, true, false]),
    ("ÇAY", [false, true, false]),
    ("susu 25.000", [false, true, false]),
    ("braga", [false, false, false]),
    ("teras", [false, false, true]),
    ("teras 12", [false, false, true]),
    ("meja", [false, false, false]),
    ("order_17", [false, false, true]),
    ("order%17", [false, false, false]),
    ("%%%", [false, false, false]),
    ("___", [false, false, false]),
    ("'; DROP TABLE payments; --", [false, false, false]),
    ("\"or\" OR \"abc", [false, false, false]),
    ("שלום", [false, false, false]),
];

fn customer() -> Customer {
    Customer {
        name: "Siti Aminah".to_owned(),
        email: "siti@example.com".to_owned(),
        phone: "+62 812-3456-7890".to_owned(),
        address: "Jl. Braga 1".to_owned(),
    }
}

async fn kept_link(store: &Store, project: &Project, title: &str, reference: &str) -> Link {
    let (title, reference) = (title.to_owned(), reference.to_owned());
    let link = Link { title, reference, allow_multiple_payments: true, ..samples::link(project) };
    keep(store, LinkWrite::Created { link: link.clone() }).await;
    link
}

/// An account number, a customer of a link, and an order with metadata.
async fn keep_three(store: &Store, project: &Project, account: &str) -> [Payment; 3] {
    let link = kept_link(store, project, "Kopi Susu Gula Aren + çay", "PL-9").await;
    let metadata = Metadata { members: vec![("meja".to_owned(), "Teras 12".to_owned())] };
    let three = [
        Payment {
            code: account.to_owned(),
            ..samples::with_terms(samples::payment(project), |terms| {
                terms.reference = "INV-2026-001".to_owned();
                terms.method = Method::VirtualAccount(Bank::Bca);
                terms.amount = Rupiah::new(150_000);
            })
        },
        samples::with_terms(samples::payment(project), |terms| {
            terms.reference = "PL-9".to_owned();
            terms.link_id = Some(link.id);
            terms.checkout = Some(Checkout { customer: customer(), ..samples::checkout() });
            terms.amount = Rupiah::new(25_000);
        }),
        samples::with_terms(samples::payment(project), |terms| {
            terms.reference = "order_17".to_owned();
            terms.metadata = Some(metadata);
        }),
    ];
    for payment in &three {
        kept_payment(store, payment.clone()).await;
    }
    three
}

async fn fill(store: &Store, project: &Project) {
    let filler = |_| samples::with_terms(samples::payment(project), |terms| terms.reference = "QQQ".to_owned());
    let fillers = (0..MANY).map(filler).map(|payment| PaymentWrite::Created { payment });
    keep(store, Change::default().with_all(fillers)).await;
}

/// Lets a search request maintenance, and runs it.
async fn index(store: &Store, project: &Project) {
    found(store, project, "nothing").await;
    while store.extend_search_index(LATER).await.unwrap() {}
}

fn filter(text: &str) -> PaymentFilter {
    PaymentFilter { q: Some(SearchTerm::parse(text).unwrap()), ..PaymentFilter::default() }
}

async fn found(store: &Store, project: &Project, text: &str) -> Vec<Payment> {
    let listed = store.payments(project.id, &filter(text), EVERYTHING).await.unwrap();
    assert_eq!(listed.total.min(EVERYTHING.limit), listed.items.len() as i64, "{text:?}");
    listed.items
}

async fn assert_found(store: &Store, project: &Project, text: &str, wanted: &[&Payment]) {
    let found = found(store, project, text).await;
    assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{text:?}");
}

async fn assert_rows(store: &Store, project: &Project, three: &[Payment; 3]) {
    for (text, wanted) in ROWS {
        let wanted: Vec<&Payment> = three.iter().zip(wanted).filter_map(|(kept, is)| is.then_some(kept)).collect();
        assert_found(store, project, text, &wanted).await;
        let page = store.payments_page(project.id, &filter(text), None, 10).await.unwrap();
        assert_eq!(page.iter().collect::<Vec<_>>(), wanted, "{text:?}");
    }
}

async fn words_are_found_in_every_field_before_and_after_a_payment_is_indexed(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let three = keep_three(&store, &project, "8808555566667777").await;
    assert_rows(&store, &project, &three).await;
    for filled in [&project, &other] {
        fill(&store, filled).await;
    }
    index(&store, &project).await;
    assert_rows(&store, &project, &three).await;
    for (text, _) in ROWS {
        assert_found(&store, &other, text, &[]).await;
    }
    let others = keep_three(&store, &other, "8808555566669999").await;
    assert_found(&store, &other, "siti", &[&others[1]]).await;
    assert_rows(&store, &project, &three).await;
    database.empty_search_index();
    assert_found(&store, &project, "siti", &[]).await;
    assert_found(&store, &other, "siti", &[&others[1]]).await;
}

async fn a_term_and_a_part_of_the_reference_must_both_match(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let three = keep_three(&store, &project, "8808555566667777").await;
    for (search, text, count) in [("2026", "150000", 1), ("2027", "150000", 0), ("17", "teras", 1), ("17", "siti", 0)] {
        let both = PaymentFilter { search: Some(search.to_owned()), ..filter(text) };
        let listed = store.payments(project.id, &both, EVERYTHING).await.unwrap();
        assert_eq!((listed.items.len(), listed.total), (count, count as i64), "{search} {text}");
    }
    let of_link = PaymentFilter { link_id: three[1].terms.link_id, ..filter("siti") };
    assert_eq!(store.payments(project.id, &of_link, EVERYTHING).await.unwrap().total, 1);
}

async fn an_id_is_found_by_its_beginning(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let three = keep_three(&store, &project, "8808555566667777").await;
    let id = three[0].id.to_string();
    for is_indexed in [false, true] {
        assert_found(&store, &project, &id, &[&three[0]]).await;
        assert_found(&store, &project, &id.to_uppercase(), &[&three[0]]).await;
        assert_found(&store, &project, &format!("{id} 150.000"), &[&three[0]]).await;
        assert_found(&store, &project, &format!("{id} siti"), &[]).await;
        assert_found(&store, &project, &id[..7], &[]).await;
        let newest_first: Vec<&Payment> = three.iter().rev().collect();
        assert_found(&store, &project, &format!("{} -", &id[..12]), &newest_first[1..]).await;
        if !is_indexed {
            fill(&store, &project).await;
            index(&store, &project).await;
        }
    }
}

async fn a_customer_who_is_deleted_leaves_the_index_at_once(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let three = keep_three(&store, &project, "8808555566667777").await;
    fill(&store, &project).await;
    index(&store, &project).await;
    let (id, nameless) = (three[1].id, samples::with_terms(three[1].clone(), |terms| terms.checkout = None));
    database.run_beside(&format!("DELETE FROM checkouts WHERE payment_id = '{id}'")).unwrap();
    for is_indexed in [false, true] {
        for gone in ["siti", "aminah", "example.com", "0812 3456 7890"] {
            assert_found(&store, &project, gone, &[]).await;
        }
        assert_found(&store, &project, "kopi gula", &[&nameless]).await;
        if !is_indexed {
            // Nobody has requested it.
            while store.extend_search_index(LATER).await.unwrap() {}
        }
    }
    // The row comes back without the index being told: what is not found then is not in the index.
    let back = format!(
        "INSERT INTO checkouts (payment_id, project_id, customer_name, customer_email, customer_phone, customer_address, \
         search_text) VALUES ('{id}', '{}', 'Siti', '', '', '', 'siti')",
        project.id
    );
    database.run_beside(&back).unwrap();
    assert_found(&store, &project, "siti", &[]).await;
    assert_eq!(found(&store, &project, "kopi gula").await.len(), 1);
}

async fn a_customer_who_is_renamed_is_found_by_the_new_name_only(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let three = keep_three(&store, &project, "8808555566667777").await;
    fill(&store, &project).await;
    index(&store, &project).await;
    let (id, renamed) = (three[1].id, "UPDATE checkouts SET customer_name = 'ÇİÇEK'");
    database.run_beside(&format!("{renamed} WHERE payment_id = '{id}'")).unwrap();
    assert_found(&store, &project, "aminah", &[]).await;
    while store.extend_search_index(LATER).await.unwrap() {}
    assert_found(&store, &project, "aminah", &[]).await;
    for text in ["çi̇çek", "ÇİÇEK", "siti@example.com", "kopi"] {
        assert_eq!(found(&store, &project, text).await.len(), 1, "{text}");
    }
}

async fn a_link_that_is_retitled_and_metadata_that_is_changed_are_found_as_they_are_now(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    keep_three(&store, &project, "8808555566667777").await;
    fill(&store, &project).await;
    index(&store, &project).await;
    database.run_beside("UPDATE links SET title = 'Teh', search_text = 'teh poci\npl-9'").unwrap();
    let metadata = "UPDATE payments SET metadata_text = 'balkon' WHERE metadata_text IS NOT NULL";
    database.run_beside(metadata).unwrap();
    for _ in 0..2 {
        for (text, count) in [("kopi", 0), ("poci", 1), ("teras", 0), ("balkon", 1), ("siti", 1)] {
            assert_eq!(found(&store, &project, text).await.len(), count, "{text}");
        }
        while store.extend_search_index(LATER).await.unwrap() {}
    }
}

async fn payments_are_indexed_once_by_several_nodes(database: Database) {
    let stores = [database.open().await, database.open().await];
    let project = kept_project(&stores[0]).await;
    let three = keep_three(&stores[0], &project, "8808555566667777").await;
    fill(&stores[0], &project).await;
    for store in &stores {
        found(store, &project, "QQQ").await;
    }
    let extended = stores.iter().map(|store| async move { while store.extend_search_index(LATER).await.unwrap() {} });
    futures_util::future::join_all(extended).await;
    for store in &stores {
        assert_rows(store, &project, &three).await;
        assert_eq!(store.payments(project.id, &filter("QQQ"), EVERYTHING).await.unwrap().total, MANY as i64);
    }
}

async fn payments_committed_below_the_end_of_the_index_are_found(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    fill(&store, &project).await;
    index(&store, &project).await;
    // An earlier clock makes an id that sorts before all that are in the index.
    let id = domain::id::mint(NOW.minus(Duration::from_secs(60)), samples::entropy());
    let late = Payment {
        id,
        ..samples::with_terms(samples::payment(&project), |terms| terms.reference = "late one".to_owned())
    };
    let late = kept_payment(&store, late).await;
    for _ in 0..2 {
        assert_found(&store, &project, "late", &[&late]).await;
        while store.extend_search_index(LATER).await.unwrap() {}
    }
}

async fn links_are_found_by_words(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let first = kept_link(&store, &project, "Kopi Susu", "PL-1").await;
    let second = kept_link(&store, &project, "Susu Murni", "PL-2").await;
    kept_link(&store, &other, "Susu", "PL-3").await;
    // The second time by the index, of which this is enough.
    for fillers in [60, 0] {
        for (text, wanted) in [
            ("susu", vec![&second, &first]),
            ("SUSU kopi", vec![&first]),
            ("susu pl-2", vec![&second]),
            ("susu k", vec![&first]),
            ("teh", vec![]),
            ("08 12 34", vec![]),
        ] {
            let links = store.links_found(project.id, &SearchTerm::parse(text).unwrap(), 5).await.unwrap();
            assert_eq!(links.iter().collect::<Vec<_>>(), wanted, "{text}");
        }
        let filler = |_| LinkWrite::Created { link: Link { title: "QQQ".to_owned(), ..samples::link(&project) } };
        keep(&store, Change::default().with_all((0..fillers).map(filler))).await;
        while store.extend_search_index(LATER).await.unwrap() {}
    }
    assert_eq!(store.links_found(project.id, &SearchTerm::parse("susu").unwrap(), 1).await.unwrap(), [second]);
}

async fn one_payment_or_link_is_found_by_its_whole_reference_or_account_number(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let three = keep_three(&store, &project, "8808555566667777").await;
    let named =
        async |text: &str| store.payments_named(project.id, text, &SearchTerm::parse(text).unwrap()).await.unwrap();
    for is_indexed in [false, true] {
        assert_eq!(named("INV-2026-001").await, [three[0].id]);
        assert_eq!(named("8808 5555 6666 7777").await, [three[0].id]);
        assert_eq!(named("order_17").await, [three[2].id]);
        for other in ["INV-2026-00", "inv-2026-001", "880855556666777", "siti"] {
            assert_eq!(named(other).await, [], "{other}");
        }
        if !is_indexed {
            fill(&store, &project).await;
            index(&store, &project).await;
        }
    }
    assert_eq!(named("QQQ").await.len(), 2, "two are enough to know that it is not one");
    assert_eq!(store.links_named(project.id, "PL-9").await.unwrap().len(), 1);
    assert_eq!(store.links_named(project.id, "PL-8").await.unwrap(), []);
}
