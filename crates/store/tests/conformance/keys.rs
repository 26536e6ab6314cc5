//! API keys: their owners, and their revocation.

use domain::{
    api_key::{ACTIVE_KEYS_MOST, ApiKey, KeyHash},
    id::{KeyId, mint},
    key_networks::KeyNetworks,
    key_rights::{KeyRight, KeyRights},
    project::{Environment, Project},
};
use futures_util::future::join_all;
use store::{Change, Guard, KeyWrite, ProjectWrite};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    migration::add_project,
    samples::{self, NOW, after, entropy, kept_key, kept_project, kept_user},
};

on_every_database![
    a_key_is_read_back_as_it_was_committed,
    a_live_key_opens_its_project_and_a_revoked_one_nothing,
    a_name_is_taken_while_its_key_lives,
    a_key_is_revoked_once_and_by_its_own_project,
    of_many_keys_of_one_name_exactly_one_is_made,
    the_last_use_of_a_key_is_known_and_never_goes_back,
    of_many_keys_at_once_no_more_are_made_than_a_project_may_have,
    what_a_key_may_do_is_read_with_its_owner,
    that_a_member_has_no_live_key_with_a_right_is_known_when_it_is_committed,
    keys_of_an_earlier_version_may_do_what_they_could,
    a_key_is_replaced_once_by_one_of_its_name,
    a_replaced_key_counts_until_it_has_stopped,
];

async fn a_key_is_read_back_as_it_was_committed(database: Database) {
    let store = database.open().await;
    let sandbox = kept_project(&store).await;
    let production = Project { environment: Environment::Production, ..samples::project() };
    keep(&store, ProjectWrite::Created { project: production.clone(), sealed_webhook_secret: Vec::new() }).await;
    for project in [&sandbox, &production] {
        let first = kept_key(&store, project, "Server É").await;
        let late = ApiKey { id: mint(after(1), entropy()), created_at: after(1), ..samples::key(project, "late") };
        keep(&store, KeyWrite::Created { hash: samples::key_hash(&late), key: late.clone() }).await;
        assert_eq!(store.key(first.id).await.unwrap(), Some(first.clone()));
        assert_eq!(store.keys(project.id).await.unwrap(), [first, late]);
    }
    assert_eq!(store.key(mint(NOW, entropy())).await.unwrap(), None);
}

async fn a_live_key_opens_its_project_and_a_revoked_one_nothing(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let key = kept_key(&store, &project, "server").await;
    let hash = samples::key_hash(&key);
    let owner = store.key_owner(hash).await.unwrap().unwrap();
    assert_eq!((owner.key_id, owner.project_id, owner.project_version), (key.id, project.id, project.version));
    assert!(store.key_owner(KeyHash([9; 32])).await.unwrap().is_none());

    keep(&store, samples::revocation(&key, after(5))).await;
    assert!(store.key_owner(hash).await.unwrap().is_none());
    assert_eq!(store.key(key.id).await.unwrap(), Some(ApiKey { revoked_at: Some(after(5)), ..key }));
}

async fn a_name_is_taken_while_its_key_lives(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let first = kept_key(&store, &project, "server").await;
    let make = |project: &Project, name: &str| {
        let key = samples::key(project, name);
        KeyWrite::Created { hash: samples::key_hash(&key), key }
    };
    assert_eq!(commit(&store, make(&project, "server")).await, Outcome::Conflict(Guard::KeyName));
    assert_eq!(commit(&store, make(&other, "server")).await, Outcome::Kept);
    assert_eq!(commit(&store, make(&project, "Server")).await, Outcome::Kept);
    keep(&store, samples::revocation(&first, NOW)).await;
    assert_eq!(commit(&store, make(&project, "server")).await, Outcome::Kept);
    assert_eq!(commit(&store, make(&project, "server")).await, Outcome::Conflict(Guard::KeyName));
}

async fn a_key_is_revoked_once_and_by_its_own_project(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let key = kept_key(&store, &project, "server").await;
    let revoke = |project: &Project, at| KeyWrite::Revoked { id: key.id, project_id: project.id, at };
    assert_eq!(commit(&store, revoke(&other, NOW)).await, Outcome::Conflict(Guard::KeyNotRevoked));
    assert_eq!(commit(&store, revoke(&project, after(1))).await, Outcome::Kept);
    assert_eq!(commit(&store, revoke(&project, after(2))).await, Outcome::Conflict(Guard::KeyNotRevoked));
    assert_eq!(store.key(key.id).await.unwrap().unwrap().revoked_at, Some(after(1)));
}

