//! Invitations: a link that makes the person whom it names a member, once.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, audit::Deed};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, hidden, is_page},
    dashboard::{audited, invited, without_path},
    people::{PASSWORD, Person, desk, make},
    rows::rows,
};

on_every_database![
    a_removed_member_cannot_return_by_an_older_invitation,
    of_several_who_accept_the_same_invitation_at_once_one_succeeds,
];

on_sqlite_alone![
    a_new_person_chooses_a_password_and_is_a_member_at_once,
    opening_an_invitation_changes_nothing_however_often,
    an_unusable_password_creates_no_account,
    a_person_with_an_account_signs_in_and_then_joins,
    an_invitation_is_only_for_the_address_it_names,
    every_unusable_invitation_looks_the_same,
];

async fn owned(kit: &Kit) -> (TestProject, Person) {
    let project = kit.sandbox().await;
    let owner = Person::member(kit, project.id, Role::Owner, "siti@example.com").await;
    (project, owner)
}

async fn roles(kit: &Kit, project: &TestProject) -> Vec<(String, Role)> {
    let members = kit.store.members(project.id).await.unwrap();
    let mut roles: Vec<_> = members.into_iter().map(|member| (member.user.email.to_string(), member.role)).collect();
    roles.sort();
    roles
}

async fn a_removed_member_cannot_return_by_an_older_invitation(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let first = invited(&kit, &owner, &project, "budi@example.com", "viewer").await;
    let second = invited(&kit, &owner, &project, "budi@example.com", "owner").await;
    let budi = Person::new(&kit, "budi@example.com").await;
    assert_eq!(budi.post(&format!("{first}/join"), &[]).await.status, 303);
    let path = format!("{}/settings/members/{}/remove", desk(project.id), budi.user.id);
    assert_eq!(owner.post(&path, &[]).await.status, 303);
    let budi = Person::signed_in(&kit, budi.user).await;
    is_page("the other link", &budi.post(&format!("{second}/join"), &[]).await, 404);
    assert_eq!(roles(&kit, &project).await, [("siti@example.com".to_owned(), Role::Owner)]);
}

async fn a_new_person_chooses_a_password_and_is_a_member_at_once(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = invited(&kit, &owner, &project, "Budi@Example.com", "developer").await;
    let browser = Customer::of(&kit);
    let page = browser.open(&format!("{path}?lang=en")).await;
    is_page("an invitation", &page, 200);
    assert!(page.text.contains("You are invited to Toko") && page.text.contains("budi@example.com"));
    assert!(page.text.contains("Developer"), "{}", page.text);
    let reply = browser.post(&path, &[("password", PASSWORD)]).await;
    let home = format!("{}?done=joined", desk(project.id));
    assert_eq!(reply.header("location"), Some(home.as_str()), "{}", reply.text);
    is_page("their project", &browser.open(&format!("{}/settings", desk(project.id))).await, 200);
    let both = [("budi@example.com", Role::Developer), ("siti@example.com", Role::Owner)];
    assert_eq!(roles(&kit, &project).await, both.map(|(email, role)| (email.to_owned(), role)));
    for deed in [Deed::MemberInvited, Deed::UserCreated, Deed::MemberJoined] {
        let of_budi = audited(&kit, deed).await.into_iter().filter(|(_, email)| email == "budi@example.com");
        assert_eq!(of_budi.count(), 1, "{deed:?}");
    }
}

async fn opening_an_invitation_changes_nothing_however_often(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = invited(&kit, &owner, &project, "budi@example.com", "viewer").await;
    let before = rows(&kit.database);
    for _ in 0..3 {
        is_page("a stranger", &Customer::of(&kit).open(&path).await, 200);
        is_page("somebody else", &owner.open(&path).await, 200);
    }
    assert_eq!(rows(&kit.database), before);
    // Nothing that is stored opens the invitation.
    let token = path.rsplit('/').next().unwrap();
    assert!(!before.iter().any(|row| row.contains(token)));
}

async fn an_unusable_password_creates_no_account(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = invited(&kit, &owner, &project, "budi@example.com", "viewer").await;
    let before = rows(&kit.database);
    let long = "é".repeat(129);
    for password in ["", "eleven char", long.as_str()] {
        let page = Customer::of(&kit).post(&path, &[("password", password)]).await;
        is_page(password, &page, 422);
        assert!(page.text.contains("aria-describedby=\"password-why"), "{}", page.text);
        assert!(password.is_empty() || !page.text.contains(password), "a password is not shown again");
    }
    let browser = Customer::of(&kit);
    let foreign = browser.form(&path, &[("password", PASSWORD)]).header("sec-fetch-site", "cross-site");
    is_page("another site's form", &browser.send(foreign).await, 403);
    assert_eq!(rows(&kit.database), before);
}

