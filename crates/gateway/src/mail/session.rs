//! A conversation with the relay, in which one letter after another is handed over.

use std::{error::Error, fmt, io, sync::Arc};

use domain::letter_queue::{ANSWER_CHARACTERS_MOST, SendOutcome};
use lettre::{
    Address,
    transport::smtp::{
        Error as SmtpError,
        authentication::{Credentials, Mechanism},
        client::AsyncSmtpConnection,
        commands::{Data, Mail, Rcpt, Rset},
        extension::{ClientId, Extension, MailParameter},
        response::{Response, Severity},
    },
};
use secrecy::ExposeSecret;
use tokio::time::timeout;

use super::{
    line_stream::LineStream,
    message::{Post, lines},
    relay::{Encryption, MailSettings, Relay, UnusableMail},
    steps::{Step, StepReport},
};

/// No error has that many causes.
const CAUSES_MOST: usize = 8;

/// Hands letters to a relay. Cheap to clone; its `Debug` and its `Display` name the relay alone.
#[derive(Clone)]
pub struct Mailer {
    relay: Arc<Relay>,
}

/// A connection to the relay, which has let us in.
pub struct Session {
    connection: AsyncSmtpConnection,
    relay: Arc<Relay>,
    /// Whether the relay has gone silent, so that nobody knows what it hears next.
    is_over: bool,
}

/// Why a step failed.
enum Failure {
    /// The relay said no for good.
    Permanent(String),
    /// The relay said not now.
    Transient(String),
    /// There was no answer, or none that can be read.
    Silent(String),
}

impl fmt::Display for Mailer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.relay.fmt(formatter)
    }
}

impl fmt::Debug for Mailer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Mailer({self})")
    }
}

impl Mailer {
    pub fn new(settings: MailSettings) -> Result<Mailer, UnusableMail> {
        Ok(Mailer { relay: Arc::new(Relay::of(settings)?) })
    }

    /// Connects, encrypts and signs in; `report` is told of each step. Whatever fails here says nothing about any letter.
    pub async fn open(&self, report: &mut impl FnMut(StepReport)) -> Result<Session, SendOutcome> {
        let relay = &self.relay;
        let hello = ClientId::Domain(relay.from.email.domain().to_owned());
        let mut connection = opened(Step::Connect, connect(relay, &hello), |_| self.to_string(), report).await?;
        if let Some(tls) = relay.tls.clone().filter(|_| relay.encryption == Encryption::StartTls) {
            let encrypting = connection.starttls(tls, &hello);
            opened(Step::StartTls, encrypting, |()| "encrypted".to_owned(), report).await?;
        }
        if let Some((user, password)) = &relay.user {
            let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
            let signing_in = connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials);
            opened(Step::SignIn, signing_in, |_| user.clone(), report).await?;
        }
        Ok(Session { connection, relay: Arc::clone(relay), is_over: false })
    }
}

/// Connects, encrypts where that comes first, and exchanges greetings.
async fn connect(relay: &Relay, hello: &ClientId) -> Result<AsyncSmtpConnection, Failure> {
    let address = (relay.host.as_str(), relay.port);
    if relay.encryption == Encryption::StartTls {
        let stream = Box::new(LineStream::connect(address).await?);
        return Ok(AsyncSmtpConnection::connect_with_transport(stream, hello).await?);
    }
    let limit = Some(Step::Connect.limit());
    Ok(AsyncSmtpConnection::connect_tokio1(address, limit, hello, relay.tls.clone(), None).await?)
}

/// Awaits a step before any letter is spoken of.
async fn opened<T>(
    step: Step,
    working: impl Future<Output = Result<T, impl Into<Failure>>>,
    shown: impl FnOnce(&T) -> String,
    report: &mut impl FnMut(StepReport),
) -> Result<T, SendOutcome> {
    let outcome = within(step, working).await;
    report(StepReport { step, outcome: outcome.as_ref().map(shown).map_err(|failure| failure.text().to_owned()) });
    outcome.map_err(|failure| SendOutcome::NoRelay(kept(&format!("{}: {}", step.word(), failure.text()))))
}

impl Session {
    /// Hands over a letter; `report` is told of each step. After silence the session is of
    /// no use any more: see [`Session::is_usable`].
    pub async fn send(&mut self, post: Post, report: &mut impl FnMut(StepReport)) -> SendOutcome {
        let (to, lines) = match lines(&self.relay.from, post) {
            Ok(written) => written,
            Err(unwritable) => return SendOutcome::Refused(kept(&unwritable.0)),
        };
        let outcome = self.hand_over(to, &lines, report).await;
        if !matches!(outcome, SendOutcome::Taken(_)) && self.is_usable() {
            self.begin_anew().await;
        }
        outcome
    }

    /// Has the relay forget the letter that it did not take, or ends the conversation.
    async fn begin_anew(&mut self) {
        if !matches!(timeout(Step::Sender.limit(), self.connection.command(Rset)).await, Ok(Ok(_))) {
            // A relay that hangs must not keep us; dropping the connection closes it as well.
            let _ = timeout(Step::Sender.limit(), self.connection.abort()).await;
            self.is_over = true;
        }
    }

