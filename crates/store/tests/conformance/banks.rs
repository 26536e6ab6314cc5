//! Bank accounts: settings and credentials are read back as they were stored, a change is based on what was read, and
//! projects show by a new version that an account of theirs has changed.

use std::collections::BTreeMap;

use domain::{
    bank::Bank,
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    id::{BankAccountId, mint},
    method::Method,
    project::{AssignedAccount, Project},
};
use futures_util::future::join;
use store::{BankCall, BankWrite, Change, Guard, Store};

use crate::{
    bank_samples::{BCA, account, assigned, changed, credential, kept_account, set},
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{NOW, after, entropy, kept_project},
};

on_every_database![
    accounts_are_read_back_with_their_own_settings,
    a_change_of_an_account_is_based_on_its_last_version,
    credentials_are_replaced_stage_by_stage,
    a_promoted_credential_keeps_its_row_and_ends_the_one_before,
    a_credential_that_is_not_next_is_not_promoted,
    a_credential_has_the_parts_of_its_kind,
    a_project_shows_the_enabled_accounts_that_are_assigned_to_it,
    an_assignment_is_replaced_and_taken_away,
    a_change_of_an_account_gives_its_projects_a_new_version,
    one_version_of_a_project_stands_for_one_state_of_its_accounts,
    of_two_who_assign_a_method_at_once_the_last_one_holds,
    the_log_keeps_the_latest_calls_of_each_account,
];

async fn accounts_are_read_back_with_their_own_settings(database: Database) {
    let store = database.open().await;
    let first = kept_account(&store).await;
    let second = BankAccount { settings: BTreeMap::new(), enabled: false, ..account() };
    keep(&store, BankWrite::AccountCreated { account: second.clone() }).await;
    assert_eq!(store.bank_account(first.id).await.unwrap().as_ref(), Some(&first));
    assert_eq!(store.bank_account(second.id).await.unwrap().as_ref(), Some(&second));
    assert_eq!(store.bank_account_version(first.id).await.unwrap(), Some(1));
    let nobody: BankAccountId = mint(NOW, entropy());
    assert_eq!(store.bank_account(nobody).await.unwrap(), None);
    assert_eq!(store.bank_account_version(nobody).await.unwrap(), None);
    assert_eq!(store.bank_accounts().await.unwrap(), [first, second]);
}

async fn a_change_of_an_account_is_based_on_its_last_version(database: Database) {
    let store = database.open().await;
    let (first, bystander) = (kept_account(&store).await, kept_account(&store).await);
    let mut wanted = first.clone();
    wanted.settings.remove("skew");
    wanted.settings.insert("base_url".to_owned(), "https://bank.example".to_owned());
    wanted.enabled = false;
    keep(&store, changed(&wanted)).await;
    let stored = store.bank_account(first.id).await.unwrap().unwrap();
    assert_eq!(stored, BankAccount { version: 2, ..wanted });
    assert_eq!(commit(&store, changed(&first)).await, Outcome::Conflict(Guard::BankAccountVersion));
    let nobody = BankAccount { id: mint(NOW, entropy()), ..first.clone() };
    assert_eq!(commit(&store, changed(&nobody)).await, Outcome::Conflict(Guard::BankAccountVersion));
    assert_eq!(store.bank_accounts().await.unwrap(), [stored, bystander]);
}

async fn credentials(store: &Store, account: &BankAccount) -> Vec<(Credential, Option<Vec<u8>>)> {
    let found = store.bank_credentials(account.id).await.unwrap();
    found.into_iter().map(|found| (found.credential, found.sealed)).collect()
}

