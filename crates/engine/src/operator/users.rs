//! What an operator can see of users, and decide about them.

use std::collections::HashMap;

use domain::{
    access::Role, api_key::ApiKey, id::UserId, project::Project, second_factor::SecondFactor, time::Timestamp,
    user::User,
};
use store::{Listed, Window};

use super::Operator;
use crate::{Error, ResetLink};

impl Operator {
    /// One page of all users who are not removed.
    pub async fn users(&self, window: Window) -> Result<Listed<User>, Error> {
        Ok(self.engine.store.users_page(window).await?)
    }

    /// A user who is not removed.
    pub async fn user(&self, id: UserId) -> Result<User, Error> {
        self.engine.present_user(id).await
    }

    /// The projects that a user is a member of.
    pub async fn projects_of(&self, id: UserId) -> Result<Vec<(Project, Role)>, Error> {
        self.engine.projects_of(id).await
    }

    /// The live keys that a user has created, of all projects.
    pub async fn keys_created_by(&self, id: UserId) -> Result<Vec<ApiKey>, Error> {
        self.engine.keys_created_by(id).await
    }

    /// The projects that would have no active owner without this user.
    pub async fn projects_owned_alone(&self, id: UserId) -> Result<Vec<Project>, Error> {
        self.engine.projects_owned_alone(id).await
    }

    pub async fn deactivate_user(&self, id: UserId, with_keys: bool) -> Result<(), Error> {
        self.fresh_proof().await?;
        let user = self.user(id).await?;
        self.engine.deactivate_user(&user, Some(self.user.id), with_keys).await
    }

    pub async fn activate_user(&self, id: UserId) -> Result<(), Error> {
        self.fresh_proof().await?;
        let user = self.user(id).await?;
        self.engine.activate_user(&user, Some(self.user.id)).await
    }

    pub async fn remove_user(&self, id: UserId, with_keys: bool) -> Result<(), Error> {
        self.fresh_proof().await?;
        let user = self.user(id).await?;
        self.engine.remove_user(&user, Some(self.user.id), with_keys).await
    }

    /// The second factors that count, of these users.
    pub async fn factors_of(&self, users: &[User]) -> Result<HashMap<UserId, SecondFactor>, Error> {
        self.engine.factors_of(users).await
    }

    /// Whether a link for a new password goes to its user by letter, so that the operator never sees it.
    pub fn has_mail(&self) -> bool {
        self.engine.has_mail()
    }

    /// Sends a user a link for a new password; where no mail is set up, answers one to hand over.
    pub async fn give_reset_link(&self, id: UserId) -> Result<Option<ResetLink>, Error> {
        self.fresh_proof().await?;
        self.engine.give_reset_link(&self.user(id).await?).await
    }

    /// Asks for a user's second factor to be lifted; answers when that takes effect.
    pub async fn ask_to_lift_factor(&self, id: UserId) -> Result<Timestamp, Error> {
        self.fresh_proof().await?;
        self.engine.ask_to_lift_factor(&self.user(id).await?).await
    }
}
