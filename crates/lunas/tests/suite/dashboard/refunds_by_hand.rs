//! Refunds that a person transfers by hand: one by one, or by a batch for the bank's bulk upload.

use std::{sync::Arc, time::Duration};

use demobank::MoneyRules;
use domain::{
    access::Role,
    audit::Deed,
    bank_difference::DifferenceKind,
    refund::{RefundStatus, transfer::AttemptState},
};
use engine::Window;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    bank_accounts::account_of,
    customer::is_page,
    dashboard::{audited, leads},
    held::{contains_all, lacks_all, member},
    payments::balance,
    people::{Person, desk},
    refund_bank::{CUSTOMER, OTHER_BANK, OWN_BANK, RefundBank},
    refund_pages::{paid_by, paid_in_production, refund_page, refund_to_account},
    rows::run_by_hand,
};

on_every_database![
    a_transfer_is_made_by_hand_and_recorded_with_the_banks_reference,
    a_transfer_that_failed_gives_the_money_back,
    a_batch_has_everything_once_and_its_file_never_changes,
    of_two_batches_at_once_one_has_the_transfers,
    no_reference_of_the_bank_is_recorded_twice,
    what_a_bank_account_sends_is_not_transferred_by_hand_while_it_waits,
    a_refund_of_a_batch_is_released_by_two_people_and_booked_if_it_was_made_after_all,
];

on_sqlite_alone![
    an_operator_is_the_second_person_for_a_batch_of_a_project_with_one_owner,
    what_is_transferred_by_hand_is_found_behind_any_number_of_refunds_that_a_bank_sends,
];

/// What a person says who has looked at the bank's statement and has not found the transfer there.
const LOOKED: &[(&str, &str)] = &[("text", "tidak ada di mutasi"), ("statement_checked", "on")];

/// The lines of a file after its head.
fn lines(file: &Reply) -> Vec<&str> {
    assert_eq!(file.status, 200, "{}", file.text);
    let text = file.text.strip_prefix('\u{feff}').unwrap();
    let (head, rest) = text.split_once("\r\n").unwrap();
    assert_eq!(head, "refund_id,bank_code,bank,account_number,account_name,amount,remark");
    rest.split_terminator("\r\n").collect()
}

async fn a_transfer_is_made_by_hand_and_recorded_with_the_banks_reference(kit: Arc<Kit>) {
    let project = kit.production().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid_in_production(&kit, &project, 150_000).await;
    let refund = refund_to_account(&owner, &project, &payment, "50000").await;
    contains_all(&owner.open(&desk(project.id)).await, &["Rp50.000 perlu ditransfer"]);
    let page = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&page, &["Perlu ditransfer", "1234567890", "Bank Central Asia (BCA)", "Siti Aisyah"]);
    let viewer = member(&kit, &project, Role::Viewer).await;
    let seen = viewer.open(&refund_page(&project, &refund)).await;
    assert!(!seen.text.contains("1234567890"), "only who transfers sees the whole number");
    let path = format!("{}/done", refund_page(&project, &refund));
    let long = "x".repeat(65);
    for wrong in ["", " ", long.as_str()] {
        is_page(wrong, &owner.post(&path, &[("text", wrong)]).await, 422);
    }
    leads(&owner.post(&path, &[("text", "FT-2026-1")]).await, "refund-transferred");
    assert_eq!(balance(&project, "refunding").await, 0);
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Dikembalikan</span>", "FT-2026-1"]);
    is_page("again", &owner.post(&path, &[("text", "FT-2026-2")]).await, 409);
    assert_eq!(audited(&kit, Deed::RefundMarkedDone).await.len(), 1);
}

async fn a_transfer_that_failed_gives_the_money_back(kit: Arc<Kit>) {
    let project = kit.production().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid_in_production(&kit, &project, 150_000).await;
    let before = balance(&project, "pending").await;
    let refund = refund_to_account(&owner, &project, &payment, "50000").await;
    let path = format!("{}/failed", refund_page(&project, &refund));
    is_page("no reason", &owner.post(&path, &[("text", "")]).await, 422);
    leads(&owner.post(&path, &[("text", "Rekening ditutup")]).await, "refund-failed");
    assert_eq!((balance(&project, "pending").await, balance(&project, "refunding").await), (before, 0));
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Gagal</span>", "Rekening ditutup"]);
    assert_eq!(audited(&kit, Deed::RefundMarkedFailed).await.len(), 1);
}

