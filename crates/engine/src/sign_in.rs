//! Signing in, and the delays after wrong passwords.
//!
//! Wrong passwords slow down the address that they come from. They also slow down the account, for a few seconds at most,
//! towards addresses and browsers in which nobody has signed in to it. So nobody can keep somebody else out of a known browser:
//! who has the right password gets in there at once. From elsewhere they get in after a wait, which `sign_in_tickets` keeps
//! short also where others try without end, unless those have hundreds of networks. A failed attempt gets the same answer after
//! the same time, whether or not there is such a user.

use std::{slice, time::Duration};

use domain::{
    audit::{Actor, Deed},
    hex::hex,
    rules::{Invalid, changes_direction},
    time::Timestamp,
    user::{Email, KNOWN_LIFETIME, SESSION_LONGEST, Session, Token, User},
};
use letters::PasswordChange;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use store::{Change, CommitError, Guard, PeopleWrite, SessionWrite};

use crate::{
    Engine, Error, Visit,
    known_browsers::{Account, entry, with_user},
    passwords::Turn,
    pending_sign_ins,
    people::new_token,
    sign_in_tickets::{self, LANE_PAUSE, NETWORK_PAUSE, Ticket},
};

/// The longest delay after wrong passwords from one address, or in one known browser.
pub(crate) const LONGEST_DELAY: Duration = Duration::from_mins(15);
/// The longest delay of an account towards those whom it does not know. It is short, since everybody can cause it.
pub(crate) const STRANGERS_LONGEST_DELAY: Duration = Duration::from_secs(8);
/// Addresses of each user that are known.
const KNOWN_ADDRESSES_MOST: i64 = 20;
/// Old sessions, forms and failed attempts that are deleted with each attempt to sign in.
pub(crate) const DELETED_AT_ONCE: i64 = 100;
const BROWSER_CHARACTERS: usize = 255;

/// Where a request comes from, as far as we store it.
#[derive(Clone, Debug, Default)]
pub struct Whereabouts {
    pub address: String,
    /// What failed attempts are counted by: the address, or its network where one person has many addresses.
    pub counted_as: String,
    pub browser: String,
    /// The network of the address, which is larger than what one person has.
    pub network: String,
    /// What the browser was given when somebody signed in there.
    pub known_browser: Option<String>,
    /// What the browser was given when it was told to wait.
    pub ticket: Option<String>,
    /// What the browser was given for the right password, where a second factor is needed too.
    pub pending: Option<String>,
}

/// What a browser stores of a new session.
pub struct NewSession {
    pub token: Token,
    /// The users to whom this browser is known, for as long as [`KNOWN_LIFETIME`] says.
    pub known_browser: String,
}

/// The outcome of an attempt to sign in.
pub enum SignIn {
    Done(NewSession),
    /// The password is right, and the user has a second factor, which they show next.
    CodeNeeded {
        /// What the browser stores meanwhile.
        pending: String,
    },
    /// No such user or a wrong password; the caller does not learn which.
    Refused,
    /// Too many attempts have failed; the password was not checked.
    Wait {
        until: Timestamp,
        /// What the browser stores meanwhile, if not what it has already.
        ticket: Option<String>,
    },
}

/// What an attempt counts against, in alphabetical order.
pub(crate) struct Counted {
    pub(crate) subjects: Vec<(String, Limit)>,
    /// The subject whose failures are deleted when the attempt succeeds.
    pub(crate) forgiven: Option<String>,
    /// The subject from which the attempt is taken back when it succeeds.
    pub(crate) address: Option<String>,
}

/// How long attempts make a subject wait.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// After some failures, each further one longer than the one before, up to this.
    Delay { longest: Duration },
    /// After every attempt until then.
    Pause { until: Timestamp },
}

pub(crate) enum Admission {
    Granted(Turn),
    Wait { until: Timestamp },
}

