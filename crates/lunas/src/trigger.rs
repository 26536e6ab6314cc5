//! `lunas trigger`: causes an event in the sandbox the real way: by a payment that is paid or fails, or a key that is revoked.

use std::time::Duration;

use clap::Args;
use domain::{event::EventKind, id::KeyId, key_rights::KeyRights};
use engine::{Engine, NewKey, Settings};
use rand::RngExt;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    api_client::ApiClient,
    database::Installation,
    error::CliError,
    options::GlobalOptions,
    output::fields,
    remote::{Remote, RemoteOptions},
};

const AMOUNT_RUPIAH: i64 = 15_000;
/// An event is committed together with its cause, so the first poll usually finds it; more are for busy servers.
const POLLS_MOST: usize = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Args)]
pub(crate) struct TriggerOptions {
    /// The event: payment.paid, payment.failed or apikey.deleted. The last needs access to the server's database, where the key
    /// that it revokes is created.
    #[arg(value_name = "EVENT", value_parser = triggered)]
    event: Triggered,
    #[command(flatten)]
    remote: RemoteOptions,
}

/// An event that can be triggered: one that every project gets.
#[derive(Clone, Copy)]
struct Triggered {
    kind: EventKind,
    /// What the simulated bank reports of a payment; none where a key is revoked.
    outcome: Option<&'static str>,
}

const TRIGGERED: [Triggered; 3] = [
    Triggered { kind: EventKind::PaymentPaid, outcome: Some("paid") },
    Triggered { kind: EventKind::PaymentFailed, outcome: Some("failed") },
    Triggered { kind: EventKind::ApiKeyDeleted, outcome: None },
];

fn triggered(word: &str) -> Result<Triggered, String> {
    let found = TRIGGERED.into_iter().find(|triggered| triggered.kind.word() == word);
    let words = || TRIGGERED.map(|triggered| triggered.kind.word()).join(", ");
    found.ok_or_else(|| format!("it must be one of {}", words()))
}

#[derive(Serialize)]
struct TriggeredJson {
    #[serde(rename = "type")]
    kind: &'static str,
    event_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_id: Option<String>,
}

impl TriggeredJson {
    fn text(&self) -> String {
        let subject = match (&self.payment_id, &self.api_key_id) {
            (Some(id), _) => ("payment", id.clone()),
            (None, id) => ("API key", id.clone().unwrap_or_default()),
        };
        fields(&[("type", self.kind.to_owned()), subject, ("event", self.event_id.clone())])
    }
}

pub(crate) async fn run(options: TriggerOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let Triggered { kind, outcome } = options.event;
    let remote = options.remote.find(global)?;
    if remote.is_live() {
        let what_to_do = "give a sandbox key, one that begins with sk_test_";
        return Err(CliError::new(format!(
            "this is a key for production, and events are only triggered in the sandbox; {what_to_do}"
        )));
    }
    let api = remote.client()?;
    let project_id = api.project_id().await?;
    let (payment_id, api_key_id) = match outcome {
        Some(outcome) => (Some(payment(&api, &project_id, outcome).await?), None),
        None => (None, Some(revoked_key(&api, &project_id, &remote, global).await?)),
    };
    let subject = payment_id.as_deref().or(api_key_id.as_deref()).unwrap_or_default();
    let event_id = event_about(&api, kind, subject).await?;
    let triggered = TriggeredJson { kind: kind.word(), event_id, payment_id, api_key_id };
    global.output().show(&triggered, TriggeredJson::text)
}

/// Creates a payment and lets the simulated bank report on it.
async fn payment(api: &ApiClient, project_id: &str, outcome: &str) -> Result<String, CliError> {
    let order = json!({
        "project_id": project_id,
        "reference": "lunas trigger",
        "amount": AMOUNT_RUPIAH,
        "payment_method": { "type": "qris" },
    });
    let payment = api.post("/v1/payments", Some(&random_name()), &order).await?;
    let id = api.text(&payment, "id")?.to_owned();
    api.post(&format!("/v1/sandbox/payments/{id}/simulate"), None, &json!({ "outcome": outcome })).await?;
    Ok(id)
}

/// Creates a key directly in the database, since the API lets only users of the dashboard create one, and revokes it over the API.
async fn revoked_key(
    api: &ApiClient,
    project_id: &str,
    remote: &Remote,
    global: &GlobalOptions,
) -> Result<String, CliError> {
    let opened = Installation::existing(global, Settings::default()).await;
    let installation = opened.map_err(|error| no_key(&error.reasons().join(", ")))?;
    let revoked = match throwaway_key(&installation.engine, project_id, remote).await {
        Ok(id) => revoke(api, &installation.engine, id).await,
        Err(error) => Err(error),
    };
    installation.close().await;
    revoked
}

async fn throwaway_key(engine: &Engine, project_id: &str, remote: &Remote) -> Result<KeyId, CliError> {
    let owner = engine.key_owner(remote.key()).await?.filter(|owner| owner.project.id.to_string() == project_id);
    let owner = owner.ok_or_else(|| no_key("the API key is not in this database, so the server uses another one"))?;
    // It is revoked at once and never used, so it needs no rights.
    let new = NewKey { rights: KeyRights::NONE, ..NewKey::from(random_name()) };
    let (key, _) = engine.create_key(owner.project.id, new).await?;
    Ok(key.id)
}

/// Revokes the key over the API. Where that fails, the key is revoked in the database, so that none is left behind.
async fn revoke(api: &ApiClient, engine: &Engine, id: KeyId) -> Result<String, CliError> {
    if let Err(error) = api.revoke(id).await {
        engine.revoke_key(id, None).await?;
        return Err(error.into());
    }
    Ok(id.to_string())
}

fn no_key(why: &str) -> CliError {
    let what = "cannot create a key to revoke in the server's database";
    CliError::new(format!("{what}: {why}; run this beside the database, or give it with --database"))
}

/// The id of the event about `subject`.
async fn event_about(api: &ApiClient, kind: EventKind, subject: &str) -> Result<String, CliError> {
    for _ in 0..POLLS_MOST {
        let is_about =
            |body: &[u8]| serde_json::from_slice::<Value>(body).is_ok_and(|event| event["data"]["id"] == subject);
        let found = api.newest_of(kind).await?.into_iter().find(|event| is_about(&event.body));
        if let Some(event) = found {
            return Ok(event.id.to_string());
        }
        sleep(POLL_INTERVAL).await;
    }
    Err(CliError::new(format!("{subject} was created, but no {} about it is among the newest events", kind.word())))
}

/// A unique name, for an Idempotency-Key or an API key.
fn random_name() -> String {
    format!("trigger-{:032x}", rand::rng().random::<u128>())
}
