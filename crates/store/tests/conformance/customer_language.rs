//! The language in which a customer used the checkout: kept with what else they filled in, and not known of customers whom an
//! earlier version has kept. That it is read back is in the tests of payments and openings.

use domain::{
    language::Language,
    opening::Opening,
    payment::{Checkout, Payment},
};

use crate::{
    bank_samples::kept_account,
    database::{Database, keep, on_every_database},
    opening_samples::{self, attempted, code, issued, opened, payment_of, with_terms},
    samples::{attempt, kept_link, kept_payment, kept_project, with_terms as with_payment_terms},
};

on_every_database![
    customers_whom_an_earlier_version_has_kept_have_no_language,
    the_language_moves_from_the_opening_to_the_payment,
    a_language_that_there_is_not_is_refused,
];

fn english() -> Option<Checkout> {
    Some(Checkout { language: Some(Language::English), ..Checkout::default() })
}

async fn customers_whom_an_earlier_version_has_kept_have_no_language(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let link = kept_link(&store, &project, true).await;
    let payment = kept_payment(&store, attempt(&project, &link)).await;
    let opening = attempted(opening_samples::opening(&project, &account), &[]);
    keep(&store, opened(&opening, &code(&opening))).await;
    // As it writes them, which does not know the column.
    let columns = "customer_name, customer_email, customer_phone, customer_address";
    let values = "'Siti', 'siti@example.com', '', ''";
    let statements = format!(
        "DELETE FROM checkouts; DELETE FROM opening_attempts; \
         INSERT INTO checkouts (payment_id, project_id, {columns}) VALUES ('{}', '{}', {values}); \
         INSERT INTO opening_attempts (opening_id, replaces, {columns}) VALUES ('{}', '', {values});",
        payment.id, project.id, opening.id
    );
    database.run_beside(&statements).unwrap();
    let read = store.payment(payment.id).await.unwrap().unwrap().terms;
    assert_eq!(read.checkout.as_ref().unwrap().customer.email, "siti@example.com");
    assert_eq!((read.checkout.as_ref().unwrap().language, read.customer_language()), (None, Language::Indonesian));
    let read = store.opening(opening.id).await.unwrap().unwrap().terms;
    assert_eq!((read.checkout.as_ref().unwrap().language, read.customer_language()), (None, Language::Indonesian));
}

async fn the_language_moves_from_the_opening_to_the_payment(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let link = kept_link(&store, &project, true).await;
    let opening = attempted(opening_samples::opening(&project, &account), &[]);
    let opening: Opening = with_terms(opening, |terms| {
        terms.link_id = Some(link.id);
        terms.checkout = english();
    });
    keep(&store, opened(&opening, &code(&opening))).await;
    let opening = store.opening(opening.id).await.unwrap().unwrap();
    let payment = payment_of(&opening);
    keep(&store, issued(&opening, &payment)).await;
    let read = store.payment(payment.id).await.unwrap().unwrap();
    assert_eq!(read.terms.customer_language(), Language::English);
}

async fn a_language_that_there_is_not_is_refused(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, true).await;
    let payment: Payment = with_payment_terms(attempt(&project, &link), |terms| terms.checkout = english());
    kept_payment(&store, payment.clone()).await;
    assert!(database.run_beside("UPDATE checkouts SET language = 'fr'").is_err());
    assert_eq!(store.payment(payment.id).await.unwrap(), Some(payment));
}
