//! Encrypted values: all of them are found by column and row, and each is replaced only while it is the one that was read.

use domain::bank_account::{CredentialKind, Stage};
use store::{Guard, SealedColumn, Store, WebhookWrite, Write};

use crate::{
    bank_samples::{credential, kept_account, set},
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{NOW, kept_project},
};

on_every_database![
    sealed_values_are_read_in_pages_by_row_and_replaced_if_unchanged,
    sealed_parts_of_bank_credentials_are_read_and_replaced_like_all_others,
    every_column_of_bytes_is_known_to_be_sealed_or_not_to_be_a_secret,
];

async fn values(store: &Store, column: SealedColumn, after: &str, most: i64) -> Vec<(String, Vec<u8>)> {
    let values = store.sealed_values(column, after, most).await.unwrap();
    values.into_iter().map(|value| (value.row, value.sealed)).collect()
}

async fn sealed_values_are_read_in_pages_by_row_and_replaced_if_unchanged(database: Database) {
    use SealedColumn::{PreviousWebhookSecret, WebhookSecret};
    let store = database.open().await;
    let mut rows: Vec<String> = Vec::new();
    for _ in 0..3 {
        rows.push(kept_project(&store).await.id.to_string());
    }
    rows.sort();
    let stored = |row: &String| (row.clone(), vec![1, 2, 3]);
    let all: Vec<_> = rows.iter().map(stored).collect();
    assert_eq!(values(&store, WebhookSecret, "", 2).await, all[..2]);
    assert_eq!(values(&store, WebhookSecret, &rows[1], 2).await, all[2..]);
    assert_eq!(values(&store, WebhookSecret, &rows[2], 2).await, []);
    assert_eq!(values(&store, PreviousWebhookSecret, "", 9).await, []);

    let (replaced, previous) = (vec![1, 2, 3], vec![4]);
    let project_id = rows[1].parse().unwrap();
    keep(&store, WebhookWrite::SecretRotated { project_id, replaced, previous, sealed: vec![5], at: NOW }).await;
    for (column, from) in [(WebhookSecret, vec![5]), (PreviousWebhookSecret, vec![4])] {
        let resealed = || Write::Resealed { column, row: rows[1].clone(), from: from.clone(), to: vec![6, 7] };
        keep(&store, resealed()).await;
        assert_eq!(commit(&store, resealed()).await, Outcome::Conflict(Guard::SealedValue));
    }
    assert_eq!(values(&store, WebhookSecret, "", 9).await[1], (rows[1].clone(), vec![6, 7]));
    assert_eq!(values(&store, PreviousWebhookSecret, "", 9).await, [(rows[1].clone(), vec![6, 7])]);
}

async fn sealed_parts_of_bank_credentials_are_read_and_replaced_like_all_others(database: Database) {
    let column = SealedColumn::BankCredential;
    let store = database.open().await;
    let account = kept_account(&store).await;
    let mut rows = Vec::new();
    for kind in CredentialKind::ALL {
        let credential = credential(&account, kind, Stage::Current);
        keep(&store, set(&credential)).await;
        // Of the bank's key we have the public part only.
        rows.extend((kind != CredentialKind::BankKey).then(|| (credential.id.to_string(), vec![4, 5, 6])));
    }
    rows.sort();
    assert_eq!(values(&store, column, "", 2).await, rows[..2]);
    assert_eq!(values(&store, column, &rows[1].0, 2).await, rows[2..]);
    let resealed = || Write::Resealed { column, row: rows[1].0.clone(), from: vec![4, 5, 6], to: vec![7] };
    keep(&store, resealed()).await;
    assert_eq!(commit(&store, resealed()).await, Outcome::Conflict(Guard::SealedValue));
    let expected = [rows[0].clone(), (rows[1].0.clone(), vec![7]), rows[2].clone()];
    assert_eq!(values(&store, column, "", 9).await, expected);
}

/// A new column of bytes must be added to [`SealedColumn`], or here if it holds no secret.
async fn every_column_of_bytes_is_known_to_be_sealed_or_not_to_be_a_secret(database: Database) {
    const NOT_SEALED: [&str; 13] = [
        "api_keys.hash",
        "audit.hash",
        "audit.salt",
        "audit.subject_digest",
        "audit_heads.hash",
        "idempotency.request",
        "invites.hash",
        "logos.png",
        "password_resets.hash",
        "password_resets.mark",
        "recovery_codes.hash",
        "refunds.claim_hash",
        "sessions.hash",
    ];
    database.open().await.close().await;
    let mut known = SealedColumn::ALL.map(SealedColumn::name).to_vec();
    known.extend(NOT_SEALED);
    // Only SQLite has short ids.
    known.extend((!database.is_typed()).then_some("project_numbers.short"));
    known.sort_unstable();
    assert_eq!(database.columns_of_bytes(), known);
}
