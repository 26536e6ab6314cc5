//! Sessions, and the throttling of attempts to sign in.

use std::time::Duration;

use domain::{
    id::UserId,
    time::{HOUR_MILLIS, Timestamp},
    user::{Session, TokenHash},
};

use super::statement::{Dialect, Statement};
use crate::{change::SessionWrite, error::Guard, value::Value};

/// How many attempts to sign in may fail before the next one has to wait.
const FREE_TRIES: i64 = 5;
/// The delay after the last free attempt. It doubles with each failure that follows.
const FIRST_DELAY_MILLIS: i64 = 1_000;
/// Failures are forgotten when none was added for this long.
const FORGOTTEN_AFTER_MILLIS: i64 = HOUR_MILLIS;

pub(super) fn plan(statements: &mut Vec<Statement>, write: SessionWrite, dialect: Dialect) {
    match write {
        SessionWrite::Begun { session, hash } => statements.push(new_session(session, hash)),
        SessionWrite::Seen { id, at } => statements.push(Statement::new(
            "UPDATE sessions SET seen_at = $1 WHERE id = $2 AND seen_at < $1",
            [at.into(), Value::stored(id)],
        )),
        SessionWrite::Proved { id, user_id, at, by_factor } => statements.push(
            Statement::new(
                "UPDATE sessions SET proved_at = $1, \
                 by_factor = CASE WHEN CAST($2 AS BIGINT) = 1 THEN 1 ELSE by_factor END WHERE id = $3 AND user_id = $4",
                [at.into(), by_factor.into(), Value::stored(id), Value::stored(user_id)],
            )
            .guarded(Guard::SessionLive),
        ),
        SessionWrite::Ended { id, user_id } => statements.push(
            Statement::new(
                "DELETE FROM sessions WHERE id = $1 AND user_id = $2",
                [Value::stored(id), Value::stored(user_id)],
            )
            .guarded(Guard::SessionLive),
        ),
        SessionWrite::AllEnded { user_id, but } => statements.push(Statement::new(
            "DELETE FROM sessions WHERE user_id = $1 AND id <> $2",
            [Value::stored(user_id), but.map_or("".into(), Value::stored)],
        )),
        SessionWrite::OldDeleted { created_before, most } => old_deleted(statements, created_before, most, dialect),
        SessionWrite::Tried { subject, at, longest } => statements.push(sign_in_tried(subject, at, longest)),
        SessionWrite::Paused { subject, at, until } => statements.push(sign_in_paused(subject, at, until)),
        SessionWrite::Succeeded { forgiven, address } => sign_in_succeeded(statements, forgiven, address),
        SessionWrite::AllForgiven => statements.push(all_forgiven(dialect)),
        SessionWrite::AddressKnown { user_id, address, at, most } => {
            address_known(statements, user_id, address, at, most);
        }
        SessionWrite::AddressesForgotten { user_id } => {
            statements.push(Statement::new("DELETE FROM known_addresses WHERE user_id = $1", [Value::stored(user_id)]))
        }
        SessionWrite::FormSent { user_id, form, resource, at } => statements.push(
            Statement::new(
                "INSERT INTO forms (user_id, form, resource, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                [Value::stored(user_id), form.into(), resource.into(), at.into()],
            )
            .guarded(Guard::FormUnused),
        ),
    }
}

fn new_session(session: Session, hash: TokenHash) -> Statement {
    // A trigger refuses the same to nodes of earlier versions, which know no factors.
    const SQL: &str = "INSERT INTO sessions \
        (hash, id, user_id, created_at, seen_at, address, browser, proved_at, by_factor) \
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE CAST($9 AS BIGINT) = 1 OR NOT EXISTS \
        (SELECT 1 FROM second_factors f WHERE f.user_id = $3 AND (f.lift_at IS NULL OR f.lift_at > $4))";
    Statement::new(
        SQL,
        [
            hash.0.to_vec().into(),
            Value::stored(session.id),
            Value::stored(session.user_id),
            session.created_at.into(),
            session.seen_at.into(),
            session.address.into(),
            session.browser.into(),
            session.proved_at.into(),
            session.by_factor.into(),
        ],
    )
    .guarded(Guard::FactorShown)
}

/// Rows that another node has locked are left for the next time.
fn old_deleted(statements: &mut Vec<Statement>, before: Timestamp, most: i64, dialect: Dialect) {
    let deletions = match dialect {
        Dialect::Sqlite => [
            "DELETE FROM sessions WHERE id IN \
             (SELECT id FROM sessions WHERE created_at < $1 ORDER BY created_at LIMIT $2)",
            "DELETE FROM sign_ins WHERE subject IN (SELECT subject FROM sign_ins WHERE at < $1 ORDER BY at LIMIT $2)",
            "DELETE FROM forms WHERE (user_id, form) IN \
             (SELECT user_id, form FROM forms WHERE at < $1 ORDER BY at LIMIT $2)",
            "DELETE FROM password_resets WHERE hash IN \
             (SELECT hash FROM password_resets WHERE created_at < $1 ORDER BY created_at LIMIT $2)",
        ],
        Dialect::Postgres => [
            "DELETE FROM sessions WHERE id = ANY (ARRAY \
             (SELECT id FROM sessions WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
            "DELETE FROM sign_ins WHERE subject = ANY (ARRAY \
             (SELECT subject FROM sign_ins WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))",
            "DELETE FROM forms WHERE (user_id, form) IN \
             (SELECT user_id, form FROM forms WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)",
            "DELETE FROM password_resets WHERE hash = ANY (ARRAY \
             (SELECT hash FROM password_resets WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
        ],
    };
    statements.extend(deletions.map(|sql| Statement::new(sql, [before.into(), most.into()])));
}

