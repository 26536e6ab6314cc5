//! Users, what they are members of, their sessions and invitations, and the log of what they do.

use domain::{
    access::Role,
    audit::{Actor, AuditLine},
    id::{ProjectId, UserId},
    time::Timestamp,
    user::{Invite, Session, TokenHash, User},
};

use super::{Dialect, Statement};
use crate::{change::Write, error::Guard, value::Value};

/// Attempts to sign in that may fail before there is a wait.
const FREE_TRIES: i64 = 5;
/// The wait after the last of them. It doubles with each that follows.
const FIRST_DELAY_MILLIS: i64 = 1_000;
const LONGEST_DELAY_MILLIS: i64 = 900_000;
/// When nothing has failed for so long, it is as if nothing ever had.
const FORGOTTEN_AFTER_MILLIS: i64 = 3_600_000;

/// The words of the log for those who have no id.
pub(crate) const COMMAND_LINE: &str = "command-line";
pub(crate) const STRANGER: &str = "stranger";

/// Nodes that note the uses of the same keys take their rows in one order.
pub(super) fn in_order(mut writes: Vec<Write>) -> Vec<Write> {
    if writes.len() > 1 && writes.iter().all(|write| matches!(write, Write::KeyUsed { .. })) {
        writes.sort_by_cached_key(|write| match write {
            Write::KeyUsed { key_id, .. } => key_id.to_string(),
            _ => String::new(),
        });
    }
    writes
}

/// The writes about people that are one statement each.
pub(super) fn statement(write: Write) -> Statement {
    match write {
        Write::User { user, password } => new_user(user, password),
        Write::PasswordChanged { user_id, password } => {
            Statement::new("UPDATE users SET password = $1 WHERE id = $2", [password.into(), Value::shown(user_id)])
        }
        // Whoever changes it waits for this row, and then finds the session that was made meanwhile.
        Write::PasswordStands { user_id, password } => Statement::new(
            "UPDATE users SET password = password WHERE id = $1 AND password = $2",
            [Value::shown(user_id), password.into()],
        )
        .guarded(Guard::PasswordStands),
        Write::OperatorSet { user_id, is_operator } => Statement::new(
            "UPDATE users SET is_operator = $1 WHERE id = $2",
            [is_operator.into(), Value::shown(user_id)],
        ),
        Write::Member { project_id, user_id, role, at } => Statement::new(
            "INSERT INTO members (project_id, user_id, role, joined_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING",
            [Value::shown(project_id), Value::shown(user_id), role.word().into(), at.into()],
        )
        .guarded(Guard::NotMember),
        Write::Session { session, hash } => new_session(session, hash),
        Write::SessionSeen { id, at } => Statement::new(
            "UPDATE sessions SET seen_at = $1 WHERE id = $2 AND seen_at < $1",
            [at.into(), Value::shown(id)],
        ),
        Write::SessionEnded { id, user_id } => Statement::new(
            "DELETE FROM sessions WHERE id = $1 AND user_id = $2",
            [Value::shown(id), Value::shown(user_id)],
        )
        .guarded(Guard::SessionLive),
        Write::SessionsEnded { user_id, but } => Statement::new(
            "DELETE FROM sessions WHERE user_id = $1 AND id <> $2",
            [Value::shown(user_id), but.map_or("".into(), Value::shown)],
        ),
        Write::Invite { invite, hash } => new_invite(invite, hash),
        Write::InviteUsed { id, user_id, at } => Statement::new(
            "UPDATE invites SET used_at = $1, used_by = $2 WHERE id = $3 AND used_at IS NULL AND expires_at > $1",
            [at.into(), Value::shown(user_id), Value::shown(id)],
        )
        .guarded(Guard::InviteOpen),
        Write::InviteWithdrawn { id, project_id } => Statement::new(
            "DELETE FROM invites WHERE id = $1 AND project_id = $2 AND used_at IS NULL",
            [Value::shown(id), Value::shown(project_id)],
        )
        .guarded(Guard::InviteOpen),
        Write::SignInTried { subject, at } => sign_in_tried(subject, at),
        Write::Audit(line) => audit(line),
        _ => unreachable!("writes of several statements are planned by `of`, and the others by whoever knows them"),
    }
}

fn new_user(user: User, password: String) -> Statement {
    Statement::new(
        "INSERT INTO users (id, email, password, is_operator, created_at) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT DO NOTHING",
        [
            Value::shown(user.id),
            Value::shown(user.email),
            password.into(),
            user.is_operator.into(),
            user.created_at.into(),
        ],
    )
    .guarded(Guard::EmailFree)
}

/// Two owners who remove each other at the same moment must not both succeed, so whoever takes an owner away takes the project's
/// row first, and looks only then.
fn one_at_a_time(project_id: ProjectId) -> Statement {
    Statement::new("UPDATE projects SET version = version WHERE id = $1", [Value::shown(project_id)])
}

pub(super) fn role_changed(statements: &mut Vec<Statement>, project_id: ProjectId, user_id: UserId, role: Role) {
    statements.push(one_at_a_time(project_id));
    statements.push(
        Statement::new(
            "UPDATE members SET role = $1 WHERE project_id = $2 AND user_id = $3 AND ($1 = 'owner' OR role <> 'owner' \
             OR EXISTS (SELECT 1 FROM members o WHERE o.project_id = $2 AND o.user_id <> $3 AND o.role = 'owner'))",
            [role.word().into(), Value::shown(project_id), Value::shown(user_id)],
        )
        .guarded(Guard::OwnerRemains),
    );
}

