//! The credentials of the demo project and its owner. The first `lunas dev` creates them, and later runs and other commands read
//! them from `dev.json`.
//!
//! The database decides: a file that does not match it is repaired, and a warning says so. Credentials never go to the log.

use std::path::{Path, PathBuf};

use domain::{
    access::Role,
    api_key::KeySecret,
    id::ProjectId,
    key_rights::KeyRights,
    project::{Environment, Project},
};
use engine::{Engine, NewKey, NewProject, NewUser};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use crate::{error::CliError, password, private_files};

const FILE: &str = "dev.json";
const PROJECT_NAME: &str = "Demo";
const KEY_NAME: &str = "dev";
/// The owner of the demo project, who is an operator too. Mail to a `.localhost` address goes nowhere.
pub(crate) const OWNER_EMAIL: &str = "demo@lunas.localhost";
/// How many names are tried for a new key, since keys of earlier runs may have the first ones.
const KEY_NAMES_MOST: usize = 100;

/// Without `Debug`, so that they cannot end up in a log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credentials {
    pub(crate) project_id: String,
    pub(crate) api_key: String,
    pub(crate) webhook_secret: String,
    /// Files from before there was a dashboard have neither of these, and are repaired.
    #[serde(default)]
    pub(crate) dashboard_email: String,
    #[serde(default)]
    pub(crate) dashboard_password: String,
}

