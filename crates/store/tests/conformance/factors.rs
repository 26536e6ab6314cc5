//! Second factors: codes and recovery codes count once, no session begins without a factor that counts, and lifting takes its time.

use domain::{access::Role, id::UserId, second_factor::SecondFactor, time::Timestamp, user::Session};
use futures_util::future::join_all;
use store::{FactorWrite, Guard, OpenSession, SealedColumn, SessionWrite, Store, StoredFactor, Write};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, kept_member, kept_project, kept_session, kept_user, token_hash},
};

on_every_database![
    a_factor_is_read_back_and_there_is_one_of_each_user,
    new_recovery_codes_replace_those_of_their_user_and_go_with_the_factor,
    a_code_counts_once_and_so_does_a_recovery_code,
    of_many_who_use_a_code_at_once_one_is_accepted,
    no_session_begins_without_the_factor_not_even_at_a_node_of_an_earlier_version,
    a_session_keeps_when_it_was_proved_and_how,
    a_lift_can_be_refused_until_it_takes_effect,
    another_factor_is_added_over_one_that_counts_no_more,
    a_factor_can_be_demanded_by_who_has_one,
    a_factor_that_is_lifted_demands_none_of_others,
    the_secret_of_a_factor_is_among_the_sealed_values,
];

/// A second factor that was proved in step 7, with the recovery codes 1 and 2.
pub(crate) fn factor(user_id: UserId) -> FactorWrite {
    FactorWrite::Added { user_id, sealed: vec![7, 8], at: NOW, step: 7, codes: vec![[1; 32], [2; 32]] }
}

fn stored(lift_at: Option<Timestamp>, last_step: i64) -> StoredFactor {
    StoredFactor { factor: SecondFactor { added_at: NOW, lift_at }, sealed: vec![7, 8], last_step }
}

async fn left(store: &Store, user_id: UserId) -> i64 {
    store.recovery_codes_left(user_id).await.unwrap()
}

async fn a_factor_is_read_back_and_there_is_one_of_each_user(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    assert_eq!(store.second_factor(user.id).await.unwrap(), None);
    keep(&store, factor(user.id)).await;
    assert_eq!(store.second_factor(user.id).await.unwrap(), Some(stored(None, 7)));
    assert_eq!(left(&store, user.id).await, 2);
    assert_eq!(commit(&store, factor(user.id)).await, Outcome::Conflict(Guard::FactorPresent));
}

async fn new_recovery_codes_replace_those_of_their_user_and_go_with_the_factor(database: Database) {
    let store = database.open().await;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    keep(&store, factor(user.id)).await;
    keep(&store, factor(other.id)).await;
    keep(&store, FactorWrite::RecoveryCodesRenewed { user_id: user.id, codes: vec![[3; 32]] }).await;
    assert!(store.has_recovery_code(user.id, &[3; 32]).await.unwrap());
    assert!(!store.has_recovery_code(user.id, &[1; 32]).await.unwrap());
    assert!(store.has_recovery_code(other.id, &[1; 32]).await.unwrap());
    keep(&store, FactorWrite::Removed { user_id: user.id }).await;
    assert_eq!((store.second_factor(user.id).await.unwrap(), left(&store, user.id).await), (None, 0));
    assert_eq!(left(&store, other.id).await, 2);
}

async fn a_code_counts_once_and_so_does_a_recovery_code(database: Database) {
    let store = database.open().await;
    let user_id = kept_user(&store).await.id;
    keep(&store, factor(user_id)).await;
    for (step, counts) in [(6, false), (7, false), (9, true), (9, false), (8, false), (10, true)] {
        let outcome = commit(&store, FactorWrite::CodeAccepted { user_id, step }).await;
        let expected = if counts { Outcome::Kept } else { Outcome::Conflict(Guard::FactorCode) };
        assert_eq!(outcome, expected, "{step}");
    }
    let used = |hash| FactorWrite::RecoveryCodeUsed { user_id, hash, at: NOW };
    keep(&store, used([1; 32])).await;
    for hash in [[1; 32], [4; 32]] {
        assert_eq!(commit(&store, used(hash)).await, Outcome::Conflict(Guard::FactorCode));
    }
    assert_eq!(left(&store, user_id).await, 1);
    assert!(!store.has_recovery_code(user_id, &[1; 32]).await.unwrap());
}

