//! `lunas user`: users of the dashboard, their passwords, roles and projects. A generated password is in the answer that generated
//! it and in no other.

use clap::{Args, Subcommand};
use domain::{access::Role, project::Project, user::User};
use engine::{Engine, Error, NewUser, RESETS, Settings};
use serde::Serialize;

use crate::{
    database::Installation,
    error::CliError,
    mail_options::{self, LetterOptions},
    options::{GlobalOptions, PagesUrl},
    output::{Output, fields, shell_word, table},
    password::Password,
    project::{self, yes_or_no},
};

const HAND_OVER: &str = "Give the link to this user alone: who opens it sets their password. It works once.";
const SAVE_PASSWORD: &str = "Save the password now: it is not shown again.";

#[derive(Subcommand)]
pub(crate) enum UserCommand {
    /// Create a user of the dashboard. Without --password-stdin a password is generated, which only this answer shows.
    Create(CreateOptions),
    /// List all users and the projects that they are members of.
    List,
    /// Set a user's password, end all of their sessions, and lift all delays after failed sign-ins.
    Password {
        /// The user's email address.
        email: String,
        /// Read the password from standard input, as one line, instead of generating one.
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        letters: Box<LetterOptions>,
    },
    /// Print a link by which a user who has lost their password sets a new one, once and within 30 minutes. Earlier links of the user
    /// become void; their password stays until the link is used.
    Reset {
        /// The user's email address.
        email: String,
        #[command(flatten)]
        pages_url: PagesUrl,
    },
    /// Give a user operator rights over the installation, or with --revoke take them away.
    Operator {
        /// The user's email address.
        email: String,
        /// Take the operator rights away.
        #[arg(long)]
        revoke: bool,
    },
    /// Keep a user from signing in. Their sessions end at once, and invitations that they created are void.
    Deactivate(LeavingOptions),
    /// Let a deactivated user sign in again. Invitations and revoked keys do not come back.
    Activate {
        /// The user's email address.
        email: String,
    },
    /// Remove a user with all that is personal about them. The audit log goes on to name them by their id. This cannot be undone.
    Remove(LeavingOptions),
    /// Ask for the second factor of a user to be removed, who has lost it. It takes effect after 24 hours; until then the user sees a
    /// notice on every page of the dashboard, and can refuse.
    LiftFactor {
        /// The user's email address.
        email: String,
        #[command(flatten)]
        letters: Box<LetterOptions>,
    },
    /// Add a user to a project.
    Add {
        /// The user's email address.
        email: String,
        /// The project's id, prj_….
        #[arg(long, value_name = "ID")]
        project: String,
        /// The user's role in the project: owner, developer, viewer or cashier.
        #[arg(long, value_parser = role)]
        role: Role,
    },
}

#[derive(Args)]
pub(crate) struct LeavingOptions {
    /// The user's email address.
    email: String,
    /// Also revoke the API keys that the user created, which they know. Without this flag the keys go on working.
    #[arg(long)]
    revoke_keys: bool,
}

#[derive(Args)]
pub(crate) struct CreateOptions {
    /// The email address that the user signs in with.
    email: String,
    /// Give the user operator rights: approving projects and overseeing all of them.
    #[arg(long)]
    operator: bool,
    /// Add the user to this project, prj_….
    #[arg(long, value_name = "ID", requires = "role")]
    project: Option<String>,
    /// The user's role in the project: owner, developer, viewer or cashier.
    #[arg(long, requires = "project", value_parser = role)]
    role: Option<Role>,
    /// Read the password from standard input, as one line, instead of generating one.
    #[arg(long)]
    password_stdin: bool,
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word).ok_or_else(|| "it must be `owner`, `developer`, `viewer` or `cashier`".to_owned())
}

#[derive(Serialize)]
struct CreatedJson {
    id: String,
    email: String,
    operator: bool,
    project_id: Option<String>,
    role: Option<&'static str>,
    /// None where it was read from standard input.
    password: Option<String>,
    created_at: String,
}

#[derive(Serialize)]
struct ListedJson {
    id: String,
    email: String,
    operator: bool,
    active: bool,
    projects: Vec<MembershipJson>,
    created_at: String,
}

#[derive(Serialize)]
struct MembershipJson {
    id: String,
    name: String,
    role: &'static str,
}

