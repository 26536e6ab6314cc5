//! Second factors of users: adding, renewing their recovery codes, removing, and lifting for those who have lost theirs.
//!
//! While a factor is being added, nothing is stored: its secret is derived from the id of the form, and stored once a first code
//! proves that the app has it.

use std::collections::HashMap;

use domain::{
    audit::Deed,
    id::{ProjectId, UserId},
    rules::Invalid,
    second_factor::{FactorAnswer, FactorSecret, LIFT_DELAY, RecoveryCode, SecondFactor},
    time::Timestamp,
    user::User,
};
use letters::FactorChange;
use secrecy::ExposeSecret;
use store::{Change, CommitError, FactorWrite, Guard, SealedColumn, SessionWrite, StoredFactor, Write};

use crate::{
    Engine, Error, Visit,
    forms::{SentForm, is_form_used},
};

/// Factors that are lifted in one round.
const LIFTED_AT_ONCE: i64 = 100;

/// A user's second factor as their account page shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactorState {
    pub factor: SecondFactor,
    /// Recovery codes that were not used yet.
    pub codes_left: i64,
}

impl Engine {
    /// The user's second factor, if they have one that counts.
    pub async fn factor_state(&self, user_id: UserId) -> Result<Option<FactorState>, Error> {
        let Some(stored) = self.live_factor(user_id).await? else { return Ok(None) };
        Ok(Some(FactorState { factor: stored.factor, codes_left: self.store.recovery_codes_left(user_id).await? }))
    }

    pub(crate) async fn live_factor(&self, user_id: UserId) -> Result<Option<StoredFactor>, Error> {
        let now = self.now();
        Ok(self.store.second_factor(user_id).await?.filter(|stored| stored.factor.is_live_at(now)))
    }

    /// The second factors that count, of these users.
    pub async fn factors_of(&self, users: &[User]) -> Result<HashMap<UserId, SecondFactor>, Error> {
        let mut factors = HashMap::new();
        for user in users {
            if let Some(stored) = self.live_factor(user.id).await? {
                factors.insert(user.id, stored.factor);
            }
        }
        Ok(factors)
    }

    /// An error where a user who needs a second factor has none.
    pub(crate) fn check_factor(&self, visit: &Visit, project_needs_it: bool) -> Result<(), Error> {
        let is_missing = visit.factor.is_none() && (project_needs_it || self.settings.factor_required);
        if is_missing { Err(Error::FactorMissing) } else { Ok(()) }
    }

    /// Whether the user can open nothing else before they have added a second factor: the installation or one of their projects
    /// demands it.
    pub async fn needs_factor(&self, visit: &Visit) -> Result<bool, Error> {
        let is_demanded = self.settings.factor_required || self.store.is_factor_required_of(visit.user.id).await?;
        Ok(is_demanded && visit.factor.is_none())
    }

    /// What accepting an answer writes; none where it is wrong.
    pub(crate) async fn judge_answer(&self, user: &User, typed: &str) -> Result<Option<Vec<Write>>, Error> {
        let user_id = user.id;
        let Some(stored) = self.live_factor(user_id).await? else { return Ok(None) };
        Ok(match FactorAnswer::parse(typed) {
            Some(FactorAnswer::Code(code)) => {
                let step = self.factor_secret(user_id, &stored)?.step_of(&code, self.now(), stored.last_step);
                step.map(|step| vec![FactorWrite::CodeAccepted { user_id, step }.into()])
            }
            Some(FactorAnswer::Recovery(code)) => {
                let hash = code.hash(user_id);
                if !self.store.has_recovery_code(user_id, &hash).await? {
                    return Ok(None);
                }
                let left = self.store.recovery_codes_left(user_id).await?.saturating_sub(1);
                let used = FactorChange::RecoveryCodeUsed { left: u32::try_from(left).unwrap_or_default() };
                let accepted = [
                    FactorWrite::RecoveryCodeUsed { user_id, hash, at: self.now() }.into(),
                    self.audit(None, Deed::RecoveryCodeUsed, &user.email, ""),
                ];
                Some(accepted.into_iter().chain(self.factor_letter(user, used)?).collect())
            }
            None => None,
        })
    }

