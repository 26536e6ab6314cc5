//! What an operator decides about users: deactivating, activating and removing them.

use std::sync::Arc;

use domain::{
    access::Role,
    audit::{Actor, Deed},
    second_factor::PROOF_LIFETIME,
    user::{User, UserState},
};
use futures_util::future::join;
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page},
    dashboard::{audited, invited, leads, without_path},
    mailbox::{Mailbox, link_of},
    people::{PASSWORD, Person, desk, make, sign_in},
    rows::rows,
};

on_every_database![
    a_deactivated_user_is_out_at_once_and_back_when_they_are_activated,
    a_removed_user_leaves_nothing_personal_behind,
    the_last_active_operator_stays,
    the_only_active_owner_of_a_project_stays_and_the_page_says_of_which,
    two_operators_who_deactivate_each_other_at_once_leave_one,
];

on_sqlite_alone![
    a_deactivated_user_gets_the_answer_of_a_wrong_password,
    keys_of_a_user_are_revoked_if_the_operator_says_so,
    asking_changes_nothing_and_a_decision_that_is_repeated_changes_no_more,
    users_who_are_not_there_are_not_found,
    an_operator_gives_a_user_a_link_for_a_new_password on 2 threads,
];

const USERS: &str = "/dashboard/operator/users";

fn of(user: &User, word: &str) -> String {
    format!("{USERS}/{}/{word}", user.id)
}

async fn state(kit: &Kit, user: &User) -> UserState {
    kit.store.user(user.id).await.unwrap().unwrap().state
}

/// An operator, and a project with two owners, each signed in.
async fn world(kit: &Kit) -> (Person, TestProject, Person, Person) {
    let operator = Person::operator(kit, "operator@example.com").await;
    let project = kit.sandbox().await;
    let siti = Person::member(kit, project.id, Role::Owner, "siti@example.com").await;
    let budi = Person::member(kit, project.id, Role::Owner, "budi@example.com").await;
    (operator, project, siti, budi)
}

async fn a_deactivated_user_is_out_at_once_and_back_when_they_are_activated(kit: Arc<Kit>) {
    let (operator, project, siti, budi) = world(&kit).await;
    let link = invited(&kit, &budi, &project, "dewi@example.com", "viewer").await;
    assert_eq!(
        leads(&operator.post(&of(&budi.user, "deactivate"), &[]).await, "user-deactivated"),
        of(&budi.user, "").trim_end_matches('/')
    );
    is_page("their session", &budi.open(&desk(project.id)).await, 401);
    is_page("their invitation", &Customer::of(&kit).open(&link).await, 404);
    assert_eq!(sign_in(&Customer::of(&kit), "budi@example.com", PASSWORD).await.status, 401);
    let list = operator.open(&format!("{USERS}?lang=en")).await;
    assert_eq!(list.text.matches("Deactivated").count(), 1, "{}", list.text);
    let members = siti.open(&format!("{}/settings/members?lang=en", desk(project.id))).await;
    assert!(members.text.contains("Deactivated"), "{}", members.text);

    assert_eq!(operator.post(&of(&budi.user, "activate"), &[]).await.status, 303);
    let again = Person::signed_in(&kit, budi.user.clone()).await;
    is_page("their project", &again.open(&desk(project.id)).await, 200);
    is_page("the invitation stays void", &Customer::of(&kit).open(&link).await, 404);
    for deed in [Deed::UserDeactivated, Deed::UserActivated] {
        let lines = audited(&kit, deed).await;
        let [(Actor::User { id, .. }, subject)] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!((id, subject.as_str()), (&operator.user.id, "budi@example.com"));
    }
}

async fn a_removed_user_leaves_nothing_personal_behind(kit: Arc<Kit>) {
    let (operator, project, siti, budi) = world(&kit).await;
    kit.engine.seal_audit().await.unwrap();
    assert_eq!(leads(&operator.post(&of(&budi.user, "remove"), &[]).await, "user-removed"), USERS);
    is_page("their session", &budi.open(&desk(project.id)).await, 401);
    assert_eq!(sign_in(&Customer::of(&kit), "budi@example.com", PASSWORD).await.status, 401);
    while kit.engine.seal_audit().await.unwrap() > 0 {}
    assert_eq!(kit.engine.verify().await.unwrap(), []);
    let log = operator.open("/dashboard/operator/audit").await.text;
    assert!(log.contains(&budi.user.id.to_string()), "the log names them by their id");
    let own_log = siti.open(&format!("{}/audit", desk(project.id))).await.text;
    assert!(own_log.contains(&budi.user.id.to_string()) && !own_log.contains("budi@example.com"), "{own_log}");
    assert!(!operator.open(USERS).await.text.contains(&budi.user.id.to_string()));
    // Only the line about the sign-in that was refused has the address, which somebody has typed since.
    let named = rows(&kit.database).iter().filter(|row| row.contains("budi@example.com")).count();
    let refused = audited(&kit, Deed::SignInRefused).await;
    assert_eq!((named, refused.iter().filter(|(_, subject)| subject == "budi@example.com").count()), (1, 1));
    // The address is free for somebody else.
    let other = make(&kit, "budi@example.com", false).await;
    assert_ne!(other.id, budi.user.id);
}

