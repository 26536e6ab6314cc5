//! What tests do with payment links: create one, start a payment on its page, cancel it.

use domain::{
    id::{self, LinkId},
    link::Link,
    method::Method,
    payment::{Checkout, Payment},
};
use serde_json::{Value, json};
use store::LinkWrite;
use testkit::{Kit, TestProject};

use crate::support::{hostile::OF_BEFORE, json::text, payments::fetch, samples};

/// A link for 50,000 with some members of its own.
pub(crate) async fn create_link(project: &TestProject, members: Value) -> Value {
    let mut body = samples::link(project, 50_000);
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    project.api.post("/v1/payment-links", &body).await.expect(201)
}

/// A link whose title an earlier version accepted.
pub(crate) async fn link_of_before(kit: &Kit, project: &TestProject) -> Value {
    let plain: LinkId = text(&create_link(project, json!({})).await, "id").parse().unwrap();
    let plain = kit.engine.link(project.id, plain).await.unwrap();
    let id: LinkId = id::mint(kit.engine.now(), [9; id::ENTROPY_BYTES]);
    let link = Link { id, title: OF_BEFORE.to_owned(), ..plain };
    kit.store.commit(LinkWrite::Created { link }.into()).await.unwrap();
    project.api.get(&format!("/v1/payment-links/{id}")).await.expect(200)
}

/// Starts a payment through a link; returns it as the API shows it.
pub(crate) async fn attempt(kit: &Kit, project: &TestProject, link: &Value, method: Method) -> Value {
    let payment = try_attempt(kit, link, method).await.unwrap();
    fetch(project, &json!({ "id": payment.id.to_string() })).await
}

/// Starts a payment through a link, as its page would.
pub(crate) async fn try_attempt(kit: &Kit, link: &Value, method: Method) -> Result<Payment, engine::Error> {
    kit.engine.attempt_link(text(link, "id").parse().unwrap(), &engine::Attempt::new(method, Checkout::default())).await
}

pub(crate) async fn cancel_link(project: &TestProject, link: &Value) {
    project.api.post(&format!("/v1/payment-links/{}/cancel", text(link, "id")), &json!({})).await.expect(200);
}
