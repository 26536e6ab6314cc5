//! Fresh proof that the user is there: what weighs much is done only within minutes of a sign-in, or of a proof that the user was
//! asked for since. The proof is the second factor where there is one, else the password. So a session that somebody finds
//! open, or whose cookie is stolen, is not enough to move money, to give rights or to read secrets.

use domain::{id::SessionId, rules::Invalid, second_factor::is_fresh, user::User};
use secrecy::{ExposeSecret, SecretString};
use store::{Change, CommitError, Guard, PeopleWrite, SessionWrite, Write};

use crate::{
    Engine, Error, Visit,
    sign_in::{Admission, Counted, LONGEST_DELAY, Limit, subject},
};

/// The session whose proof is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Prover {
    session_id: SessionId,
    has_factor: bool,
}

impl Visit {
    pub(crate) fn prover(&self) -> Prover {
        Prover { session_id: self.session.id, has_factor: self.factor.is_some() }
    }
}

impl Engine {
    /// An error where the user has to prove first that they are there.
    pub async fn fresh_proof(&self, visit: &Visit) -> Result<(), Error> {
        self.check_proof(visit.prover()).await
    }

    /// The same for a desk. The proof is read anew, since it may have been given after the desk was opened.
    pub(crate) async fn check_proof(&self, prover: Prover) -> Result<(), Error> {
        let proof = self.store.session_proof(prover.session_id).await?;
        let now = self.now();
        let counts = |(at, by_factor): (_, bool)| is_fresh(at, now) && (by_factor || !prover.has_factor);
        if proof.is_some_and(counts) { Ok(()) } else { Err(Error::ProofNeeded) }
    }

    /// Takes a proof: a code of the second factor or a recovery code where the user has a factor, else their password. Wrong ones
    /// slow down the session that they come from, and no other.
    pub async fn prove(&self, visit: &Visit, typed: SecretString) -> Result<(), Error> {
        let session = subject("session", &visit.session.id.to_string());
        let counted = Counted {
            subjects: vec![(session.clone(), Limit::Delay { longest: LONGEST_DELAY })],
            forgiven: Some(session),
            address: None,
        };
        let accepted = match visit.factor {
            Some(_) => self.accepted_answer(&visit.user, typed, visit, &counted).await?,
            None => self.accepted_password(&visit.user, typed, &counted).await?,
        };
        let (id, user_id, at) = (visit.session.id, visit.user.id, self.now());
        let change = Change::default()
            .with_all(accepted)
            .with(SessionWrite::Succeeded { forgiven: counted.forgiven, address: None })
            .with(SessionWrite::Proved { id, user_id, at, by_factor: visit.factor.is_some() });
        match self.store.commit(change).await {
            Ok(()) => Ok(()),
            // The same code was used elsewhere at this moment, or the password was changed.
            Err(CommitError::Conflict(Guard::FactorCode | Guard::PasswordUnchanged)) => Err(wrong_proof()),
            Err(CommitError::Conflict(Guard::SessionLive)) => Err(Error::NotFound("session")),
            Err(error) => Err(error.into()),
        }
    }

    async fn accepted_answer(
        &self,
        user: &User,
        typed: SecretString,
        visit: &Visit,
        counted: &Counted,
    ) -> Result<Vec<Write>, Error> {
        if let Some(until) = self.count_attempt(counted).await? {
            return Err(Error::TryLater { until });
        }
        let accepted = self.by(visit.actor()).judge_answer(user, typed.expose_secret()).await?;
        accepted.ok_or_else(wrong_proof)
    }

    async fn accepted_password(
        &self,
        user: &User,
        typed: SecretString,
        counted: &Counted,
    ) -> Result<Vec<Write>, Error> {
        let turn = match self.admit(counted).await? {
            Admission::Granted(turn) => turn,
            Admission::Wait { until } => return Err(Error::TryLater { until }),
        };
        let kept = self.store.password_of(user.id).await?;
        if !self.hasher.matches(turn, typed, kept.clone()).await? {
            return Err(wrong_proof());
        }
        Ok(kept
            .map(|password| PeopleWrite::PasswordUnchanged { user_id: user.id, password }.into())
            .into_iter()
            .collect())
    }
}

fn wrong_proof() -> Error {
    Invalid::new("proof", "is not right").into()
}
