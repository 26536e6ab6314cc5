//! The audit log: lines are never changed, and are found by project.

use domain::{
    audit::{Actor, AuditLine, Deed},
    id::mint,
};
use store::{AuditFilter, Change, Window, Write};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, EVERYTHING, NOW, entropy, kept_project, kept_user},
};

on_every_database![the_log_is_read_back_newest_first_by_project, the_log_is_append_only];

async fn the_log_is_read_back_newest_first_by_project(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let (user, somebody) = (kept_user(&store).await, kept_user(&store).await);
    let by = |id| Actor::User { id, address: "203.0.113.7".to_owned() };
    let lines: Vec<AuditLine> = [
        (by(user.id), Some(&project), Deed::KeyCreated),
        (by(somebody.id), Some(&project), Deed::KeyRevoked),
        (by(user.id), None, Deed::SignedIn),
        (Actor::Key(mint(NOW, entropy())), Some(&other), Deed::LinkCreated),
        (Actor::CommandLine, Some(&other), Deed::ProjectApproved),
        (Actor::Stranger { address: "2001:db8::1".to_owned() }, None, Deed::SignInRefused),
    ]
    .map(|(actor, project, deed)| samples::audit_line(actor, project, deed))
    .into();
    keep(&store, Change::default().with_all(lines.iter().cloned().map(Write::Audit))).await;
    let newest_first: Vec<AuditLine> = lines.into_iter().rev().collect();
    for project_id in [None, Some(project.id), Some(other.id), Some(mint(NOW, entropy()))] {
        let is_wanted = |line: &&AuditLine| project_id.is_none() || line.project_id == project_id;
        let expected: Vec<AuditLine> = newest_first.iter().filter(is_wanted).cloned().collect();
        let listed = async |window| {
            let listed = store.audit_list(project_id, &AuditFilter::default(), window).await.unwrap();
            (listed.items.into_iter().map(|sealed| sealed.line).collect::<Vec<_>>(), listed.total)
        };
        let total = expected.len() as i64;
        assert_eq!(listed(EVERYTHING).await, (expected.clone(), total), "{project_id:?}");
        let second = expected.into_iter().skip(1).take(1).collect();
        assert_eq!(listed(Window { offset: 1, limit: 1 }).await, (second, total), "{project_id:?}");
    }
}

async fn the_log_is_append_only(database: Database) {
    let store = database.open().await;
    keep(&store, Write::Audit(samples::audit_line(Actor::CommandLine, None, Deed::UserCreated))).await;
    let before = database.rows();
    for sql in
        ["UPDATE audit SET detail = 'nothing'", "DELETE FROM audit", "DELETE FROM audit WHERE project_id IS NULL"]
    {
        let refused = database.run_beside(sql);
        assert!(refused.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {refused:?}");
    }
    assert_eq!(database.rows(), before);
}
