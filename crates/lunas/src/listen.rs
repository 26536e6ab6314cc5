//! `lunas listen`: polls a project's events and forwards each to a program on this machine, signed like a webhook.
//!
//! It is for development only. Each event is sent once: a failed one is reported, not retried.

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
    api_client::{ApiClient, CallError, EventBytes, PAGE_EVENTS},
    demo_credentials,
    error::CliError,
    event_cursor::EventCursor,
    options::{GlobalOptions, SignatureOptions, webhook_sender},
    output::Output,
    remote::{Remote, RemoteOptions},
    running_server::Signals,
};

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The first and the longest pause between retries while the server is unavailable.
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_MOST: Duration = Duration::from_secs(5);
/// How often in a row a server that was unavailable may refuse before it counts. While it is gone, another program may have its
/// port.
const REFUSALS_MOST: u32 = 5;

#[derive(Args)]
pub(crate) struct ListenOptions {
    /// The URL that each event is sent to. It may be any URL that this machine can reach.
    #[arg(long, value_name = "URL")]
    forward_to: String,
    #[command(flatten)]
    remote: RemoteOptions,
    /// The webhook secret to sign with, and to check with in `lunas webhook verify`. Without it, that of the demo project for the
    /// demo's key; for other keys one is generated and shown.
    #[arg(long, env = "LUNAS_WEBHOOK_SECRET", value_name = "SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// Begin with this event. Without it, only events from now on are sent.
    #[arg(long, value_name = "EVENT_ID", value_parser = event_id)]
    since: Option<EventId>,
    #[command(flatten)]
    signature: SignatureOptions,
}

fn event_id(text: &str) -> Result<EventId, String> {
    text.parse().map_err(|_| "it must be the id of an event, evt_ and 26 characters".to_owned())
}

/// The secret to sign with, and where it comes from.
enum Secret {
    Given(SecretString),
    Demo(SecretString, PathBuf),
    Generated(SecretString),
}

impl Secret {
    fn choose(given: Option<&str>, remote: &Remote) -> Secret {
        match (given.filter(|secret| !secret.is_empty()), remote.demo()) {
            (Some(secret), _) => Secret::Given(secret.into()),
            (None, Some(demo)) => {
                Secret::Demo(demo.webhook_secret.as_str().into(), demo_credentials::path_in(remote.data()))
            }
            (None, None) => Secret::Generated(format!("whsec_{:032x}", rand::rng().random::<u128>()).into()),
        }
    }

    fn text(&self) -> &str {
        match self {
            Secret::Given(secret) | Secret::Demo(secret, _) | Secret::Generated(secret) => secret.expose_secret(),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Secret::Given(_) => "They are signed with the given secret.".to_owned(),
            Secret::Demo(_, path) => format!("They are signed with the webhook secret in {}.", path.display()),
            Secret::Generated(secret) => {
                format!("They are signed with a secret generated for this run: {}", secret.expose_secret())
            }
        }
    }
}

#[derive(Serialize)]
struct ReadyJson<'a> {
    url: &'a str,
    forward_to: &'a str,
    /// Only where it was generated for this run, since the receiver cannot know it otherwise.
    webhook_secret: Option<&'a str>,
}

/// One forwarded event, and the program's answer.
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
        return Err(CliError::new(format!("--forward-to cannot be used: {refusal}")));
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
        cursor: EventCursor::default(),
        is_unavailable: false,
        refusals: 0,
        output: global.output(),
    };
    let mut signals = Signals::watch()?;
    select! {
        ended = listener.listen(options.since) => ended,
        _ = signals.next() => Ok(()),
    }
}

/// A guard that allows all addresses. The guard protects servers against URLs that merchants choose; here the developer chooses
/// one for their own machine.
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
    cursor: EventCursor,
    /// Whether the server was unavailable when it was last polled.
    is_unavailable: bool,
    /// How often in a row it has refused since it was unavailable.
    refusals: u32,
    output: Output,
}

impl Listener {
    /// Positions the cursor and forwards events from there. It does not end by itself, unless the server refuses a request.
    async fn listen(mut self, since: Option<EventId>) -> Result<(), CliError> {
        match since {
            Some(id) => {
                let event = self.api.event(id).await?;
                self.cursor = EventCursor::since(id, event.created_at);
            }
            None => self.skip_what_exists().await?,
        }
        self.show_ready()?;
        self.follow().await
    }

    /// Marks the events of the last minute before the newest as seen. Polls never read earlier ones.
    async fn skip_what_exists(&mut self) -> Result<(), CallError> {
        let Some(newest) = self.api.newest_event().await? else { return Ok(()) };
        self.cursor.note(newest.id, newest.created_at);
        let mut after = self.cursor.after();
        loop {
            let page = self.api.events_after(after).await?;
            for event in &page {
                self.cursor.note(event.id, event.created_at);
                after = event.id;
            }
            if page.len() < PAGE_EVENTS {
                return Ok(());
            }
        }
    }

    fn show_ready(&self) -> Result<(), CliError> {
        let ready = ReadyJson {
            url: self.api.base_url(),
            forward_to: &self.target,
            webhook_secret: matches!(self.secret, Secret::Generated(_)).then(|| self.secret.text()),
        };
        self.output.show(&ready, |ready| {
            let what = format!("Events of {} are forwarded to {}.", ready.url, ready.forward_to);
            format!("{what}\n{}\nCtrl-C stops forwarding.\n", self.secret.sentence())
        })
    }

    async fn follow(mut self) -> Result<(), CliError> {
        let mut pause = PAUSE_FIRST;
        loop {
            match self.forward_new().await? {
                None => {
                    pause = PAUSE_FIRST;
                    sleep(POLL_INTERVAL).await;
                }
                Some(error) => {
                    self.warn_of_outage(&error);
                    sleep(pause).await;
                    pause = (2 * pause).min(PAUSE_MOST);
                    self.api = self.remote.client()?;
                }
            }
        }
    }

    fn warn_of_outage(&mut self, error: &CallError) {
        if !self.is_unavailable {
            let (url, why) = (self.api.base_url(), error.why());
            tracing::warn!("the server at {url} is unavailable ({why}); retrying, no event is lost");
        }
        self.is_unavailable = true;
    }

    fn tell_recovery(&mut self) {
        if self.is_unavailable {
            tracing::info!("the server is available again, at {}", self.api.base_url());
        }
        self.is_unavailable = false;
        self.refusals = 0;
    }

    /// Whether a retry may succeed.
    fn is_passing(&mut self, error: &CallError) -> bool {
        if error.is_temporary {
            self.refusals = 0;
            return true;
        }
        self.refusals += 1;
        self.is_unavailable && self.refusals < REFUSALS_MOST
    }

    /// Forwards all new events, page by page. Returns the error where the server is only temporarily unavailable.
    async fn forward_new(&mut self) -> Result<Option<CallError>, CliError> {
        let mut after = self.cursor.after();
        loop {
            let page = match self.api.events_after(after).await {
                Ok(page) => page,
                Err(error) if self.is_passing(&error) => return Ok(Some(error)),
                Err(error) => return Err(error.into()),
            };
            self.tell_recovery();
            let full = page.len() >= PAGE_EVENTS;
            for event in page {
                after = event.id;
                if self.cursor.note(event.id, event.created_at) {
                    self.forward(event).await?;
                }
            }
            if !full {
                return Ok(None);
            }
        }
    }

    async fn forward(&self, event: EventBytes) -> Result<(), CliError> {
        let now = SystemClock.now();
        let signature = signature_header(&[self.secret.text()], now, &event.body);
        let webhook = Webhook {
            project: None,
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