/// Invitations of the same address go first: whoever takes one up at this moment has hold of it, and is refused as a member.
pub(super) fn member_removed(statements: &mut Vec<Statement>, project_id: ProjectId, user_id: UserId) {
    statements.push(one_at_a_time(project_id));
    statements.push(Statement::new(
        "DELETE FROM invites WHERE project_id = $1 AND used_at IS NULL \
         AND email = (SELECT email FROM users WHERE id = $2)",
        [Value::shown(project_id), Value::shown(user_id)],
    ));
    statements.push(
        Statement::new(
            "DELETE FROM members WHERE project_id = $1 AND user_id = $2 AND (role <> 'owner' \
             OR EXISTS (SELECT 1 FROM members o WHERE o.project_id = $1 AND o.user_id <> $2 AND o.role = 'owner'))",
            [Value::shown(project_id), Value::shown(user_id)],
        )
        .guarded(Guard::OwnerRemains),
    );
}

fn new_session(session: Session, hash: TokenHash) -> Statement {
    Statement::new(
        "INSERT INTO sessions (hash, id, user_id, created_at, seen_at, address, browser) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        [
            hash.0.to_vec().into(),
            Value::shown(session.id),
            Value::shown(session.user_id),
            session.created_at.into(),
            session.seen_at.into(),
            session.address.into(),
            session.browser.into(),
        ],
    )
}

/// What somebody else has in hand at the moment is left for the next time.
pub(super) fn sessions_forgotten(statements: &mut Vec<Statement>, before: Timestamp, most: i64, dialect: Dialect) {
    let (sessions, sign_ins) = match dialect {
        Dialect::Sqlite => (
            "DELETE FROM sessions WHERE id IN \
             (SELECT id FROM sessions WHERE created_at < $1 ORDER BY created_at LIMIT $2)",
            "DELETE FROM sign_ins WHERE subject IN (SELECT subject FROM sign_ins WHERE at < $1 ORDER BY at LIMIT $2)",
        ),
        Dialect::Postgres => (
            "DELETE FROM sessions WHERE id = ANY (ARRAY \
             (SELECT id FROM sessions WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
            "DELETE FROM sign_ins WHERE subject = ANY (ARRAY \
             (SELECT subject FROM sign_ins WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        ),
    };
    statements.push(Statement::new(sessions, [before.into(), most.into()]));
    statements.push(Statement::new(sign_ins, [before.into(), most.into()]));
}

fn new_invite(invite: Invite, hash: TokenHash) -> Statement {
    Statement::new(
        "INSERT INTO invites (hash, id, project_id, email, role, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        [
            hash.0.to_vec().into(),
            Value::shown(invite.id),
            Value::shown(invite.project_id),
            Value::shown(invite.email),
            invite.role.word().into(),
            invite.created_at.into(),
            invite.expires_at.into(),
        ],
    )
}

/// Counts and judges in one statement, so that of many at the same moment each sees those before it.
fn sign_in_tried(subject: String, at: Timestamp) -> Statement {
    // The delay that follows stands twice, since no column sees what another is set to.
    const SQL: &str = "INSERT INTO sign_ins (subject, tries, delay, blocked_until, at) VALUES ($1, 1, 0, $2, $2) \
        ON CONFLICT (subject) DO UPDATE SET \
        tries = CASE WHEN sign_ins.at < $3 THEN 1 ELSE sign_ins.tries + 1 END, \
        delay = CASE WHEN sign_ins.at < $3 OR sign_ins.tries + 1 < $4 THEN 0 WHEN sign_ins.delay * 2 < $5 THEN $5 \
        WHEN sign_ins.delay * 2 > $6 THEN $6 ELSE sign_ins.delay * 2 END, \
        blocked_until = $2 + \
        CASE WHEN sign_ins.at < $3 OR sign_ins.tries + 1 < $4 THEN 0 WHEN sign_ins.delay * 2 < $5 THEN $5 \
        WHEN sign_ins.delay * 2 > $6 THEN $6 ELSE sign_ins.delay * 2 END, \
        at = $2 WHERE sign_ins.blocked_until <= $2";
    Statement::new(
        SQL,
        [
            subject.into(),
            at.into(),
            (at.as_millis() - FORGOTTEN_AFTER_MILLIS).into(),
            FREE_TRIES.into(),
            FIRST_DELAY_MILLIS.into(),
            LONGEST_DELAY_MILLIS.into(),
        ],
    )
    .guarded(Guard::SignInAllowed)
}

pub(super) fn sign_in_forgiven(
    statements: &mut Vec<Statement>,
    account: String,
    address: Option<String>,
    at: Timestamp,
) {
    statements.push(Statement::new("DELETE FROM sign_ins WHERE subject = $1", [account.into()]));
    statements.extend(address.map(|address| {
        Statement::new(
            "UPDATE sign_ins SET tries = CASE WHEN tries > 0 THEN tries - 1 ELSE 0 END, \
             delay = CASE WHEN delay / 2 < $1 THEN 0 ELSE delay / 2 END, blocked_until = $2 WHERE subject = $3",
            [FIRST_DELAY_MILLIS.into(), at.into(), address.into()],
        )
    }));
}

fn audit(line: AuditLine) -> Statement {
    let (actor, address) = match line.actor {
        Actor::User { id, address } => (Value::shown(id), Some(address)),
        Actor::Key(id) => (Value::shown(id), None),
        Actor::CommandLine => (COMMAND_LINE.into(), None),
        Actor::Stranger { address } => (STRANGER.into(), Some(address)),
    };
    Statement::new(
        "INSERT INTO audit (id, at, actor, address, project_id, deed, subject, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        [
            Value::shown(line.id),
            line.at.into(),
            actor,
            address.into(),
            line.project_id.map(Value::shown).unwrap_or(Value::Null),
            line.deed.word().into(),
            line.subject.into(),
            line.detail.into(),
        ],
    )
}