async fn of_many_who_use_a_code_at_once_one_is_accepted(database: Database) {
    let store = database.open().await;
    let user_id = kept_user(&store).await.id;
    keep(&store, factor(user_id)).await;
    let code = || FactorWrite::CodeAccepted { user_id, step: 8 };
    let recovery = || FactorWrite::RecoveryCodeUsed { user_id, hash: [2; 32], at: NOW };
    let codes = join_all((0..8).map(|_| commit(&store, code()))).await;
    let recoveries = join_all((0..8).map(|_| commit(&store, recovery()))).await;
    for outcomes in [codes, recoveries] {
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count(), 1, "{outcomes:?}");
    }
}

async fn no_session_begins_without_the_factor_not_even_at_a_node_of_an_earlier_version(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    let begin = |at, by_factor| {
        let session = Session { by_factor, ..samples::session(&user, at) };
        SessionWrite::Begun { hash: token_hash(session.id), session }
    };
    keep(&store, begin(NOW, false)).await;
    keep(&store, factor(user.id)).await;
    assert_eq!(commit(&store, begin(NOW, false)).await, Outcome::Conflict(Guard::FactorShown));
    keep(&store, begin(NOW, true)).await;
    let of_before = format!(
        "INSERT INTO sessions (hash, id, user_id, created_at, seen_at, address, browser) \
         VALUES ({}, 'ses_old', '{}', {at}, {at}, '', '')",
        if database.is_typed() { "'\\x00ff'" } else { "x'00ff'" },
        user.id,
        at = NOW.as_millis()
    );
    let refused = database.run_beside(&of_before).unwrap_err();
    assert!(refused.contains("second factor"), "{refused}");

    keep(&store, FactorWrite::LiftAsked { user_id: user.id, lift_at: after(10) }).await;
    assert_eq!(commit(&store, begin(after(9), false)).await, Outcome::Conflict(Guard::FactorShown));
    keep(&store, begin(after(10), false)).await;
}

async fn a_session_keeps_when_it_was_proved_and_how(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    let session = kept_session(&store, &user, NOW).await;
    let (id, user_id) = (session.id, user.id);
    assert_eq!(store.session_proof(id).await.unwrap(), Some((NOW, false)));
    keep(&store, SessionWrite::Proved { id, user_id, at: after(5), by_factor: true }).await;
    keep(&store, SessionWrite::Proved { id, user_id, at: after(6), by_factor: false }).await;
    assert_eq!(store.session_proof(id).await.unwrap(), Some((after(6), true)));
    keep(&store, factor(user.id)).await;
    let OpenSession { session, factor, .. } = store.session(token_hash(id)).await.unwrap().unwrap();
    assert_eq!((session.proved_at, session.by_factor), (after(6), true));
    assert_eq!(factor, Some(SecondFactor { added_at: NOW, lift_at: None }));
    let other = kept_user(&store).await.id;
    let of_another = SessionWrite::Proved { id, user_id: other, at: after(7), by_factor: true };
    assert_eq!(commit(&store, of_another).await, Outcome::Conflict(Guard::SessionLive));
}

