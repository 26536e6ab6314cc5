//! What an operator of the installation sees and decides, and the audit log.

use std::sync::Arc;

use domain::{
    access::Role,
    audit::Deed,
    id::ProjectId,
    project::Environment,
    user::{Email, User},
};
use engine::NewProject;
use store::PeopleWrite;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page},
    dashboard::{audited, link_in, without_path},
    people::{PASSWORD, Person, desk, make, sign_in},
    rows::rows,
};

on_every_database![
    projects_that_wait_for_an_approval_come_first_and_can_be_shown_alone,
    a_long_log_is_read_page_by_page,
    many_users_are_listed_page_by_page,
];

on_sqlite_alone![
    operator_pages_do_not_exist_for_anybody_else,
    an_operator_confirms_each_decision_and_it_is_audited,
    a_decision_that_does_not_fit_its_project_changes_nothing,
    an_operators_own_project_is_theirs_at_once_and_anothers_takes_an_invitation,
    a_project_without_an_owner_is_not_created,
    a_project_reads_its_own_log_and_operators_read_all_of_it,
];

const OPERATOR: &str = "/dashboard/operator";
const NEW: &str = "/dashboard/operator/projects/new";

fn decision(project: ProjectId, word: &str) -> String {
    format!("{OPERATOR}/projects/{project}/{word}")
}

async fn named(kit: &Kit, name: &str, environment: Environment) -> ProjectId {
    let new = NewProject { name: name.to_owned(), environment, merchant_name: None };
    kit.engine.create_project(new).await.unwrap().0.id
}

async fn operator_pages_do_not_exist_for_anybody_else(kit: Arc<Kit>) {
    let project = kit.production().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let before = rows(&kit.database);
    let unknown = "/dashboard/nothing/of/the/kind";
    let missing = owner.open(unknown).await;
    is_page(unknown, &missing, 404);
    let pages = [OPERATOR, NEW, "/dashboard/operator/users", "/dashboard/operator/audit"].map(str::to_owned);
    let decisions = ["approve", "withdraw-approval", "activate", "deactivate"].map(|word| decision(project.id, word));
    let one = format!("{OPERATOR}/projects/{}", project.id);
    for path in pages.iter().chain(&decisions).chain([&one]) {
        let page = owner.open(path).await;
        is_page(path, &page, 404);
        assert_eq!(without_path(&page, path), without_path(&missing, unknown), "{path}");
    }
    for path in [NEW.to_owned()].iter().chain(&decisions) {
        let fields = [("name", "Mine"), ("environment", "production"), ("owner", "siti@example.com")];
        is_page(path, &owner.post(path, &fields).await, 404);
    }
    assert_eq!(rows(&kit.database), before);
    is_page("a stranger", &Customer::of(&kit).open(OPERATOR).await, 401);
}

async fn projects_that_wait_for_an_approval_come_first_and_can_be_shown_alone(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    is_page("nothing yet", &operator.open(OPERATOR).await, 200);
    let waiting = named(&kit, "Waits", Environment::Production).await;
    let usual: Vec<ProjectId> = {
        let mut made = Vec::new();
        for n in 0..21 {
            kit.clock.advance(std::time::Duration::from_millis(1));
            made.push(named(&kit, &format!("Toko {n}"), Environment::Sandbox).await);
        }
        made
    };
    let page = operator.open(OPERATOR).await;
    is_page("all", &page, 200);
    let at = |id: ProjectId| page.text.find(&format!("/projects/{id}\""));
    assert!(at(waiting) < at(usual[20]) && at(usual[20]) < at(usual[19]), "{}", page.text);
    assert_eq!((at(usual[1]), at(usual[0])), (None, None), "twenty a page");
    assert!(page.text.contains("href=\"/dashboard/operator?page=2\""), "{}", page.text);
    assert!(operator.open("/dashboard/operator?page=2").await.text.contains(&usual[0].to_string()));
    let alone = operator.open("/dashboard/operator?show=waiting").await;
    assert!(alone.text.contains(&waiting.to_string()) && !alone.text.contains(&usual[20].to_string()));
}