/// A project with three refunds that wait for a transfer.
async fn three(kit: &Kit) -> (TestProject, Person, Vec<String>) {
    let project = kit.production().await;
    let owner = member(kit, &project, Role::Owner).await;
    let account = account_of(kit, project.id).await;
    let mut refunds = Vec::new();
    for amount in ["10000", "20000", "30000"] {
        let payment = paid_by(kit, &project, account, 150_000).await;
        refunds.push(refund_to_account(&owner, &project, &payment, amount).await);
    }
    (project, owner, refunds)
}

async fn a_batch_has_everything_once_and_its_file_never_changes(kit: Arc<Kit>) {
    let (project, owner, refunds) = three(&kit).await;
    let path = format!("{}/refunds/transfers", desk(project.id));
    let page = owner.open(&path).await;
    is_page("transfers", &page, 200);
    contains_all(&page, &["3 transfer, jumlahnya Rp60.000", "Buat kelompok transfer"]);
    let made = owner.post(&path, &[]).await;
    assert_eq!(leads(&made, "batch-made"), format!("{path}/1"));
    let file = owner.open(&format!("{path}/1/batch.csv")).await;
    let first = lines(&file);
    assert_eq!(first.len(), 3, "{first:?}");
    for (refund, amount) in refunds.iter().zip(["10000", "20000", "30000"]) {
        let line = first.iter().find(|line| line.starts_with(refund.as_str())).unwrap();
        assert!(line.contains(&format!("014,Bank Central Asia (BCA),1234567890,Siti Aisyah,{amount},")), "{line}");
    }
    leads(
        &owner.post(&format!("{}/done", refund_page(&project, &refunds[0])), &[("text", "FT-1")]).await,
        "refund-transferred",
    );
    let failed = format!("{}/failed", refund_page(&project, &refunds[1]));
    leads(&owner.post(&failed, LOOKED).await, "refund-doubted");
    leads(&second_owner(&kit, &project).await.post(&failed, LOOKED).await, "refund-failed");
    assert_eq!(owner.open(&format!("{path}/1/batch.csv")).await.text, file.text, "the file is the same");
    let cancelled = owner.post(&format!("{}/cancel", refund_page(&project, &refunds[2])), &[]).await;
    is_page("cancel", &cancelled, 409);
    contains_all(&cancelled, &["ada di kelompok transfer"]);
    let none = owner.post(&path, &[]).await;
    is_page("none left", &none, 409);
    contains_all(
        &owner.open(&path).await,
        &["Kelompok 1", "1 dari 3 belum dicatat", "Tidak ada yang perlu ditransfer"],
    );
    let viewer = member(&kit, &project, Role::Viewer).await;
    is_page("viewer", &viewer.open(&format!("{path}/1/batch.csv")).await, 403);
    assert!(!viewer.open(&format!("{path}/1")).await.text.contains("batch.csv"));
    is_page("no such batch", &owner.open(&format!("{path}/2")).await, 404);
    is_page("no number", &owner.open(&format!("{path}/x/batch.csv")).await, 404);
}

async fn of_two_batches_at_once_one_has_the_transfers(kit: Arc<Kit>) {
    let (project, owner, refunds) = three(&kit).await;
    let path = format!("{}/refunds/transfers", desk(project.id));
    let (one, two) = tokio::join!(owner.post(&path, &[]), owner.post(&path, &[]));
    let mut answers = [one.status.as_u16(), two.status.as_u16()];
    answers.sort_unstable();
    assert_eq!(answers, [303, 409], "{} {}", one.text, two.text);
    let page = owner.open(&path).await;
    assert!(page.text.contains("Kelompok 1") && !page.text.contains("Kelompok 2"), "{}", page.text);
    assert_eq!(lines(&owner.open(&format!("{path}/1/batch.csv")).await).len(), refunds.len());
}

async fn no_reference_of_the_bank_is_recorded_twice(kit: Arc<Kit>) {
    let (project, owner, refunds) = three(&kit).await;
    let done = |refund: &str| format!("{}/done", refund_page(&project, refund));
    leads(&owner.post(&done(&refunds[0]), &[("text", "FT-1")]).await, "refund-transferred");
    let twice = owner.post(&done(&refunds[1]), &[("text", "FT-1")]).await;
    assert!([409, 422].contains(&twice.status.as_u16()), "{}", twice.text);
    contains_all(&twice, &["sudah dipakai"]);
    leads(&owner.post(&done(&refunds[1]), &[("text", "FT-2")]).await, "refund-transferred");
}

