//! Forms that create something: sent twice, as a double click without script does, each creates once and answers the
//! same.

use std::sync::Arc;

use domain::{access::Role, audit::Deed};
use futures_util::future::join_all;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, hidden, is_page},
    dashboard::{audited, element, invited, link_in},
    people::{PASSWORD, Person, desk},
};

on_every_database![
    a_project_is_created_once,
    an_operators_project_and_its_invitation_are_created_once,
    an_invitation_is_created_once_and_its_link_shown_again,
    a_key_is_created_once_and_its_secret_shown_again,
    an_invitation_is_accepted_with_a_new_account_once,
    an_invitation_is_accepted_by_a_user_once,
];

on_sqlite_alone![a_form_that_is_filled_in_anew_creates_something_else];

async fn owned(kit: &Kit) -> (TestProject, Person) {
    let project = kit.sandbox().await;
    let owner = Person::member(kit, project.id, Role::Owner, "siti@example.com").await;
    (project, owner)
}

/// The id that the form of a page carries.
async fn form_id(person: &Person, path: &str) -> String {
    let page = person.open(path).await;
    is_page(path, &page, 200);
    let found = hidden(&page).into_iter().find(|(name, _)| name == "attempt");
    found.unwrap_or_else(|| panic!("no id in {}", page.text)).1
}

/// Sends a form several times at once, and then once more.
async fn send_often(person: &Person, path: &str, form: &str, fields: &[(&str, &str)]) -> Vec<Reply> {
    let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("attempt", form)]).collect();
    let mut replies = join_all((0..4).map(|_| person.post(path, &fields))).await;
    replies.push(person.post(path, &fields).await);
    replies
}

#[track_caller]
fn all_the_same<T: PartialEq + std::fmt::Debug>(of: impl Iterator<Item = T>) -> T {
    let all: Vec<T> = of.collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
    all.into_iter().next().unwrap()
}

async fn a_project_is_created_once(kit: Arc<Kit>) {
    let (_, owner) = owned(&kit).await;
    let path = "/dashboard/projects/new";
    let form = form_id(&owner, path).await;
    let replies = send_often(&owner, path, &form, &[("name", "Toko Baru"), ("environment", "sandbox")]).await;
    assert!(replies.iter().all(|reply| reply.status == 303), "{:?}", replies[0].text);
    let home = all_the_same(replies.iter().map(|reply| reply.header("location").unwrap()));
    let made = kit.engine.projects_of(owner.user.id).await.unwrap();
    let [(made, _)] = &made.into_iter().filter(|(project, _)| project.name == "Toko Baru").collect::<Vec<_>>()[..]
    else {
        panic!("one project")
    };
    assert_eq!(home, format!("{}?done=project-created", desk(made.id)));
}

async fn an_operators_project_and_its_invitation_are_created_once(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let path = "/dashboard/operator/projects/new";
    for (owner, projects) in [("budi@example.com", 1), ("operator@example.com", 2)] {
        let form = form_id(&operator, path).await;
        let fields = [("name", "Theirs"), ("environment", "sandbox"), ("owner", owner)];
        let replies = send_often(&operator, path, &form, &fields).await;
        all_the_same(replies.iter().map(|reply| reply.status));
        if owner == "budi@example.com" {
            all_the_same(replies.iter().map(|reply| link_in(&kit, reply)));
        }
        assert_eq!(kit.engine.projects().await.unwrap().len(), projects);
    }
}

async fn an_invitation_is_created_once_and_its_link_shown_again(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = format!("{}/settings/members", desk(project.id));
    let form = form_id(&owner, &path).await;
    let fields = [("email", "budi@example.com"), ("role", "viewer")];
    let replies = send_often(&owner, &path, &form, &fields).await;
    all_the_same(replies.iter().map(|reply| link_in(&kit, reply)));
    let invites = kit.store.invites(project.id, kit.engine.now()).await.unwrap();
    assert_eq!(invites.len(), 1);
    // What was withdrawn since is not created again.
    let withdraw = format!("{}/settings/invites/{}/withdraw", desk(project.id), invites[0].id);
    assert_eq!(owner.post(&withdraw, &[]).await.status, 303);
    is_page("sent once more", &send_often(&owner, &path, &form, &fields).await[0], 409);
    assert_eq!(kit.store.invites(project.id, kit.engine.now()).await.unwrap(), []);
}

