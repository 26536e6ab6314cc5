//! Users, members and invitations.

use domain::{
    access::Role,
    id::{ProjectId, UserId},
    user::{Invite, TokenHash, User},
};

use super::{
    statement::{Dialect, Statement},
    users,
};
use crate::{change::PeopleWrite, error::Guard, value::Value};

pub(super) fn plan(statements: &mut Vec<Statement>, write: PeopleWrite, dialect: Dialect) {
    match write {
        PeopleWrite::UserCreated { user, password } => statements.push(new_user(user, password)),
        PeopleWrite::PasswordChanged { user_id, password } => statements.push(Statement::new(
            "UPDATE users SET password = $1 WHERE id = $2",
            [password.into(), Value::stored(user_id)],
        )),
        PeopleWrite::PasswordUnchanged { user_id, password } => statements.push(password_unchanged(user_id, password)),
        PeopleWrite::OperatorSet { user_id, is_operator } => statements.push(Statement::new(
            "UPDATE users SET is_operator = $1 WHERE id = $2",
            [is_operator.into(), Value::stored(user_id)],
        )),
        PeopleWrite::UserDeactivated { user_id, by, at } => users::deactivate(statements, user_id, by, at, dialect),
        PeopleWrite::UserActivated { user_id, by } => users::activate(statements, user_id, by, dialect),
        PeopleWrite::UserRemoved { user_id, email, by, at } => {
            users::remove(statements, user_id, email, by, at, dialect);
        }
        PeopleWrite::MemberAdded { project_id, user_id, role, at } => {
            statements.push(users::present(user_id));
            statements.push(
                Statement::new(
                    "INSERT INTO members (project_id, user_id, role, joined_at) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT DO NOTHING",
                    [Value::stored(project_id), Value::stored(user_id), role.word().into(), at.into()],
                )
                .guarded(Guard::NotMember),
            );
        }
        PeopleWrite::RoleChanged { project_id, user_id, role } => role_changed(statements, project_id, user_id, role),
        PeopleWrite::MemberRemoved { project_id, user_id } => member_removed(statements, project_id, user_id),
        PeopleWrite::RoleHeld { project_id, user_id, role } => {
            statements.push(lock_project(project_id));
            statements.push(role_held(project_id, user_id, role));
        }
        PeopleWrite::InvitesVoided { project_id, created_by } => statements.push(Statement::new(
            "DELETE FROM invites WHERE project_id = $1 AND created_by = $2 AND used_at IS NULL",
            [Value::stored(project_id), Value::stored(created_by)],
        )),
        PeopleWrite::AllInvitesVoided { created_by } => statements.push(Statement::new(
            "DELETE FROM invites WHERE created_by = $1 AND used_at IS NULL",
            [Value::stored(created_by)],
        )),
        PeopleWrite::Invited { invite, hash } => statements.push(new_invite(invite, hash)),
        PeopleWrite::InviteUsed { id, user_id, at } => statements.push(
            Statement::new(
                "UPDATE invites SET used_at = $1, used_by = $2 WHERE id = $3 AND used_at IS NULL AND expires_at > $1",
                [at.into(), Value::stored(user_id), Value::stored(id)],
            )
            .guarded(Guard::InviteOpen),
        ),
        PeopleWrite::InviteWithdrawn { id, project_id } => statements.push(
            Statement::new(
                "DELETE FROM invites WHERE id = $1 AND project_id = $2 AND used_at IS NULL",
                [Value::stored(id), Value::stored(project_id)],
            )
            .guarded(Guard::InviteOpen),
        ),
    }
}

fn new_user(user: User, password: String) -> Statement {
    Statement::new(
        "INSERT INTO users (id, email, password, is_operator, created_at) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT DO NOTHING",
        [
            Value::stored(user.id),
            Value::stored(user.email),
            password.into(),
            user.is_operator.into(),
            user.created_at.into(),
        ],
    )
    .guarded(Guard::EmailFree)
}

/// A change of the password waits for this row lock. When it then ends the user's sessions, it finds the session that
/// this commit has begun.
fn password_unchanged(user_id: UserId, password: String) -> Statement {
    Statement::new(
        "UPDATE users SET password = password WHERE id = $1 AND password = $2 AND deactivated_at IS NULL",
        [Value::stored(user_id), password.into()],
    )
    .guarded(Guard::PasswordUnchanged)
}

/// Locks the project's row before its owners are counted: two owners who remove each other at the same moment must not
/// both succeed.
pub(super) fn lock_project(project_id: ProjectId) -> Statement {
    Statement::new("UPDATE projects SET version = version WHERE id = $1", [Value::stored(project_id)])
}

fn role_held(project_id: ProjectId, user_id: UserId, role: Role) -> Statement {
    Statement::new(
        "UPDATE members SET role = role WHERE project_id = $1 AND user_id = $2 AND role = $3",
        [Value::stored(project_id), Value::stored(user_id), role.word().into()],
    )
    .guarded(Guard::RoleHeld)
}

fn role_changed(statements: &mut Vec<Statement>, project_id: ProjectId, user_id: UserId, role: Role) {
    statements.push(lock_project(project_id));
    statements.push(
        Statement::new(
            "UPDATE members SET role = $1 WHERE project_id = $2 AND user_id = $3 AND ($1 = 'owner' OR role <> 'owner' \
             OR EXISTS (SELECT 1 FROM members o JOIN users u ON u.id = o.user_id WHERE o.project_id = $2 \
             AND o.user_id <> $3 AND o.role = 'owner' AND u.deactivated_at IS NULL))",
            [role.word().into(), Value::stored(project_id), Value::stored(user_id)],
        )
        .guarded(Guard::OwnerRemains),
    );
}

/// Deletes open invitations of the same address before the membership: a commit that accepts one at this moment has
/// locked it and fails, as the user is still a member. So a removed user cannot come back through an old invitation.
fn member_removed(statements: &mut Vec<Statement>, project_id: ProjectId, user_id: UserId) {
    statements.push(lock_project(project_id));
    statements.push(Statement::new(
        "DELETE FROM invites WHERE project_id = $1 AND used_at IS NULL \
         AND email = (SELECT email FROM users WHERE id = $2)",
        [Value::stored(project_id), Value::stored(user_id)],
    ));
    statements.push(
        Statement::new(
            "DELETE FROM members WHERE project_id = $1 AND user_id = $2 AND (role <> 'owner' \
             OR EXISTS (SELECT 1 FROM members o JOIN users u ON u.id = o.user_id WHERE o.project_id = $1 \
             AND o.user_id <> $2 AND o.role = 'owner' AND u.deactivated_at IS NULL))",
            [Value::stored(project_id), Value::stored(user_id)],
        )
        .guarded(Guard::OwnerRemains),
    );
}

fn new_invite(invite: Invite, hash: TokenHash) -> Statement {
    Statement::new(
        "INSERT INTO invites (hash, id, project_id, email, role, created_at, expires_at, created_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        [
            hash.0.to_vec().into(),
            Value::stored(invite.id),
            Value::stored(invite.project_id),
            Value::stored(invite.email),
            invite.role.word().into(),
            invite.created_at.into(),
            invite.expires_at.into(),
            invite.created_by.map(Value::stored).into(),
        ],
    )
}