#[derive(Serialize)]
struct PasswordJson {
    id: String,
    email: String,
    /// None where it was read from standard input.
    password: Option<String>,
}

#[derive(Serialize)]
struct ResetJson {
    id: String,
    email: String,
    link: String,
    expires_at: String,
}

#[derive(Serialize)]
struct OperatorJson {
    id: String,
    email: String,
    operator: bool,
}

#[derive(Serialize)]
struct LeftJson {
    id: String,
    email: String,
    state: &'static str,
    /// The keys that were revoked with it.
    revoked_keys: Vec<String>,
    /// Keys that the user created and that go on working.
    working_keys: Vec<String>,
}

#[derive(Serialize)]
struct ActivatedJson {
    id: String,
    email: String,
    state: &'static str,
}

/// How a user leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Deactivated,
    Removed,
}

#[derive(Serialize)]
struct LiftedJson {
    id: String,
    email: String,
    /// When it takes effect.
    lifted_at: String,
}

#[derive(Serialize)]
struct AddedJson {
    id: String,
    email: String,
    project_id: String,
    role: &'static str,
}

pub(crate) async fn run(command: UserCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let installation = match &command {
        UserCommand::Password { letters, .. } | UserCommand::LiftFactor { letters, .. } => {
            letters.installation(global).await?
        }
        _ => Installation::existing(global, Settings::default()).await?,
    };
    let (engine, output) = (&installation.engine, global.output());
    let answer = match command {
        UserCommand::Create(options) => create(options, engine, output).await,
        UserCommand::List => list(engine, output).await,
        UserCommand::Password { email, password_stdin, .. } => password(&email, password_stdin, engine, output).await,
        UserCommand::Reset { email, pages_url } => reset(&email, &pages_url, engine, global).await,
        UserCommand::Operator { email, revoke } => set_operator(&email, !revoke, engine, output).await,
        UserCommand::Deactivate(options) => leave(options, Leaving::Deactivated, engine, output).await,
        UserCommand::Activate { email } => activate(&email, engine, output).await,
        UserCommand::Remove(options) => leave(options, Leaving::Removed, engine, output).await,
        UserCommand::LiftFactor { email, .. } => lift_factor(&email, engine, output).await,
        UserCommand::Add { email, project, role } => add(&email, &project, role, engine, output).await,
    };
    installation.close().await;
    answer
}

async fn create(options: CreateOptions, engine: &Engine, output: Output) -> Result<(), CliError> {
    let CreateOptions { email, operator, project, role, password_stdin } = options;
    let project = match project.zip(role) {
        Some((id, role)) => Some(joinable(engine, &id, role).await?),
        None => None,
    };
    let password = Password::get(password_stdin)?;
    let new = NewUser { email: email.clone(), password: password.secret(), is_operator: operator };
    let made = match project.as_ref().zip(role) {
        Some((project, role)) => engine.create_member(new, project.id, role).await,
        None => engine.create_user(new).await,
    };
    let user = match made {
        Err(Error::Taken(_)) => return Err(taken(&email)),
        made => made?,
    };
    let created = CreatedJson {
        id: user.id.to_string(),
        email: user.email.to_string(),
        operator: user.is_operator,
        project_id: project.map(|project| project.id.to_string()),
        role: role.map(Role::word),
        password: password.to_show(),
        created_at: user.created_at.to_string(),
    };
    output.show(&created, CreatedJson::text)
}

impl CreatedJson {
    fn text(&self) -> String {
        let mut lines =
            vec![("id", self.id.clone()), ("email", self.email.clone()), ("operator", yes_or_no(self.operator))];
        lines.extend(self.project_id.clone().map(|id| ("project", id)));
        lines.extend(self.role.map(|role| ("role", role.to_owned())));
        with_password(lines, self.password.as_deref())
    }
}

/// The user's fields, with the password if it was generated.
fn with_password(mut lines: Vec<(&str, String)>, password: Option<&str>) -> String {
    match password {
        None => fields(&lines),
        Some(password) => {
            lines.push(("password", password.to_owned()));
            format!("{}\n\n{SAVE_PASSWORD}", fields(&lines))
        }
    }
}

