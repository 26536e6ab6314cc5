//! The chains of the audit log: each line is sealed once, in an order that stays, however many nodes seal.

use std::collections::BTreeMap;

use domain::{
    audit::{Actor, Deed},
    audit_chain::{ChainHead, SALT_BYTES, SealedLine},
    id::{AuditId, ProjectId},
    project::Project,
    user::Email,
};
use futures_util::future::join_all;
use store::{AuditFilter, AuditSeals, Change, Guard, PeopleWrite, Store, Write};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, EVERYTHING, NOW, after, kept_project, kept_user},
};

on_every_database![
    lines_are_sealed_in_the_order_in_which_they_are_found_and_none_is_left_out,
    of_many_nodes_that_seal_the_same_lines_one_does,
    a_chain_holds_after_a_user_was_removed_whose_address_it_named,
    lines_are_found_by_what_was_done_and_when,
    lines_of_an_earlier_version_are_sealed_after_the_migration,
];

async fn head(store: &Store, project: Option<ProjectId>) -> ChainHead {
    store.audit_head(project).await.unwrap().unwrap_or_else(|| ChainHead::empty(project))
}

/// What seals the lines of a chain that have no seal, as the reconciler does.
async fn sealing(store: &Store, project_id: Option<ProjectId>, most: i64) -> Option<AuditSeals> {
    let mut head = head(store, project_id).await;
    let length = head.length;
    let lines = store.audit_unsealed(most, &[]).await.unwrap();
    let of_chain = lines.into_iter().filter(|line| line.project_id == project_id);
    let seals: Vec<(AuditId, String, _)> = of_chain
        .map(|line| {
            let seal = head.seal(&line, [7; SALT_BYTES]);
            head = ChainHead::after(&seal);
            (line.id, line.subject, seal)
        })
        .collect();
    (!seals.is_empty()).then_some(AuditSeals { project_id, length, seals })
}

pub(crate) async fn seal_all(store: &Store) {
    let lines = store.audit_unsealed(1_000, &[]).await.unwrap();
    let chains: BTreeMap<Option<ProjectId>, ()> = lines.iter().map(|line| (line.project_id, ())).collect();
    for chain in chains.into_keys() {
        keep(store, sealing(store, chain, 1_000).await.unwrap()).await;
    }
}

async fn kept_lines(store: &Store, project: Option<&Project>, count: usize) {
    let line = |_| Write::Audit(samples::audit_line(Actor::CommandLine, project, Deed::KeyCreated));
    keep(store, Change::default().with_all((0..count).map(line))).await;
}

/// The lines of a chain in the order of their positions.
async fn chain(store: &Store, project: &Project) -> Vec<SealedLine> {
    let mut lines = store.audit_after(project.id, None, 1_000).await.unwrap();
    lines.sort_by_key(|sealed| sealed.seal.as_ref().map(|seal| seal.position));
    lines
}

async fn lines_are_sealed_in_the_order_in_which_they_are_found_and_none_is_left_out(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let late = samples::audit_line(Actor::CommandLine, Some(&project), Deed::LinkCreated);
    kept_lines(&store, Some(&project), 3).await;
    kept_lines(&store, None, 2).await;
    seal_all(&store).await;
    // A commit that took long: its line is older than those that are sealed.
    keep(&store, Write::Audit(late.clone())).await;
    kept_lines(&store, Some(&project), 1).await;
    seal_all(&store).await;
    let lines = chain(&store, &project).await;
    let positions: Vec<i64> = lines.iter().map(|sealed| sealed.seal.as_ref().unwrap().position).collect();
    assert_eq!(positions, [1, 2, 3, 4, 5]);
    assert_eq!(lines[3].line.id, late.id, "it comes next, whatever its time");
    assert_eq!((head(&store, Some(project.id)).await.length, head(&store, None).await.length), (5, 2));
    assert!(store.audit_unsealed(10, &[]).await.unwrap().is_empty());
    assert_eq!(store.breaches().await.unwrap(), []);
    let sealed_again = database.run_beside("UPDATE audit SET position = 9 WHERE position = 1");
    assert!(sealed_again.is_err_and(|error| error.contains("sealed once")));
}

async fn of_many_nodes_that_seal_the_same_lines_one_does(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for (length, count) in [(0, 4), (4, 3)] {
        kept_lines(&store, Some(&project), count).await;
        let mut changes = Vec::new();
        for _ in 0..8 {
            changes.push(sealing(&store, Some(project.id), 1_000).await.unwrap());
        }
        let outcomes = join_all(changes.into_iter().map(|change| commit(&store, change))).await;
        let kept = outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count();
        let lost = outcomes.iter().filter(|outcome| **outcome == Outcome::Conflict(Guard::AuditChain)).count();
        assert_eq!((kept, lost), (1, 7));
        assert_eq!(head(&store, Some(project.id)).await.length, length + count as i64);
        assert_eq!(store.breaches().await.unwrap(), []);
    }
}

