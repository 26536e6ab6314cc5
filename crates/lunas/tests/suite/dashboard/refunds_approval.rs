//! Refunds that a second person approves, and the settings that say which.

use std::sync::Arc;

use domain::{access::Role, audit::Deed};
use serde_json::Value;
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::{audited, leads},
    held::{contains_all, member},
    payments::{balance, paid},
    people::{Person, desk},
    refund_pages::{ACCOUNT, refund_form, refund_of, refund_page, refund_to_account, version},
    rows::rows,
};

on_every_database![
    another_owner_approves_and_who_asked_never_does,
    a_declined_refund_gives_the_money_back,
    an_approval_is_for_what_was_seen,
    of_two_who_approve_at_once_one_does,
    an_operator_approves_what_waits_in_any_project,
];

on_sqlite_alone![
    the_only_owner_approves_by_themselves,
    the_page_says_who_asked_how_much_where_to_and_when_names_differ,
    the_limit_is_a_setting_of_the_project,
    a_limit_that_is_no_amount_is_marked_and_not_saved,
];

/// A project in which every refund waits for an approval, one of its owners, and a paid payment.
async fn guarded(kit: &Kit) -> (TestProject, Person, Value) {
    let project = kit.sandbox().await;
    let owner = member(kit, &project, Role::Owner).await;
    let path = format!("{}/settings/refunds", desk(project.id));
    leads(&owner.post(&path, &[("approval_above", "0")]).await, "settings-saved");
    let payment = paid(&project, "one", 50_000).await;
    (project, owner, payment)
}

async fn second_owner(kit: &Kit, project: &TestProject) -> Person {
    Person::member(kit, project.id, Role::Owner, "second@toko.example").await
}

async fn another_owner_approves_and_who_asked_never_does(kit: Arc<Kit>) {
    let (project, owner, payment) = guarded(&kit).await;
    let second = second_owner(&kit, &project).await;
    let refund = refund_of(&owner, &project, &payment, "20000").await;
    let path = format!("{}/approve", refund_page(&project, &refund));
    let own = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&own, &["Menunggu persetujuan", "Anda yang meminta pengembalian ini"]);
    assert!(!own.text.contains("/approve\""), "{}", own.text);
    let seen = version(&second.open(&refund_page(&project, &refund)).await.text);
    let refused = owner.post(&path, &[("version", &seen)]).await;
    is_page("one's own", &refused, 409);
    for role in [Role::Viewer, Role::Developer] {
        is_page(role.word(), &member(&kit, &project, role).await.post(&path, &[("version", &seen)]).await, 403);
    }
    contains_all(&second.open(&desk(project.id)).await, &["Rp20.000 menunggu persetujuan"]);
    leads(&second.post(&path, &[("version", &seen)]).await, "refund-approved");
    let page = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&page, &["Disetujui oleh", "second@toko.example"]);
    assert_eq!(audited(&kit, Deed::RefundApproved).await.len(), 1);
    let again = second.post(&path, &[("version", &seen)]).await;
    is_page("again", &again, 409);
}

async fn a_declined_refund_gives_the_money_back(kit: Arc<Kit>) {
    let (project, owner, payment) = guarded(&kit).await;
    let second = second_owner(&kit, &project).await;
    let before = balance(&project, "pending").await;
    let refund = refund_of(&owner, &project, &payment, "20000").await;
    let path = format!("{}/decline", refund_page(&project, &refund));
    let nothing = second.post(&path, &[("text", " ")]).await;
    is_page("without a reason", &nothing, 422);
    contains_all(&nothing, &["id=\"decline-why-why\""]);
    leads(&second.post(&path, &[("text", "Bukan pelanggan kita")]).await, "refund-declined");
    assert_eq!((balance(&project, "pending").await, balance(&project, "refunding").await), (before, 0));
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Bukan pelanggan kita", "Dibatalkan</span>"]);
    assert_eq!(audited(&kit, Deed::RefundDeclined).await.len(), 1);
}

async fn an_approval_is_for_what_was_seen(kit: Arc<Kit>) {
    let (project, owner, payment) = guarded(&kit).await;
    let second = second_owner(&kit, &project).await;
    let refund = refund_to_account(&owner, &project, &payment, "20000").await;
    let seen = version(&second.open(&refund_page(&project, &refund)).await.text);
    let path = format!("{}/approve", refund_page(&project, &refund));
    for other in ["999", "0"] {
        assert_ne!(seen, other);
        is_page(other, &second.post(&path, &[("version", other)]).await, 409);
    }
    is_page("no version", &second.post(&path, &[]).await, 422);
    contains_all(&second.open(&refund_page(&project, &refund)).await, &["Menunggu persetujuan"]);
    leads(&second.post(&path, &[("version", &seen)]).await, "refund-approved");
}

