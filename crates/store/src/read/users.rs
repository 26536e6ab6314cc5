//! Users, members and the throttling of attempts to sign in.

use domain::{
    access::Role,
    id::{ProjectId, UserId},
    project::Project,
    time::Timestamp,
    user::{Email, User},
};

use super::projects;
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A user's role in a project, and the project's version at the moment of the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    pub role: Role,
    pub project_version: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub user: User,
    pub role: Role,
    pub joined_at: Timestamp,
}

impl Store {
    pub async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let sql = "SELECT id, email, is_operator, created_at FROM users WHERE id = $1";
        self.one(Query::new(sql, [Value::shown(id)]), user).await
    }

    /// All users, oldest first.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        let sql = "SELECT id, email, is_operator, created_at FROM users ORDER BY id";
        self.many(Query::new(sql, []), user).await
    }

    /// A user and the hash of their password.
    pub async fn user_by_email(&self, email: &Email) -> Result<Option<(User, String)>, StoreError> {
        let sql = "SELECT id, email, is_operator, created_at, password FROM users WHERE email = $1";
        let found = |columns: &mut Columns<'_>| Ok((user(columns)?, columns.text()?));
        self.one(Query::new(sql, [Value::shown(email)]), found).await
    }

    /// The hash of a user's password.
    pub async fn password_of(&self, id: UserId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT password FROM users WHERE id = $1";
        self.one(Query::new(sql, [Value::shown(id)]), |columns| columns.text()).await
    }

    /// Every page reads it, so that removing a member takes effect at once.
    pub async fn membership(&self, user: UserId, project: ProjectId) -> Result<Option<Membership>, StoreError> {
        let sql = "SELECT m.role, p.version FROM members m JOIN projects p ON p.id = m.project_id \
                   WHERE m.project_id = $1 AND m.user_id = $2";
        self.one(Query::new(sql, [Value::shown(project), Value::shown(user)]), membership).await
    }

    /// The projects that a user is a member of, ordered by name.
    pub async fn memberships(&self, id: UserId) -> Result<Vec<(Project, Role)>, StoreError> {
        let sql = format!(
            "SELECT {}, m.role FROM members m JOIN projects p ON p.id = m.project_id WHERE m.user_id = $1 \
             ORDER BY p.name, p.id",
            projects::COLUMNS
        );
        let found = |columns: &mut Columns<'_>| Ok((projects::project(columns)?, columns.word(Role::parse)?));
        self.many(Query::new(sql, [Value::shown(id)]), found).await
    }

    /// A project's members, in the order in which they joined.
    pub async fn members(&self, id: ProjectId) -> Result<Vec<Member>, StoreError> {
        let sql = "SELECT u.id, u.email, u.is_operator, u.created_at, m.role, m.joined_at \
                   FROM members m JOIN users u ON u.id = m.user_id WHERE m.project_id = $1 \
                   ORDER BY m.joined_at, u.id";
        self.many(Query::new(sql, [Value::shown(id)]), member).await
    }

    /// How many projects a user owns.
    pub async fn owned_projects(&self, id: UserId) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM members WHERE user_id = $1 AND role = 'owner'";
        Ok(self.many(Query::new(sql, [Value::shown(id)]), |columns| columns.integer()).await?.into_iter().sum())
    }

    /// Until when the account or the address must wait before another attempt to sign in; the later of both.
    pub async fn sign_in_blocked_until(&self, subjects: &[String; 2]) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT blocked_until FROM sign_ins WHERE subject = $1";
        let mut latest = None;
        for subject in subjects {
            let until = self.one(Query::new(sql, [subject.clone().into()]), |columns| columns.timestamp()).await?;
            latest = latest.max(until);
        }
        Ok(latest)
    }
}

pub(super) fn user(columns: &mut Columns<'_>) -> Result<User, StoreError> {
    Ok(User {
        id: columns.parsed()?,
        email: columns.word(|text| Email::parse(text).ok())?,
        is_operator: columns.truth()?,
        created_at: columns.timestamp()?,
    })
}

fn membership(columns: &mut Columns<'_>) -> Result<Membership, StoreError> {
    Ok(Membership { role: columns.word(Role::parse)?, project_version: columns.integer()? })
}

fn member(columns: &mut Columns<'_>) -> Result<Member, StoreError> {
    Ok(Member { user: user(columns)?, role: columns.word(Role::parse)?, joined_at: columns.timestamp()? })
}
