//! The account page: the user's own password, sessions and projects.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, project::Environment};
use engine::Whereabouts;
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    people::{PASSWORD, Person, desk},
    rows::rows,
};

on_sqlite_alone![
    everybody_sees_their_own_projects_and_sessions,
    pages_of_the_user_have_the_menu_of_the_project_they_come_from,
    nobody_ends_a_session_of_somebody_else,
    a_new_password_needs_the_old_one_and_to_be_long_enough,
    guesses_at_the_old_password_are_throttled_as_at_sign_in,
    owners_and_operators_create_projects_of_their_own,
    a_project_that_breaks_a_rule_is_not_created,
];

const ACCOUNT: &str = "/dashboard/account";
const NEW: &str = "/dashboard/projects/new";
const ANDROID: &str = "Mozilla/5.0 (Linux; Android 14; SM-A155F) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 \
                       Mobile Safari/537.36";

async fn everybody_sees_their_own_projects_and_sessions(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let siti = Person::member(&kit, project.id, Role::Viewer, "siti@example.com").await;
    for project in [&project, &other] {
        let email = format!("owner-of-{}@example.com", project.id);
        Person::member(&kit, project.id, Role::Owner, &email).await;
    }
    let phone = Whereabouts {
        address: "203.0.113.9".to_owned(),
        counted_as: "203.0.113.9".to_owned(),
        browser: ANDROID.to_owned(),
        ..Whereabouts::default()
    };
    kit.engine.sign_in("siti@example.com", PASSWORD.into(), &phone).await.unwrap();
    let page = siti.open(ACCOUNT).await;
    is_page("the account", &page, 200);
    for shown in ["siti@example.com", &desk(project.id), "Chrome · Android", "203.0.113.9", "127.0.0.1"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(!page.text.contains(&desk(other.id)) && !page.text.contains("owner-of"));
    assert_eq!(page.text.matches("/end\"").count(), 1, "this very session is left by signing out");
}

async fn pages_of_the_user_have_the_menu_of_the_project_they_come_from(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let siti = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let menu = format!("href=\"{}/payments\"", desk(project.id));
    assert!(!siti.open(ACCOUNT).await.text.contains(&menu), "no project was open yet");
    siti.open(&desk(project.id)).await;
    for path in [ACCOUNT, NEW] {
        let page = siti.open(path).await;
        assert!(page.text.contains(&menu) && page.text.contains("Uji coba"), "{path}");
    }
    // A project that the user is no member of is not shown, even if the cookie names it.
    is_page("another project", &siti.open(&desk(other.id)).await, 404);
    siti.browser.set_cookie("/dashboard", "lunas_project", &other.id.to_string());
    let page = siti.open(ACCOUNT).await;
    assert!(!page.text.contains(&other.id.to_string()) && !page.text.contains(&menu));
}

async fn nobody_ends_a_session_of_somebody_else(kit: Arc<Kit>) {
    let (siti, dewi) = (Person::new(&kit, "siti@example.com").await, Person::new(&kit, "dewi@example.com").await);
    let theirs = kit.store.session(dewi.token().unwrap().hash()).await.unwrap().unwrap().session;
    let before = rows(&kit.database);
    for id in [theirs.id.to_string(), "junk".to_owned(), siti.user.id.to_string()] {
        is_page(&id, &siti.post(&format!("{ACCOUNT}/sessions/{id}/end"), &[]).await, 404);
    }
    assert_eq!(rows(&kit.database), before);
    siti.post(&format!("{ACCOUNT}/end-others"), &[]).await;
    assert_eq!(dewi.open(ACCOUNT).await.status, 200);
}

async fn a_new_password_needs_the_old_one_and_to_be_long_enough(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let path = format!("{ACCOUNT}/password");
    let before = rows(&kit.database);
    for (old, new, marked) in [
        ("", "a different one", "old_password-why"),
        (PASSWORD, "", "new_password-why"),
        (PASSWORD, "too short", "new_password-why"),
        (PASSWORD, &"x".repeat(129), "new_password-why"),
    ] {
        let page = siti.post(&path, &[("old_password", old), ("new_password", new)]).await;
        is_page(marked, &page, 422);
        assert!(page.text.contains(&format!("id=\"{marked}\"")), "{}", page.text);
        assert!(!page.text.contains(PASSWORD) && (new.is_empty() || !page.text.contains(new)));
    }
    assert_eq!(rows(&kit.database), before, "what could not succeed is not even counted");
    let page = siti.post(&path, &[("old_password", "not the password"), ("new_password", "a different one")]).await;
    is_page("a wrong old one", &page, 422);
    assert!(page.text.contains("id=\"old_password-why\""));
    assert!(kit.engine.has_password(&siti.user, PASSWORD.into()).await.unwrap());
}

async fn guesses_at_the_old_password_are_throttled_as_at_sign_in(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let path = format!("{ACCOUNT}/password?lang=en");
    for _ in 0..5 {
        let fields = [("old_password", "a wrong guess"), ("new_password", "a different one")];
        assert_eq!(siti.post(&path, &fields).await.status, 422);
    }
    let fields = [("old_password", PASSWORD), ("new_password", "a different one")];
    let page = siti.post(&path, &fields).await;
    is_page("the right one", &page, 429);
    assert_eq!(page.header("retry-after"), Some("1"));
    assert!(page.text.contains("Too many attempts have failed"), "{}", page.text);
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(siti.post(&path, &fields).await.status, 303);
}

async fn owners_and_operators_create_projects_of_their_own(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let people = [
        Person::member(&kit, project.id, Role::Owner, "siti@example.com").await,
        Person::operator(&kit, "operator@example.com").await,
    ];
    for (person, environment) in people.iter().zip([Environment::Sandbox, Environment::Production]) {
        is_page("the form", &person.open(NEW).await, 200);
        let fields = [("name", " Toko <Baru> "), ("environment", environment.word())];
        let reply = person.post(NEW, &fields).await;
        assert_eq!(reply.status, 303, "{}", reply.text);
        let (made, role) = kit.engine.projects_of(person.user.id).await.unwrap().pop().unwrap();
        let home = format!("{}?done=project-created", desk(made.id));
        assert_eq!(reply.header("location"), Some(home.as_str()));
        assert_eq!((made.name.as_str(), made.environment, role), ("Toko <Baru>", environment, Role::Owner));
        assert_eq!(made.approved, environment == Environment::Sandbox);
    }
}

async fn a_project_that_breaks_a_rule_is_not_created(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let others = [
        Person::member(&kit, project.id, Role::Developer, "budi@example.com").await,
        Person::new(&kit, "dewi@example.com").await,
    ];
    let before = rows(&kit.database);
    let long = "x".repeat(256);
    for (name, environment) in
        [("", "sandbox"), ("  ", "sandbox"), (&long, "sandbox"), ("a\u{0}b", "sandbox"), ("Toko", ""), ("Toko", "test")]
    {
        let page = owner.post(NEW, &[("name", name), ("environment", environment)]).await;
        is_page(name, &page, 422);
        assert!(page.text.contains("-why\""), "{}", page.text);
    }
    for person in others {
        is_page("the form", &person.open(NEW).await, 403);
        is_page("sent", &person.post(NEW, &[("name", "Toko"), ("environment", "sandbox")]).await, 403);
        is_page("sent wrong", &person.post(NEW, &[]).await, 403);
    }
    assert_eq!(rows(&kit.database), before);
}