fn taken(email: &str) -> CliError {
    let word = shell_word(email.trim());
    let what_to_do = format!("`lunas user password {word}` sets a new password");
    let or = format!("`lunas user add {word}` adds the user to a project");
    CliError::new(format!("there is a user {} already; {what_to_do}, {or}", email.escape_debug()))
}

async fn list(engine: &Engine, output: Output) -> Result<(), CliError> {
    let membership = |(project, role): (Project, Role)| MembershipJson {
        id: project.id.to_string(),
        name: project.name,
        role: role.word(),
    };
    let mut users = Vec::new();
    for user in engine.users().await? {
        let projects = engine.projects_of(user.id).await?;
        users.push(ListedJson {
            id: user.id.to_string(),
            email: user.email.to_string(),
            operator: user.is_operator,
            active: user.is_active(),
            projects: projects.into_iter().map(membership).collect(),
            created_at: user.created_at.to_string(),
        });
    }
    output.show(users.as_slice(), |users| {
        let row = |user: &ListedJson| {
            let projects = user.projects.iter().map(|project| format!("{} ({})", project.id, project.role));
            [
                user.id.clone(),
                user.email.clone(),
                yes_or_no(user.operator),
                yes_or_no(user.active),
                user.created_at.clone(),
                projects.collect::<Vec<_>>().join(", "),
            ]
        };
        let rows: Vec<_> = users.iter().map(row).collect();
        table(["ID", "EMAIL", "OPERATOR", "ACTIVE", "CREATED", "PROJECTS"], &rows)
    })
}

async fn password(email: &str, from_stdin: bool, engine: &Engine, output: Output) -> Result<(), CliError> {
    let user = find(engine, email).await?;
    let password = Password::get(from_stdin)?;
    engine.reset_password(&user, password.secret()).await?;
    let changed = PasswordJson { id: user.id.to_string(), email: user.email.to_string(), password: password.to_show() };
    output.show(&changed, |changed| {
        let lines = vec![("id", changed.id.clone()), ("email", changed.email.clone())];
        let text = with_password(lines, changed.password.as_deref());
        format!("{text}\n\nAll of the user's sessions have ended, and nobody has to wait before signing in.")
    })
}

/// The link is made of the configured address, as the server's own links are.
async fn reset(email: &str, pages_url: &PagesUrl, engine: &Engine, global: &GlobalOptions) -> Result<(), CliError> {
    let is_development = engine.is_development().await?;
    let pages_url = mail_options::pages_url(pages_url, is_development, global)?;
    let user = find(engine, email).await?;
    if !user.is_active() {
        let email = user.email.as_str();
        return Err(CliError::new(format!("{email} is deactivated; `lunas user activate {email}` lets them in again")));
    }
    let made = engine.make_reset_link(&user).await?;
    let reset = ResetJson {
        id: user.id.to_string(),
        email: user.email.to_string(),
        link: format!("{pages_url}{RESETS}{}", made.token.reveal()),
        expires_at: made.expires_at.to_string(),
    };
    global.output().show(&reset, |reset| {
        let lines = [
            ("id", reset.id.clone()),
            ("email", reset.email.clone()),
            ("link", reset.link.clone()),
            ("expires", reset.expires_at.clone()),
        ];
        format!("{}\n\n{HAND_OVER}", fields(&lines))
    })
}

/// Repeating it changes nothing and answers the same.
async fn set_operator(email: &str, is_operator: bool, engine: &Engine, output: Output) -> Result<(), CliError> {
    let user = find(engine, email).await?;
    engine.set_operator(&user, is_operator).await?;
    let set = OperatorJson { id: user.id.to_string(), email: user.email.to_string(), operator: is_operator };
    output.show(&set, |set| match set.operator {
        true => format!("{} is an operator now", set.email),
        false => format!("{} is no longer an operator", set.email),
    })
}

/// Deactivating a user again changes nothing but their keys, and answers the same.
async fn leave(options: LeavingOptions, how: Leaving, engine: &Engine, output: Output) -> Result<(), CliError> {
    let LeavingOptions { email, revoke_keys } = options;
    let user = find(engine, &email).await?;
    let keys = engine.keys_created_by(user.id).await?.into_iter().map(|key| key.id.to_string());
    let keys: Vec<String> = keys.collect();
    let left = match how {
        Leaving::Deactivated => engine.deactivate_user(&user, None, revoke_keys).await,
        Leaving::Removed => engine.remove_user(&user, None, revoke_keys).await,
    };
    left.map_err(|error| stays(&user, error))?;
    let (revoked_keys, working_keys) = if revoke_keys { (keys, Vec::new()) } else { (Vec::new(), keys) };
    let state = match how {
        Leaving::Deactivated => "deactivated",
        Leaving::Removed => "removed",
    };
    let left = LeftJson { id: user.id.to_string(), email: user.email.to_string(), state, revoked_keys, working_keys };
    output.show(&left, LeftJson::text)
}