async fn a_person_with_an_account_signs_in_and_then_joins(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    make(&kit, "budi@example.com", false).await;
    let path = invited(&kit, &owner, &project, "budi@example.com", "owner").await;
    let browser = Customer::of(&kit);
    let page = browser.open(&path).await;
    assert_eq!(hidden(&page), [("next".to_owned(), path.clone())]);
    let before = rows(&kit.database);
    is_page("an account cannot be made twice", &browser.post(&path, &[("password", PASSWORD)]).await, 409);
    assert_eq!(rows(&kit.database), before);
    let fields = [("email", "budi@example.com"), ("password", PASSWORD), ("next", path.as_str())];
    let reply = browser.post("/dashboard/sign-in", &fields).await;
    assert_eq!(reply.header("location"), Some(path.as_str()));
    let page = browser.open(&path).await;
    assert!(page.text.contains(&format!("action=\"{path}/join\"")), "{}", page.text);
    is_page("without the form's token", &browser.post(&format!("{path}/join"), &[]).await, 403);
    let fields = hidden(&page);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let reply = browser.post(&format!("{path}/join"), &fields).await;
    let home = format!("{}?done=joined", desk(project.id));
    assert_eq!(reply.header("location"), Some(home.as_str()), "{}", reply.text);
    assert_eq!(roles(&kit, &project).await.len(), 2);
    let twice = browser.post(&format!("{path}/join"), &fields).await;
    assert_eq!(twice.header("location"), Some(home.as_str()), "sent twice");
}

async fn an_invitation_is_only_for_the_address_it_names(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = invited(&kit, &owner, &project, "budi@example.com", "owner").await;
    let mallory = Person::new(&kit, "mallory@example.com").await;
    let before = rows(&kit.database);
    let page = mallory.open(&path).await;
    assert!(page.text.contains("mallory@example.com") && page.text.contains("/dashboard/sign-out"));
    assert!(!page.text.contains("name=\"password\""));
    is_page("joining", &mallory.post(&format!("{path}/join"), &[]).await, 409);
    is_page("a new account", &mallory.post(&path, &[("password", PASSWORD)]).await, 409);
    assert_eq!(rows(&kit.database), before);
    // A member cannot become a member twice.
    let twice = invited(&kit, &owner, &project, "dewi@example.com", "viewer").await;
    let dewi = Person::member(&kit, project.id, Role::Owner, "dewi@example.com").await;
    is_page("a member", &dewi.post(&format!("{twice}/join"), &[]).await, 409);
    assert!(roles(&kit, &project).await.contains(&("dewi@example.com".to_owned(), Role::Owner)));
}

async fn every_unusable_invitation_looks_the_same(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let used = invited(&kit, &owner, &project, "budi@example.com", "viewer").await;
    assert_eq!(Customer::of(&kit).post(&used, &[("password", PASSWORD)]).await.status, 303);
    let withdrawn = invited(&kit, &owner, &project, "agus@example.com", "viewer").await;
    let id = kit.store.invites(project.id, kit.engine.now()).await.unwrap()[0].id;
    let path = format!("{}/settings/invites/{id}/withdraw", desk(project.id));
    assert_eq!(owner.post(&path, &[]).await.status, 303);
    let expired = invited(&kit, &owner, &project, "dewi@example.com", "viewer").await;
    let unknown = format!("/dashboard/invite/{}", "0".repeat(64));
    let malformed = "/dashboard/invite/junk".to_owned();
    kit.clock.advance(Duration::from_hours(7 * 24));
    let before = rows(&kit.database);
    let mut pages = Vec::new();
    for path in [&used, &withdrawn, &expired, &unknown, &malformed] {
        let shown = Customer::of(&kit).open(path).await;
        is_page(path, &shown, 404);
        let sent = Customer::of(&kit).post(path, &[("password", PASSWORD)]).await;
        is_page(path, &sent, 404);
        assert_eq!(without_path(&shown, path), without_path(&sent, path));
        pages.push(without_path(&shown, path));
    }
    pages.dedup();
    assert_eq!(pages.len(), 1, "{pages:?}");
    assert_eq!(rows(&kit.database), before);
}

async fn of_several_who_accept_the_same_invitation_at_once_one_succeeds(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = invited(&kit, &owner, &project, "budi@example.com", "viewer").await;
    let attempts = (0..5).map(|number| {
        let (browser, path) = (Customer::of(&kit), path.clone());
        async move { browser.post(&path, &[("password", &format!("{PASSWORD}{number}"))]).await.status.as_u16() }
    });
    let statuses = futures_util::future::join_all(attempts).await;
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [303, 404, 409].contains(status)), "{statuses:?}");
    assert_eq!(roles(&kit, &project).await.len(), 2);
}
