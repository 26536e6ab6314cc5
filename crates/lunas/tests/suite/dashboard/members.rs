//! The members of a project, and who may change them.

use std::sync::Arc;

use domain::{access::Role, audit::Deed, id::UserId};
use testkit::{Cluster, Database, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page},
    dashboard::{audited, element, invited, link_in},
    people::{PASSWORD, Person, desk},
    rows::rows,
};

on_every_database![
    who_is_removed_returns_by_nothing_that_they_have_created,
    who_is_no_owner_any_more_leaves_no_key_over_money_unless_the_owner_says_so,
    an_owner_whose_keys_over_money_cannot_be_revoked_stays_an_owner,
    the_last_owner_cannot_be_demoted_or_removed,
];

on_sqlite_alone![
    an_invitations_link_is_shown_once_and_listed_without_it,
    a_wrong_invitation_comes_back_with_what_was_written_and_invites_nobody,
    an_owner_changes_roles_and_removes_members_after_being_asked,
    keys_of_a_removed_member_stay_when_the_owner_says_so,
    who_is_no_owner_any_more_leaves_no_invitations,
    members_who_are_no_owners_see_the_members_and_change_none,
    an_owner_reaches_nobody_of_another_project,
];

fn members(project: &TestProject) -> String {
    format!("{}/settings/members", desk(project.id))
}

async fn role_of(kit: &Kit, project: &TestProject, user: UserId) -> Option<Role> {
    kit.store.membership(user, project.id).await.unwrap().map(|membership| membership.role)
}

async fn an_invitations_link_is_shown_once_and_listed_without_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let page = owner.post(&members(&project), &[("email", "budi@example.com"), ("role", "viewer")]).await;
    is_page("an invitation", &page, 200);
    link_in(&kit, &page);
    let later = owner.open(&members(&project)).await;
    assert!(later.text.contains("budi@example.com") && !later.text.contains("/dashboard/invite/"));
    assert_eq!(kit.store.invites(project.id, kit.engine.now()).await.unwrap().len(), 1);
}

async fn a_wrong_invitation_comes_back_with_what_was_written_and_invites_nobody(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let before = rows(&kit.database);
    let long = format!("{}@example.com", "a".repeat(255));
    for (email, role, status) in [
        ("", "viewer", 422),
        ("budi<b>", "viewer", 422),
        (long.as_str(), "viewer", 422),
        ("budi@example.com", "operator", 422),
        ("budi@example.com", "", 422),
        (" Siti@Example.com ", "viewer", 409),
    ] {
        let page = owner.post(&members(&project), &[("email", email), ("role", role)]).await;
        is_page(email, &page, status);
        assert!(page.text.contains(&email.trim().replace('<', "&#60;").replace('>', "&#62;")), "{}", page.text);
        assert!(!page.text.contains("must be"), "in the person's own words");
    }
    assert_eq!(rows(&kit.database), before);
}

async fn an_owner_changes_roles_and_removes_members_after_being_asked(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let budi = Person::member(&kit, project.id, Role::Viewer, "budi@example.com").await;
    let path = format!("{}/{}", members(&project), budi.user.id);
    let form = owner.open(&format!("{path}/role")).await;
    assert!(form.text.contains("value=\"viewer\" checked"), "{}", form.text);
    let reply = owner.post(&format!("{path}/role"), &[("role", "developer")]).await;
    let told = format!("{}?done=role-changed", members(&project));
    assert_eq!(reply.header("location"), Some(told.as_str()), "{}", reply.text);
    assert_eq!(role_of(&kit, &project, budi.user.id).await, Some(Role::Developer));
    is_page("no role", &owner.post(&format!("{path}/role"), &[("role", "operator")]).await, 422);

    let before = rows(&kit.database);
    let page = owner.open(&format!("{path}/remove")).await;
    is_page("the question", &page, 200);
    assert!(page.text.contains("budi@example.com"));
    assert_eq!(rows(&kit.database), before, "asking changes nothing");
    assert_eq!(owner.post(&format!("{path}/remove"), &[]).await.status, 303);
    assert_eq!(role_of(&kit, &project, budi.user.id).await, None);
    is_page("twice", &owner.post(&format!("{path}/remove"), &[]).await, 404);
    for deed in [Deed::RoleChanged, Deed::MemberRemoved] {
        let lines = audited(&kit, deed).await;
        assert_eq!(lines.iter().map(|(_, email)| email.as_str()).collect::<Vec<_>>(), ["budi@example.com"]);
    }
}