async fn a_lift_can_be_refused_until_it_takes_effect(database: Database) {
    let store = database.open().await;
    let user_id = kept_user(&store).await.id;
    keep(&store, factor(user_id)).await;
    let ask = || FactorWrite::LiftAsked { user_id, lift_at: after(100) };
    let refuse = |at| FactorWrite::LiftRefused { user_id, at };
    let lift = |at| FactorWrite::Lifted { user_id, at };
    keep(&store, ask()).await;
    for refused in [ask(), lift(after(99)), refuse(after(100))] {
        assert_eq!(commit(&store, refused).await, Outcome::Conflict(Guard::FactorPresent));
    }
    assert_eq!(store.second_factor(user_id).await.unwrap(), Some(stored(Some(after(100)), 7)));
    assert_eq!(store.factors_to_lift(after(99), 9).await.unwrap(), []);
    assert_eq!(store.factors_to_lift(after(100), 9).await.unwrap(), [user_id]);
    keep(&store, refuse(after(99))).await;
    assert_eq!(store.second_factor(user_id).await.unwrap(), Some(stored(None, 7)));
    keep(&store, ask()).await;
    keep(&store, lift(after(100))).await;
    assert_eq!((store.second_factor(user_id).await.unwrap(), left(&store, user_id).await), (None, 0));
}

async fn another_factor_is_added_over_one_that_counts_no_more(database: Database) {
    let store = database.open().await;
    let user_id = kept_user(&store).await.id;
    keep(&store, factor(user_id)).await;
    keep(&store, FactorWrite::LiftAsked { user_id, lift_at: NOW }).await;
    keep(&store, factor(user_id)).await;
    assert_eq!(store.second_factor(user_id).await.unwrap(), Some(stored(None, 7)));
}

async fn a_factor_can_be_demanded_by_who_has_one(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let owner = kept_member(&store, &project, Role::Owner).await;
    let require = |required| FactorWrite::Required { project_id: project.id, required, by: owner.id, at: after(9) };
    assert_eq!(commit(&store, require(true)).await, Outcome::Conflict(Guard::FactorPresent));
    keep(&store, factor(owner.id)).await;
    for required in [true, false, true] {
        keep(&store, require(required)).await;
        assert_eq!(store.requires_factor(project.id).await.unwrap(), required);
        assert_eq!(store.is_factor_required_of(owner.id).await.unwrap(), required);
        let membership = store.membership(owner.id, project.id).await.unwrap().unwrap();
        assert_eq!(membership.needs_factor, required);
    }
    assert!(!store.requires_factor(other.id).await.unwrap());
    keep(&store, FactorWrite::Removed { user_id: owner.id }).await;
    keep(&store, require(false)).await;
}

async fn a_factor_that_is_lifted_demands_none_of_others(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let owner = kept_member(&store, &project, Role::Owner).await.id;
    keep(&store, factor(owner)).await;
    keep(&store, FactorWrite::LiftAsked { user_id: owner, lift_at: after(10) }).await;
    let require = |required, at| FactorWrite::Required { project_id: project.id, required, by: owner, at };
    assert_eq!(commit(&store, require(true, after(10))).await, Outcome::Conflict(Guard::FactorPresent));
    assert!(!store.requires_factor(project.id).await.unwrap());
    keep(&store, require(true, after(9))).await;
    assert!(store.requires_factor(project.id).await.unwrap());
    keep(&store, require(false, after(10))).await;
}

async fn the_secret_of_a_factor_is_among_the_sealed_values(database: Database) {
    let (store, column) = (database.open().await, SealedColumn::FactorSecret);
    let user_id = kept_user(&store).await.id;
    keep(&store, factor(user_id)).await;
    let values = store.sealed_values(column, "", 9).await.unwrap();
    assert_eq!(
        values.iter().map(|value| (value.row.clone(), value.sealed.clone())).collect::<Vec<_>>(),
        [(user_id.to_string(), vec![7, 8])]
    );
    let resealed = || Write::Resealed { column, row: user_id.to_string(), from: vec![7, 8], to: vec![9] };
    keep(&store, resealed()).await;
    assert_eq!(commit(&store, resealed()).await, Outcome::Conflict(Guard::SealedValue));
}
