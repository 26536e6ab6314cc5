//! `lunas listen`: follows a project's events and sends each to a program on this machine, as its webhook would be sent.
//!
//! It is an aid for development. Each event is sent once: what a real webhook would try again is only said here.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use domain::{delivery::AttemptOutcome, id::EventId, signature::signature_header};
use engine::{Clock, SystemClock};
use gateway::{AddressGuard, Webhook, WebhookSender};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use rand::RngExt;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use tokio::{select, time::sleep};

use crate::{
    api_client::{ApiClient, Envelope, PAGE_EVENTS, Trouble},
    demo,
    error::CliError,
    options::{GlobalOptions, SignatureOptions, webhook_sender},
    output::Output,
    position::Position,
    remote::{Remote, RemoteOptions},
    running::Signals,
};

const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Pauses between attempts to reach a server that is away, the first and the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_MOST: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct ListenOptions {
    /// Where each event is sent. This may be any address that this machine reaches.
    #[arg(long, value_name = "URL")]
    forward_to: String,
    #[command(flatten)]
    remote: RemoteOptions,
    /// Sign with this secret. Without it, that is the demo project's for its own key, and for others one is made and shown.
    #[arg(long, env = "LUNAS_WEBHOOK_SECRET", value_name = "SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// Begin with this event. Without it, only what happens from now on is sent.
    #[arg(long, value_name = "EVENT_ID", value_parser = event_id)]
    since: Option<EventId>,
    #[command(flatten)]
    signature: SignatureOptions,
}

fn event_id(text: &str) -> Result<EventId, String> {
    text.parse().map_err(|_| "it is an event's id, evt_ and 26 characters".to_owned())
}

/// What is signed with, and where it comes from.
enum Secret {
    Given(SecretString),
    Kept(SecretString, PathBuf),
    Made(SecretString),
}

impl Secret {
    fn choose(given: Option<&str>, remote: &Remote) -> Secret {
        match (given.filter(|secret| !secret.is_empty()), remote.demo()) {
            (Some(secret), _) => Secret::Given(secret.into()),
            (None, Some(demo)) => Secret::Kept(demo.webhook_secret.as_str().into(), demo::place(remote.data())),
            (None, None) => Secret::Made(format!("whsec_{:032x}", rand::rng().random::<u128>()).into()),
        }
    }

    fn text(&self) -> &str {
        match self {
            Secret::Given(secret) | Secret::Kept(secret, _) | Secret::Made(secret) => secret.expose_secret(),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Secret::Given(_) => "They are signed with the secret that you gave.".to_owned(),
            Secret::Kept(_, path) => format!("They are signed with the webhook secret in {}.", path.display()),
            Secret::Made(secret) => {
                format!("They are signed with a secret made for this run: {}", secret.expose_secret())
            }
        }
    }
}

#[derive(Serialize)]
struct ReadyJson<'a> {
    url: &'a str,
    forward_to: &'a str,
    /// Only when it was made for this run, as nobody else knows it then.
    webhook_secret: Option<&'a str>,
}

/// One event, and what the program made of it.
#[derive(Serialize)]
struct ForwardedJson<'a> {
    at: String,
    #[serde(rename = "type")]
    kind: &'a str,
    id: String,
    status: Option<u16>,
    latency_ms: u64,
    error: Option<&'a str>,
}

impl ForwardedJson<'_> {
    fn text(&self) -> String {
        let ForwardedJson { at, kind, id, latency_ms, .. } = self;
        match (self.status, self.error) {
            (Some(status), None) => format!("{at}  {kind:14}  {id}  {status} in {latency_ms} ms"),
            (_, error) => {
                let why = error.unwrap_or_default();
                format!("{at}  {kind:14}  {id}  failed in {latency_ms} ms: {why}")
            }
        }
    }
}

pub(crate) async fn run(options: ListenOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let guard = open_guard();
    if let Err(refusal) = guard.check_url(&options.forward_to, false) {
        return Err(CliError::new(format!("--forward-to will not do: {refusal}")));
    }
    let remote = options.remote.find(global)?;
    let secret = Secret::choose(options.secret.as_deref(), &remote);
    let listener = Listener {
        api: remote.client()?,
        remote,
        sender: webhook_sender(guard)?,
        target: options.forward_to,
        secret,
        signature_header: options.signature.header(),
        position: Position::default(),
        away: false,
        output: global.output(),
    };
    let mut signals = Signals::watch()?;
    select! {
        ended = listener.listen(options.since) => ended,
        _ = signals.next() => Ok(()),
    }
}

