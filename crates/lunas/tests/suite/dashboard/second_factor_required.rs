//! Where everybody needs a second factor: who has none can do nothing but add it.

use std::sync::Arc;

use domain::{access::Role, audit::Deed, id::ProjectId};
use reqwest::Method;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::{audited, leads},
    options::factor_required,
    people::{Person, desk},
    rows::rows,
    second_factor::{FACTOR, add_factor},
};

on_every_database![a_project_can_demand_a_factor_of_every_member, who_has_added_their_factor_may_do_what_they_could];

on_sqlite_alone![
    an_owner_demands_a_factor_only_with_one_of_their_own,
    an_installation_can_demand_a_factor_of_everybody with factor_required(),
];

fn demand(project: ProjectId) -> String {
    format!("{}/settings/members/factor", desk(project))
}

async fn a_project_can_demand_a_factor_of_every_member(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let viewer = Person::member(&kit, project.id, Role::Viewer, "viewer@example.com").await;
    let cashier = Person::member(&kit, project.id, Role::Cashier, "cashier@example.com").await;
    add_factor(&kit, &owner).await;
    let done = owner.post(&demand(project.id), &[("required", "on")]).await;
    assert_eq!(leads(&done, "factor-required"), format!("{}/settings/members", desk(project.id)));
    assert_eq!(audited(&kit, Deed::FactorRequired).await.len(), 1);

    is_page("the owner", &owner.open(&desk(project.id)).await, 200);
    let before = rows(&kit.database);
    for (person, path) in [
        (&viewer, desk(project.id)),
        (&viewer, format!("{}/keys", desk(project.id))),
        (&cashier, format!("{}/counter", desk(project.id))),
    ] {
        let reply = person.open(&path).await;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(FACTOR)), "{path}");
    }
    let sale = cashier.post(&format!("{}/counter", desk(project.id)), &[("amount", "15000")]).await;
    assert_eq!((sale.status.as_u16(), sale.header("location")), (303, Some(FACTOR)));
    let api = viewer.request(Method::GET, &format!("/v1/project?project_id={}", project.id));
    let reply = viewer.browser.send(api).await;
    assert_eq!((reply.status.as_u16(), reply.json["error"]["code"].as_str()), (403, Some("FORBIDDEN")));
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn who_has_added_their_factor_may_do_what_they_could(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let viewer = Person::member(&kit, project.id, Role::Viewer, "viewer@example.com").await;
    let cashier = Person::member(&kit, project.id, Role::Cashier, "cashier@example.com").await;
    kit.engine.add_member(other.id, &viewer.user, Role::Owner).await.unwrap();
    add_factor(&kit, &owner).await;
    leads(&owner.post(&demand(project.id), &[("required", "on")]).await, "factor-required");
    is_page("a project that demands none", &viewer.open(&desk(other.id)).await, 200);
    is_page("one's own account", &viewer.open("/dashboard/account").await, 200);

    let page = viewer.open(&format!("{FACTOR}?lang=en")).await;
    assert!(page.text.contains("A second factor is required here"), "{}", page.text);
    add_factor(&kit, &viewer).await;
    is_page("a viewer with a factor", &viewer.open(&desk(project.id)).await, 200);
    leads(&owner.post(&demand(project.id), &[]).await, "factor-not-required");
    is_page("a cashier", &cashier.open(&format!("{}/counter", desk(project.id))).await, 200);
}

async fn an_owner_demands_a_factor_only_with_one_of_their_own(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let developer = Person::member(&kit, project.id, Role::Developer, "developer@example.com").await;
    let before = rows(&kit.database);
    let reply = owner.post(&demand(project.id), &[("required", "on")]).await;
    assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(FACTOR)));
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    add_factor(&kit, &developer).await;
    is_page("a developer", &developer.post(&demand(project.id), &[("required", "on")]).await, 403);
    assert!(!kit.store.requires_factor(project.id).await.unwrap());
}

async fn an_installation_can_demand_a_factor_of_everybody(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let operator = Person::operator(&kit, "operator@example.com").await;
    for (person, path) in [
        (&owner, desk(project.id)),
        (&operator, "/dashboard/operator".to_owned()),
        (&operator, "/dashboard/operator/users".to_owned()),
    ] {
        let reply = person.open(&path).await;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(FACTOR)), "{path}");
    }
    let fields = [("name", "Toko"), ("environment", "sandbox")];
    let reply = operator.post("/dashboard/projects/new", &fields).await;
    assert_eq!(reply.header("location"), Some(FACTOR));
    for person in [&owner, &operator] {
        add_factor(&kit, person).await;
    }
    is_page("an owner with a factor", &owner.open(&desk(project.id)).await, 200);
    is_page("an operator with a factor", &operator.open("/dashboard/operator").await, 200);
}