async fn second_owner(kit: &Kit, project: &TestProject) -> Person {
    Person::member(kit, project.id, Role::Owner, "second@example.com").await
}

/// Regression: while the bank sent nothing until the morning, a person was told to transfer it; then the bank sent it as well.
async fn what_a_bank_account_sends_is_not_transferred_by_hand_while_it_waits(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("transfer", "intrabank")]).await;
    let (asked, client, project) = (&bank.acquired.asked, &bank.acquired.client_id, &bank.acquired.project);
    asked.set_money_rules(client, MoneyRules { is_cut_off: true, ..MoneyRules::default() });
    let refund = bank.refund_to(&payment, 10_000, OWN_BANK).await;
    let (refund, attempts) = bank.follow(&kit, &refund, (Duration::from_mins(1), 1)).await;
    assert_eq!(attempts.iter().map(|attempt| attempt.state).collect::<Vec<_>>(), [AttemptState::Refused]);

    let owner = member(&kit, project, Role::Owner).await;
    let (base, transfers) = (desk(project.id), format!("{}/refunds/transfers", desk(project.id)));
    let page = owner.open(&refund_page(project, &refund.id.to_string())).await;
    contains_all(&page, &["Sedang dalam perjalanan ke pelanggan."]);
    lacks_all(&page, &[CUSTOMER, "Perlu ditransfer", "Catat transfernya"]);
    lacks_all(&owner.open(&base).await, &["perlu ditransfer"]);
    contains_all(&owner.open(&transfers).await, &["Tidak ada yang perlu ditransfer"]);
    is_page("nothing to transfer", &owner.post(&transfers, &[]).await, 409);

    // No rail of the account leads to the other bank.
    let by_hand = bank.refund_to(&payment, 20_000, OTHER_BANK).await;
    contains_all(&owner.open(&transfers).await, &["1 transfer, jumlahnya Rp20.000"]);
    contains_all(&owner.open(&base).await, &["Rp20.000 perlu ditransfer"]);
    contains_all(&owner.open(&refund_page(project, &by_hand.id.to_string())).await, &[CUSTOMER, "Catat transfernya"]);
    leads(&owner.post(&transfers, &[]).await, "batch-made");
    let file = owner.open(&format!("{transfers}/1/batch.csv")).await;
    let lines = lines(&file);
    assert!(lines.len() == 1 && lines[0].starts_with(&by_hand.id.to_string()), "{lines:?}");

    asked.set_money_rules(client, MoneyRules::default());
    let (sent, attempts) = bank.follow(&kit, &refund, (Duration::from_hours(1), 24)).await;
    assert_eq!((sent.status(), attempts.len(), bank.done().len()), (RefundStatus::Succeeded, 2, 1));
}

/// Two owners record a refund of a batch as failed, the first of whom cannot do it alone.
async fn released_by_two(project: &TestProject, [first, second]: [&Person; 2], refund: &str) {
    let page = refund_page(project, refund);
    let (failed, before) = (format!("{page}/failed"), balance(project, "refunding").await);
    contains_all(&first.open(&page).await, &["name=\"statement_checked\"", "dua orang harus mencatatnya gagal"]);
    is_page("has not looked", &first.post(&failed, &LOOKED[..1]).await, 409);
    leads(&first.post(&failed, LOOKED).await, "refund-doubted");
    let again = first.post(&failed, LOOKED).await;
    is_page("the same person", &again, 409);
    contains_all(&again, &["Anda sudah mencatatnya gagal."]);
    is_page("the second has not looked", &second.post(&failed, &LOOKED[..1]).await, 409);
    contains_all(&second.open(&page).await, &[" mencatat pada "]);
    assert_eq!(balance(project, "refunding").await, before, "nothing is released yet");
    leads(&second.post(&failed, LOOKED).await, "refund-failed");
}

