//! The second step of signing in: the code of the app, or a recovery code. Only somebody who has given the right password gets here.
//!
//! Wrong codes make the account wait, up to a quarter of an hour each, but not in browsers in which its user has shown the
//! factor before: nobody can keep them out of there. Who has the password and not the factor guesses a hundred of a million codes a
//! day. Recovery codes cannot be guessed and are counted apart, so a user whom somebody makes wait gets in by one of them.

use domain::{audit::Actor, id::UserId, second_factor::FactorAnswer, time::Timestamp};
use secrecy::{ExposeSecret, SecretString};
use store::{Change, CommitError, Guard, PeopleWrite, SessionWrite};

use crate::{
    Engine, Error, NewSession, Whereabouts,
    known_browsers::{Account, entry_since},
    pending_sign_ins,
    sign_in::{Counted, LONGEST_DELAY, Limit, STRANGERS_LONGEST_DELAY, subject},
};

/// The outcome of the second step.
pub enum CodeAnswer {
    Done(NewSession),
    Wrong,
    /// Too many codes were wrong; this one was not looked at.
    Wait {
        until: Timestamp,
    },
    /// The first step was too long ago or in another browser, or what it was based on has changed.
    Over,
}

impl Engine {
    /// Whether the visitor has given the right password, and must show their second factor next.
    pub fn is_sign_in_pending(&self, from: &Whereabouts) -> bool {
        self.pending_sign_in(from).is_some()
    }

    fn pending_sign_in(&self, from: &Whereabouts) -> Option<pending_sign_ins::PendingSignIn> {
        pending_sign_ins::read(&self.vault, from.pending.as_deref()?, &from.browser, self.now())
    }

    /// Signs a visitor in who has given the right password before.
    pub async fn finish_sign_in(&self, typed: SecretString, from: &Whereabouts) -> Result<CodeAnswer, Error> {
        let Some(pending) = self.pending_sign_in(from) else { return Ok(CodeAnswer::Over) };
        let used = subject("pending", &pending.name);
        if self.blocked_until(std::slice::from_ref(&used)).await?.is_some() {
            return Ok(CodeAnswer::Over);
        }
        let (Some(user), Some(password)) =
            (self.store.user(pending.user_id).await?, self.store.password_of(pending.user_id).await?)
        else {
            return Ok(CodeAnswer::Over);
        };
        let Some(stored) = self.live_factor(user.id).await?.filter(|_| pending.is_for(&password)) else {
            return Ok(CodeAnswer::Over);
        };
        let Some(answer) = FactorAnswer::parse(typed.expose_secret()) else { return Ok(CodeAnswer::Wrong) };
        let account = Account { email: &user.email, password: &password };
        let counted = self.codes_counted(user.id, account, stored.factor.added_at, &answer, from);
        if let Some(until) = self.count_attempt(&counted).await? {
            return Ok(CodeAnswer::Wait { until });
        }
        let engine = self.by(Actor::User { id: user.id, address: from.address.clone() });
        let Some(accepted) = engine.judge_answer(&user, typed.expose_secret()).await? else {
            self.audit_refusal(Some(&user.email), from).await?;
            return Ok(CodeAnswer::Wrong);
        };
        let change = Change::from(PeopleWrite::PasswordUnchanged { user_id: user.id, password: password.clone() })
            .with_all(accepted)
            .with(SessionWrite::Succeeded { forgiven: counted.forgiven, address: None })
            .with(SessionWrite::Paused { subject: used, at: self.now(), until: pending.expires_at });
        match self.begin_session(change, &user, &password, from, true).await {
            Ok(session) => Ok(CodeAnswer::Done(session)),
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::FactorCode))) => Ok(CodeAnswer::Wrong),
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::PasswordUnchanged | Guard::SignInAllowed))) => {
                Ok(CodeAnswer::Over)
            }
            Err(error) => Err(error),
        }
    }

    /// What an answer counts against. A browser counts by itself only where somebody has shown the factor before: who had the password
    /// alone before it was added could have made up as many known browsers as they liked.
    fn codes_counted(
        &self,
        user_id: UserId,
        account: Account<'_>,
        added_at: Timestamp,
        answer: &FactorAnswer,
        from: &Whereabouts,
    ) -> Counted {
        let known = from.known_browser.as_deref();
        let known = known.and_then(|cookie| entry_since(&self.vault, cookie, account, added_at, self.now()));
        let id = user_id.to_string();
        let (subject, longest) = match (answer, known) {
            (FactorAnswer::Recovery(_), _) => (subject("recovery", &id), STRANGERS_LONGEST_DELAY),
            (FactorAnswer::Code(_), Some(entry)) => (subject("code-browser", entry), LONGEST_DELAY),
            (FactorAnswer::Code(_), None) => (subject("code", &id), LONGEST_DELAY),
        };
        Counted { subjects: vec![(subject.clone(), Limit::Delay { longest })], forgiven: Some(subject), address: None }
    }
}