/// The path of the file in a data directory.
pub(crate) fn path_in(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// The credentials that an earlier run saved, for commands that only read them. A damaged file counts as none.
pub(crate) fn read_in(data: &Path) -> Result<Option<Credentials>, CliError> {
    let path = path_in(data);
    let text = private_files::read_if_present(&path).map_err(|error| CliError::file("read", &path, &error))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Saves a new webhook secret, if the project is the demo project of `data`.
pub(crate) fn replace_webhook_secret(data: &Path, project_id: &str, secret: &str) -> Result<(), CliError> {
    match read_in(data)?.filter(|kept| kept.project_id == project_id) {
        Some(kept) => write(&path_in(data), &Credentials { webhook_secret: secret.to_owned(), ..kept }),
        None => Ok(()),
    }
}

/// The credentials that `path` has and the database accepts, or new ones. Callers must hold the lock of the data directory.
pub(crate) async fn ensure(engine: &Engine, path: &Path) -> Result<Credentials, CliError> {
    let kept = read(path)?;
    let credentials = match &kept {
        Some(kept) => repair(engine, kept, path).await?,
        None => create(engine, "", path).await?,
    };
    if kept.as_ref() != Some(&credentials) {
        write(path, &credentials)?;
    }
    Ok(credentials)
}

fn demo_project() -> NewProject {
    NewProject { name: PROJECT_NAME.to_owned(), environment: Environment::Sandbox, merchant_name: None }
}

/// Creates a project. Its owner may exist already, with `kept_password`.
async fn create(engine: &Engine, kept_password: &str, path: &Path) -> Result<Credentials, CliError> {
    let (project, secret) = engine.create_project(demo_project()).await?;
    Ok(Credentials {
        project_id: project.id.to_string(),
        api_key: new_key(engine, project.id).await?,
        webhook_secret: secret.expose_secret().to_owned(),
        dashboard_email: OWNER_EMAIL.to_owned(),
        dashboard_password: ensure_owner(engine, project.id, kept_password, path).await?,
    })
}

/// Replaces what the database no longer accepts.
async fn repair(engine: &Engine, kept: &Credentials, path: &Path) -> Result<Credentials, CliError> {
    let Some(project) = sandbox_project(engine, &kept.project_id).await? else {
        tracing::warn!("the project in {} is not in the database; created a new one", path.display());
        return create(engine, &kept.dashboard_password, path).await;
    };
    let api_key = match is_valid_key(engine, &kept.api_key, project.id).await? {
        true => kept.api_key.clone(),
        false => {
            tracing::warn!("the API key in {} is no longer valid; created a new one", path.display());
            new_key(engine, project.id).await?
        }
    };
    let secret = engine.webhook_secret(project.id).await?;
    Ok(Credentials {
        project_id: project.id.to_string(),
        api_key,
        webhook_secret: secret.expose_secret().to_owned(),
        dashboard_email: OWNER_EMAIL.to_owned(),
        dashboard_password: ensure_owner(engine, project.id, &kept.dashboard_password, path).await?,
    })
}

/// Makes the demo's owner an owner of the project, and returns their password: the saved one if it is still right, or a new one.
async fn ensure_owner(engine: &Engine, project_id: ProjectId, kept: &str, path: &Path) -> Result<String, CliError> {
    let user = match engine.user_by_email(OWNER_EMAIL).await {
        Err(engine::Error::NotFound(_)) => {
            let password = password::generate();
            let new = NewUser { email: OWNER_EMAIL.to_owned(), password: password.clone(), is_operator: true };
            engine.create_member(new, project_id, Role::Owner).await?;
            return Ok(password.expose_secret().to_owned());
        }
        found => found?,
    };
    if !engine.projects_of(user.id).await?.iter().any(|(project, _)| project.id == project_id) {
        engine.add_member(project_id, &user, Role::Owner).await?;
    }
    if !kept.is_empty() && engine.has_password(&user, kept.into()).await? {
        return Ok(kept.to_owned());
    }
    tracing::warn!("the password in {} is no longer valid; set a new one for {OWNER_EMAIL}", path.display());
    let password = password::generate();
    engine.reset_password(&user, password.clone()).await?;
    Ok(password.expose_secret().to_owned())
}

async fn sandbox_project(engine: &Engine, id: &str) -> Result<Option<Project>, CliError> {
    let Ok(id) = id.parse::<ProjectId>() else { return Ok(None) };
    match engine.project(id).await {
        Ok(project) => Ok(Some(project).filter(|project| project.environment == Environment::Sandbox)),
        Err(engine::Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether `key` is a valid key of the project.
pub(crate) async fn is_valid_key(engine: &Engine, key: &str, project_id: ProjectId) -> Result<bool, CliError> {
    let Some(secret) = KeySecret::recognise(key) else { return Ok(false) };
    let owner = engine.key_owner(&secret).await?;
    Ok(owner.is_some_and(|owner| owner.project.id == project_id))
}

/// The id of the API key, which revokes it.
pub(crate) async fn key_id(engine: &Engine, credentials: &Credentials) -> Result<String, CliError> {
    let owner = match KeySecret::recognise(&credentials.api_key) {
        Some(secret) => engine.key_owner(&secret).await?,
        None => None,
    };
    Ok(owner.map(|owner| owner.key_id.to_string()).unwrap_or_default())
}

/// A new API key of the project, with every right.
pub(crate) async fn new_key(engine: &Engine, project_id: ProjectId) -> Result<String, CliError> {
    for number in 1..=KEY_NAMES_MOST {
        let name = match number {
            1 => KEY_NAME.to_owned(),
            number => format!("{KEY_NAME} {number}"),
        };
        let new = NewKey { rights: KeyRights::ALL, ..NewKey::from(name) };
        match engine.create_key(project_id, new).await {
            Ok((_, secret)) => return Ok(secret.reveal().to_owned()),
            Err(engine::Error::Taken(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let what_to_do = "revoke some with `lunas key revoke`";
    Err(CliError::new(format!("the project has {KEY_NAMES_MOST} keys named `{KEY_NAME} …`; {what_to_do}")))
}

/// The credentials in the file. A damaged file counts as none, with a warning.
fn read(path: &Path) -> Result<Option<Credentials>, CliError> {
    let text = private_files::read_if_present(path).map_err(|error| CliError::file("read", path, &error))?;
    let Some(text) = text else { return Ok(None) };
    let kept = serde_json::from_str(&text).ok();
    if kept.is_none() {
        tracing::warn!("{} is damaged; created a new project", path.display());
    }
    Ok(kept)
}

fn write(path: &Path, credentials: &Credentials) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(credentials);
    let text = text.map_err(|error| CliError::because("cannot write JSON", &error))?;
    private_files::replace_private(path, &format!("{text}\n")).map_err(|error| CliError::file("write", path, &error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use engine::{SecretKey, Settings};
    use serde_json::json;
    use store::Store;

    use super::*;
    use crate::database::Installation;

    async fn opens_dashboard(engine: &Engine, credentials: &Credentials) -> bool {
        let user = engine.user_by_email(&credentials.dashboard_email).await.unwrap();
        let projects = engine.projects_of(user.id).await.unwrap();
        let owns = |(project, role): &(Project, Role)| {
            project.id.to_string() == credentials.project_id && *role == Role::Owner
        };
        projects.iter().any(owns)
            && engine.has_password(&user, credentials.dashboard_password.clone().into()).await.unwrap()
    }

    async fn installation(directory: &Path) -> Installation {
        let store = Store::open_sqlite(&directory.join("lunas.db")).await.unwrap();
        let key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        Installation::new(store, Settings::default(), key.into())
    }

    #[tokio::test]
    async fn a_second_run_finds_what_the_first_one_created() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dev.json");
        let installation = installation(directory.path()).await;
        let first = ensure(&installation.engine, &path).await.unwrap();
        assert!(ensure(&installation.engine, &path).await.unwrap() == first);
        assert_eq!(installation.engine.projects().await.unwrap().len(), 1);
        assert!(first.webhook_secret.starts_with("whsec_"));
        let user = installation.engine.user_by_email(&first.dashboard_email).await.unwrap();
        assert!(user.is_operator && opens_dashboard(&installation.engine, &first).await);
    }

    #[tokio::test]
    async fn a_file_from_before_the_dashboard_keeps_its_project_and_key_and_gets_an_owner() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dev.json");
        let engine = installation(directory.path()).await.engine;
        let (project, secret) = engine.create_project(demo_project()).await.unwrap();
        let (project_id, api_key) = (project.id.to_string(), new_key(&engine, project.id).await.unwrap());
        let secret = secret.expose_secret();
        let old = json!({ "project_id": project_id, "api_key": api_key, "webhook_secret": secret });
        private_files::replace_private(&path, &old.to_string()).unwrap();
        let mended = ensure(&engine, &path).await.unwrap();
        assert_eq!((mended.project_id.as_str(), mended.webhook_secret.as_str()), (project_id.as_str(), secret));
        assert!(mended.api_key == api_key && opens_dashboard(&engine, &mended).await);
        assert!(ensure(&engine, &path).await.unwrap() == mended);
    }

    #[tokio::test]
    async fn a_wrong_password_is_replaced_and_a_lost_membership_restored() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dev.json");
        let engine = installation(directory.path()).await.engine;
        let before = ensure(&engine, &path).await.unwrap();
        let user = engine.user_by_email(OWNER_EMAIL).await.unwrap();
        engine.reset_password(&user, "chosen by hand".into()).await.unwrap();
        let after = ensure(&engine, &path).await.unwrap();
        assert!(after.dashboard_password != before.dashboard_password && after.api_key == before.api_key);
        assert!(opens_dashboard(&engine, &after).await && !opens_dashboard(&engine, &before).await);
        // The project is lost and the password is not.
        write(&path, &Credentials { project_id: String::new(), ..after.clone() }).unwrap();
        let other = ensure(&engine, &path).await.unwrap();
        assert!(other.project_id != after.project_id && other.dashboard_password == after.dashboard_password);
        let roles: Vec<Role> = engine.projects_of(user.id).await.unwrap().into_iter().map(|(_, role)| role).collect();
        assert_eq!(roles, [Role::Owner, Role::Owner]);
    }

    #[tokio::test]
    async fn a_missing_or_damaged_file_leads_to_a_new_project_that_is_saved() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dev.json");
        let installation = installation(directory.path()).await;
        let mut before = ensure(&installation.engine, &path).await.unwrap();
        for damage in ["", "{", "[]", r#"{"project_id":"prj_1"}"#] {
            fs::write(&path, damage).unwrap();
            let after = ensure(&installation.engine, &path).await.unwrap();
            assert!(after.project_id != before.project_id && after.api_key != before.api_key, "{damage}");
            assert!(read(&path).unwrap() == Some(after.clone()));
            before = after;
        }
    }

    #[tokio::test]
    async fn a_revoked_key_is_replaced_within_the_same_project() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dev.json");
        let engine = installation(directory.path()).await.engine;
        let before = ensure(&engine, &path).await.unwrap();
        let project_id = before.project_id.parse().unwrap();
        let key = engine.keys(project_id).await.unwrap().remove(0);
        engine.revoke_key(key.id, None).await.unwrap();
        let after = ensure(&engine, &path).await.unwrap();
        assert_eq!(after.project_id, before.project_id);
        assert_eq!(after.webhook_secret, before.webhook_secret);
        assert!(after.api_key != before.api_key);
        assert!(ensure(&engine, &path).await.unwrap() == after);
    }

    #[tokio::test]
    async fn a_file_that_belongs_to_another_database_is_repaired() {
        let directory = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let path = directory.path().join("dev.json");
        let stray = ensure(&installation(elsewhere.path()).await.engine, &path).await.unwrap();
        let engine = installation(directory.path()).await.engine;
        let own = ensure(&engine, &path).await.unwrap();
        assert!(own.project_id != stray.project_id);
        let mixed = Credentials { api_key: stray.api_key, webhook_secret: "whsec_other".to_owned(), ..own.clone() };
        write(&path, &mixed).unwrap();
        let mended = ensure(&engine, &path).await.unwrap();
        assert_eq!(mended.project_id, own.project_id);
        assert_eq!(mended.webhook_secret, own.webhook_secret);
        assert!(is_valid_key(&engine, &mended.api_key, own.project_id.parse().unwrap()).await.unwrap());
    }
}