async fn an_operator_confirms_each_decision_and_it_is_audited(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let project = kit.project(Environment::Production).await;
    for (word, done, deed, approved, active) in [
        ("approve", "approved", Deed::ProjectApproved, true, true),
        ("deactivate", "deactivated", Deed::ProjectDeactivated, true, false),
        ("activate", "activated", Deed::ProjectActivated, true, true),
        ("withdraw-approval", "approval-withdrawn", Deed::ApprovalWithdrawn, false, true),
    ] {
        let path = decision(project.id, word);
        let before = rows(&kit.database);
        let offered = operator.open(&format!("{OPERATOR}/projects/{}", project.id)).await;
        assert!(offered.text.contains(&format!("href=\"{path}\"")), "{word}: {}", offered.text);
        is_page(word, &operator.open(&path).await, 200);
        assert_eq!(rows(&kit.database), before, "asking changes nothing");
        let reply = operator.post(&path, &[]).await;
        assert_eq!(reply.header("location"), Some(format!("{OPERATOR}?done={done}").as_str()), "{}", reply.text);
        let now = kit.engine.project(project.id).await.unwrap();
        assert_eq!((now.approved, now.active), (approved, active), "{word}");
        // A repeated form is applied once.
        assert_eq!(operator.post(&path, &[]).await.status, 303);
        assert_eq!(audited(&kit, deed).await.len(), 1, "{word}");
        let works = project.api.get("/v1/balance").await.status == 200;
        assert_eq!(works, approved && active, "{word}");
    }
}

async fn a_decision_that_does_not_fit_its_project_changes_nothing(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let sandbox = kit.sandbox().await;
    let before = rows(&kit.database);
    for word in ["approve", "withdraw-approval"] {
        is_page(word, &operator.open(&decision(sandbox.id, word)).await, 409);
        is_page(word, &operator.post(&decision(sandbox.id, word), &[]).await, 409);
    }
    let unknown: ProjectId = "prj_01kc2m8r5gfq9t3v7x1y4z6a8b".parse().unwrap();
    is_page("unknown", &operator.open(&format!("{OPERATOR}/projects/{unknown}")).await, 404);
    is_page("unknown", &operator.post(&decision(unknown, "deactivate"), &[]).await, 404);
    is_page("junk", &operator.open(&format!("{OPERATOR}/projects/junk/activate")).await, 404);
    is_page("no such decision", &operator.open(&decision(sandbox.id, "delete")).await, 404);
    assert_eq!(rows(&kit.database), before);
}

async fn an_operators_own_project_is_theirs_at_once_and_anothers_takes_an_invitation(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let own = [("name", "Mine"), ("environment", "sandbox"), ("owner", " Operator@example.com ")];
    let reply = operator.post(NEW, &own).await;
    assert_eq!(reply.header("location"), Some("/dashboard/operator?done=project-created"), "{}", reply.text);
    assert_eq!(kit.engine.projects_of(operator.user.id).await.unwrap()[0].1, Role::Owner);

    let fields = [("name", "Theirs"), ("environment", "production"), ("owner", "budi@example.com")];
    let page = operator.post(NEW, &fields).await;
    is_page("an invitation", &page, 200);
    let link = link_in(&kit, &page);
    assert_eq!(kit.engine.projects_of(operator.user.id).await.unwrap().len(), 1, "it is not the operator's");
    let browser = Customer::of(&kit);
    assert_eq!(browser.post(&link, &[("password", PASSWORD)]).await.status, 303);
    let budi = kit.engine.user_by_email("budi@example.com").await.unwrap();
    let [(theirs, role)] = &kit.engine.projects_of(budi.id).await.unwrap()[..] else { panic!("one project") };
    assert_eq!((theirs.name.as_str(), *role, theirs.approved), ("Theirs", Role::Owner, false));
    is_page("a member's page", &operator.open(&format!("{}/settings", desk(theirs.id))).await, 404);
}

