//! Sending one notice that this node has, and saving what came of it.

use domain::{
    delivery::{AttemptOutcome, FailureClass, Jitter},
    letter_queue::{LetterState, QueuedLetter, SendOutcome},
    signature::signature_header,
};
use gateway::Webhook;
use secrecy::ExposeSecret;
use store::{LetterWrite, SealedColumn};
use wire::notice::{NOTICE, NoticeJson};

use super::round::Leased;
use crate::{Courier, Engine, Error, mail::SendingTo};

/// What is noted about a notice whose URL was removed before it could be sent.
const NO_URL: &str = "no URL for notices is set any more";

/// What came of a notice.
struct Sent {
    letter: QueuedLetter,
    /// The URL that it was sent to, sealed; none where nothing was sent.
    address: Option<Vec<u8>>,
}

impl Engine {
    /// Sends it, if this node still has it; answers what its URL is counted by.
    pub(super) async fn send_notice(&self, courier: &Courier, leased: Leased) -> String {
        let before = leased.letter.clone();
        let sent = match self.try_to_send(courier, &leased).await {
            Ok(Some(sent)) => sent,
            // Another node has it.
            Ok(None) => return before.recipient,
            Err(error) => {
                tracing::warn!(%error, letter = %before.id, "a notice could not be prepared and will be sent later");
                Sent { letter: before.clone(), address: None }
            }
        };
        let attempted = || LetterWrite::NoticeAttempted {
            letter: sent.letter.clone(),
            node: self.node,
            address: sent.address.clone(),
        };
        self.save_attempt_of_letter(before.id, before != sent.letter, attempted).await;
        before.recipient
    }

    /// None where another node has taken the notice over.
    async fn try_to_send(&self, courier: &Courier, leased: &Leased) -> Result<Option<Sent>, Error> {
        if !self.still_has(leased).await? {
            return Ok(None);
        }
        let (letter, now) = (leased.letter.clone(), self.now());
        if !letter.is_worth_sending_at(now) {
            return Ok(Some(Sent { letter: letter.out_of_date(now), address: None }));
        }
        let prepared = async {
            let Some(to) = self.notice_goes_to(letter.project_id).await? else { return Ok(None) };
            Ok(Some((self.notice_body(&letter).await?, to)))
        };
        let (body, to) = match prepared.await {
            Ok(Some(prepared)) => prepared,
            Ok(None) => return Ok(Some(ended(letter, LetterState::Dropped { at: now }, NO_URL.to_owned()))),
            // Sealed with a key that is not given, or damaged: it is told, and does not hold up others.
            Err(Error::Vault(error)) => {
                let answer = format!("it cannot be opened: {error}");
                return Ok(Some(ended(letter, LetterState::GivenUp { at: now }, answer)));
            }
            Err(error) => return Err(error),
        };
        let outcome = self.post_notice(courier, &letter, &to, body).await;
        let address = self.vault.seal(SealedColumn::LetterAddress, &letter.id.to_string(), to.url.as_bytes())?;
        let letter = letter.after(&outcome, self.now(), Jitter::drawn(rand::random()));
        Ok(Some(Sent { letter, address: Some(address) }))
    }

    async fn post_notice(
        &self,
        courier: &Courier,
        letter: &QueuedLetter,
        to: &SendingTo,
        body: Vec<u8>,
    ) -> SendOutcome {
        let secrets: Vec<&str> = to.secrets.iter().map(ExposeSecret::expose_secret).collect();
        let webhook = Webhook {
            project: letter.project_id,
            url: &to.url,
            https_only: to.https_only,
            signature_header: &courier.signature_header,
            signature: &signature_header(&secrets, self.now(), &body),
            body,
        };
        judged(courier.sender.send(webhook).await)
    }

    /// The bytes of a notice.
    async fn notice_body(&self, letter: &QueuedLetter) -> Result<Vec<u8>, Error> {
        let sealed = self.store.sealed_letter(letter.id).await?.ok_or(Error::NotFound("letter"))?;
        let content = self.letter_content(letter.id, &sealed)?.ok_or(Error::NotFound("content of the letter"))?;
        let project = match letter.project_id.filter(|_| letter.kind.for_customers()) {
            Some(id) => Some(self.project(id).await?),
            None => None,
        };
        let noticed = letters::notice(&content, letter.language, &self.letter_face(project.as_ref()))
            .ok_or(Error::NotFound("notice of this kind"))?;
        let json = NoticeJson {
            id: letter.id.to_string(),
            of_type: NOTICE,
            kind: letter.kind.word(),
            language: noticed.language,
            subject: noticed.subject,
            text: noticed.text,
            values: noticed.values,
            project_id: letter.project_id.map(|id| id.to_string()),
            created_at: letter.queued_at.to_string(),
        };
        Ok(json.body())
    }
}

fn ended(letter: QueuedLetter, state: LetterState, answer: String) -> Sent {
    Sent { letter: QueuedLetter { state, answer: Some(answer), ..letter }, address: None }
}

/// Any answer but a 2xx lets a notice wait, as it does webhooks: what is wrong at a receiver can be mended.
fn judged(outcome: AttemptOutcome) -> SendOutcome {
    match (outcome.failure, outcome.status) {
        (None, status) => SendOutcome::Taken(status.map(|status| status.to_string()).unwrap_or_default()),
        (Some(failure), _) if matches!(failure.class, FailureClass::Timeout | FailureClass::Closed) => {
            SendOutcome::AnswerLost(failure.detail)
        }
        (Some(failure), _) => SendOutcome::Deferred(failure.detail),
    }
}