    /// Whether another letter can be handed over.
    pub fn is_usable(&self) -> bool {
        !self.is_over && !self.connection.has_broken()
    }

    pub async fn close(mut self) {
        // The letters are handed over, whatever the relay says to a farewell.
        let _ = timeout(Step::Sender.limit(), self.connection.quit()).await;
    }

    async fn hand_over(&mut self, to: Address, lines: &[u8], report: &mut impl FnMut(StepReport)) -> SendOutcome {
        let from = self.relay.from.email.clone();
        let parameters = match from.to_string().is_ascii() && to.to_string().is_ascii() {
            true => Vec::new(),
            false if self.connection.server_info().supports_feature(Extension::SmtpUtfEight) => {
                vec![MailParameter::SmtpUtfEight]
            }
            false => {
                return SendOutcome::Refused("the relay takes no addresses with other letters than ASCII".to_owned());
            }
        };
        let sender = Mail::new(Some(from), parameters);
        if let Err(outcome) = self.say(Step::Sender, sender, report).await {
            // What a relay says about the sender is about us, and not about the letter.
            return match outcome {
                SendOutcome::Refused(answer) => SendOutcome::Deferred(answer),
                other => other,
            };
        }
        if let Err(outcome) = self.say(Step::Recipient, Rcpt::new(to, Vec::new()), report).await {
            return outcome;
        }
        if let Err(outcome) = self.say(Step::Data, Data, report).await {
            return outcome;
        }
        let outcome = within(Step::Letter, self.connection.message(lines)).await;
        let outcome = outcome.and_then(|response| match response.code().severity {
            Severity::PositiveCompletion => Ok(response),
            _ => Err(Failure::Silent("the relay answered something else than was due".to_owned())),
        });
        self.is_over |= matches!(outcome, Err(Failure::Silent(_)));
        let told = outcome.as_ref().map(answer_of).map_err(|failure| failure.text().to_owned());
        report(StepReport { step: Step::Letter, outcome: told });
        match outcome {
            Ok(response) => SendOutcome::Taken(kept(&answer_of(&response))),
            Err(Failure::Permanent(answer)) => SendOutcome::Refused(kept(&answer)),
            Err(Failure::Transient(answer)) => SendOutcome::Deferred(kept(&answer)),
            Err(Failure::Silent(answer)) => SendOutcome::AnswerLost(kept(&answer)),
        }
    }

    /// Says a command before the letter itself. Before the letter, the relay cannot have taken it.
    async fn say(
        &mut self,
        step: Step,
        command: impl fmt::Display,
        report: &mut impl FnMut(StepReport),
    ) -> Result<(), SendOutcome> {
        let outcome = within(step, self.connection.command(command)).await;
        self.is_over |= matches!(outcome, Err(Failure::Silent(_)));
        let told = outcome.as_ref().map(answer_of).map_err(|failure| failure.text().to_owned());
        report(StepReport { step, outcome: told });
        match outcome {
            Ok(_) => Ok(()),
            Err(Failure::Permanent(answer)) => Err(SendOutcome::Refused(kept(&answer))),
            Err(Failure::Transient(answer)) => Err(SendOutcome::Deferred(kept(&answer))),
            // It may be this letter that the relay cannot bear, so it counts as an attempt.
            Err(Failure::Silent(answer)) => Err(SendOutcome::Deferred(kept(&format!("{}: {answer}", step.word())))),
        }
    }
}

async fn within<T>(step: Step, working: impl Future<Output = Result<T, impl Into<Failure>>>) -> Result<T, Failure> {
    match timeout(step.limit(), working).await {
        Ok(outcome) => outcome.map_err(Into::into),
        Err(_) => Err(Failure::Silent(format!("no answer within {} s", step.limit().as_secs()))),
    }
}

impl From<SmtpError> for Failure {
    fn from(error: SmtpError) -> Failure {
        let text = text_of(&error);
        if error.is_permanent() {
            Failure::Permanent(text)
        } else if error.is_transient() {
            Failure::Transient(text)
        } else {
            Failure::Silent(text)
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Silent(error.to_string())
    }
}

impl Failure {
    fn text(&self) -> &str {
        match self {
            Failure::Permanent(text) | Failure::Transient(text) | Failure::Silent(text) => text,
        }
    }
}

fn answer_of(response: &Response) -> String {
    let words: Vec<&str> = response.message().collect();
    format!("{} {}", response.code(), words.join(" ")).trim().to_owned()
}

/// An error as one line: a relay's code and words, or the last cause of anything else.
fn text_of(error: &SmtpError) -> String {
    let (mut last, mut cause) = (None, error.source());
    for _ in 0..CAUSES_MOST {
        let Some(next) = cause else { break };
        last = Some(next.to_string());
        cause = next.source();
    }
    match (error.status(), last) {
        (Some(code), Some(words)) => format!("{code} {words}"),
        (Some(code), None) => code.to_string(),
        (None, Some(words)) => words,
        (None, None) => error.to_string(),
    }
}

/// As much of an answer as is kept. It is text of others, and shown as such.
fn kept(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(ANSWER_CHARACTERS_MOST)
        .collect()
}
