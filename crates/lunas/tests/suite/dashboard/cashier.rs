//! Every address of the dashboard against a cashier, who may sell and see nothing else.

use std::sync::Arc;

use domain::access::Role;
use testkit::{Kit, on_sqlite_alone};

use super::{
    routes::{SampleProject, said},
    routes_table::{For, table},
};
use crate::support::{
    counter::{counter, sell},
    customer::is_page,
    people::{Person, desk},
    rows::rows,
};

on_sqlite_alone![a_cashier_gets_nothing_but_the_counter_and_their_own_account on 2 threads];

/// Nothing else of the project is shown to them, not even the name of a page that exists: the refusal is the same everywhere. The
/// project's home leads to the counter.
async fn a_cashier_gets_nothing_but_the_counter_and_their_own_account(kit: Arc<Kit>) {
    let mut world = SampleProject::new(&kit).await;
    let cashier = Person::member(&kit, world.project.id, Role::Cashier, "cashier@toko.test").await;
    world.sale_is(sell(&cashier, &world.project, "15000").await);
    let before = rows(&kit.database);
    for row in table() {
        let is_own = row.path.starts_with("/dashboard/{project}/counter") || row.path == "/dashboard/{project}";
        if is_own || matches!(row.is_for, For::Anyone | For::SignedIn) {
            continue;
        }
        let status = if row.is_for == For::Operators { 404 } else { 403 };
        let reply = world.ask(&cashier, &row).await;
        is_page(&said(&row, "a cashier"), &reply, status);
        assert!(!reply.text.contains("Toko Kopi"), "{}", said(&row, "a cashier"));
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    let (home, counter) = (cashier.open(&desk(world.project.id)).await, counter(&world.project));
    assert_eq!((home.status.as_u16(), home.header("location")), (303, Some(counter.as_str())));
    is_page("the counter", &cashier.open(&counter).await, 200);
    is_page(
        "a new project",
        &cashier.post("/dashboard/projects/new", &[("name", "Toko"), ("environment", "sandbox")]).await,
        403,
    );
}
