//! Lost passwords: who asks for a new one gets a link by letter, or from an operator, which sets a password once.
//!
//! What somebody who asks is told, and when, does not depend on whether there is such a user: the request is stored, and a
//! background step looks the user up. A link does not sign anybody in.

use std::slice;

use domain::{
    audit::{Actor, Deed},
    id::UserId,
    language::Language,
    password_reset::{PasswordReset, RESET_LIFETIME, RESETS_MOST, RESETS_WITHIN, ResetMaker, ResetRequest},
    time::{HOUR, Timestamp},
    user::{Email, SESSION_LONGEST, Token, User},
};
use letters::{Letter, Origin, PasswordChange};
use secrecy::SecretString;
use store::{Change, CommitError, Guard, PeopleWrite, ResetWrite, SessionWrite, Write};

use crate::{
    Engine, Error, Whereabouts,
    mail::queue::Envelope,
    people::new_token,
    sign_in::{DELETED_AT_ONCE, shown_browser, subject},
};

/// The path of a link, without its token. The token grants access, so logs must not hold it.
pub const RESETS: &str = "/dashboard/reset/";
/// Where users ask for a new password.
pub const FORGOT: &str = "/dashboard/forgot";
/// Requests that may wait for the background step; one more is forgotten.
const WAITING_MOST: i64 = 1_000;
/// Requests that one round takes.
const TAKEN_AT_ONCE: i64 = 50;

/// What came of a request for a new password, as far as a visitor learns it.
pub enum ResetAsked {
    /// There will be a letter, if there is such a user.
    Taken,
    /// Too many were made from that network address.
    Wait { until: Timestamp },
}

/// A link for an operator to hand over.
pub struct ResetLink {
    pub token: Token,
    pub expires_at: Timestamp,
}