async fn credentials_are_replaced_stage_by_stage(database: Database) {
    let store = database.open().await;
    let (account, other) = (kept_account(&store).await, kept_account(&store).await);
    let mut expected = Vec::new();
    // In the order of their words.
    for kind in [CredentialKind::BankKey, CredentialKind::Inbound, CredentialKind::OurKey, CredentialKind::Outbound] {
        for stage in [Stage::Current, Stage::Next] {
            let secret = (kind != CredentialKind::BankKey).then(|| vec![4, 5, 6]);
            let replaced = credential(&account, kind, stage);
            keep(&store, set(&replaced)).await;
            let credential = credential(&account, kind, stage);
            keep(&store, set(&credential)).await;
            expected.push((credential, secret));
        }
    }
    assert_eq!(credentials(&store, &account).await, expected);
    assert_eq!(credentials(&store, &other).await, []);
}

fn promoted(credential: &Credential) -> BankWrite {
    let Credential { account_id, kind, id, .. } = *credential;
    BankWrite::CredentialPromoted { account_id, kind, id }
}

async fn a_promoted_credential_keeps_its_row_and_ends_the_one_before(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let kinds = [CredentialKind::Inbound, CredentialKind::OurKey];
    for kind in kinds {
        keep(&store, set(&credential(&account, kind, Stage::Current))).await;
    }
    let next = kinds.map(|kind| credential(&account, kind, Stage::Next));
    for next in &next {
        keep(&store, set(next)).await;
    }
    let change = Change::from(changed(&account)).with_all(next.iter().map(promoted));
    keep(&store, change).await;
    let in_use = next.map(|next| (Credential { stage: Stage::Current, ..next }, Some(vec![4, 5, 6])));
    assert_eq!(credentials(&store, &account).await, in_use);
    // Nothing is next any more.
    let again = commit(&store, promoted(&in_use[0].0)).await;
    assert_eq!(again, Outcome::Conflict(Guard::BankAccountVersion));
    assert_eq!(credentials(&store, &account).await, in_use);
}

async fn a_credential_that_is_not_next_is_not_promoted(database: Database) {
    let store = database.open().await;
    let (account, other) = (kept_account(&store).await, kept_account(&store).await);
    let current = credential(&account, CredentialKind::Inbound, Stage::Current);
    let next = credential(&account, CredentialKind::Inbound, Stage::Next);
    keep(&store, Change::from(set(&current)).with(set(&next))).await;
    let before = database.rows();
    for (name, wrong) in [
        ("in use", current),
        ("unknown", Credential { id: mint(NOW, entropy()), ..next.clone() }),
        ("of another account", Credential { account_id: other.id, ..next.clone() }),
        ("of another kind", Credential { kind: CredentialKind::Outbound, ..next }),
    ] {
        assert_eq!(commit(&store, promoted(&wrong)).await, Outcome::Conflict(Guard::BankAccountVersion), "{name}");
        assert_eq!(database.rows(), before, "{name}");
    }
}

async fn a_credential_has_the_parts_of_its_kind(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let of = |kind| credential(&account, kind, Stage::Current);
    let (key, client) = (of(CredentialKind::BankKey), of(CredentialKind::Inbound));
    let secret = || Some(vec![1]);
    for (name, credential, sealed) in [
        ("a bank's key with a secret", key.clone(), secret()),
        ("a bank's key without a key", Credential { public_key: None, ..key.clone() }, None),
        ("a bank's key with a client id", Credential { client_id: client.client_id.clone(), ..key }, None),
        ("our key without its secret", of(CredentialKind::OurKey), None),
        ("a client without a secret", client.clone(), None),
        ("a client without an id", Credential { client_id: None, ..client.clone() }, secret()),
        ("a client of no account", Credential { account_id: mint(NOW, entropy()), ..client }, secret()),
    ] {
        let refused = commit(&store, BankWrite::CredentialSet { credential, sealed }).await;
        assert_eq!(refused, Outcome::Unexpected, "{name}");
    }
    assert_eq!(credentials(&store, &account).await, []);
}

async fn accounts_of(store: &Store, project: &Project) -> Vec<(String, BankAccountId, i64)> {
    let project = store.project(project.id).await.unwrap().unwrap();
    let shown = |assigned: AssignedAccount| (assigned.method.to_string(), assigned.account_id, assigned.version);
    let mut accounts: Vec<_> = project.accounts.into_iter().map(shown).collect();
    accounts.sort();
    accounts
}