async fn the_last_active_operator_stays(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    for word in ["deactivate", "remove"] {
        let page = operator.post(&format!("{}?lang=en", of(&operator.user, word)), &[]).await;
        is_page(word, &page, 409);
        assert!(page.text.contains("last active operator"), "{}", page.text);
    }
    let second = Person::operator(&kit, "second@example.com").await;
    assert_eq!(operator.post(&of(&second.user, "deactivate"), &[]).await.status, 303);
    is_page("still", &operator.post(&of(&operator.user, "remove"), &[]).await, 409);
    assert_eq!(state(&kit, &operator.user).await, UserState::Active);
}

async fn the_only_active_owner_of_a_project_stays_and_the_page_says_of_which(kit: Arc<Kit>) {
    let (operator, project, siti, budi) = world(&kit).await;
    let name = kit.engine.project(project.id).await.unwrap().name;
    assert_eq!(operator.post(&of(&budi.user, "deactivate"), &[]).await.status, 303);
    for word in ["deactivate", "remove"] {
        let path = format!("{}?lang=en", of(&siti.user, word));
        let question = operator.open(&path).await;
        is_page("question", &question, 200);
        assert!(question.text.contains("only active owner") && !question.text.contains("class=\"danger\""));
        let page = operator.post(&path, &[]).await;
        is_page(word, &page, 409);
        assert!(page.text.contains("only active owner") && page.text.contains(&name), "{}", page.text);
    }
    // Nor does an active owner leave the project to one who is deactivated.
    let leave = format!("{}/settings/members/{}/remove", desk(project.id), siti.user.id);
    is_page("leave", &siti.post(&leave, &[]).await, 409);
    assert_eq!(state(&kit, &siti.user).await, UserState::Active);
    assert_eq!(operator.post(&of(&budi.user, "activate"), &[]).await.status, 303);
    assert_eq!(operator.post(&of(&siti.user, "remove"), &[]).await.status, 303);
}

async fn two_operators_who_deactivate_each_other_at_once_leave_one(kit: Arc<Kit>) {
    let one = Person::operator(&kit, "one@example.com").await;
    let two = Person::operator(&kit, "two@example.com").await;
    let (to_two, to_one) = (of(&two.user, "deactivate"), of(&one.user, "deactivate"));
    let (first, second) = join(one.post(&to_two, &[]), two.post(&to_one, &[])).await;
    let done = [&first, &second].into_iter().filter(|reply| reply.status == 303).count();
    let active = [&one.user, &two.user];
    let mut left = 0;
    for user in active {
        left += usize::from(state(&kit, user).await == UserState::Active);
    }
    assert_eq!(left, 1, "{} {}", first.status, second.status);
    assert!(done >= 1);
    assert!(kit.engine.has_operator().await.unwrap());
}

async fn a_deactivated_user_gets_the_answer_of_a_wrong_password(kit: Arc<Kit>) {
    let (operator, _, _, budi) = world(&kit).await;
    assert_eq!(operator.post(&of(&budi.user, "deactivate"), &[]).await.status, 303);
    let right = sign_in(&Customer::of(&kit), "budi@example.com", PASSWORD).await;
    let wrong = sign_in(&Customer::of(&kit), "siti@example.com", "something else").await;
    assert_eq!(right.status, wrong.status);
    let text = |reply: &testkit::Reply, email: &str| without_path(reply, email);
    assert_eq!(text(&right, "budi@example.com"), text(&wrong, "siti@example.com"));
    assert!(right.header("set-cookie").is_none_or(|cookie| !cookie.starts_with("lunas_session=")));
}