async fn a_project_without_an_owner_is_not_created(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let before = rows(&kit.database);
    for (name, environment, owner, marked) in [
        ("", "sandbox", "budi@example.com", "name-why"),
        ("Toko", "", "budi@example.com", "environment-why"),
        ("Toko", "sandbox", "", "owner-why"),
        ("Toko", "sandbox", "budi", "owner-why"),
    ] {
        let page = operator.post(NEW, &[("name", name), ("environment", environment), ("owner", owner)]).await;
        is_page(marked, &page, 422);
        assert!(page.text.contains(&format!("id=\"{marked}\"")), "{}", page.text);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_project_reads_its_own_log_and_operators_read_all_of_it(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let operator = Person::operator(&kit, "operator@example.com").await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    make(&kit, "dewi@example.com", false).await;
    sign_in(&Customer::of(&kit), "dewi@example.com", "wrong").await;
    let fields = [("email", "<b>@example.com"), ("role", "viewer")];
    owner.post(&format!("{}/settings/members", desk(project.id)), &fields).await;
    kit.engine.create_key(other.id, "elsewhere".to_owned()).await.unwrap();

    let page = owner.open(&format!("{}/audit?lang=en", desk(project.id))).await;
    is_page("the log", &page, 200);
    for shown in [
        "Invited a member",
        "&#60;b&#62;@example.com",
        "siti@example.com",
        "127.0.0.1",
        "Created an API key",
        "Command line on the server",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(!page.text.contains("elsewhere") && !page.text.contains("Failed to sign in"), "{}", page.text);
    let whole = operator.open("/dashboard/operator/audit?lang=en").await;
    for shown in ["elsewhere", "Failed to sign in", "dewi@example.com", "Invited a member", "Signed in"] {
        assert!(whole.text.contains(shown), "{shown}: {}", whole.text);
    }
    let users = operator.open("/dashboard/operator/users").await;
    for email in ["operator@example.com", "siti@example.com", "dewi@example.com"] {
        assert!(users.text.contains(email), "{email}");
    }
    is_page("another project's log", &owner.open(&format!("{}/audit", desk(other.id))).await, 404);
}

async fn a_long_log_is_read_page_by_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    Person::member(&kit, project.id, Role::Owner, "dewi@example.com").await;
    let viewer = Person::member(&kit, project.id, Role::Viewer, "siti@example.com").await;
    for n in 0..25 {
        kit.clock.advance(std::time::Duration::from_millis(1));
        kit.engine.create_key(project.id, format!("number {n}.")).await.unwrap();
    }
    let path = format!("{}/audit", desk(project.id));
    let first = viewer.open(&path).await;
    assert!(first.text.contains("number 24.") && !first.text.contains("number 4."), "{}", first.text);
    let second = viewer.open(&format!("{path}?page=2")).await;
    assert!(second.text.contains("number 4.") && !second.text.contains("number 24."));
    for page in ["0", "x", "-1", "99999999999999999999", "900"] {
        is_page(page, &viewer.open(&format!("{path}?page={page}")).await, 200);
    }
}

async fn many_users_are_listed_page_by_page(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    for n in 0..25 {
        kit.clock.advance(std::time::Duration::from_millis(1));
        let user = User {
            id: domain::id::mint(kit.engine.now(), [7; domain::id::ENTROPY_BYTES]),
            email: Email::parse(&format!("user{n}.@example.com")).unwrap(),
            is_operator: false,
            state: domain::user::UserState::Active,
            created_at: kit.engine.now(),
        };
        kit.store.commit(PeopleWrite::UserCreated { user, password: String::new() }.into()).await.unwrap();
    }
    for (page, shown, hidden) in [("1", "user18.", "user19."), ("2", "user19.", "user18."), ("3", "", "user1")] {
        let page = operator.open(&format!("{OPERATOR}/users?page={page}")).await;
        assert!(page.text.contains(shown) && !page.text.contains(hidden), "{}", page.text);
    }
}