const BRI: Method = Method::VirtualAccount(Bank::Bri);

async fn a_project_shows_the_enabled_accounts_that_are_assigned_to_it(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let enabled = kept_account(&store).await;
    let disabled = BankAccount { enabled: false, ..account() };
    keep(&store, BankWrite::AccountCreated { account: disabled.clone() }).await;
    assert_eq!(accounts_of(&store, &project).await, []);
    keep(&store, assigned(&project, BCA, Some(&enabled))).await;
    keep(&store, assigned(&project, BRI, Some(&disabled))).await;
    let by = |method: Method, account: &BankAccount, version| (method.to_string(), account.id, version);
    assert_eq!(accounts_of(&store, &project).await, [by(BCA, &enabled, 1)]);
    assert_eq!(accounts_of(&store, &other).await, []);
    let all = store.project_accounts(project.id).await.unwrap();
    assert_eq!(all, [(BCA, enabled.id), (BRI, disabled.id)]);

    keep(&store, changed(&BankAccount { enabled: true, ..disabled.clone() })).await;
    keep(&store, changed(&enabled)).await;
    assert_eq!(accounts_of(&store, &project).await, [by(BCA, &enabled, 2), by(BRI, &disabled, 2)]);
    // Lists of projects show the same.
    let listed = store.projects().await.unwrap();
    assert_eq!(listed.iter().map(|project| project.accounts.len()).collect::<Vec<_>>(), [2, 0]);
}

async fn an_assignment_is_replaced_and_taken_away(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (one, two) = (kept_account(&store).await, kept_account(&store).await);
    for (method, account) in [(BCA, &one), (BRI, &two), (BRI, &one)] {
        keep(&store, assigned(&project, method, Some(account))).await;
    }
    assert_eq!(store.bank_assignments(one.id).await.unwrap(), [(project.id, BCA), (project.id, BRI)]);
    assert_eq!(store.bank_assignments(two.id).await.unwrap(), []);
    for method in [BCA, BRI, BRI] {
        keep(&store, assigned(&project, method, None)).await;
    }
    assert_eq!(accounts_of(&store, &project).await, []);
    assert_eq!(store.bank_assignments(one.id).await.unwrap(), []);
}

async fn a_change_of_an_account_gives_its_projects_a_new_version(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let account = kept_account(&store).await;
    let version = async |project: &Project| store.project(project.id).await.unwrap().unwrap().version;
    keep(&store, assigned(&project, BCA, Some(&account))).await;
    assert_eq!(version(&project).await, 2);
    keep(&store, changed(&account)).await;
    assert_eq!(version(&project).await, 3);
    // A change that is refused leaves the version as it is.
    assert_eq!(commit(&store, changed(&account)).await, Outcome::Conflict(Guard::BankAccountVersion));
    assert_eq!(version(&project).await, 3);
    keep(&store, assigned(&project, BCA, None)).await;
    assert_eq!(version(&project).await, 4);
    keep(&store, changed(&BankAccount { version: 2, ..account })).await;
    assert_eq!((version(&project).await, version(&other).await), (4, 1));
}

