//! Projects: creating and configuring them.

use std::{collections::BTreeSet, sync::Arc};

use domain::{
    api_key::BASE62,
    audit::Deed,
    bank::Bank,
    colour::Colour,
    event::EventKind,
    face::{Contacts, Face, LogoMark},
    fee::FeeOverrides,
    id::ProjectId,
    method::Method,
    project::{Environment, MerchantProfile, Project, SuccessWord, initial_default_methods},
    refund_settings::RefundSettings,
    rules::{MERCHANT_NAME, PROJECT_NAME},
};
use store::{Change, CommitError, Guard, ProjectWrite, SealedColumn, Write};

use crate::{DECIDE_MOST, Engine, Error, logos::NewLogo, random_text, vault::Unsealed};

const WEBHOOK_SECRET_CHARACTERS: usize = 32;
/// The name of the installation's value that says what kind of installation it is.
const INSTALLATION_KIND: &str = "kind";
const DEVELOPMENT: &str = "development";

#[derive(Clone, Debug)]
pub struct NewProject {
    pub name: String,
    pub environment: Environment,
    /// The name that customers see; the project's name if none is given.
    pub merchant_name: Option<String>,
}

/// Changes of a project's settings; `None` leaves a setting as it is.
#[derive(Clone, Default)]
pub struct ProjectUpdate {
    pub merchant: Option<MerchantProfile>,
    pub active: Option<bool>,
    pub approved: Option<bool>,
    pub success_word: Option<SuccessWord>,
    /// `Some(None)` removes the URL.
    pub webhook_url: Option<Option<String>>,
    pub extra_events: Option<Vec<EventKind>>,
    pub fees: Option<FeeOverrides>,
    pub banks: Option<Vec<Bank>>,
    pub default_methods: Option<Vec<Method>>,
    pub allowed_origins: Option<Vec<String>>,
    /// `Some(None)` removes the logo.
    pub logo: Option<Option<NewLogo>>,
    /// `Some(None)` goes back to the colour of our own pages.
    pub colour: Option<Option<Colour>>,
    pub contacts: Option<Contacts>,
    pub frame_origins: Option<Vec<String>>,
    pub refunds: Option<RefundSettings>,
}

impl ProjectUpdate {
    /// Whether a member must prove that they are there before they change this: which pages may call the API or hold the
    /// checkout, which ways to pay are offered, and which refunds wait for an approval. What customers see of the shop does not weigh that much.
    pub(crate) fn weighs_much(&self) -> bool {
        self.allowed_origins.is_some()
            || self.frame_origins.is_some()
            || self.banks.is_some()
            || self.default_methods.is_some()
            || self.refunds.is_some()
    }
}

impl Engine {
    pub async fn create_project(&self, new: NewProject) -> Result<(Project, Unsealed), Error> {
        self.create_project_with(new, |_| Ok(Vec::<Write>::new())).await
    }

    /// Creates a project, and commits the writes of `besides` with it.
    pub(crate) async fn create_project_with<W: Into<Write>>(
        &self,
        new: NewProject,
        besides: impl FnOnce(&Project) -> Result<Vec<W>, Error>,
    ) -> Result<(Project, Unsealed), Error> {
        let now = self.now();
        let name = PROJECT_NAME.check(new.name)?;
        let merchant_name = MERCHANT_NAME.check(new.merchant_name.unwrap_or_else(|| name.clone()))?;
        let project = Project {
            id: self.mint(now),
            name,
            environment: new.environment,
            merchant: MerchantProfile {
                name: merchant_name,
                city: "JAKARTA".to_owned(),
                postal_code: "10110".to_owned(),
            },
            active: true,
            approved: new.environment == Environment::Sandbox,
            success_word: SuccessWord::default(),
            webhook_url: None,
            extra_events: Vec::new(),
            face: Face::default(),
            fees: FeeOverrides::default(),
            banks: Bank::ALL.to_vec(),
            default_methods: initial_default_methods(),
            frame_origins: Vec::new(),
            refunds: RefundSettings::default(),
            accounts: Vec::new(),
            created_at: now,
            version: 1,
        };
        let secret = new_webhook_secret();
        let sealed_webhook_secret = self.seal_webhook_secret(SealedColumn::WebhookSecret, project.id, &secret)?;
        let change = Change::from(ProjectWrite::Created { project: project.clone(), sealed_webhook_secret })
            .with(self.audit(Some(project.id), Deed::ProjectCreated, &project.name, project.environment.word()))
            .with_all(besides(&project)?);
        self.store.commit(change).await?;
        Ok((project, secret))
    }

    pub async fn project(&self, id: ProjectId) -> Result<Project, Error> {
        self.store.project(id).await?.ok_or(Error::NotFound("project"))
    }

    /// A project whose version the caller has just read from the database. The answer may be newer.
    pub(crate) async fn project_at(&self, id: ProjectId, version: i64) -> Result<Arc<Project>, Error> {
        if let Some(project) = self.projects.get(id, version) {
            return Ok(project);
        }
        let project = Arc::new(self.project(id).await?);
        self.projects.put(&project);
        Ok(project)
    }

    pub async fn projects(&self) -> Result<Vec<Project>, Error> {
        Ok(self.store.projects().await?)
    }

