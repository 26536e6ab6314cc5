//! Users, members and the throttling of attempts to sign in.

use domain::{
    access::Role,
    id::{ProjectId, UserId},
    project::Project,
    time::Timestamp,
    user::{Email, User, UserState},
};

use super::{Conditions, List, Listed, Window, projects};
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
    /// Whether the project's members need a second factor.
    pub needs_factor: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub user: User,
    pub role: Role,
    pub joined_at: Timestamp,
}

impl Store {
    pub async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let sql = "SELECT id, email, is_operator, created_at, deactivated_at, removed_at FROM users WHERE id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), user).await
    }

    /// All users who are not removed, oldest first.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        let sql = "SELECT id, email, is_operator, created_at, deactivated_at, removed_at FROM users \
                   WHERE removed_at IS NULL ORDER BY id";
        self.many(Query::new(sql, []), user).await
    }

    /// One page of all users who are not removed, oldest first.
    pub async fn users_page(&self, window: Window) -> Result<Listed<User>, StoreError> {
        let columns = "id, email, is_operator, created_at, deactivated_at, removed_at";
        let list = List { columns, from: "users", table: "users", id: "id", order: "id", decode: user };
        let mut present = Conditions::new();
        present.and_sql("removed_at IS NULL");
        self.listed(list, present, window).await
    }

    /// Whether any active user is an operator.
    pub async fn has_operator(&self) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM users WHERE is_operator = 1 AND deactivated_at IS NULL LIMIT 1";
        Ok(self.one(Query::new(sql, []), |_| Ok(())).await?.is_some())
    }

    /// A user and the hash of their password.
    pub async fn user_by_email(&self, email: &Email) -> Result<Option<(User, String)>, StoreError> {
        let sql = "SELECT id, email, is_operator, created_at, deactivated_at, removed_at, password \
                   FROM users WHERE email = $1";
        let found = |columns: &mut Columns<'_>| Ok((user(columns)?, columns.text()?));
        self.one(Query::new(sql, [Value::stored(email)]), found).await
    }

    /// The hash of a user's password.
    pub async fn password_of(&self, id: UserId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT password FROM users WHERE id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), |columns| columns.text()).await
    }

    /// Every page reads it, so that removing a member takes effect at once.
    pub async fn membership(&self, user: UserId, project: ProjectId) -> Result<Option<Membership>, StoreError> {
        let sql = "SELECT m.role, p.version, p.factor_required FROM members m JOIN projects p ON p.id = m.project_id \
                   WHERE m.project_id = $1 AND m.user_id = $2";
        self.one(Query::new(sql, [Value::stored(project), Value::stored(user)]), membership).await
    }

    /// The projects that a user is a member of, ordered by name.
    pub async fn memberships(&self, id: UserId) -> Result<Vec<(Project, Role)>, StoreError> {
        let sql = format!(
            "SELECT {}, m.role FROM members m JOIN projects p ON p.id = m.project_id WHERE m.user_id = $1 \
             ORDER BY p.name, p.id",
            projects::COLUMNS
        );
        let found = |columns: &mut Columns<'_>| Ok((projects::project(columns)?, columns.word(Role::parse)?));
        self.many(Query::new(sql, [Value::stored(id)]), found).await
    }

    /// The projects that have no other active owner than this user, ordered by name.
    pub async fn projects_owned_alone(&self, id: UserId) -> Result<Vec<Project>, StoreError> {
        let sql = format!(
            "SELECT {} FROM members m JOIN projects p ON p.id = m.project_id WHERE m.user_id = $1 AND m.role = 'owner' \
             AND NOT EXISTS (SELECT 1 FROM members o JOIN users u ON u.id = o.user_id WHERE o.project_id = m.project_id \
             AND o.user_id <> $1 AND o.role = 'owner' AND u.deactivated_at IS NULL) ORDER BY p.name, p.id",
            projects::COLUMNS
        );
        self.many(Query::new(sql, [Value::stored(id)]), projects::project).await
    }

    /// A project's members, in the order in which they joined.
    pub async fn members(&self, id: ProjectId) -> Result<Vec<Member>, StoreError> {
        let sql = "SELECT u.id, u.email, u.is_operator, u.created_at, u.deactivated_at, u.removed_at, m.role, m.joined_at \
                   FROM members m JOIN users u ON u.id = m.user_id WHERE m.project_id = $1 \
                   ORDER BY m.joined_at, u.id";
        self.many(Query::new(sql, [Value::stored(id)]), member).await
    }

    /// How many projects a user owns.
    pub async fn owned_projects(&self, id: UserId) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM members WHERE user_id = $1 AND role = 'owner'";
        Ok(self.many(Query::new(sql, [Value::stored(id)]), |columns| columns.integer()).await?.into_iter().sum())
    }

    /// Whether the user with that address for e-mail has signed in from a network address since then.
    pub async fn knows_address(&self, email: &Email, address: &str, since: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM known_addresses k JOIN users u ON u.id = k.user_id \
                   WHERE u.email = $1 AND k.address = $2 AND k.at >= $3";
        let parameters = [Value::stored(email), address.to_owned().into(), since.into()];
        Ok(self.one(Query::new(sql, parameters), |_| Ok(())).await?.is_some())
    }

    /// What a form of that user has created.
    pub async fn form_resource(&self, user: UserId, form: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT resource FROM forms WHERE user_id = $1 AND form = $2";
        self.one(Query::new(sql, [Value::stored(user), form.to_owned().into()]), |columns| columns.text()).await
    }

    /// Until when an attempt to sign in must wait that counts against all of these, the latest of them; none where it need not.
    pub async fn sign_in_blocked_until(&self, subjects: &[String]) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT blocked_until FROM sign_ins WHERE subject = $1 AND blocked_until > 0";
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
        email: columns.word(|text| Email::recognise(text).ok())?,
        is_operator: columns.truth()?,
        created_at: columns.timestamp()?,
        state: match (columns.optional_timestamp()?, columns.optional_timestamp()?) {
            (_, Some(at)) => UserState::Removed { at },
            (Some(at), None) => UserState::Deactivated { at },
            (None, None) => UserState::Active,
        },
    })
}

fn membership(columns: &mut Columns<'_>) -> Result<Membership, StoreError> {
    Ok(Membership {
        role: columns.word(Role::parse)?,
        project_version: columns.integer()?,
        needs_factor: columns.truth()?,
    })
}

fn member(columns: &mut Columns<'_>) -> Result<Member, StoreError> {
    Ok(Member { user: user(columns)?, role: columns.word(Role::parse)?, joined_at: columns.timestamp()? })
}
