//! Sales at the counter: who made them, and when.

use domain::{
    access::Role,
    id::{InviteId, UserId, mint},
    project::Project,
    user::User,
};
use store::{Change, PaymentWrite, PeopleWrite};

use crate::{
    bank_samples,
    database::{Database, keep, on_every_database},
    migration::add_project,
    opening_samples::{kept_issued, kept_opening},
    samples::{self, NOW, after, entropy, kept_member, kept_project},
};

on_every_database![
    sales_are_those_of_one_member_since_a_moment_newest_first,
    a_sale_at_a_bank_is_there_once_the_bank_has_issued_its_code,
    members_and_invitations_of_the_second_version_stay_and_there_are_cashiers_too,
];

fn sold(project: &Project, user: &User, resource: impl ToString, seconds: i64) -> PaymentWrite {
    PaymentWrite::Sold {
        resource: resource.to_string(),
        project_id: project.id,
        user_id: user.id,
        at: after(1_000 * seconds),
    }
}

async fn sales_are_those_of_one_member_since_a_moment_newest_first(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let (siti, budi) =
        (kept_member(&store, &project, Role::Owner).await, kept_member(&store, &project, Role::Cashier).await);
    let mut kept = Vec::new();
    for (of, user, seconds) in
        [(&project, &siti, 1), (&project, &siti, 2), (&project, &siti, 3), (&project, &budi, 3), (&other, &siti, 3)]
    {
        let payment = samples::payment(of);
        let created = PaymentWrite::Created { payment: payment.clone() };
        keep(&store, Change::from(created).with(sold(of, user, payment.id, seconds))).await;
        kept.push(payment);
    }
    let listed = async |user: &User, seconds: i64, most: i64| {
        let sales = store.sales(project.id, user.id, after(1_000 * seconds), most).await.unwrap();
        sales.iter().map(|sale| kept.iter().position(|payment| payment == sale).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&siti, 0, 10).await, [2, 1, 0]);
    assert_eq!(listed(&siti, 2, 10).await, [2, 1]);
    assert_eq!(listed(&siti, 0, 1).await, [2]);
    assert_eq!(listed(&budi, 0, 10).await, [3]);
    let is_of = async |user: &User, index: usize| store.is_sale_of(project.id, user.id, kept[index].id).await.unwrap();
    assert!(is_of(&siti, 0).await && !is_of(&budi, 0).await && is_of(&budi, 3).await && !is_of(&siti, 4).await);
    assert!(!store.is_sale_of(project.id, siti.id, mint(NOW, entropy())).await.unwrap());
}

async fn a_sale_at_a_bank_is_there_once_the_bank_has_issued_its_code(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let user = kept_member(&store, &project, Role::Owner).await;
    let account = bank_samples::kept_account(&store).await;
    let (opening, payment) = kept_issued(&store, &project, &account).await;
    keep(&store, sold(&project, &user, opening.id, 1)).await;
    let open = kept_opening(&store, &project, &account).await;
    keep(&store, sold(&project, &user, open.id, 2)).await;
    let sales = store.sales(project.id, user.id, NOW, 10).await.unwrap();
    assert_eq!(sales.iter().map(|sale| sale.id).collect::<Vec<_>>(), [payment.id]);
    assert!(store.is_sale_of(project.id, user.id, payment.id).await.unwrap());
}

async fn members_and_invitations_of_the_second_version_stay_and_there_are_cashiers_too(database: Database) {
    let database = database.second_version();
    let project = add_project(&database);
    let [siti, budi]: [UserId; 2] = [mint(NOW, entropy()), mint(NOW, entropy())];
    let invite: InviteId = mint(NOW, entropy());
    let (now, hash) = (NOW.as_millis(), if database.is_typed() { "'\\x02'" } else { "x'02'" });
    let mut sql = String::new();
    for (user, email, role) in [(siti, "siti@example.com", "owner"), (budi, "budi@example.com", "viewer")] {
        sql += &format!("INSERT INTO users VALUES ('{user}', '{email}', 'hash', 0, {now}); ");
        sql += &format!("INSERT INTO members VALUES ('{project}', '{user}', '{role}', {now}); ");
    }
    sql += &format!(
        "INSERT INTO invites VALUES ({hash}, '{invite}', '{project}', 'a@b.id', 'developer', {now}, {}, NULL, NULL);",
        now + 1_000
    );
    database.run_beside(&sql).unwrap();
    let store = database.open().await;
    let roles = async || store.members(project).await.unwrap().iter().map(|member| member.role).collect::<Vec<_>>();
    assert_eq!(roles().await, [Role::Owner, Role::Viewer]);
    let [kept] = &store.invites(project, NOW).await.unwrap()[..] else { panic!("one invitation") };
    assert_eq!((kept.id, kept.role), (invite, Role::Developer));
    keep(&store, PeopleWrite::RoleChanged { project_id: project, user_id: budi, role: Role::Cashier }).await;
    assert_eq!(roles().await, [Role::Owner, Role::Cashier]);
    assert_eq!(store.project(project).await.unwrap().unwrap().frame_origins, [""; 0]);
    for sql in [
        format!("UPDATE members SET role = 'operator' WHERE user_id = '{budi}'"),
        format!("UPDATE invites SET role = 'operator' WHERE id = '{invite}'"),
        format!("INSERT INTO members VALUES ('{project}', '{budi}', 'owner', {now})"),
        format!("UPDATE invites SET used_at = {now} WHERE id = '{invite}'"),
    ] {
        assert!(database.run_beside(&sql).is_err(), "{sql}");
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}