impl Engine {
    /// Signs a user in.
    pub async fn sign_in(&self, email: &str, password: SecretString, from: &Whereabouts) -> Result<SignIn, Error> {
        let parsed = Email::recognise(email).ok();
        let counted = self.counted(email, parsed.as_ref(), from).await?;
        let turn = match self.admit(&counted).await? {
            Admission::Granted(turn) => turn,
            Admission::Wait { until } => match self.admit_by_ticket(&counted, until, from).await? {
                (Admission::Granted(turn), _) => turn,
                (Admission::Wait { until }, ticket) => return Ok(SignIn::Wait { until, ticket }),
            },
        };
        let found = match &parsed {
            Some(email) => self.store.user_by_email(email).await?,
            None => None,
        };
        let kept = found.as_ref().map(|(_, kept)| kept.clone());
        let fits = self.hasher.matches(turn, password, kept).await?;
        // Who is deactivated gets the answer of a wrong password, after the same time.
        if let Some((user, password)) = found.filter(|(user, _)| fits && user.is_active()) {
            let Counted { forgiven, address, .. } = counted;
            let change = Change::from(SessionWrite::Succeeded { forgiven, address })
                .with(PeopleWrite::PasswordUnchanged { user_id: user.id, password: password.clone() });
            match self.begin_or_ask_for_code(change, &user, &password, from).await {
                // The password was changed while it was checked, the user was deactivated, or a second factor was added.
                Err(Error::UnexpectedConflict(CommitError::Conflict(
                    Guard::PasswordUnchanged | Guard::FactorShown,
                ))) => {}
                answer => return answer,
            }
        }
        self.audit_refusal(parsed.as_ref(), from).await?;
        Ok(SignIn::Refused)
    }

    /// Commits `change` for a user who has given the right password: with a session, or where they have a second factor without.
    async fn begin_or_ask_for_code(
        &self,
        change: Change,
        user: &User,
        password: &str,
        from: &Whereabouts,
    ) -> Result<SignIn, Error> {
        let now = self.now();
        let factor = self.store.second_factor(user.id).await?;
        if factor.is_none_or(|stored| !stored.factor.is_live_at(now)) {
            return self.begin_session(change, user, password, from, false).await.map(SignIn::Done);
        }
        let pending = pending_sign_ins::issue(&self.vault, user.id, password, &from.browser, now)?;
        self.store.commit(change).await?;
        Ok(SignIn::CodeNeeded { pending })
    }

    /// What an attempt counts against. In a known browser that is the browser alone; at a known address it is the
    /// address alone.
    async fn counted(&self, email: &str, parsed: Option<&Email>, from: &Whereabouts) -> Result<Counted, Error> {
        let now = self.now();
        if let Some(entry) = self.known_browser(parsed, from).await? {
            let browser = subject("browser", entry);
            return Ok(Counted {
                subjects: vec![(browser.clone(), Limit::Delay { longest: LONGEST_DELAY })],
                forgiven: Some(browser),
                address: None,
            });
        }
        let address = subject("address", &from.counted_as);
        let knows = match parsed {
            Some(email) => self.store.knows_address(email, &address, now.minus(KNOWN_LIFETIME)).await?,
            None => false,
        };
        let account = (!knows).then(|| subject("account", parsed.map_or(email, Email::as_str)));
        let slowed = account.clone().map(|account| (account, Limit::Delay { longest: STRANGERS_LONGEST_DELAY }));
        let subjects = slowed.into_iter().chain([(address.clone(), Limit::Delay { longest: LONGEST_DELAY })]).collect();
        Ok(Counted { subjects, forgiven: account, address: Some(address) })
    }