async fn of_many_keys_of_one_name_exactly_one_is_made(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let made = join_all((0..16).map(|_| {
        let key = samples::key(&project, "server");
        commit(&store, KeyWrite::Created { hash: samples::key_hash(&key), key })
    }));
    let kept = made.await.into_iter().filter(|outcome| *outcome == Outcome::Kept).count();
    assert_eq!((kept, store.keys(project.id).await.unwrap().len()), (1, 1));
}

async fn the_last_use_of_a_key_is_known_and_never_goes_back(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let (one, two) = (kept_key(&store, &project, "one").await, kept_key(&store, &project, "two").await);
    let unused = kept_key(&store, &project, "unused").await;
    let elsewhere = kept_key(&store, &other, "one").await;
    let used = |key: &ApiKey, millis| KeyWrite::Used { key_id: key.id, project_id: key.project_id, at: after(millis) };
    // Several nodes save uses of the same keys in different orders at the same moment.
    let nodes = (0..32).map(|node| {
        let mut uses = vec![used(&one, node), used(&two, 5), used(&elsewhere, 7)];
        uses.rotate_left(node as usize % 3);
        commit(&store, Change::default().with_all(uses))
    });
    assert!(join_all(nodes).await.into_iter().all(|outcome| outcome == Outcome::Kept));
    keep(&store, used(&two, 4)).await;
    assert_eq!(store.key_uses(project.id).await.unwrap(), [(one.id, after(31)), (two.id, after(5))]);
    assert_eq!(store.key_uses(other.id).await.unwrap(), [(elsewhere.id, after(7))]);
    assert!(store.key(unused.id).await.unwrap().is_some());
}

/// Each commit counts the keys that were committed before it, also where they were committed while it waited.
async fn of_many_keys_at_once_no_more_are_made_than_a_project_may_have(database: Database) {
    let store = database.open().await;
    let project = samples::crowded_project(&store).await;
    let other = kept_project(&store).await;
    let (before, more) = (database.rows(), samples::key(&project, "one more"));
    let refused = commit(&store, KeyWrite::Created { hash: samples::key_hash(&more), key: more }).await;
    assert_eq!(
        (refused, database.rows()),
        (Outcome::Conflict(Guard::KeysBelowMost), before),
        "it leaves nothing behind"
    );
    let keys = store.keys(project.id).await.unwrap();
    let live: Vec<&ApiKey> = keys.iter().filter(|key| key.revoked_at.is_none()).collect();
    for key in &live[..3] {
        keep(&store, samples::revocation(key, after(1))).await;
    }
    let made = join_all((0..16).map(|number| {
        let key = samples::key(&project, &format!("racing {number}"));
        commit(&store, KeyWrite::Created { hash: samples::key_hash(&key), key })
    }));
    let outcomes = made.await;
    let count = |wanted: Outcome| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::KeysBelowMost))), (3, 13), "{outcomes:?}");
    let live = store.keys(project.id).await.unwrap().into_iter().filter(|key| key.revoked_at.is_none()).count();
    assert_eq!(i64::try_from(live).unwrap(), ACTIVE_KEYS_MOST);
    kept_key(&store, &other, "elsewhere").await;
}

async fn what_a_key_may_do_is_read_with_its_owner(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let somewhere = KeyNetworks::parse(&["203.0.113.0/24", "2001:db8::/32"]).unwrap();
    let rows = [
        (KeyRights::NONE, KeyNetworks::default()),
        (KeyRights::USUAL, somewhere.clone()),
        (KeyRights::NONE.with(KeyRight::HeldMoney), KeyNetworks::default()),
        (KeyRights::ALL, somewhere),
    ];
    for (number, (rights, networks)) in rows.into_iter().enumerate() {
        let key = ApiKey { rights, networks, ..samples::key(&project, &format!("key {number}")) };
        let hash = samples::key_hash(&key);
        keep(&store, KeyWrite::Created { hash, key: key.clone() }).await;
        let owner = store.key_owner(hash).await.unwrap().unwrap();
        assert_eq!((owner.rights, &owner.networks), (key.rights, &key.networks), "{key:?}");
        assert_eq!(store.key(key.id).await.unwrap(), Some(key));
    }
}