/// Counts and checks in one statement, so that of many attempts at the same moment each counts those before it. A subject that
/// need not wait is blocked until 0 and not until now: the next attempt may have read the clock, or another clock, a little earlier.
fn sign_in_tried(subject: String, at: Timestamp, longest: Duration) -> Statement {
    // The new delay is computed twice, since no assignment can use the new value of another column.
    const SQL: &str = "INSERT INTO sign_ins (subject, tries, delay, blocked_until, at) VALUES ($1, 1, 0, 0, $2) \
        ON CONFLICT (subject) DO UPDATE SET \
        tries = CASE WHEN sign_ins.at < $3 THEN 1 ELSE sign_ins.tries + 1 END, \
        delay = CASE WHEN sign_ins.at < $3 OR sign_ins.tries + 1 < $4 THEN 0 WHEN sign_ins.delay * 2 < $5 THEN $5 \
        WHEN sign_ins.delay * 2 > $6 THEN $6 ELSE sign_ins.delay * 2 END, \
        blocked_until = \
        CASE WHEN sign_ins.at < $3 OR sign_ins.tries + 1 < $4 THEN 0 WHEN sign_ins.delay * 2 < $5 THEN $2 + $5 \
        WHEN sign_ins.delay * 2 > $6 THEN $2 + $6 ELSE $2 + sign_ins.delay * 2 END, \
        at = $2 WHERE sign_ins.blocked_until <= $2";
    Statement::new(
        SQL,
        [
            subject.into(),
            at.into(),
            (at.as_millis() - FORGOTTEN_AFTER_MILLIS).into(),
            FREE_TRIES.into(),
            FIRST_DELAY_MILLIS.into(),
            i64::try_from(longest.as_millis()).unwrap_or(i64::MAX).into(),
        ],
    )
    .guarded(Guard::SignInAllowed)
}

/// Checks and writes in one statement, so that of several attempts at the same moment one is allowed.
fn sign_in_paused(subject: String, at: Timestamp, until: Timestamp) -> Statement {
    const SQL: &str = "INSERT INTO sign_ins (subject, tries, delay, blocked_until, at) VALUES ($1, 1, 0, $2, $3) \
        ON CONFLICT (subject) DO UPDATE SET tries = sign_ins.tries + 1, blocked_until = excluded.blocked_until, \
        at = excluded.at WHERE sign_ins.blocked_until <= $3";
    Statement::new(SQL, [subject.into(), until.into(), at.into()]).guarded(Guard::SignInAllowed)
}

fn sign_in_succeeded(statements: &mut Vec<Statement>, forgiven: Option<String>, address: Option<String>) {
    statements
        .extend(forgiven.map(|subject| Statement::new("DELETE FROM sign_ins WHERE subject = $1", [subject.into()])));
    statements.extend(address.map(|address| {
        Statement::new(
            "UPDATE sign_ins SET tries = CASE WHEN tries > 0 THEN tries - 1 ELSE 0 END, \
             delay = CASE WHEN delay / 2 < $1 THEN 0 ELSE delay / 2 END, blocked_until = 0 WHERE subject = $2",
            [FIRST_DELAY_MILLIS.into(), address.into()],
        )
    }));
}

/// Where several commits run at once, rows are locked in the order in which attempts lock theirs.
fn all_forgiven(dialect: Dialect) -> Statement {
    let sql = match dialect {
        Dialect::Sqlite => "DELETE FROM sign_ins",
        Dialect::Postgres => {
            "DELETE FROM sign_ins WHERE subject IN (SELECT subject FROM sign_ins ORDER BY subject FOR UPDATE)"
        }
    };
    Statement::new(sql, [])
}

fn address_known(statements: &mut Vec<Statement>, user_id: UserId, address: String, at: Timestamp, most: i64) {
    statements.push(Statement::new(
        "INSERT INTO known_addresses (user_id, address, at) VALUES ($1, $2, $3) \
         ON CONFLICT (user_id, address) DO UPDATE SET at = excluded.at WHERE known_addresses.at < excluded.at",
        [Value::stored(user_id), address.into(), at.into()],
    ));
    statements.push(Statement::new(
        "DELETE FROM known_addresses WHERE user_id = $1 AND address NOT IN \
         (SELECT address FROM known_addresses WHERE user_id = $1 ORDER BY at DESC, address LIMIT $2)",
        [Value::stored(user_id), most.into()],
    ));
}
