//! Sending letters that this node has, one after the other, and saving what came of each.

use std::time::{Duration, Instant};

use domain::{
    access::Role,
    delivery::Jitter,
    letter_queue::{BOUND_WITHIN, HELD_BACK_FOR, LetterState, QueuedLetter, SendOutcome, most_to_address},
    user::User,
};
use gateway::{Picture, Post, Session, Unsubscribe};
use letters::{Face, LOGO};
use store::LetterWrite;
use tokio::sync::watch;

use super::round::Leased;
use crate::{Engine, Error};

/// How long after its begin a round begins further letters, so that a slow relay does not keep urgent ones waiting for long.
const BEGUN_WITHIN: Duration = Duration::from_secs(20);

const NOT_FOR_THEM: &str =
    "who it was for has been deactivated, has left the project, or may not decide about it any more";

/// A letter as it is now, or what there is to send.
enum Prepared {
    Post(Box<Post>),
    /// It is not sent now.
    Settled(Box<QueuedLetter>),
}

impl Engine {
    /// Sends these letters over one connection; false where there was no relay.
    pub(super) async fn send_group(&self, group: Vec<Leased>, stopped: &watch::Receiver<bool>) -> bool {
        let began = Instant::now();
        let mut session: Option<Session> = None;
        let mut had_relay = true;
        for leased in group {
            if *stopped.borrow() || !had_relay || began.elapsed() >= BEGUN_WITHIN {
                self.save(leased.letter.clone(), leased.letter).await;
                continue;
            }
            match self.send_one(&leased, &mut session).await {
                Ok(Some(after)) => {
                    had_relay = !matches!(after.1, Some(SendOutcome::NoRelay(_)));
                    self.save(leased.letter, after.0).await;
                }
                // Another node has it.
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, letter = %leased.letter.id, "a letter could not be prepared and will be sent later");
                    self.save(leased.letter.clone(), leased.letter).await;
                }
            }
        }
        if let Some(session) = session.filter(Session::is_usable) {
            session.close().await;
        }
        had_relay
    }

    /// What a letter has become, with the outcome if the relay was asked; none where another node has taken it over.
    async fn send_one(
        &self,
        leased: &Leased,
        session: &mut Option<Session>,
    ) -> Result<Option<(QueuedLetter, Option<SendOutcome>)>, Error> {
        if !self.still_has(leased).await? {
            return Ok(None);
        }
        let letter = leased.letter.clone();
        let post = match self.prepared(&letter).await? {
            Prepared::Settled(letter) => return Ok(Some((*letter, None))),
            Prepared::Post(post) => *post,
        };
        let outcome = self.hand_over(post, session).await;
        let jitter = Jitter::drawn(rand::random());
        Ok(Some((letter.after(&outcome, self.now(), jitter), Some(outcome))))
    }

    async fn hand_over(&self, post: Post, session: &mut Option<Session>) -> SendOutcome {
        let Some(mail) = self.mail() else { return SendOutcome::NoRelay("mail is not set up".to_owned()) };
        let mut open = match session.take().filter(Session::is_usable) {
            Some(open) => open,
            None => match mail.mailer.open(&mut |_| {}).await {
                Ok(open) => open,
                Err(outcome) => return outcome,
            },
        };
        let outcome = open.send(post, &mut |_| {}).await;
        *session = Some(open);
        outcome
    }

    async fn prepared(&self, letter: &QueuedLetter) -> Result<Prepared, Error> {
        let now = self.now();
        let settled = |letter: QueuedLetter| Ok(Prepared::Settled(Box::new(letter)));
        if !letter.is_worth_sending_at(now) {
            return settled(letter.clone().out_of_date(now));
        }
        if !self.is_for_them_still(letter).await? {
            let answer = Some(NOT_FOR_THEM.to_owned());
            return settled(QueuedLetter { state: LetterState::GivenUp { at: now }, answer, ..letter.clone() });
        }
        let most = most_to_address(letter.kind);
        if self.store.letters_sent_to(&letter.recipient, now.minus(BOUND_WITHIN), most).await? >= most {
            // One who has got enough has perhaps thousands waiting, which must not stand before the letters of others.
            let put_off =
                LetterWrite::RecipientPutOff { recipient: letter.recipient.clone(), until: now.plus(HELD_BACK_FOR) };
            self.store.commit(put_off.into()).await?;
            return settled(letter.clone().held_back(now));
        }
        match self.post(letter).await {
            Ok(post) => Ok(Prepared::Post(Box::new(post))),
            // Sealed with a key that is not given, or damaged: it is told, and does not hold up others.
            Err(Error::Vault(error)) => {
                let answer = Some(format!("it cannot be opened: {error}"));
                settled(QueuedLetter { state: LetterState::GivenUp { at: now }, answer, ..letter.clone() })
            }
            Err(error) => Err(error),
        }
    }

    /// Who a letter was for may have been deactivated since, have left the project that it is about, or have another role now. What is
    /// about no project is about the user's own account, or for operators.
    async fn is_for_them_still(&self, letter: &QueuedLetter) -> Result<bool, Error> {
        let Some(user_id) = letter.user_id else { return Ok(true) };
        let Some(user) = self.store.user(user_id).await?.filter(User::is_active) else { return Ok(false) };
        let Some(project_id) = letter.project_id else { return Ok(letter.kind.is_security() || user.is_operator) };
        let membership = self.store.membership(user_id, project_id).await?;
        let may = |role: Role| letter.kind.member_act().is_none_or(|act| role.may(act));
        Ok(membership.is_some_and(|membership| may(membership.role)))
    }

    async fn post(&self, letter: &QueuedLetter) -> Result<Post, Error> {
        let sealed = self.store.sealed_letter(letter.id).await?.ok_or(Error::NotFound("letter"))?;
        let content = self.letter_content(letter.id, &sealed)?.ok_or(Error::NotFound("content of the letter"))?;
        // Customers know the shop; everybody else is written to by the installation.
        let project = match letter.project_id.filter(|_| letter.kind.for_customers()) {
            Some(id) => Some(self.project(id).await?),
            None => None,
        };
        let mut face = self.letter_face(project.as_ref());
        let picture = self.logo_of(&mut face).await?;
        let written = letters::write(&content, letter.language, &face);
        let link = match letter.user_id {
            Some(user_id) => self.stop_link(user_id, letter.kind)?,
            None => None,
        };
        let unsubscribe =
            link.map(|link| Unsubscribe { url: self.page_url(&format!("/dashboard/letters/stop/{link}")) });
        Ok(Post {
            id: letter.id.to_string(),
            to: self.letter_address(letter.id, &sealed)?,
            subject: written.subject,
            plain: written.plain,
            html: written.html,
            picture,
            unsubscribe,
        })
    }

    /// The logo that a letter shows. Where it was replaced since the project was read, the letter shows none.
    async fn logo_of(&self, face: &mut Face) -> Result<Option<Picture>, Error> {
        let Some(shop) = &mut face.shop else { return Ok(None) };
        let Some(logo) = &shop.logo else { return Ok(None) };
        let png = self.store.logo(&logo.hash).await?;
        if png.is_none() {
            shop.logo = None;
        }
        Ok(png.map(|png| Picture { id: LOGO, png }))
    }

    async fn save(&self, before: QueuedLetter, letter: QueuedLetter) {
        let (id, is_secret, has_news) = (letter.id, letter.kind.grants_access(), before != letter);
        let attempted = || LetterWrite::Attempted { letter: letter.clone(), node: self.node, is_secret };
        self.save_attempt_of_letter(id, has_news, attempted).await;
    }
}