async fn that_a_member_has_no_live_key_with_a_right_is_known_when_it_is_committed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let [member, other] = [kept_user(&store).await, kept_user(&store).await].map(|user| user.id);
    let none_with = |right| KeyWrite::AllRevokedWith { project_id: project.id, created_by: member, right };
    let make = |name, user, rights| ApiKey { created_by: Some(user), rights, ..samples::key(&project, name) };
    let both = make("both", member, KeyRights::ALL);
    for key in [make("usual", member, KeyRights::USUAL), make("another's", other, KeyRights::ALL), both.clone()] {
        keep(&store, KeyWrite::Created { hash: samples::key_hash(&key), key }).await;
    }
    for right in KeyRight::ALL {
        assert_eq!(commit(&store, none_with(right)).await, Outcome::Conflict(Guard::KeysRevoked), "{right:?}");
    }
    // It holds within the change that revokes the key.
    let revoked = KeyWrite::Revoked { id: both.id, project_id: project.id, at: after(1) };
    keep(&store, Change::from(revoked).with(none_with(KeyRight::HeldMoney))).await;
    assert_eq!(commit(&store, none_with(KeyRight::Payments)).await, Outcome::Conflict(Guard::KeysRevoked));
}

async fn keys_of_an_earlier_version_may_do_what_they_could(database: Database) {
    let database = database.first_version();
    let project = add_project(&database);
    let (live, revoked): (KeyId, KeyId) = (mint(NOW, entropy()), mint(after(1), entropy()));
    let now = NOW.as_millis();
    for (key, byte, revoked_at) in [(live, "02", "NULL"), (revoked, "03", &now.to_string())] {
        let hash = if database.is_typed() { format!("'\\x{byte}'") } else { format!("x'{byte}'") };
        let columns = "id, project_id, name, hash, last_four, created_at, revoked_at";
        let values = format!("'{key}', '{project}', 'key', {hash}, 'a1B2', {now}, {revoked_at}");
        database.run_beside(&format!("INSERT INTO api_keys ({columns}) VALUES ({values});")).unwrap();
    }
    let keys = database.open().await.keys(project).await.unwrap();
    let found: Vec<_> = keys.iter().map(|key| (key.id, key.rights, key.networks.is_empty())).collect();
    let rights = KeyRights::USUAL.with(KeyRight::HeldMoney);
    assert_eq!(found, [(live, rights, true), (revoked, rights, true)]);
}

async fn a_key_is_replaced_once_by_one_of_its_name(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let old = kept_key(&store, &project, "server").await;
    let replaced = |at| KeyWrite::Replaced { id: old.id, project_id: project.id, expires_at: at };
    let created = || {
        let key = samples::key(&project, "server");
        KeyWrite::Created { hash: samples::key_hash(&key), key }
    };
    let outcomes = join_all((0..8).map(|_| commit(&store, Change::from(replaced(after(9))).with(created())))).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::KeyNotReplaced))), (1, 7));
    let keys = store.keys(project.id).await.unwrap();
    assert_eq!(keys.iter().map(|key| key.expires_at).collect::<Vec<_>>(), [Some(after(9)), None]);
    let owner = store.key_owner(samples::key_hash(&old)).await.unwrap().unwrap();
    assert_eq!(owner.expires_at, Some(after(9)));
    assert_eq!(commit(&store, created()).await, Outcome::Conflict(Guard::KeyName), "the new one has the name");
    keep(&store, samples::revocation(&old, NOW)).await;
    assert_eq!(commit(&store, replaced(after(9))).await, Outcome::Conflict(Guard::KeyNotReplaced));
    let strange = KeyWrite::Replaced { id: keys[1].id, project_id: mint(NOW, entropy()), expires_at: after(9) };
    assert_eq!(commit(&store, strange).await, Outcome::Conflict(Guard::KeyNotReplaced));
}

async fn a_replaced_key_counts_until_it_has_stopped(database: Database) {
    let store = database.open().await;
    let project = samples::crowded_project(&store).await;
    let keys = store.keys(project.id).await.unwrap();
    let one = keys.iter().find(|key| key.revoked_at.is_none()).unwrap();
    keep(&store, KeyWrite::Replaced { id: one.id, project_id: project.id, expires_at: after(10) }).await;
    let created = |at| {
        let key = ApiKey { created_at: after(at), ..samples::key(&project, &one.name) };
        KeyWrite::Created { hash: samples::key_hash(&key), key }
    };
    assert_eq!(commit(&store, created(9)).await, Outcome::Conflict(Guard::KeysBelowMost));
    assert_eq!(commit(&store, created(10)).await, Outcome::Kept);
}
