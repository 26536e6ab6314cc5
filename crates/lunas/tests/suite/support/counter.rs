//! Selling at the counter as far as HTTP goes.

use testkit::{Reply, TestProject};

use crate::support::people::{Person, desk};

/// The path of the counter.
pub(crate) fn counter(project: &TestProject) -> String {
    format!("{}/counter", desk(project.id))
}

/// The id of the sale that a press led to.
#[track_caller]
pub(crate) fn sale_of(project: &TestProject, reply: &Reply) -> String {
    assert_eq!(reply.status, 303, "{}", reply.text);
    let location = reply.header("location").unwrap();
    location.strip_prefix(&format!("{}/", counter(project))).unwrap().to_owned()
}

/// Presses the button once with a form of its own.
pub(crate) async fn sell(person: &Person, project: &TestProject, amount: &str) -> String {
    let page = person.open(&counter(project)).await;
    let (_, attempt) = page.text.split_once("name=\"attempt\" value=\"").unwrap();
    let attempt = attempt.split('"').next().unwrap();
    let reply = person.post(&counter(project), &[("amount", amount), ("attempt", attempt)]).await;
    sale_of(project, &reply)
}