/// Two owners of a project, each signed in.
async fn two_owners(kit: &Kit) -> (TestProject, Person, Person) {
    let project = kit.sandbox().await;
    let siti = Person::member(kit, project.id, Role::Owner, "siti@example.com").await;
    let budi = Person::member(kit, project.id, Role::Owner, "budi@example.com").await;
    (project, siti, budi)
}

async fn created_key(person: &Person, project: &TestProject, name: &str) -> String {
    let page = person.post(&format!("{}/keys", desk(project.id)), &[("name", name)]).await;
    element(&page.text, "new-key")
}

async fn who_is_removed_returns_by_nothing_that_they_have_created(kit: Arc<Kit>) {
    let (project, siti, budi) = two_owners(&kit).await;
    let link = invited(&kit, &budi, &project, "second@example.com", "owner").await;
    let kept = invited(&kit, &siti, &project, "dewi@example.com", "viewer").await;
    let (theirs, own) = (created_key(&budi, &project, "Budi's").await, created_key(&siti, &project, "Siti's").await);
    let path = format!("{}/{}/remove", members(&project), budi.user.id);

    let question = siti.open(&format!("{path}?lang=en")).await;
    is_page("the question", &question, 200);
    assert!(question.text.contains("Budi&#39;s") && !question.text.contains("Siti&#39;s"), "{}", question.text);
    let keys = kit.engine.keys(project.id).await.unwrap();
    let id = keys.iter().find(|key| key.name == "Budi's").unwrap().id.to_string();
    assert!(question.text.contains(&id) && question.text.contains("name=\"revoke_keys\""));
    // The project's first key was created on the server itself.
    assert!(question.text.contains("Nobody is recorded as the creator of one active API key"), "{}", question.text);

    assert_eq!(siti.post(&path, &[("revoke_keys", "on")]).await.status, 303);
    is_page("their session", &budi.open("/dashboard/account").await, 401);
    is_page("their invitation", &Customer::of(&kit).open(&link).await, 404);
    is_page("accepted", &Customer::of(&kit).post(&link, &[("password", PASSWORD)]).await, 404);
    project.api.with_key(&theirs).get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    is_page("another owner's invitation", &Customer::of(&kit).open(&kept).await, 200);
    for key in [&own, &project.key] {
        project.api.with_key(key).get("/v1/balance").await.expect(200);
    }
    is_page("the owner's session", &siti.open(&members(&project)).await, 200);
    let events = project.api.get("/v1/events?type=apikey.deleted").await.expect(200);
    assert_eq!(events["data"][0]["data"]["name"], "Budi's");
    assert_eq!(audited(&kit, Deed::KeyRevoked).await.len(), 1);
}

async fn keys_of_a_removed_member_stay_when_the_owner_says_so(kit: Arc<Kit>) {
    let (project, siti, budi) = two_owners(&kit).await;
    let key = created_key(&budi, &project, "Server").await;
    assert_eq!(siti.post(&format!("{}/{}/remove", members(&project), budi.user.id), &[]).await.status, 303);
    project.api.with_key(&key).get("/v1/balance").await.expect(200);
    // Who leaves keeps the session in which they do.
    Person::member(&kit, project.id, Role::Owner, "dewi@example.com").await;
    let reply = siti.post(&format!("{}/{}/remove", members(&project), siti.user.id), &[]).await;
    assert_eq!(reply.header("location"), Some("/dashboard/account?done=member-removed"));
    is_page("their account", &siti.open("/dashboard/account").await, 200);
}

