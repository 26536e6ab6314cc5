//! What tests of the dashboard share: members of a project, and what its pages show.

use domain::{
    access::Role,
    audit::{Actor, AuditLine, Deed},
    id::ProjectId,
};
use engine::Window;
use store::{AuditFilter, Store};
use testkit::{Kit, Reply, TestProject};

use crate::support::{
    customer::is_page,
    people::{Person, desk, make},
};

/// A sandbox project with an owner, which every project with members has.
pub(crate) async fn sandbox_with_owner(kit: &Kit) -> TestProject {
    let project = kit.sandbox().await;
    let owner = make(kit, &format!("first@{}.example", project.id), false).await;
    kit.engine.add_member(project.id, &owner, Role::Owner).await.unwrap();
    project
}

/// A signed-in member of a project that also has an owner.
pub(crate) async fn beside_owner(kit: &Kit, project: &TestProject, role: Role) -> Person {
    let owner = make(kit, "boss@example.com", false).await;
    kit.engine.add_member(project.id, &owner, Role::Owner).await.unwrap();
    Person::member(kit, project.id, role, "member@example.com").await
}

/// A sandbox project, a developer in it who is signed in, and the path of one of its pages.
pub(crate) async fn developer_at(kit: &Kit, page: &str) -> (TestProject, Person, String) {
    let project = kit.sandbox().await;
    let person = beside_owner(kit, &project, Role::Developer).await;
    let path = format!("{}/{page}", desk(project.id));
    (project, person, path)
}

/// The path that a form redirects to, with `done` as its notice.
#[track_caller]
pub(crate) fn leads(reply: &Reply, done: &str) -> String {
    assert_eq!(reply.status, 303, "{}", reply.text);
    let location = reply.header("location").unwrap();
    let (path, told) = location.split_once('?').unwrap();
    assert_eq!(told, format!("done={done}"));
    path.to_owned()
}

/// The text of the element with that id.
#[track_caller]
pub(crate) fn element(html: &str, id: &str) -> String {
    let (_, rest) = html.split_once(&format!(" id=\"{id}\"")).unwrap_or_else(|| panic!("no {id} in {html}"));
    let (_, rest) = rest.split_once('>').unwrap();
    let rest = rest.strip_prefix("<code>").unwrap_or(rest);
    let text = rest.split("</").next().unwrap();
    let marks = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")];
    marks.iter().fold(text.to_owned(), |text, (mark, meaning)| text.replace(mark, meaning))
}

/// The page's text without the address that it is about.
pub(crate) fn without_path(page: &Reply, path: &str) -> String {
    page.text.replace(path, "PATH")
}

/// Invites somebody; returns the path of the invitation's link.
pub(crate) async fn invited(kit: &Kit, owner: &Person, project: &TestProject, email: &str, role: &str) -> String {
    let path = format!("{}/settings/members", desk(project.id));
    let page = owner.post(&path, &[("email", email), ("role", role)]).await;
    is_page("an invitation", &page, 200);
    link_in(kit, &page)
}

/// The path of the one invitation that a page shows.
pub(crate) fn link_in(kit: &Kit, page: &Reply) -> String {
    let base = format!("http://{}", kit.address);
    let before = format!("{base}/dashboard/invite/");
    assert_eq!(page.text.matches(&before).count(), 1, "{}", page.text);
    let (_, rest) = page.text.split_once(&before).unwrap();
    format!("/dashboard/invite/{}", rest.split(|letter: char| !letter.is_ascii_hexdigit()).next().unwrap())
}

/// Who did a deed of that kind, and to what, by the audit log.
pub(crate) async fn audited(kit: &Kit, deed: Deed) -> Vec<(Actor, String)> {
    let lines = audit_log(&kit.store, None).await;
    lines.into_iter().filter(|line| line.deed == deed).map(|line| (line.actor, line.subject)).collect()
}

/// The audit log of a project, or of the whole installation, newest first.
pub(crate) async fn audit_log(store: &Store, project: Option<ProjectId>) -> Vec<AuditLine> {
    let window = Window { offset: 0, limit: 1_000 };
    let listed = store.audit_list(project, &AuditFilter::default(), window).await.unwrap();
    listed.items.into_iter().map(|sealed| sealed.line).collect()
}