/// Nodes keep a project as long as its version is the same, so a version must never mean two things.
async fn one_version_of_a_project_stands_for_one_state_of_its_accounts(database: Database) {
    const ROUNDS: usize = 40;
    let store = database.open().await;
    let project = kept_project(&store).await;
    let account = kept_account(&store).await;
    let mut seen: BTreeMap<i64, Vec<AssignedAccount>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        keep(&store, assigned(&project, BCA, None)).await;
        let mut current = store.bank_account(account.id).await.unwrap().unwrap();
        current.enabled = !current.enabled;
        let assigning = tokio::spawn(commit_on(&store, assigned(&project, BCA, Some(&account))));
        let changing = tokio::spawn(commit_on(&store, changed(&current)));
        let mut both = Box::pin(join(assigning, changing));
        loop {
            let read = store.project(project.id).await.unwrap().unwrap();
            let known = seen.entry(read.version).or_insert_with(|| read.accounts.clone());
            assert_eq!(*known, read.accounts, "version {}", read.version);
            if let Some((assigned, changed)) = futures_util::FutureExt::now_or_never(&mut both) {
                assert_eq!((assigned.unwrap(), changed.unwrap()), (Outcome::Kept, Outcome::Kept));
                break;
            }
        }
        let read = store.project(project.id).await.unwrap().unwrap();
        let known = seen.entry(read.version).or_insert_with(|| read.accounts.clone());
        assert_eq!(*known, read.accounts, "version {}", read.version);
    }
}

fn commit_on(store: &Store, write: BankWrite) -> impl Future<Output = Outcome> + Send + use<> {
    let store = store.clone();
    async move { commit(&store, write).await }
}

async fn of_two_who_assign_a_method_at_once_the_last_one_holds(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (one, two) = (kept_account(&store).await, kept_account(&store).await);
    for _ in 0..20 {
        keep(&store, assigned(&project, BCA, None)).await;
        let outcomes = join(
            tokio::spawn(commit_on(&store, assigned(&project, BCA, Some(&one)))),
            tokio::spawn(commit_on(&store, assigned(&project, BCA, Some(&two)))),
        )
        .await;
        assert_eq!((outcomes.0.unwrap(), outcomes.1.unwrap()), (Outcome::Kept, Outcome::Kept));
        assert_eq!(store.project_accounts(project.id).await.unwrap().len(), 1);
    }
}

async fn the_log_keeps_the_latest_calls_of_each_account(database: Database) {
    let store = database.open().await;
    let (account, other) = (kept_account(&store).await, kept_account(&store).await);
    let call = |number: i64| BankCall {
        id: format!("call {number:03}"),
        at: after(number),
        service: 24,
        code: "2002400".to_owned(),
        latency_ms: number,
        outbound: number % 2 == 1,
        proved: true,
    };
    let called = |account: &BankAccount, calls: std::ops::Range<i64>| BankWrite::Called {
        account_id: account.id,
        calls: calls.map(call).collect(),
        keep: 5,
    };
    let newest_first = |calls: std::ops::Range<i64>| calls.rev().map(call).collect::<Vec<_>>();
    keep(&store, called(&account, 0..3)).await;
    keep(&store, called(&other, 0..2)).await;
    assert_eq!(store.bank_calls(account.id, 9).await.unwrap(), newest_first(0..3));
    // Some of them were saved before, by a commit whose answer was lost.
    keep(&store, called(&account, 2..9)).await;
    assert_eq!(store.bank_calls(account.id, 9).await.unwrap(), newest_first(4..9));
    assert_eq!(store.bank_calls(account.id, 2).await.unwrap(), newest_first(7..9));
    assert_eq!(store.bank_calls(other.id, 9).await.unwrap(), newest_first(0..2));
    // Those of anybody are kept apart: however many there are, they replace none of the bank's.
    let anybodys =
        |number| BankCall { id: format!("door {number:03}"), outbound: false, proved: false, ..call(number) };
    let calls = (0..30).map(anybodys).collect();
    keep(&store, BankWrite::Called { account_id: account.id, calls, keep: 3 }).await;
    assert_eq!(store.bank_calls(account.id, 9).await.unwrap(), newest_first(4..9));
    let kept: Vec<BankCall> = (27..30).rev().map(anybodys).collect();
    assert_eq!(store.unproved_calls(account.id, 9).await.unwrap(), kept);
    keep(&store, called(&account, 9..12)).await;
    assert_eq!(store.unproved_calls(account.id, 9).await.unwrap(), kept);
    assert_eq!(store.unproved_calls(other.id, 9).await.unwrap(), []);
}