impl LeftJson {
    fn text(&self) -> String {
        let mut lines = vec![format!("{} is {}, and all of their sessions have ended", self.email, self.state)];
        if !self.revoked_keys.is_empty() {
            lines.push(format!("revoked keys: {}", self.revoked_keys.join(", ")));
        }
        if !self.working_keys.is_empty() {
            let keys = self.working_keys.join(", ");
            lines.push(format!(
                "the user knows these keys, which go on working: {keys}; `lunas key revoke ID` revokes one"
            ));
        }
        lines.join("\n")
    }
}

fn stays(user: &User, error: Error) -> CliError {
    let email = user.email.as_str();
    match error {
        Error::LastOperator => CliError::new(format!(
            "{email} is the last active operator; make somebody else one with `lunas user operator` first"
        )),
        Error::OnlyOwner { projects } => CliError::new(format!(
            "{email} is the only active owner of {}; `lunas user add --role owner` adds another owner",
            projects.join(", ")
        )),
        error => error.into(),
    }
}

/// Repeating it changes nothing and answers the same.
async fn activate(email: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let user = find(engine, email).await?;
    engine.activate_user(&user, None).await?;
    let activated = ActivatedJson { id: user.id.to_string(), email: user.email.to_string(), state: "active" };
    output.show(&activated, |activated| format!("{} is active, and can sign in again", activated.email))
}

/// Repeating it changes nothing and answers the same.
async fn lift_factor(email: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let user = find(engine, email).await?;
    let lift_at = match engine.ask_to_lift_factor(&user).await {
        Err(Error::NotFound(_)) => {
            return Err(CliError::new(format!("{} has no second factor, so there is none to remove", user.email)));
        }
        lift_at => lift_at?,
    };
    let lifted = LiftedJson { id: user.id.to_string(), email: user.email.to_string(), lifted_at: lift_at.to_string() };
    output.show(&lifted, |lifted| {
        let what = format!("the second factor of {} is removed at {}", lifted.email, lifted.lifted_at);
        format!("{what}, unless the user refuses until then")
    })
}

async fn add(email: &str, project: &str, role: Role, engine: &Engine, output: Output) -> Result<(), CliError> {
    let project = joinable(engine, project, role).await?;
    let user = find(engine, email).await?;
    match engine.add_member(project.id, &user, role).await {
        Err(Error::Taken(_)) => {
            let what_to_do = "an owner of the project can change roles in the dashboard";
            let what = format!("{} is already a member of project {}", user.email, project.id);
            return Err(CliError::new(format!("{what}; {what_to_do}")));
        }
        added => added?,
    }
    let added = AddedJson {
        id: user.id.to_string(),
        email: user.email.to_string(),
        project_id: project.id.to_string(),
        role: role.word(),
    };
    output.show(&added, |added| format!("{} is {} of project {} now", added.email, added.role, added.project_id))
}

/// The project with the given id, if a user may join it in that role: the first member must be an owner.
async fn joinable(engine: &Engine, id: &str, role: Role) -> Result<Project, CliError> {
    let project = project::find(engine, id).await?;
    if role != Role::Owner && !engine.has_owner(project.id).await? {
        let what = format!("project {} has no owner yet, and its first member must be an owner", project.id);
        return Err(CliError::new(format!("{what}; use --role owner, or add another user as owner first")));
    }
    Ok(project)
}

/// The user with the given email address.
async fn find(engine: &Engine, email: &str) -> Result<User, CliError> {
    match engine.user_by_email(email).await {
        Err(Error::NotFound(_)) => {
            let what = format!("there is no user {} in this database", email.escape_debug());
            Err(CliError::new(format!(
                "{what}; `lunas user list` lists the users, and `lunas user create` creates one"
            )))
        }
        found => Ok(found?),
    }
}