/// Regression: one person released it, and what the bank had made by the batch's file could not be booked any more.
async fn a_refund_of_a_batch_is_released_by_two_people_and_booked_if_it_was_made_after_all(kit: Arc<Kit>) {
    let (project, owner, refunds) = three(&kit).await;
    let second = second_owner(&kit, &project).await;
    let transfers = format!("{}/refunds/transfers", desk(project.id));
    leads(&owner.post(&transfers, &[]).await, "batch-made");
    let file = async || owner.open(&format!("{transfers}/1/batch.csv")).await.text;
    let (before, page) = (file().await, refund_page(&project, &refunds[0]));
    released_by_two(&project, [&owner, &second], &refunds[0]).await;
    assert_eq!(balance(&project, "refunding").await, 50_000);

    assert_eq!(file().await, before, "the file is the same");
    let released = "1 pengembalian dana di kelompok ini dicatat gagal. Barisnya masih ada di berkas";
    contains_all(&owner.open(&format!("{transfers}/1")).await, &[released]);
    contains_all(&owner.open(&transfers).await, &["1 dicatat gagal"]);

    contains_all(&owner.open(&page).await, &["Ternyata terlaksana"]);
    let done = format!("{page}/done");
    leads(&owner.post(&done, &[("text", "FT-9")]).await, "refund-transferred");
    let booked = kit.store.balance(project.id, None).await.unwrap();
    assert_eq!((booked.refunding.get(), booked.refunded.get()), (50_000, 10_000));
    let open = kit.store.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
    let found: Vec<_> = open.iter().map(|one| (one.key.kind, one.key.subject.as_str())).collect();
    assert_eq!(found, [(DifferenceKind::Refunded, refunds[0].as_str())]);
    assert_eq!(kit.store.breaches().await.unwrap(), []);
    is_page("again", &second.post(&done, &[("text", "FT-10")]).await, 409);
    lacks_all(&owner.open(&format!("{transfers}/1")).await, &[released]);
    assert_eq!(file().await, before);
}

async fn an_operator_is_the_second_person_for_a_batch_of_a_project_with_one_owner(kit: Arc<Kit>) {
    let (project, owner, refunds) = three(&kit).await;
    leads(&owner.post(&format!("{}/refunds/transfers", desk(project.id)), &[]).await, "batch-made");
    let operator = Person::operator(&kit, "operator@example.com").await;
    lacks_all(&operator.open("/dashboard/operator/refunds").await, &[&refunds[0]]);
    leads(&owner.post(&format!("{}/failed", refund_page(&project, &refunds[0])), LOOKED).await, "refund-doubted");
    contains_all(&operator.open("/dashboard/operator/refunds").await, &[&refunds[0]]);
    let page = format!("/dashboard/operator/refunds/{}", refunds[0]);
    contains_all(&operator.open(&page).await, &["name=\"statement_checked\"", " mencatat pada "]);
    is_page("has not looked", &operator.post(&format!("{page}/failed"), &LOOKED[..1]).await, 409);
    leads(&operator.post(&format!("{page}/failed"), LOOKED).await, "refund-failed");
    lacks_all(&operator.open("/dashboard/operator/refunds").await, &[&refunds[0]]);
    assert_eq!(balance(&project, "refunding").await, 50_000);
}

/// Regression: it was looked for among the newest two thousand only.
async fn what_is_transferred_by_hand_is_found_behind_any_number_of_refunds_that_a_bank_sends(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("transfer", "intrabank")]).await;
    let project = &bank.acquired.project;
    let by_hand = bank.refund_to(&payment, 20_000, OTHER_BANK).await;
    kit.clock.advance(Duration::from_secs(1));
    let carried = bank.refund_to(&payment, 10_000, OWN_BANK).await;
    // Ids that follow each other, from the time of the refund that they are copies of.
    run_by_hand(
        &kit.database,
        &format!(
            "CREATE TEMP TABLE copies AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
             WHERE i < 2500) SELECT f.* FROM n CROSS JOIN refunds f WHERE f.id = '{id}'; \
             UPDATE copies SET id = substr(id, 1, length(id) - 6) || printf('%06d', rowid); \
             INSERT INTO refunds SELECT * FROM copies",
            id = carried.id
        ),
    );
    let owner = member(&kit, project, Role::Owner).await;
    let (base, transfers) = (desk(project.id), format!("{}/refunds/transfers", desk(project.id)));
    contains_all(&owner.open(&base).await, &["Rp20.000 perlu ditransfer"]);
    contains_all(&owner.open(&transfers).await, &["1 transfer, jumlahnya Rp20.000"]);
    leads(&owner.post(&transfers, &[]).await, "batch-made");
    let file = owner.open(&format!("{transfers}/1/batch.csv")).await;
    let lines = lines(&file);
    assert!(lines.len() == 1 && lines[0].starts_with(&by_hand.id.to_string()), "{lines:?}");
    // The books know nothing of the copies.
    let originals = format!("DELETE FROM refunds WHERE id NOT IN ('{}', '{}')", by_hand.id, carried.id);
    run_by_hand(&kit.database, &originals);
}