async fn a_chain_holds_after_a_user_was_removed_whose_address_it_named(database: Database) {
    let store = database.open().await;
    let (project, user) = (kept_project(&store).await, kept_user(&store).await);
    let named = |project: Option<&Project>, subject: &Email| {
        let line = samples::audit_line(Actor::CommandLine, project, Deed::MemberInvited);
        Write::Audit(domain::audit::AuditLine { subject: subject.to_string(), ..line })
    };
    let other = Email::parse("other@example.com").unwrap();
    let lines = [named(Some(&project), &user.email), named(Some(&project), &other), named(None, &user.email)];
    keep(&store, Change::default().with_all(lines)).await;
    seal_all(&store).await;
    // One that is not sealed yet, and that a reconciler has read before the user is removed.
    keep(&store, named(Some(&project), &user.email)).await;
    let late = sealing(&store, Some(project.id), 9).await.unwrap();
    let (user_id, email) = (user.id, user.email.clone());
    keep(&store, PeopleWrite::UserRemoved { user_id, email, by: None, at: after(1) }).await;
    assert_eq!(commit(&store, late).await, Outcome::Conflict(Guard::AuditChain));
    seal_all(&store).await;
    let listed = store.audit_list(None, &AuditFilter::default(), EVERYTHING).await.unwrap();
    let mut subjects: Vec<String> = listed.items.into_iter().map(|sealed| sealed.line.subject).collect();
    subjects.sort();
    let id = user.id.to_string();
    assert_eq!(subjects, [other.to_string(), id.clone(), id.clone(), id]);
    assert!(!database.rows().concat().contains(user.email.as_str()));
    assert_eq!(store.breaches().await.unwrap(), []);
    let renamed =
        format!("UPDATE audit SET subject = '{}' WHERE subject = 'other@example.com'", kept_user(&store).await.id);
    assert!(
        database.run_beside(&renamed).is_err_and(|error| error.contains("append-only")),
        "who is there keeps a name"
    );
}

async fn lines_are_found_by_what_was_done_and_when(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for (deed, at) in [(Deed::KeyCreated, 0), (Deed::KeyRevoked, 10), (Deed::KeyCreated, 20)] {
        let line = samples::audit_line(Actor::CommandLine, Some(&project), deed);
        keep(&store, Write::Audit(domain::audit::AuditLine { at: after(at), ..line })).await;
    }
    let found = async |deed, at| {
        let filter = AuditFilter { deed, at };
        let listed = store.audit_list(Some(project.id), &filter, EVERYTHING).await.unwrap();
        assert_eq!(listed.total as usize, listed.items.len());
        listed.items.into_iter().map(|sealed| sealed.line.at).collect::<Vec<_>>()
    };
    assert_eq!(found(None, None).await, [after(20), after(10), NOW]);
    assert_eq!(found(Some(Deed::KeyCreated), None).await, [after(20), NOW]);
    assert_eq!(found(None, Some((after(10), after(20)))).await, [after(10)]);
    assert_eq!(found(Some(Deed::KeyCreated), Some((after(1), after(21)))).await, [after(20)]);
    let first = store.audit_after(project.id, None, 2).await.unwrap();
    let rest = store.audit_after(project.id, Some(first[1].line.id), 2).await.unwrap();
    assert_eq!((first.len(), rest.len()), (2, 1));
}

async fn lines_of_an_earlier_version_are_sealed_after_the_migration(database: Database) {
    let earlier = database.second_version();
    let line = |number: u8| {
        let line = samples::audit_line(Actor::CommandLine, None, Deed::UserCreated);
        format!(
            "INSERT INTO audit (id, at, actor, deed, subject, detail) \
             VALUES ('{}', {}, 'command-line', 'user.created', 'user {number}', '');",
            line.id,
            NOW.as_millis()
        )
    };
    earlier.run_beside(&(0..5).map(line).collect::<String>()).unwrap();
    let store = earlier.open().await;
    for _ in 0..3 {
        // In bounded steps.
        let Some(seals) = sealing(&store, None, 2).await else { break };
        assert!(seals.seals.len() <= 2);
        keep(&store, seals).await;
        assert_eq!(store.breaches().await.unwrap(), []);
    }
    assert_eq!(head(&store, None).await.length, 5);
    assert!(store.audit_unsealed(1, &[]).await.unwrap().is_empty());
}
