//! API keys: their owners, and their revocation.

use domain::{
    api_key::{ApiKey, KeyHash},
    id::mint,
    project::{Environment, Project},
};
use futures_util::future::join_all;
use store::{Change, Guard, KeyWrite, ProjectWrite};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, entropy, kept_key, kept_project},
};

on_every_database![
    a_key_is_read_back_as_it_was_committed,
    a_live_key_opens_its_project_and_a_revoked_one_nothing,
    a_name_is_taken_while_its_key_lives,
    a_key_is_revoked_once_and_by_its_own_project,
    of_many_keys_of_one_name_exactly_one_is_made,
    the_last_use_of_a_key_is_known_and_never_goes_back,
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
