//! Setting bank accounts up: creating them, their settings, enabling them, and which projects use them.

use std::collections::BTreeMap;

use domain::{
    audit::Deed,
    bank_account::{ACCOUNT_NAME, BankAccount, Credential},
    id::{BankAccountId, ProjectId},
    method::Method,
    project::{Environment, Project},
};
use gateway::snap::{Codes, Hosting, Profile, SignIn, check_base_url};
use store::{BankWrite, Change, CommitError, Guard, Write};

use super::{go_live::missing, open_account::understood};
use crate::{DECIDE_MOST, Engine, Error, bank_error::BankError};

/// The setting that names the bank's own address.
const BASE_URL: &str = "base_url";

pub struct NewBankAccount {
    pub name: String,
    pub profile: String,
    pub settings: BTreeMap<String, String>,
}

impl Engine {
    /// Creates an account, disabled.
    pub async fn create_bank_account(&self, new: NewBankAccount) -> Result<BankAccount, Error> {
        let now = self.now();
        let account = BankAccount {
            id: self.mint(now),
            name: ACCOUNT_NAME.check(new.name)?,
            profile: new.profile,
            settings: new.settings,
            enabled: false,
            created_at: now,
            version: 1,
        };
        self.check_settings(&account).await?;
        let line =
            self.audit(None, Deed::BankAccountCreated, account.id, format!("{} {}", account.profile, account.name));
        self.store.commit(Change::from(BankWrite::AccountCreated { account: account.clone() }).with(line)).await?;
        Ok(account)
    }

    pub async fn bank_account(&self, id: BankAccountId) -> Result<BankAccount, Error> {
        self.store.bank_account(id).await?.ok_or(Error::NotFound("bank account"))
    }

    /// Changes settings. An empty value takes the account's own setting away, so that the profile's holds again.
    pub async fn set_bank_account(
        &self,
        id: BankAccountId,
        settings: &BTreeMap<String, String>,
    ) -> Result<BankAccount, Error> {
        let names: Vec<&str> = settings.keys().map(String::as_str).collect();
        self.change_bank_account(id, |account, _| {
            for (name, value) in settings {
                match value.is_empty() {
                    true => account.settings.remove(name),
                    false => account.settings.insert(name.clone(), value.clone()),
                };
            }
            Ok(vec![self.audit(None, Deed::BankAccountChanged, id, names.join(", "))])
        })
        .await?;
        self.bank_account(id).await
    }

    /// Lets the account take money, or stops it. It is enabled only when nothing is missing.
    pub async fn enable_bank_account(&self, id: BankAccountId, enabled: bool) -> Result<BankAccount, Error> {
        let deed = if enabled { Deed::BankAccountEnabled } else { Deed::BankAccountDisabled };
        self.change_bank_account(id, |account, _| {
            account.enabled = enabled;
            Ok(vec![self.audit(None, deed, id, "")])
        })
        .await?;
        self.bank_account(id).await
    }

    /// Lets a production project take payments of `method` by this account.
    pub async fn assign_bank_account(
        &self,
        id: BankAccountId,
        project_id: ProjectId,
        method: Method,
    ) -> Result<Project, Error> {
        let account = self.bank_account(id).await?;
        let (profile, parameters) = understood(&account)?;
        check_method(profile, parameters.codes, method)?;
        let project = self.project(project_id).await?;
        if project.environment != Environment::Production {
            return Err(BankError::NotProduction.into());
        }
        self.assign(&project, method, Some(id), format!("{method} by {id}")).await
    }

    /// Takes a method away from a project.
    pub async fn unassign_bank_account(&self, project_id: ProjectId, method: Method) -> Result<Project, Error> {
        let project = self.project(project_id).await?;
        self.assign(&project, method, None, format!("{method} by none")).await
    }

    async fn assign(
        &self,
        project: &Project,
        method: Method,
        account_id: Option<BankAccountId>,
        detail: String,
    ) -> Result<Project, Error> {
        let line = self.audit(Some(project.id), Deed::BankAccountAssigned, &project.name, detail);
        let write = BankWrite::Assigned { project_id: project.id, method, account_id };
        self.store.commit(Change::from(write).with(line)).await?;
        self.project(project.id).await
    }

    /// Changes an account with what `change` makes of it and of its credentials, and commits the writes that `change`
    /// returns with it. When somebody else has changed the account in between, that is tried again on what they left.
    /// Returns the credentials as they were before.
    pub(in crate::banks) async fn change_bank_account(
        &self,
        id: BankAccountId,
        change: impl Fn(&mut BankAccount, &[Credential]) -> Result<Vec<Write>, Error>,
    ) -> Result<Vec<Credential>, Error> {
        for _ in 0..DECIDE_MOST {
            let before = self.bank_account(id).await?;
            let credentials = self.bank_credentials(id).await?;
            let mut account = before.clone();
            let writes = change(&mut account, &credentials)?;
            if account != before {
                self.check_settings(&account).await?;
                check_complete(&account, &credentials)?;
            }
            let BankAccount { version, settings, enabled, .. } = account;
            let write = BankWrite::AccountChanged { id, version, settings, enabled };
            match self.store.commit(Change::from(write).with_all(writes)).await {
                Ok(()) => return Ok(credentials),
                Err(CommitError::Conflict(Guard::BankAccountVersion)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// Checks that the profile exists and understands all settings. Only an installation for development may name an
    /// address without TLS.
    async fn check_settings(&self, account: &BankAccount) -> Result<(), Error> {
        understood(account)?;
        if let Some(url) = account.settings.get(BASE_URL) {
            check_base_url(url, self.is_development().await?).map_err(BankError::from)?;
        }
        Ok(())
    }
}

/// Nothing that an account needs may be missing while it takes money.
fn check_complete(account: &BankAccount, credentials: &[Credential]) -> Result<(), BankError> {
    let (_, parameters) = understood(account)?;
    if !account.enabled {
        return Ok(());
    }
    // Where the bank asks us to take money, what it says must be signed; where it only tells us, we ask it ourselves.
    let is_asked = parameters.codes.has_va() && parameters.hosting == Hosting::Ours;
    if is_asked && parameters.sign_in == SignIn::ClientTimestamp {
        return Err(BankError::BodyUnsigned);
    }
    let missing = missing(&parameters, credentials);
    if missing.is_empty() { Ok(()) } else { Err(BankError::Missing(missing)) }
}

/// An account serves the codes that it issues: its bank's virtual accounts or any bank's, QRIS, or both.
fn check_method(profile: &'static Profile, codes: Codes, method: Method) -> Result<(), BankError> {
    match profile.serves(codes, method) {
        true => Ok(()),
        false => Err(BankError::OtherMethod {
            profile: profile.name,
            serves: profile.served(codes),
            method: method.to_string(),
        }),
    }
}