    /// The entry of that user in the browser's cookie, if they have signed in there with the password that they have.
    async fn known_browser<'a>(&self, email: Option<&Email>, from: &'a Whereabouts) -> Result<Option<&'a str>, Error> {
        let (Some(email), Some(cookie)) = (email, from.known_browser.as_deref()) else { return Ok(None) };
        let found = self.store.user_by_email(email).await?;
        Ok(found
            .and_then(|(_, password)| entry(&self.vault, cookie, Account { email, password: &password }, self.now())))
    }

    /// Counts an attempt as failed before its password is checked, so that many attempts at once are throttled like one
    /// after another. One that must wait reaches neither the writer of the database nor the hasher.
    pub(crate) async fn admit(&self, counted: &Counted) -> Result<Admission, Error> {
        let subjects: Vec<String> = counted.subjects.iter().map(|(subject, _)| subject.clone()).collect();
        if let Some(until) = self.blocked_until(&subjects).await? {
            return Ok(Admission::Wait { until });
        }
        let turn = self.hasher.turn().await?;
        // Attempts that came before may have failed while this one waited for its turn.
        Ok(match self.count_attempt(counted).await? {
            Some(until) => Admission::Wait { until },
            None => Admission::Granted(turn),
        })
    }

    /// Counts an attempt as failed before it is judged; answers until when it must wait instead, if it must.
    pub(crate) async fn count_attempt(&self, counted: &Counted) -> Result<Option<Timestamp>, Error> {
        let subjects: Vec<String> = counted.subjects.iter().map(|(subject, _)| subject.clone()).collect();
        if let Some(until) = self.blocked_until(&subjects).await? {
            return Ok(Some(until));
        }
        let at = self.now();
        let tried = counted.subjects.iter().map(|(subject, limit)| {
            let subject = subject.clone();
            match *limit {
                Limit::Delay { longest } => SessionWrite::Tried { subject, at, longest },
                Limit::Pause { until } => SessionWrite::Paused { subject, at, until },
            }
        });
        let old = SessionWrite::OldDeleted { created_before: at.minus(SESSION_LONGEST), most: DELETED_AT_ONCE };
        match self.store.commit(Change::default().with_all(tried).with(old)).await {
            Ok(()) => Ok(None),
            Err(CommitError::Conflict(Guard::SignInAllowed)) => {
                Ok(Some(self.blocked_until(&subjects).await?.unwrap_or(at)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Admits an attempt that would have to wait until then, if the browser has a ticket and has waited as told. The browser gets
    /// a ticket where the account makes it wait and it has none.
    async fn admit_by_ticket(
        &self,
        counted: &Counted,
        until: Timestamp,
        from: &Whereabouts,
    ) -> Result<(Admission, Option<String>), Error> {
        let (Some(account), Some(address)) = (&counted.forgiven, &counted.address) else {
            return Ok((Admission::Wait { until }, None));
        };
        let Some(ticket) = self.unused_ticket(account, from).await? else {
            let account_waits = self.blocked_until(slice::from_ref(account)).await?;
            let issue = |not_before| sign_in_tickets::issue(&self.vault, account, &from.browser, not_before);
            return Ok((Admission::Wait { until }, account_waits.map(issue).transpose()?));
        };
        let by_ticket = counted_by_ticket(&ticket, account, address, from, self.now());
        let admission = if self.now() < ticket.not_before {
            let subjects: Vec<String> = by_ticket.subjects.into_iter().map(|(subject, _)| subject).collect();
            let others = self.blocked_until(&subjects).await?;
            Admission::Wait { until: others.map_or(ticket.not_before, |others| others.max(ticket.not_before)) }
        } else {
            self.admit(&by_ticket).await?
        };
        Ok(match admission {
            Admission::Wait { until: by_ticket } => (Admission::Wait { until: by_ticket.min(until) }, None),
            granted => (granted, None),
        })
    }

    /// The browser's ticket for that account, if it was not used before.
    async fn unused_ticket(&self, account: &str, from: &Whereabouts) -> Result<Option<Ticket>, Error> {
        let Some(cookie) = &from.ticket else { return Ok(None) };
        let Some(ticket) = sign_in_tickets::read(&self.vault, cookie, account, &from.browser, self.now()) else {
            return Ok(None);
        };
        let is_used = self.blocked_until(&[subject("ticket", &ticket.name)]).await?.is_some();
        Ok(Some(ticket).filter(|_| !is_used))
    }

    pub(crate) async fn blocked_until(&self, subjects: &[String]) -> Result<Option<Timestamp>, Error> {
        let until = self.store.sign_in_blocked_until(subjects).await?;
        Ok(until.filter(|until| *until > self.now()))
    }

    pub(crate) async fn audit_refusal(&self, parsed: Option<&Email>, from: &Whereabouts) -> Result<(), Error> {
        let Some(detail) = self.audited_refusals.next_detail(self.now()) else { return Ok(()) };
        let stranger = self.by(Actor::Stranger { address: from.address.clone() });
        // Text that is not an e-mail address may be a password typed into the wrong field, so it is not logged.
        let named = parsed.map(Email::as_str).filter(|email| !email.contains(changes_direction)).unwrap_or_default();
        Ok(self.store.commit(stranger.audit(None, Deed::SignInRefused, named, detail).into()).await?)
    }

    /// Commits `change` together with a new session of `user`, of whose password `password` is stored. From now on the browser and its
    /// address are known. `by_factor`: whether the user has shown their second factor.
    pub(crate) async fn begin_session(
        &self,
        change: Change,
        user: &User,
        password: &str,
        from: &Whereabouts,
        by_factor: bool,
    ) -> Result<NewSession, Error> {
        let (token, now) = (new_token(), self.now());
        let account = Account { email: &user.email, password };
        let known_browser = with_user(&self.vault, from.known_browser.as_deref(), account, now)?;
        let session = Session {
            id: self.mint(now),
            user_id: user.id,
            created_at: now,
            seen_at: now,
            address: from.address.clone(),
            browser: shown_browser(&from.browser),
            proved_at: now,
            by_factor,
        };
        let actor = self.by(Actor::User { id: user.id, address: from.address.clone() });
        let change = change
            .with_all(self.new_device_letter(user, password, &session, from)?)
            .with(SessionWrite::Begun { session, hash: token.hash() })
            .with(SessionWrite::AddressKnown {
                user_id: user.id,
                address: subject("address", &from.counted_as),
                at: now,
                most: KNOWN_ADDRESSES_MOST,
            })
            .with(actor.audit(None, Deed::SignedIn, &user.email, ""));
        self.store.commit(change).await?;
        Ok(NewSession { token, known_browser })
    }

    /// Changes the password of a user who knows the old one, and ends their other sessions. Wrong guesses slow down this
    /// session alone.
    pub async fn change_password(&self, visit: &Visit, old: SecretString, new: SecretString) -> Result<(), Error> {
        let session = subject("session", &visit.session.id.to_string());
        let subjects = vec![(session.clone(), Limit::Delay { longest: LONGEST_DELAY })];
        let counted = Counted { subjects, forgiven: Some(session), address: None };
        let turn = match self.admit(&counted).await? {
            Admission::Granted(turn) => turn,
            Admission::Wait { until } => return Err(Error::TryLater { until }),
        };
        let wrong = || Error::from(Invalid::new("old_password", "is not the password"));
        let kept = self.store.password_of(visit.user.id).await?;
        if !self.hasher.matches(turn, old, kept.clone()).await? {
            return Err(wrong());
        }
        let stands = kept.map(|password| PeopleWrite::PasswordUnchanged { user_id: visit.user.id, password });
        let forgiven = SessionWrite::Succeeded { forgiven: counted.forgiven, address: None };
        let change = Change::from(forgiven).with_all(stands);
        let by = PasswordChange::OldPassword;
        match self.by(visit.actor()).set_password(change, &visit.user, new, Some(visit.session.id), by).await {
            // The password was changed while it was checked.
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::PasswordUnchanged))) => Err(wrong()),
            changed => changed,
        }
    }
}

/// What an attempt by ticket counts against: everything but the account, which others make wait.
fn counted_by_ticket(ticket: &Ticket, account: &str, address: &str, from: &Whereabouts, now: Timestamp) -> Counted {
    let network = subject("network", &format!("{account} {}", from.network));
    let subjects = vec![
        (address.to_owned(), Limit::Delay { longest: LONGEST_DELAY }),
        (subject("lane", account), Limit::Pause { until: now.plus(LANE_PAUSE) }),
        (network, Limit::Pause { until: now.plus(NETWORK_PAUSE) }),
        (subject("ticket", &ticket.name), Limit::Pause { until: ticket.expires_at }),
    ];
    Counted { subjects, forgiven: None, address: None }
}

/// The key by which attempts are counted. It is hashed, so that the table contains neither addresses nor passwords that
/// were typed into the wrong field.
pub(crate) fn subject(kind: &str, name: &str) -> String {
    format!("{kind}:{}", hex(&Sha256::digest(name.as_bytes())))
}

/// What a browser says it is, as we store it.
pub(crate) fn shown_browser(browser: &str) -> String {
    let is_shown = |character: &char| !character.is_control() && !changes_direction(*character);
    browser.chars().filter(is_shown).take(BROWSER_CHARACTERS).collect()
}