async fn who_is_no_owner_any_more_leaves_no_invitations(kit: Arc<Kit>) {
    let (project, siti, budi) = two_owners(&kit).await;
    let link = invited(&kit, &budi, &project, "second@example.com", "owner").await;
    let path = format!("{}/{}/role", members(&project), budi.user.id);
    assert_eq!(siti.post(&path, &[("role", "owner")]).await.status, 303);
    is_page("still an owner", &Customer::of(&kit).open(&link).await, 200);
    assert_eq!(siti.post(&path, &[("role", "viewer")]).await.status, 303);
    is_page("their invitation", &Customer::of(&kit).open(&link).await, 404);
}

async fn who_is_no_owner_any_more_leaves_no_key_over_money_unless_the_owner_says_so(kit: Arc<Kit>) {
    let (project, siti, budi) = two_owners(&kit).await;
    let path = format!("{}/{}/role", members(&project), budi.user.id);
    assert!(!siti.open(&path).await.text.contains("revoke_keys"), "there is no such key yet");
    let keys = format!("{}/keys", desk(project.id));
    let page = budi.post(&keys, &[("name", "money"), ("right-held-money", "on")]).await;
    let money = project.api.with_key(&element(&page.text, "new-key"));
    let page = budi.post(&keys, &[("name", "server"), ("right-payments", "on")]).await;
    let server = project.api.with_key(&element(&page.text, "new-key"));
    let question = siti.open(&path).await;
    assert!(question.text.contains("<b>money</b>") && !question.text.contains("<b>server</b>"), "{}", question.text);
    assert!(question.text.contains("name=\"revoke_keys\" value=\"on\" checked"), "{}", question.text);
    // Who stays an owner keeps it, and so does who is made something less, where the other owner says so.
    for fields in [&[("role", "owner"), ("revoke_keys", "on")][..], &[("role", "developer")], &[("role", "owner")]] {
        assert_eq!(siti.post(&path, fields).await.status, 303);
        money.get("/v1/balance").await.expect(200);
    }
    assert_eq!(siti.post(&path, &[("role", "developer"), ("revoke_keys", "on")]).await.status, 303);
    money.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    server.get("/v1/balance").await.expect(200);
    assert_eq!(audited(&kit, Deed::KeyRevoked).await.len(), 1);
}

/// Runs SQL beside the server.
fn run_beside(kit: &Kit, sql: [&str; 2]) {
    match &kit.database {
        Database::Sqlite(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql[0]).unwrap(),
        Database::Postgres { url } => drop(Cluster::shared().run(url, sql[1]).unwrap()),
    }
}

/// Regression: the role was changed first and the keys were revoked afterwards. When that failed, a member who was no owner any
/// more kept a key that decides about money.
async fn an_owner_whose_keys_over_money_cannot_be_revoked_stays_an_owner(kit: Arc<Kit>) {
    let (project, siti, budi) = two_owners(&kit).await;
    let keys = format!("{}/keys", desk(project.id));
    let mut money = Vec::new();
    for name in ["one", "two"] {
        let page = budi.post(&keys, &[("name", name), ("right-held-money", "on")]).await;
        money.push(project.api.with_key(&element(&page.text, "new-key")));
    }
    let refusal = [
        "CREATE TRIGGER refuse BEFORE UPDATE OF revoked_at ON api_keys WHEN NEW.name = 'two' \
         BEGIN SELECT RAISE(ABORT, 'not now'); END",
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$; \
         CREATE TRIGGER refuse BEFORE UPDATE OF revoked_at ON api_keys FOR EACH ROW WHEN (NEW.name = 'two') \
         EXECUTE FUNCTION refuse()",
    ];
    run_beside(&kit, refusal);
    let before = rows(&kit.database);
    let path = format!("{}/{}/role", members(&project), budi.user.id);
    let demotion = [("role", "developer"), ("revoke_keys", "on")];
    assert_eq!(siti.post(&path, &demotion).await.status, 500);
    assert_eq!(role_of(&kit, &project, budi.user.id).await, Some(Role::Owner));
    assert_eq!(rows(&kit.database), before, "all or nothing");
    run_beside(&kit, ["DROP TRIGGER refuse", "DROP TRIGGER refuse ON api_keys"]);
    assert_eq!(siti.post(&path, &demotion).await.status, 303);
    assert_eq!(role_of(&kit, &project, budi.user.id).await, Some(Role::Developer));
    for key in money {
        key.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    }
    assert_eq!(audited(&kit, Deed::KeyRevoked).await.len(), 2);
}

