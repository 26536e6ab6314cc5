//! The page about roles: who may do what, and who has which role.

use std::sync::Arc;

use domain::access::Role;
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::sandbox_with_owner,
    people::{Person, desk},
};

on_sqlite_alone![the_page_of_roles_names_every_member_at_their_role_and_every_act];

async fn the_page_of_roles_names_every_member_at_their_role_and_every_act(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let viewer = Person::member(&kit, project.id, Role::Viewer, "dewi@example.com").await;
    let page = viewer.open(&format!("{}/settings/roles?lang=en", desk(project.id))).await;
    is_page("roles", &page, 200);
    let (table, members) = page.text.split_once("id=\"members-title\"").unwrap();
    for text in ["Manage payment links", "Download the audit log", "the right “Payments”"] {
        assert!(table.contains(text), "{text}");
    }
    let viewers = members.split_once("<b>Viewer.</b>").unwrap().1.split("<b>").next().unwrap();
    assert!(viewers.contains("dewi@example.com"), "{viewers}");
    let owners = members.split_once("<b>Owner.</b>").unwrap().1.split("<b>").next().unwrap();
    assert!(owners.contains(&format!("first@{}.example", project.id)), "{owners}");
    assert!(members.contains("No member has this role."), "cashiers");
}
