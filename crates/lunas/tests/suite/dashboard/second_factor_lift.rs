//! Lifting the second factor of a user who has lost theirs: an operator asks, a day passes, and the user can refuse meanwhile.

use std::{sync::Arc, time::Duration};

use domain::{
    audit::{Actor, Deed},
    second_factor::LIFT_DELAY,
};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::{audited, leads},
    people::{PASSWORD, Person, sign_in},
    rows::rows,
    second_factor::{FACTOR, add_factor, give_password, sign_in_by_code},
};

on_every_database![a_factor_is_gone_a_day_after_an_operator_has_asked];

on_sqlite_alone![
    asking_again_changes_nothing,
    the_user_sees_it_on_every_page_and_can_refuse,
    only_a_factor_that_there_is_can_be_lifted,
    an_operator_proves_that_they_are_there_before_they_ask,
];

const USERS: &str = "/dashboard/operator/users";
const JUST: Duration = Duration::from_millis(1);

fn lift_path(person: &Person) -> String {
    format!("{USERS}/{}/lift", person.user.id)
}

async fn a_factor_is_gone_a_day_after_an_operator_has_asked(kit: Arc<Kit>) {
    let (siti, operator) =
        (Person::new(&kit, "siti@example.com").await, Person::operator(&kit, "operator@example.com").await);
    add_factor(&kit, &siti).await;
    operator.post(&lift_path(&siti), &[]).await;
    kit.clock.advance(LIFT_DELAY - JUST);
    assert_eq!(kit.engine.lift_due_factors().await.unwrap(), 0);
    give_password(&kit, &siti).await;
    kit.clock.advance(JUST);
    // It counts no more, although nothing has deleted it yet.
    Person::signed_in(&kit, siti.user.clone()).await;
    assert_eq!(kit.engine.lift_due_factors().await.unwrap(), 1);
    assert_eq!(kit.engine.lift_due_factors().await.unwrap(), 0);
    assert_eq!(audited(&kit, Deed::FactorLifted).await, [(Actor::CommandLine, "siti@example.com".to_owned())]);
    assert_eq!(kit.store.second_factor(siti.user.id).await.unwrap(), None);
    let siti = Person::signed_in(&kit, siti.user.clone()).await;
    add_factor(&kit, &siti).await;
}

async fn asking_again_changes_nothing(kit: Arc<Kit>) {
    let (siti, operator) =
        (Person::new(&kit, "siti@example.com").await, Person::operator(&kit, "operator@example.com").await);
    add_factor(&kit, &siti).await;
    is_page("the question", &operator.open(&lift_path(&siti)).await, 200);
    for _ in 0..2 {
        assert_eq!(leads(&operator.post(&lift_path(&siti), &[]).await, "lift-asked"), USERS);
    }
    let asked = audited(&kit, Deed::FactorLiftAsked).await;
    assert_eq!(asked.len(), 1);
    assert!(
        matches!(&asked[0], (Actor::User { id, .. }, email) if *id == operator.user.id && email == "siti@example.com")
    );
}

async fn the_user_sees_it_on_every_page_and_can_refuse(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let siti = Person::member(&kit, project.id, domain::access::Role::Owner, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    // As `lunas user lift-factor` does.
    let lift_at = kit.engine.ask_to_lift_factor(&siti.user).await.unwrap();
    assert_eq!(lift_at, kit.engine.now().plus(LIFT_DELAY));
    let desk = format!("/dashboard/{}", project.id);
    let keep = format!("{FACTOR}/keep");
    for path in ["/dashboard/account", &desk, &format!("{desk}/keys"), &format!("{desk}/counter")] {
        let page = siti.open(path).await;
        assert!(page.text.contains(&format!("action=\"{keep}\"")), "{path}: {}", page.text);
    }
    assert_eq!(leads(&siti.post(&keep, &[]).await, "factor-kept"), "/dashboard/account");
    assert!(!siti.open(&desk).await.text.contains(&keep));
    is_page("refused twice", &siti.post(&keep, &[]).await, 404);
    kit.clock.advance(LIFT_DELAY);
    assert_eq!(kit.engine.lift_due_factors().await.unwrap(), 0);
    sign_in_by_code(&kit, &siti, &app.code(&kit)).await;
    assert_eq!(audited(&kit, Deed::FactorLiftRefused).await.len(), 1);
}

async fn only_a_factor_that_there_is_can_be_lifted(kit: Arc<Kit>) {
    let (siti, operator) =
        (Person::new(&kit, "siti@example.com").await, Person::operator(&kit, "operator@example.com").await);
    let before = rows(&kit.database);
    is_page("no factor", &operator.post(&lift_path(&siti), &[]).await, 404);
    is_page("no factor", &operator.open(&lift_path(&siti)).await, 404);
    is_page("nobody", &operator.post(&format!("{USERS}/usr_1/lift"), &[]).await, 404);
    is_page("no operator", &siti.post(&lift_path(&siti), &[]).await, 404);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn an_operator_proves_that_they_are_there_before_they_ask(kit: Arc<Kit>) {
    let (siti, operator) =
        (Person::new(&kit, "siti@example.com").await, Person::operator(&kit, "operator@example.com").await);
    add_factor(&kit, &siti).await;
    kit.clock.advance(Duration::from_mins(10));
    operator.open(USERS).await;
    let before = rows(&kit.database);
    is_page("an old proof", &operator.post(&lift_path(&siti), &[]).await, 403);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    assert_eq!(leads(&operator.post(&lift_path(&siti), &[("proof", PASSWORD)]).await, "lift-asked"), USERS);
    assert_eq!(sign_in(&operator.browser, "siti@example.com", PASSWORD).await.status, 303);
}