impl Engine {
    /// Stores that somebody asks for a new password. It reads nothing about the address, and commits the same for every address.
    pub async fn request_reset(
        &self,
        email: &str,
        language: Language,
        from: &Whereabouts,
    ) -> Result<ResetAsked, Error> {
        let email = Email::recognise(email)?;
        let (at, counted) = (self.now(), subject("reset", &from.counted_as));
        if let Some(until) = self.blocked_until(slice::from_ref(&counted)).await? {
            return Ok(ResetAsked::Wait { until });
        }
        let request =
            ResetRequest { email, at, address: from.address.clone(), browser: shown_browser(&from.browser), language };
        let change = Change::from(SessionWrite::Tried { subject: counted.clone(), at, longest: HOUR })
            .with(ResetWrite::Requested { request, most: WAITING_MOST })
            .with(SessionWrite::OldDeleted { created_before: at.minus(SESSION_LONGEST), most: DELETED_AT_ONCE });
        match self.store.commit(change).await {
            Ok(()) => Ok(ResetAsked::Taken),
            Err(CommitError::Conflict(Guard::SignInAllowed)) => {
                Ok(ResetAsked::Wait { until: self.blocked_until(&[counted]).await?.unwrap_or(at) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// One round of the background step; answers how many requests it has taken.
    pub(crate) async fn answer_reset_requests(&self) -> Result<usize, Error> {
        let requests = self.store.reset_requests(TAKEN_AT_ONCE).await?;
        let taken = requests.len();
        for request in requests {
            self.answer_reset_request(request).await?;
        }
        Ok(taken)
    }

    /// Sends a link to the user of that address, if there is one. A request that waited too long is forgotten: its user does not
    /// expect a letter any more.
    async fn answer_reset_request(&self, request: ResetRequest) -> Result<(), Error> {
        let now = self.now();
        let taken = ResetWrite::RequestTaken { email: request.email.clone(), at: request.at };
        let user = self.store.user_by_email(&request.email).await?;
        let user =
            user.filter(|(user, _)| user.is_active() && self.has_mail() && now < request.at.plus(RESET_LIFETIME));
        let change = match user {
            Some((user, _)) if self.has_links_enough(user.id, now).await? => taken.into(),
            Some((user, stored)) => {
                let ResetRequest { at, address, browser, language, .. } = request;
                let stranger = self.by(Actor::Stranger { address: address.clone() });
                let requested = Origin { at, address: Some(address), browser: Some(browser) };
                Change::from(taken).with_all(stranger.link_by_letter(&user, &stored, requested, language)?)
            }
            None => taken.into(),
        };
        match self.store.commit(change).await {
            // Another node has taken it, or it was made again meanwhile.
            Ok(()) | Err(CommitError::Conflict(Guard::ResetRequested)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn has_links_enough(&self, user_id: UserId, now: Timestamp) -> Result<bool, Error> {
        Ok(self.store.resets_sent_since(user_id, now.minus(RESETS_WITHIN)).await? >= RESETS_MOST)
    }

    /// The writes that make a link and send it by letter, for the log by who makes it.
    fn link_by_letter(
        &self,
        user: &User,
        stored_password: &str,
        requested: Origin,
        language: Language,
    ) -> Result<Vec<Write>, Error> {
        let token = new_token();
        let reset = PasswordReset::new(user.id, stored_password, ResetMaker::Letter, self.now());
        let letter = Letter::PasswordReset(letters::PasswordReset {
            account: user.email.to_string(),
            requested,
            link: self.page_url(&format!("{RESETS}{}", token.reveal())),
            expires_at: reset.expires_at,
        });
        let mut writes = vec![
            ResetWrite::LinkMade { reset, hash: token.hash() }.into(),
            self.audit(None, Deed::ResetLinkMade, &user.email, ResetMaker::Letter.word()),
        ];
        writes.extend(self.letter(Envelope { language, ..Envelope::to_user(user) }, &letter)?);
        Ok(writes)
    }

    /// Makes a link for an operator to hand over.
    pub async fn make_reset_link(&self, user: &User) -> Result<ResetLink, Error> {
        let stored = self.store.password_of(user.id).await?.ok_or(Error::NotFound("user"))?;
        let token = new_token();
        let reset = PasswordReset::new(user.id, &stored, ResetMaker::Operator, self.now());
        let expires_at = reset.expires_at;
        let change = Change::from(ResetWrite::LinkMade { reset, hash: token.hash() }).with(self.audit(
            None,
            Deed::ResetLinkMade,
            &user.email,
            ResetMaker::Operator.word(),
        ));
        self.store.commit(change).await?;
        Ok(ResetLink { token, expires_at })
    }

    /// Sends a user a link, as an operator asks for. Where no mail is set up, it makes one for the operator to hand over.
    pub(crate) async fn give_reset_link(&self, user: &User) -> Result<Option<ResetLink>, Error> {
        if !user.is_active() {
            return Err(Error::NotFound("user who can sign in"));
        }
        if !self.has_mail() {
            return self.make_reset_link(user).await.map(Some);
        }
        let stored = self.store.password_of(user.id).await?.ok_or(Error::NotFound("user"))?;
        let requested = Origin { at: self.now(), address: None, browser: None };
        let writes = self.link_by_letter(user, &stored, requested, Language::Indonesian)?;
        self.store.commit(Change::default().with_all(writes)).await?;
        Ok(None)
    }

    /// The user whose password a link sets. Reading it changes nothing. A link that is unknown, used, late, or void since the password
    /// was changed, is not found.
    pub async fn user_of_reset_link(&self, token: &Token) -> Result<User, Error> {
        Ok(self.open_reset(token).await?.0)
    }

    /// The user of a link that can still be used, and what is stored of their password.
    async fn open_reset(&self, token: &Token) -> Result<(User, String), Error> {
        let unknown = || Error::NotFound("link");
        let reset = self.store.password_reset(token.hash()).await?.ok_or_else(unknown)?;
        let user = self.store.user(reset.user_id).await?.ok_or_else(unknown)?;
        let stored = self.store.password_of(user.id).await?.ok_or_else(unknown)?;
        let is_open = user.is_active() && reset.is_open_at(self.now(), &stored);
        if is_open { Ok((user, stored)) } else { Err(unknown()) }
    }

    /// Sets the password of a link's user, and ends their sessions and their other links.
    /// The user then signs in like everybody else.
    pub async fn set_password_by_link(
        &self,
        token: &Token,
        password: SecretString,
        from: &Whereabouts,
    ) -> Result<(), Error> {
        let (user, stored) = self.open_reset(token).await?;
        let (user_id, at) = (user.id, self.now());
        let change = Change::from(PeopleWrite::PasswordUnchanged { user_id, password: stored })
            .with(ResetWrite::LinkUsed { user_id, hash: token.hash(), at });
        let actor = self.by(Actor::User { id: user_id, address: from.address.clone() });
        match actor.set_password(change, &user, password, None, PasswordChange::ResetLink).await {
            // The link was used, or the password changed, while the new one was hashed.
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::ResetOpen | Guard::PasswordUnchanged))) => {
                Err(Error::NotFound("link"))
            }
            set => set,
        }
    }
}