async fn a_key_is_created_once_and_its_secret_shown_again(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = format!("{}/keys", desk(project.id));
    let form = form_id(&owner, &path).await;
    let replies = send_often(&owner, &path, &form, &[("name", "Server")]).await;
    for reply in &replies {
        is_page("a key", reply, 200);
    }
    let secret = all_the_same(replies.iter().map(|reply| element(&reply.text, "new-key")));
    project.api.with_key(&secret).get("/v1/balance").await.expect(200);
    assert_eq!(kit.engine.keys(project.id).await.unwrap().len(), 2, "the first one, and this");
    // Nobody else gets it by sending the same form.
    let other = Person::member(&kit, project.id, Role::Owner, "budi@example.com").await;
    let page = other.post(&path, &[("name", "Server"), ("attempt", &form)]).await;
    is_page("another's", &page, 409);
    assert!(!page.text.contains(&secret));
}

async fn an_invitation_is_accepted_with_a_new_account_once(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = invited(&kit, &owner, &project, "budi@example.com", "viewer").await;
    // The second form is sent before the first is answered, so neither has a cookie of the other.
    let browsers: Vec<Customer> = (0..3).map(|_| Customer::of(&kit)).collect();
    let mut replies = join_all(browsers.iter().map(|browser| browser.post(&path, &[("password", PASSWORD)]))).await;
    replies.push(browsers[0].post(&path, &[("password", PASSWORD)]).await);
    replies.push(Customer::of(&kit).post(&path, &[("password", PASSWORD)]).await);
    let home = all_the_same(replies.iter().map(|reply| reply.header("location").map(str::to_owned)));
    assert_eq!(home, Some(format!("{}?done=joined", desk(project.id))), "{}", replies[0].text);
    for browser in &browsers {
        is_page("each browser is signed in", &browser.open(&desk(project.id)).await, 200);
    }
    assert_eq!(kit.store.members(project.id).await.unwrap().len(), 2);
    assert_eq!(audited(&kit, Deed::MemberJoined).await.len(), 2, "one line each");
    // The link opens the account to nobody else, and to nobody who is no longer a member.
    is_page("another's", &owner.post(&path, &[("password", PASSWORD)]).await, 404);
    is_page("a wrong password", &Customer::of(&kit).post(&path, &[("password", "correct horses")]).await, 404);
    is_page("looking", &Customer::of(&kit).open(&path).await, 404);
    let budi = kit.engine.user_by_email("budi@example.com").await.unwrap();
    let remove = format!("{}/settings/members/{}/remove", desk(project.id), budi.id);
    assert_eq!(owner.post(&remove, &[]).await.status, 303);
    is_page("removed", &Customer::of(&kit).post(&path, &[("password", PASSWORD)]).await, 404);
}

async fn an_invitation_is_accepted_by_a_user_once(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let budi = Person::new(&kit, "budi@example.com").await;
    let path = invited(&kit, &owner, &project, "budi@example.com", "viewer").await;
    let join = format!("{path}/join");
    let mut replies = join_all((0..3).map(|_| budi.post(&join, &[]))).await;
    replies.push(budi.post(&join, &[]).await);
    let home = all_the_same(replies.iter().map(|reply| reply.header("location").map(str::to_owned)));
    assert_eq!(home, Some(format!("{}?done=joined", desk(project.id))), "{}", replies[0].text);
    is_page("another's", &owner.post(&join, &[]).await, 404);
    assert_eq!(kit.store.members(project.id).await.unwrap().len(), 2);
}

async fn a_form_that_is_filled_in_anew_creates_something_else(kit: Arc<Kit>) {
    let (project, owner) = owned(&kit).await;
    let path = format!("{}/keys", desk(project.id));
    let form = form_id(&owner, &path).await;
    let mut secrets = Vec::new();
    for name in ["one", "two"] {
        let page = owner.post(&path, &[("name", name), ("attempt", &form)]).await;
        is_page(name, &page, 200);
        secrets.push(element(&page.text, "new-key"));
    }
    assert_ne!(secrets[0], secrets[1]);
    assert_ne!(form, form_id(&owner, &path).await);
}