/// The guard is there for what merchants choose. Here the developer chooses, and for their own machine.
fn open_guard() -> AddressGuard {
    AddressGuard::new(vec![IpNet::V4(Ipv4Net::default()), IpNet::V6(Ipv6Net::default())], true)
}

struct Listener {
    remote: Remote,
    api: ApiClient,
    sender: WebhookSender,
    target: String,
    secret: Secret,
    signature_header: String,
    position: Position,
    /// Whether the server was away when it was last asked.
    away: bool,
    output: Output,
}

impl Listener {
    /// Finds its place and follows from there. It does not end by itself, unless the server refuses.
    async fn listen(mut self, since: Option<EventId>) -> Result<(), CliError> {
        match since {
            Some(id) => {
                let event = self.api.event(id).await?;
                self.position = Position::since(id, event.created_at);
            }
            None => self.skip_what_exists().await?,
        }
        self.say_ready()?;
        self.follow().await
    }

    /// Notes the events of the last minute before the newest as seen. Those before them are never read.
    async fn skip_what_exists(&mut self) -> Result<(), Trouble> {
        let Some(newest) = self.api.newest_event().await? else { return Ok(()) };
        self.position.note(newest.id, newest.created_at);
        let mut after = self.position.after();
        loop {
            let page = self.api.events_after(after).await?;
            for event in &page {
                self.position.note(event.id, event.created_at);
                after = event.id;
            }
            if page.len() < PAGE_EVENTS {
                return Ok(());
            }
        }
    }

    fn say_ready(&self) -> Result<(), CliError> {
        let ready = ReadyJson {
            url: self.api.base_url(),
            forward_to: &self.target,
            webhook_secret: matches!(self.secret, Secret::Made(_)).then(|| self.secret.text()),
        };
        self.output.show(&ready, |ready| {
            let what = format!("Events of {} are sent to {}.", ready.url, ready.forward_to);
            format!("{what}\n{}\nCtrl-C stops it.\n", self.secret.sentence())
        })
    }

    async fn follow(mut self) -> Result<(), CliError> {
        let mut pause = PAUSE_FIRST;
        loop {
            match self.forward_new().await? {
                None => {
                    pause = PAUSE_FIRST;
                    sleep(LOOK_AGAIN).await;
                }
                Some(trouble) => {
                    self.say_away(&trouble);
                    sleep(pause).await;
                    pause = (2 * pause).min(PAUSE_MOST);
                    self.api = self.remote.client()?;
                }
            }
        }
    }

    fn say_away(&mut self, trouble: &Trouble) {
        if !self.away {
            let (url, why) = (self.api.base_url(), trouble.why());
            tracing::warn!("the server at {url} is away ({why}); waiting for it, no event is lost");
        }
        self.away = true;
    }

    fn say_back(&mut self) {
        if self.away {
            tracing::info!("the server is back, at {}", self.api.base_url());
        }
        self.away = false;
    }

    /// Sends all that is new, page by page. Answers what kept it from reading on, where that may pass.
    async fn forward_new(&mut self) -> Result<Option<Trouble>, CliError> {
        let mut after = self.position.after();
        loop {
            let page = match self.api.events_after(after).await {
                Ok(page) => page,
                Err(trouble) if trouble.passing => return Ok(Some(trouble)),
                Err(trouble) => return Err(trouble.into()),
            };
            self.say_back();
            let full = page.len() >= PAGE_EVENTS;
            for event in page {
                after = event.id;
                if self.position.note(event.id, event.created_at) {
                    self.forward(event).await?;
                }
            }
            if !full {
                return Ok(None);
            }
        }
    }

    async fn forward(&self, event: Envelope) -> Result<(), CliError> {
        let now = SystemClock.now();
        let signature = signature_header(&[self.secret.text()], now, &event.body);
        let webhook = Webhook {
            url: &self.target,
            https_only: false,
            signature_header: &self.signature_header,
            signature: &signature,
            body: event.body,
        };
        let AttemptOutcome { latency, status, failure, .. } = self.sender.send(webhook).await;
        let forwarded = ForwardedJson {
            at: now.to_string(),
            kind: &event.kind,
            id: event.id.to_string(),
            status,
            latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
            error: failure.as_ref().map(|failure| failure.detail.as_str()),
        };
        self.output.show(&forwarded, ForwardedJson::text)
    }
}