async fn keys_of_a_user_are_revoked_if_the_operator_says_so(kit: Arc<Kit>) {
    let (operator, project, _, budi) = world(&kit).await;
    let keys = format!("{}/keys", desk(project.id));
    for (name, fields) in [("stays", &[][..]), ("goes", &[("revoke_keys", "on")])] {
        let person = Person::signed_in(&kit, budi.user.clone()).await;
        is_page(name, &person.post(&keys, &[("name", name)]).await, 200);
        let question = operator.open(&of(&budi.user, "deactivate")).await;
        assert!(question.text.contains(&format!("<b>{name}</b>")), "{}", question.text);
        assert_eq!(operator.post(&of(&budi.user, "deactivate"), fields).await.status, 303);
        let live = kit.engine.keys_created_by(budi.user.id).await.unwrap();
        assert_eq!(live.iter().any(|key| key.name == name), name == "stays");
        assert_eq!(operator.post(&of(&budi.user, "activate"), &[]).await.status, 303);
    }
    assert_eq!(kit.engine.keys_created_by(budi.user.id).await.unwrap(), [], "all of theirs are revoked");
    project.api.get("/v1/payments").await.expect(200);
}

async fn asking_changes_nothing_and_a_decision_that_is_repeated_changes_no_more(kit: Arc<Kit>) {
    let (operator, _, _, budi) = world(&kit).await;
    let before = rows(&kit.database);
    for word in ["deactivate", "activate", "remove"] {
        is_page(word, &operator.open(&of(&budi.user, word)).await, 200);
    }
    is_page("the user", &operator.open(of(&budi.user, "").trim_end_matches('/')).await, 200);
    assert_eq!(rows(&kit.database), before);
    assert_eq!(operator.post(&of(&budi.user, "activate"), &[]).await.status, 303, "they are active");
    assert_eq!(rows(&kit.database), before);
    assert_eq!(operator.post(&of(&budi.user, "deactivate"), &[]).await.status, 303);
    let once = rows(&kit.database);
    assert_eq!(operator.post(&of(&budi.user, "deactivate"), &[]).await.status, 303);
    assert_eq!(rows(&kit.database), once);
    assert_eq!(operator.post(&of(&budi.user, "remove"), &[]).await.status, 303);
    is_page("removed", &operator.post(&of(&budi.user, "remove"), &[]).await, 404);
    is_page("removed", &operator.post(&of(&budi.user, "activate"), &[]).await, 404);
}

async fn users_who_are_not_there_are_not_found(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    for id in ["usr_01kzdq3f5ve8x9m2r7t4w6y8za", "junk"] {
        is_page(id, &operator.open(&format!("{USERS}/{id}")).await, 404);
        for word in ["deactivate", "activate", "remove"] {
            is_page(id, &operator.open(&format!("{USERS}/{id}/{word}")).await, 404);
            is_page(id, &operator.post(&format!("{USERS}/{id}/{word}"), &[]).await, 404);
        }
    }
}

async fn an_operator_gives_a_user_a_link_for_a_new_password(kit: Arc<Kit>) {
    const LINKS: &str = "/dashboard/reset/";
    let (operator, _, siti, budi) = world(&kit).await;
    let path = of(&budi.user, "reset");
    is_page("the question", &operator.open(&path).await, 200);
    assert_eq!(audited(&kit, Deed::ResetLinkMade).await, [], "asking makes no link");
    let page = operator.post(&path, &[]).await;
    is_page("without mail", &page, 200);
    let link = link_of(&kit, &page.text, LINKS);
    assert_eq!(Customer::of(&kit).post(&link, &[("password", "a new one for Budi")]).await.status, 303);
    assert_eq!(sign_in(&Customer::of(&kit), "budi@example.com", "a new one for Budi").await.status, 303);

    let mailbox = Mailbox::of(&kit).await;
    let reply = operator.post(&path, &[]).await;
    assert_eq!(leads(&reply, "reset-link-sent"), format!("{USERS}/{}", budi.user.id));
    let letter = mailbox.wait_for(LINKS, 1).await.remove(0);
    assert!(letter.contains("To: budi@example.com"), "{letter}");
    assert!(!reply.text.contains(LINKS), "the operator does not see it: {}", reply.text);
    is_page("by letter", &Customer::of(&kit).open(&link_of(&kit, &letter, LINKS)).await, 200);
    let made = audited(&kit, Deed::ResetLinkMade).await;
    let by = Actor::User { id: operator.user.id, address: "127.0.0.1".to_owned() };
    assert_eq!(made, vec![(by, "budi@example.com".to_owned()); 2]);

    assert_eq!(operator.post(&of(&siti.user, "deactivate"), &[]).await.status, 303);
    is_page("who is deactivated", &operator.post(&of(&siti.user, "reset"), &[]).await, 404);
    kit.clock.advance(PROOF_LIFETIME);
    is_page("an operator who may be gone", &operator.post(&path, &[]).await, 403);
    assert_eq!(audited(&kit, Deed::ResetLinkMade).await.len(), 2);
}
