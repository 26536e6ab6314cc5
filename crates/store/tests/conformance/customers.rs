//! A customer's payments and what they add up to, and the titles of links: read for one page at once, of one project alone.

use std::collections::HashMap;

use domain::{
    id::{LinkId, mint},
    link::Link,
    money::Rupiah,
    payment::{Checkout, Customer, Payment},
    project::Project,
    receipt::Unapplied,
};
use store::{LinkWrite, Matches, PaymentWrite, Store, Sums, Window};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, AMOUNT, EVERYTHING, FEE, NOW, after, entropy, kept_link, kept_payment, kept_project},
};

on_every_database![
    a_customer_has_the_payments_with_their_email_or_phone_as_given,
    a_customer_adds_up_to_what_they_paid_and_what_is_held,
    a_customer_is_gone_with_the_checkouts_of_their_payments,
    titles_of_many_links_are_read_at_once_and_of_one_project_alone,
    the_newest_titles_come_first,
];

fn customer(email: &str, phone: &str) -> Customer {
    Customer { email: email.to_owned(), phone: phone.to_owned(), ..Customer::default() }
}

/// A payment of a customer, created so many milliseconds after [`NOW`].
async fn of(store: &Store, project: &Project, link: &Link, customer: &Customer, millis: i64) -> Payment {
    let created_at = after(millis);
    let checkout = Some(Checkout { customer: customer.clone(), ..Checkout::default() });
    let id = mint(created_at, entropy());
    kept_payment(
        store,
        Payment {
            id,
            created_at,
            ..samples::with_terms(samples::attempt(project, link), |terms| terms.checkout = checkout)
        },
    )
    .await
}

async fn a_customer_has_the_payments_with_their_email_or_phone_as_given(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let (link, foreign) = (kept_link(&store, &project, true).await, kept_link(&store, &other, true).await);
    let both = customer("siti@example.com", "0812");
    let mut theirs = Vec::new();
    for (index, given) in [&both, &customer("siti@example.com", ""), &customer("", "0812"), &both].iter().enumerate() {
        theirs.insert(0, of(&store, &project, &link, given, i64::try_from(index).unwrap()).await);
    }
    // Nobody: another spelling, somebody else, somebody who gave nothing, and another project's customer.
    for given in [customer("Siti@example.com", "+62812"), customer("budi@example.com", "0813"), customer("", "")] {
        of(&store, &project, &link, &given, 9).await;
    }
    of(&store, &other, &foreign, &both, 9).await;
    kept_payment(&store, samples::payment(&project)).await;
    let all = store.customer_payments(project.id, &both, EVERYTHING).await.unwrap();
    assert_eq!(all, theirs, "each once, newest first");
    let window = store.customer_payments(project.id, &both, Window { offset: 1, limit: 2 }).await.unwrap();
    assert_eq!(window, theirs[1..3]);
    let by_phone = store.customer_payments(project.id, &customer("", "0812"), EVERYTHING).await.unwrap();
    assert_eq!(by_phone.len(), 3);
    for nobody in [customer("", ""), customer("%", "_"), customer("' OR ''='", "0")] {
        assert_eq!(store.customer_payments(project.id, &nobody, EVERYTHING).await.unwrap(), [], "{nobody:?}");
    }
}

async fn a_customer_adds_up_to_what_they_paid_and_what_is_held(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, true).await;
    let (siti, budi) = (customer("siti@example.com", ""), customer("budi@example.com", ""));
    let paid = of(&store, &project, &link, &siti, 1).await;
    let open = of(&store, &project, &link, &siti, 5).await;
    let another = of(&store, &project, &link, &budi, 3).await;
    keep(&store, samples::confirmation(&paid, Some(&link), "r1")).await;
    for (payment, receipt, amount) in [(&paid, "r2", 700), (&open, "r3", 20), (&another, "r4", 1)] {
        keep(&store, samples::surplus(payment, receipt, Rupiah::new(amount), Unapplied::WrongAmount)).await;
    }
    keep(&store, samples::giving_back(&open, "r3", Rupiah::new(20), after(20))).await;
    let sums = store.customer_sums(project.id, &siti).await.unwrap();
    assert_eq!(sums.matches, Matches::All(Sums { payments: 2, paid: 1, amount: AMOUNT, fee: FEE }));
    assert_eq!(sums.span, Some((after(1), after(5))));
    assert_eq!(sums.held, (1, Rupiah::new(700)), "what was decided is not held any more");
    let nobody = store.customer_sums(project.id, &customer("x@example.com", "")).await.unwrap();
    assert_eq!((nobody.matches, nobody.span), (Matches::All(Sums::default()), None));
    assert_eq!(nobody.held, (0, Rupiah::ZERO));
}

async fn a_customer_is_gone_with_the_checkouts_of_their_payments(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, true).await;
    let siti = customer("siti@example.com", "0812");
    let payment = of(&store, &project, &link, &siti, 1).await;
    assert_eq!(store.customer_payments(project.id, &siti, EVERYTHING).await.unwrap().len(), 1);
    database.run_beside(&format!("DELETE FROM checkouts WHERE payment_id = '{}'", payment.id)).unwrap();
    assert_eq!(store.customer_payments(project.id, &siti, EVERYTHING).await.unwrap(), []);
    assert_eq!(store.customer_sums(project.id, &siti).await.unwrap().matches, Matches::All(Sums::default()));
}

async fn titles_of_many_links_are_read_at_once_and_of_one_project_alone(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let mut expected = HashMap::new();
    for title in ["Kopi", "Kopi", "a,b\"c'd", "Teh ☕"] {
        let link = Link { title: title.to_owned(), ..samples::link(&project) };
        keep(&store, LinkWrite::Created { link: link.clone() }).await;
        expected.insert(link.id, title.to_owned());
    }
    let foreign = kept_link(&store, &other, true).await;
    let unknown: LinkId = mint(NOW, entropy());
    let mut asked: Vec<LinkId> = expected.keys().copied().chain([foreign.id, unknown]).collect();
    asked.extend_from_within(..);
    assert_eq!(store.link_titles(project.id, &asked).await.unwrap(), expected);
    assert_eq!(store.link_titles(project.id, &[]).await.unwrap(), HashMap::new());
    assert_eq!(store.link_titles(other.id, &[foreign.id]).await.unwrap().len(), 1);
}

async fn the_newest_titles_come_first(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    for (index, title) in ["Satu", "Dua", "Tiga"].into_iter().enumerate() {
        let created_at = after(i64::try_from(index).unwrap());
        let link =
            Link { id: mint(created_at, entropy()), created_at, title: title.to_owned(), ..samples::link(&project) };
        keep(&store, LinkWrite::Created { link }).await;
    }
    keep(&store, PaymentWrite::Created { payment: samples::payment(&other) }).await;
    kept_link(&store, &other, true).await;
    assert_eq!(store.newest_link_titles(project.id, 2).await.unwrap(), ["Tiga", "Dua"]);
    assert_eq!(store.newest_link_titles(project.id, 9).await.unwrap().len(), 3);
}