async fn of_two_who_approve_at_once_one_does(kit: Arc<Kit>) {
    let (project, owner, payment) = guarded(&kit).await;
    let second = second_owner(&kit, &project).await;
    let third = Person::member(&kit, project.id, Role::Owner, "third@toko.example").await;
    let refund = refund_of(&owner, &project, &payment, "20000").await;
    let seen = version(&second.open(&refund_page(&project, &refund)).await.text);
    let (approve, decline) =
        (format!("{}/approve", refund_page(&project, &refund)), format!("{}/decline", refund_page(&project, &refund)));
    let fields = [("version", seen.as_str())];
    let (approved, declined) = tokio::join!(second.post(&approve, &fields), third.post(&decline, &[("text", "tidak")]));
    let mut answers = [approved.status.as_u16(), declined.status.as_u16()];
    answers.sort_unstable();
    assert_eq!(answers, [303, 409]);
    let deeds = (audited(&kit, Deed::RefundApproved).await.len(), audited(&kit, Deed::RefundDeclined).await.len());
    assert_eq!(deeds, if approved.status == 303 { (1, 0) } else { (0, 1) });
}

async fn an_operator_approves_what_waits_in_any_project(kit: Arc<Kit>) {
    let (project, owner, payment) = guarded(&kit).await;
    second_owner(&kit, &project).await;
    let operator = Person::operator(&kit, "operator@lunas.example").await;
    let refund = refund_of(&owner, &project, &payment, "20000").await;
    let list = operator.open("/dashboard/operator/refunds").await;
    is_page("list", &list, 200);
    let path = format!("/dashboard/operator/refunds/{refund}");
    contains_all(&list, &["Rp20.000", &path]);
    let page = operator.open(&path).await;
    contains_all(&page, &["Menunggu persetujuan", owner.user.email.as_str()]);
    is_page("a member", &owner.open(&path).await, 404);
    let seen = version(&page.text);
    leads(&operator.post(&format!("{path}/approve"), &[("version", &seen)]).await, "refund-approved");
    is_page("again", &operator.post(&format!("{path}/decline"), &[("text", "x")]).await, 409);
    assert!(!operator.open("/dashboard/operator/refunds").await.text.contains(&path), "it waits no more");
}

async fn the_only_owner_approves_by_themselves(kit: Arc<Kit>) {
    let (project, owner, payment) = guarded(&kit).await;
    let question = owner.post(&refund_form(&project, &payment), &[("amount", "20000"), ("road", "usual")]).await;
    contains_all(&question, &["Karena Anda satu-satunya pemilik"]);
    let refund = refund_of(&owner, &project, &payment, "20000").await;
    let page = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&page, &["Anda satu-satunya pemilik", "/approve\""]);
    let path = format!("{}/approve", refund_page(&project, &refund));
    leads(&owner.post(&path, &[("version", &version(&page.text))]).await, "refund-approved");
}

async fn the_page_says_who_asked_how_much_where_to_and_when_names_differ(kit: Arc<Kit>) {
    let (project, owner, payment) = guarded(&kit).await;
    let second = second_owner(&kit, &project).await;
    let refund = refund_to_account(&owner, &project, &payment, "20000").await;
    let page = second.open(&refund_page(&project, &refund)).await;
    let email = owner.user.email.as_str();
    let asked = format!("{email} meminta Rp20.000 dikembalikan.");
    contains_all(&page, &[&asked, "Uang dikirim ke Bank Central Asia (BCA) ····7890, Siti Aisyah."]);
    let nameless = [("amount", "1000"), ("road", "typed"), ACCOUNT[0], ACCOUNT[1], ("sure", "yes")];
    let reply = owner.post(&refund_form(&project, &payment), &nameless).await;
    let page = second.open(reply.header("location").unwrap()).await;
    contains_all(&page, &["Nama pemilik rekening tidak diketahui."]);
}

async fn the_limit_is_a_setting_of_the_project(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    second_owner(&kit, &project).await;
    let path = format!("{}/settings/refunds", desk(project.id));
    leads(&owner.post(&path, &[("approval_above", "20.000")]).await, "settings-saved");
    contains_all(&owner.open(&path).await, &["name=\"approval_above\" type=\"text\" value=\"20000\""]);
    let payment = paid(&project, "one", 100_000).await;
    let question = async |amount: &str| {
        owner.post(&refund_form(&project, &payment), &[("amount", amount), ("road", "usual")]).await
    };
    contains_all(&question("20000").await, &["Tidak perlu persetujuan siapa pun."]);
    contains_all(&question("20001").await, &["menunggu persetujuan pemilik lain atau operator"]);
    let refund = refund_of(&owner, &project, &payment, "20001").await;
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Menunggu persetujuan"]);
    leads(&owner.post(&path, &[("approval_above", "")]).await, "settings-saved");
    contains_all(&question("70000").await, &["Tidak perlu persetujuan siapa pun."]);
    let viewer = member(&kit, &project, Role::Viewer).await;
    let page = viewer.open(&path).await;
    is_page("viewer", &page, 200);
    assert!(!page.text.contains("approval_above"), "{}", page.text);
}

async fn a_limit_that_is_no_amount_is_marked_and_not_saved(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let path = format!("{}/settings/refunds", desk(project.id));
    let before = rows(&kit.database);
    for wrong in ["banyak", "1,5", "-1"] {
        let page = owner.post(&path, &[("approval_above", wrong)]).await;
        is_page(wrong, &page, 422);
        contains_all(&page, &["id=\"approval_above-why\""]);
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}
