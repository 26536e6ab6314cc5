//! Refunds that a person transfers by hand: one by one, or by a batch for the bank's bulk upload.

use std::sync::Arc;

use domain::{access::Role, audit::Deed};
use testkit::{Kit, Reply, TestProject, on_every_database};

use crate::support::{
    bank_accounts::account_of,
    customer::is_page,
    dashboard::{audited, leads},
    held::{contains_all, member},
    payments::balance,
    people::{Person, desk},
    refund_pages::{paid_by, paid_in_production, refund_page, refund_to_account},
};

on_every_database![
    a_transfer_is_made_by_hand_and_recorded_with_the_banks_reference,
    a_transfer_that_failed_gives_the_money_back,
    a_batch_has_everything_once_and_its_file_never_changes,
    of_two_batches_at_once_one_has_the_transfers,
    no_reference_of_the_bank_is_recorded_twice,
];

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
    leads(
        &owner.post(&format!("{}/failed", refund_page(&project, &refunds[1])), &[("text", "ditutup")]).await,
        "refund-failed",
    );
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