    pub async fn update_project(&self, id: ProjectId, update: ProjectUpdate) -> Result<Project, Error> {
        if let Some(Some(url)) = &update.webhook_url {
            self.check_webhook_url(url, &self.project(id).await?).await?;
        }
        for _ in 0..DECIDE_MOST {
            let before = self.project(id).await?;
            let lines = self.changes(&before, &self.allowed_origins(id).await?, &update);
            let project = updated(before, update.clone());
            let origins = update.allowed_origins.clone();
            let origins = origins.map(|origins| ProjectWrite::AllowedOrigins { project_id: id, origins });
            let logo = update.logo.clone();
            let logo = logo.map(|logo| ProjectWrite::Logo { project_id: id, logo: logo.map(|logo| logo.file) });
            let change =
                Change::from(ProjectWrite::Changed { project }).with_all(origins).with_all(logo).with_all(lines);
            match self.store.commit(change).await {
                Ok(()) => return self.project(id).await,
                Err(CommitError::Conflict(Guard::ProjectVersion)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The audit lines of an update: one each for the URL, the approval and the activation, and one for all other
    /// settings.
    fn changes(&self, before: &Project, origins: &[String], update: &ProjectUpdate) -> Vec<Write> {
        let audit = |deed, detail: &str| self.audit(Some(before.id), deed, &before.name, detail);
        let mut lines = Vec::new();
        if let Some(url) = update.webhook_url.as_ref().filter(|url| **url != before.webhook_url) {
            lines.push(audit(Deed::WebhookUrlChanged, url.as_deref().unwrap_or_default()));
        }
        lines.extend(
            update
                .approved
                .filter(|approved| *approved != before.approved)
                .map(|approved| audit(if approved { Deed::ProjectApproved } else { Deed::ApprovalWithdrawn }, "")),
        );
        lines.extend(
            update
                .active
                .filter(|active| *active != before.active)
                .map(|active| audit(if active { Deed::ProjectActivated } else { Deed::ProjectDeactivated }, "")),
        );
        let settings = [
            ("merchant", is_another(update.merchant.as_ref(), &before.merchant)),
            ("success_word", is_another(update.success_word.as_ref(), &before.success_word)),
            ("extra_events", is_another(update.extra_events.as_ref(), &before.extra_events)),
            ("fees", is_another(update.fees.as_ref(), &before.fees)),
            ("banks", is_another(update.banks.as_ref(), &before.banks)),
            ("default_methods", is_another(update.default_methods.as_ref(), &before.default_methods)),
            ("logo", is_another(update.logo.as_ref().map(mark_of).as_ref(), &before.face.logo)),
            ("colour", is_another(update.colour.as_ref(), &before.face.colour)),
            ("contacts", is_another(update.contacts.as_ref(), &before.face.contacts)),
            ("refunds", is_another(update.refunds.as_ref(), &before.refunds)),
            ("frame_origins", is_another(update.frame_origins.as_ref(), &before.frame_origins)),
            ("allowed_origins", is_another(update.allowed_origins.as_deref().map(by_name).as_ref(), &by_name(origins))),
        ];
        let changed: Vec<&str> = settings.into_iter().filter_map(|(name, changed)| changed.then_some(name)).collect();
        if !changed.is_empty() {
            lines.push(audit(Deed::SettingsChanged, &changed.join(", ")));
        }
        lines
    }

    pub async fn allowed_origins(&self, id: ProjectId) -> Result<Vec<String>, Error> {
        Ok(self.store.allowed_origins(id).await?)
    }

    pub async fn allows_origin(&self, id: ProjectId, origin: &str) -> Result<bool, Error> {
        Ok(self.store.allows_origin(id, origin).await?)
    }

    pub async fn anyone_allows_origin(&self, origin: &str) -> Result<bool, Error> {
        Ok(self.store.anyone_allows_origin(origin).await?)
    }

    /// Marks the installation as one for development, permanently.
    pub async fn mark_development(&self) -> Result<(), Error> {
        let write = Write::Installation { name: INSTALLATION_KIND, value: DEVELOPMENT.to_owned() };
        match self.store.commit(write.into()).await {
            Ok(()) | Err(CommitError::Conflict(Guard::InstallationUnset)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn is_development(&self) -> Result<bool, Error> {
        Ok(self.store.installation(INSTALLATION_KIND).await?.as_deref() == Some(DEVELOPMENT))
    }
}

pub(crate) fn new_webhook_secret() -> Unsealed {
    format!("whsec_{}", random_text(BASE62, WEBHOOK_SECRET_CHARACTERS)).into()
}

/// Whether a value is given that differs from the present one.
fn is_another<T: PartialEq>(wanted: Option<&T>, present: &T) -> bool {
    wanted.is_some_and(|wanted| wanted != present)
}

fn mark_of(logo: &Option<NewLogo>) -> Option<LogoMark> {
    logo.as_ref().map(|logo| logo.mark.clone())
}

/// Origins as a set, since their order does not matter.
fn by_name(origins: &[String]) -> BTreeSet<String> {
    origins.iter().cloned().collect()
}

fn updated(project: Project, update: ProjectUpdate) -> Project {
    let face = Face {
        logo: update.logo.as_ref().map_or(project.face.logo, mark_of),
        colour: update.colour.unwrap_or(project.face.colour),
        contacts: update.contacts.unwrap_or(project.face.contacts),
    };
    Project {
        face,
        merchant: update.merchant.unwrap_or(project.merchant),
        active: update.active.unwrap_or(project.active),
        approved: update.approved.unwrap_or(project.approved),
        success_word: update.success_word.unwrap_or(project.success_word),
        webhook_url: update.webhook_url.unwrap_or(project.webhook_url),
        extra_events: update.extra_events.unwrap_or(project.extra_events),
        fees: update.fees.unwrap_or(project.fees),
        banks: update.banks.unwrap_or(project.banks),
        default_methods: update.default_methods.unwrap_or(project.default_methods),
        frame_origins: update.frame_origins.unwrap_or(project.frame_origins),
        refunds: update.refunds.unwrap_or(project.refunds),
        ..project
    }
}