async fn the_last_owner_cannot_be_demoted_or_removed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let path = format!("{}/{}", members(&project), owner.user.id);
    let before = rows(&kit.database);
    let page = owner.post(&format!("{path}/role?lang=en"), &[("role", "viewer")]).await;
    is_page("demoted", &page, 409);
    assert!(page.text.contains("This is the last owner."), "{}", page.text);
    is_page("removed", &owner.post(&format!("{path}/remove"), &[]).await, 409);
    assert_eq!(rows(&kit.database), before);
    // With a second owner the first may leave, and no longer finds the project.
    Person::member(&kit, project.id, Role::Owner, "dewi@example.com").await;
    let reply = owner.post(&format!("{path}/remove"), &[]).await;
    assert_eq!(reply.header("location"), Some("/dashboard/account?done=member-removed"));
    is_page("afterwards", &owner.open(&members(&project)).await, 404);
}

async fn members_who_are_no_owners_see_the_members_and_change_none(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    invited(&kit, &owner, &project, "agus@example.com", "viewer").await;
    let invite = kit.store.invites(project.id, kit.engine.now()).await.unwrap()[0].id;
    let people = [
        Person::member(&kit, project.id, Role::Viewer, "budi@example.com").await,
        Person::member(&kit, project.id, Role::Developer, "dewi@example.com").await,
    ];
    let before = rows(&kit.database);
    for person in people {
        let page = person.open(&members(&project)).await;
        assert!(page.text.contains("siti@example.com") && page.text.contains("agus@example.com"));
        assert!(!page.text.contains("name=\"role\"") && !page.text.contains("/withdraw"), "{}", page.text);
        let owner_path = format!("{}/{}", members(&project), owner.user.id);
        for asked in ["role", "remove"] {
            is_page(asked, &person.open(&format!("{owner_path}/{asked}")).await, 403);
        }
        for (path, fields) in [
            (members(&project), &[("email", "x@example.com"), ("role", "owner")][..]),
            (members(&project), &[("email", "junk"), ("role", "owner")]),
            (format!("{owner_path}/role"), &[("role", "viewer")]),
            (format!("{owner_path}/remove"), &[]),
            (format!("{}/{}/role", members(&project), person.user.id), &[("role", "owner")]),
            (format!("{}/settings/invites/{invite}/withdraw", desk(project.id)), &[]),
        ] {
            is_page(&path, &person.post(&path, fields).await, 403);
        }
    }
    assert_eq!(rows(&kit.database), before);
}

async fn an_owner_reaches_nobody_of_another_project(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let theirs = Person::member(&kit, other.id, Role::Owner, "dewi@example.com").await;
    invited(&kit, &theirs, &other, "agus@example.com", "viewer").await;
    let invite = kit.store.invites(other.id, kit.engine.now()).await.unwrap()[0].id;
    let before = rows(&kit.database);
    let stranger = theirs.user.id;
    for (path, fields) in [
        (members(&other), &[("email", "x@example.com"), ("role", "owner")][..]),
        (format!("{}/{stranger}/role", members(&project)), &[("role", "viewer")]),
        (format!("{}/{stranger}/remove", members(&project)), &[]),
        (format!("{}/junk/remove", members(&project)), &[]),
        (format!("{}/settings/invites/{invite}/withdraw", desk(project.id)), &[]),
        (format!("{}/settings/invites/{invite}/withdraw", desk(other.id)), &[]),
    ] {
        is_page(&path, &owner.post(&path, fields).await, 404);
    }
    is_page("their members", &owner.open(&members(&other)).await, 404);
    assert_eq!(rows(&kit.database), before);
}
