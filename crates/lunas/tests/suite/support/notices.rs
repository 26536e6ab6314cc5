//! What tests of notices share: a project whose notices go to a receiver of the test.

use domain::{
    access::Role,
    id::ProjectId,
    signature::{TOLERANCE, verify},
};
use serde_json::Value;
use testkit::{Kit, Received, Receiver, Reply};

use crate::support::{
    customer::is_page,
    dashboard::element,
    people::{Person, desk},
};

/// An owner who has set where notices go.
pub(crate) struct Noticed {
    pub(crate) owner: Person,
    pub(crate) secret: String,
    pub(crate) path: String,
}

/// Sets the receiver as where notices of a project go, in Indonesian and with what `more` chooses.
pub(crate) async fn notice_to(kit: &Kit, project: ProjectId, receiver: &Receiver, more: &[(&str, &str)]) -> Noticed {
    // Only an installation for development sends to this machine.
    kit.engine.mark_development().await.unwrap();
    let owner = Person::member(kit, project, Role::Owner, &format!("{project}@example.com")).await;
    let path = format!("{}/settings/notices", desk(project));
    let page = set(&owner, &path, &receiver.url(), more).await;
    is_page("set", &page, 200);
    Noticed { secret: element(&page.text, "notice-secret"), owner, path }
}

pub(crate) async fn set(owner: &Person, path: &str, url: &str, more: &[(&str, &str)]) -> Reply {
    let fields: Vec<(&str, &str)> = [("url", url)].into_iter().chain(more.iter().copied()).collect();
    owner.post(path, &fields).await
}

/// What a notice says, whose signature is checked as the documentation tells receivers.
#[track_caller]
pub(crate) fn verified(kit: &Kit, received: &Received, secret: &str) -> Value {
    let header = received.header("X-Service-Signature");
    assert_eq!(verify(header, secret, &received.body, kit.engine.now(), TOLERANCE), Ok(()), "{header}");
    assert_eq!((received.method.as_str(), received.header("content-type")), ("POST", "application/json"));
    received.json()
}