    fn factor_secret(&self, user_id: UserId, stored: &StoredFactor) -> Result<FactorSecret, Error> {
        let opened = self.vault.unseal(SealedColumn::FactorSecret, &user_id.to_string(), &stored.sealed)?;
        FactorSecret::of_bytes(opened.secret.expose_secret()).ok_or(Error::Vault(crate::VaultError::CannotOpen))
    }

    /// The secret of a factor that is being added; `form` identifies the form that shows it.
    pub async fn new_factor_secret(&self, visit: &Visit, form: &str) -> Result<FactorSecret, Error> {
        self.fresh_proof(visit).await?;
        if visit.factor.is_some() {
            return Err(Error::Taken("a second factor"));
        }
        Ok(self.secret_of_form(visit, form))
    }

    fn secret_of_form(&self, visit: &Visit, form: &str) -> FactorSecret {
        let (user, session) = (visit.user.id, visit.session.id);
        FactorSecret::of_seed(self.vault.derive(&format!("second factor {user} {session} {form}")))
    }

    /// Adds the factor whose secret a form has shown, once `code` proves it; answers its recovery codes. All other sessions end, as
    /// they have not shown it. A form that is sent twice adds once, and answers the same.
    pub async fn add_factor(&self, visit: &Visit, form: &str, code: &str) -> Result<Vec<RecoveryCode>, Error> {
        self.fresh_proof(visit).await?;
        let (user_id, now) = (visit.user.id, self.now());
        let sent = self.sent_form(user_id, "second factor", Some(form), &[]);
        if self.created_by_form(&sent).await?.is_some() {
            return self.codes_of_form(user_id, &sent).await;
        }
        let secret = self.secret_of_form(visit, form);
        let step = match FactorAnswer::parse(code) {
            Some(FactorAnswer::Code(code)) => secret.step_of(&code, now, i64::MIN),
            Some(FactorAnswer::Recovery(_)) | None => None,
        };
        let step = step.ok_or_else(|| Error::from(Invalid::new("code", "is not the code that the app shows now")))?;
        let sealed = self.vault.seal(SealedColumn::FactorSecret, &user_id.to_string(), secret.reveal())?;
        let codes = RecoveryCode::all_of(&sent.seed());
        let hashes = codes.iter().map(|code| code.hash(user_id)).collect();
        let change = Change::default()
            .with_all(sent.sent(user_id, now))
            .with(FactorWrite::Added { user_id, sealed, at: now, step, codes: hashes })
            .with(SessionWrite::Proved { id: visit.session.id, user_id, at: now, by_factor: true })
            .with(SessionWrite::AllEnded { user_id, but: Some(visit.session.id) })
            .with_all(self.by(visit.actor()).change_of_factor(&visit.user, Deed::FactorAdded, FactorChange::Added)?);
        match self.store.commit(change).await.map_err(Error::from) {
            Ok(()) => Ok(codes),
            Err(error) if is_form_used(&error) => self.codes_of_form(user_id, &sent).await,
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::FactorPresent))) => {
                Err(Error::Taken("a second factor"))
            }
            Err(error) => Err(error),
        }
    }

    /// The recovery codes that a form has made, while some of them can still be used.
    async fn codes_of_form(&self, user_id: UserId, form: &SentForm) -> Result<Vec<RecoveryCode>, Error> {
        let codes = RecoveryCode::all_of(&form.seed());
        for code in &codes {
            if self.store.has_recovery_code(user_id, &code.hash(user_id)).await? {
                return Ok(codes);
            }
        }
        Err(Error::FormUsed)
    }

    /// Replaces the user's recovery codes by new ones. A form that is sent twice does it once, and answers the same.
    pub async fn renew_recovery_codes(&self, visit: &Visit, form: &str) -> Result<Vec<RecoveryCode>, Error> {
        self.fresh_proof(visit).await?;
        let (user_id, now) = (visit.user.id, self.now());
        let sent = self.sent_form(user_id, "recovery codes", Some(form), &[]);
        if self.created_by_form(&sent).await?.is_some() {
            return self.codes_of_form(user_id, &sent).await;
        }
        let codes = RecoveryCode::all_of(&sent.seed());
        let hashes = codes.iter().map(|code| code.hash(user_id)).collect();
        let change = Change::default()
            .with_all(sent.sent(user_id, now))
            .with(FactorWrite::RecoveryCodesRenewed { user_id, codes: hashes })
            .with_all(self.by(visit.actor()).change_of_factor(
                &visit.user,
                Deed::RecoveryCodesRenewed,
                FactorChange::CodesRenewed,
            )?);
        match self.store.commit(change).await.map_err(Error::from) {
            Ok(()) => Ok(codes),
            Err(error) if is_form_used(&error) => self.codes_of_form(user_id, &sent).await,
            Err(error) => Err(no_factor(error)),
        }
    }

    pub async fn remove_factor(&self, visit: &Visit) -> Result<(), Error> {
        self.fresh_proof(visit).await?;
        let engine = self.by(visit.actor());
        let change = Change::from(FactorWrite::Removed { user_id: visit.user.id }).with_all(engine.change_of_factor(
            &visit.user,
            Deed::FactorRemoved,
            FactorChange::Removed,
        )?);
        self.store.commit(change).await.map_err(|error| no_factor(error.into()))
    }

    /// Asks for the factor of a user to be lifted, who has lost it; answers when that takes effect. Until then the user can refuse
    /// it. Asking again changes nothing.
    pub async fn ask_to_lift_factor(&self, user: &User) -> Result<Timestamp, Error> {
        let stored = self.live_factor(user.id).await?.ok_or(Error::NotFound("second factor"))?;
        if let Some(lift_at) = stored.factor.lift_at {
            return Ok(lift_at);
        }
        let lift_at = self.now().plus(LIFT_DELAY);
        let change = Change::from(FactorWrite::LiftAsked { user_id: user.id, lift_at })
            .with(self.audit(None, Deed::FactorLiftAsked, &user.email, lift_at))
            .with_all(self.factor_letter(user, FactorChange::LiftAsked { lifted_at: lift_at })?);
        match self.store.commit(change).await {
            Ok(()) => Ok(lift_at),
            // Somebody else has asked at this moment, or the user has removed it.
            Err(CommitError::Conflict(Guard::FactorPresent)) => {
                let lift_at = self.live_factor(user.id).await?.and_then(|stored| stored.factor.lift_at);
                lift_at.ok_or(Error::NotFound("second factor"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The user keeps a factor that somebody has asked to lift.
    pub async fn refuse_lift(&self, visit: &Visit) -> Result<(), Error> {
        let change = Change::from(FactorWrite::LiftRefused { user_id: visit.user.id, at: self.now() })
            .with(self.by(visit.actor()).audit(None, Deed::FactorLiftRefused, &visit.user.email, ""));
        self.store.commit(change).await.map_err(|error| no_factor(error.into()))
    }

    /// Deletes factors that count no more, as they were to be lifted by now; answers how many. They have not counted since the
    /// moment that was set, so this only keeps the tables tidy and tells the audit log.
    pub async fn lift_due_factors(&self) -> Result<usize, Error> {
        let due = self.store.factors_to_lift(self.now(), LIFTED_AT_ONCE).await?;
        for user_id in &due {
            self.lift_factor(*user_id).await?;
        }
        Ok(due.len())
    }

    async fn lift_factor(&self, user_id: UserId) -> Result<(), Error> {
        let Some(user) = self.store.user(user_id).await? else { return Ok(()) };
        let change = Change::from(FactorWrite::Lifted { user_id, at: self.now() }).with_all(self.change_of_factor(
            &user,
            Deed::FactorLifted,
            FactorChange::Lifted,
        )?);
        match self.store.commit(change).await {
            // Another node has lifted it, or the user has added another one.
            Ok(()) | Err(CommitError::Conflict(Guard::FactorPresent)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The line of the audit log about a change of a user's factor, and the letter that tells the user of it.
    fn change_of_factor(&self, user: &User, deed: Deed, change: FactorChange) -> Result<Vec<Write>, Error> {
        let line = self.audit(None, deed, &user.email, "");
        Ok([line].into_iter().chain(self.factor_letter(user, change)?).collect())
    }

    /// Whether every member of the project needs a second factor.
    pub(crate) async fn requires_factor(&self, id: ProjectId) -> Result<bool, Error> {
        Ok(self.store.requires_factor(id).await?)
    }
}

/// The error for a user whose factor is gone.
fn no_factor(error: Error) -> Error {
    match error {
        Error::UnexpectedConflict(CommitError::Conflict(Guard::FactorPresent)) => Error::NotFound("second factor"),
        other => other,
    }
}
