//! `lunas trigger`: makes an event happen in the sandbox, by the real road: a payment that is paid or fails, a key that is revoked.

use std::time::Duration;

use clap::Args;
use domain::{event::EventKind, id::KeyId};
use engine::{Engine, Settings};
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
/// An event is there as soon as its cause is; a few looks are for servers that have much to do.
const LOOKS_MOST: usize = 20;
const LOOK_AGAIN: Duration = Duration::from_millis(250);

#[derive(Args)]
pub(crate) struct TriggerOptions {
    /// What is to happen: payment.paid, payment.failed or apikey.deleted. The last needs the server's database at hand, since
    /// the key that it revokes is made there.
    #[arg(value_name = "EVENT", value_parser = event_kind)]
    event: EventKind,
    #[command(flatten)]
    remote: RemoteOptions,
}

fn event_kind(word: &str) -> Result<EventKind, String> {
    EventKind::parse(word).ok_or_else(|| format!("it is {}", EventKind::ALL.map(EventKind::word).join(", ")))
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
    let kind = options.event;
    let remote = options.remote.find(global)?;
    if remote.is_live() {
        let what_to_do = "give a sandbox key, one that begins with sk_test_";
        return Err(CliError::new(format!(
            "this is a live key, and events are only triggered in the sandbox; {what_to_do}"
        )));
    }
    let api = remote.client()?;
    let project_id = api.project_id().await?;
    let (payment_id, api_key_id) = match kind {
        EventKind::PaymentPaid => (Some(payment(&api, &project_id, "paid").await?), None),
        EventKind::PaymentFailed => (Some(payment(&api, &project_id, "failed").await?), None),
        EventKind::ApiKeyDeleted => (None, Some(revoked_key(&api, &project_id, &remote, global).await?)),
    };
    let subject = payment_id.as_deref().or(api_key_id.as_deref()).unwrap_or_default();
    let event_id = event_about(&api, kind, subject).await?;
    let triggered = TriggeredJson { kind: kind.word(), event_id, payment_id, api_key_id };
    global.output().show(&triggered, TriggeredJson::text)
}

/// Makes a payment and lets the simulated bank report about it.
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

/// Makes a key beside the database, as only the dashboard may make one over the API, and revokes it as anyone would.
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
    let owner =
        owner.ok_or_else(|| no_key("this database does not know the API key, so the server uses another one"))?;
    let (key, _) = engine.create_key(owner.project.id, random_name()).await?;
    Ok(key.id)
}

/// Revokes over the API. Where that fails the key goes all the same, since nobody would miss it.
async fn revoke(api: &ApiClient, engine: &Engine, id: KeyId) -> Result<String, CliError> {
    if let Err(trouble) = api.revoke(id).await {
        engine.revoke_key(id, None).await?;
        return Err(trouble.into());
    }
    Ok(id.to_string())
}

fn no_key(why: &str) -> CliError {
    let what = "there is no key to revoke, as one is made beside the server's database";
    CliError::new(format!("{what}: {why}; run this where that is, or name it with --database"))
}

/// The id of the event that tells of `subject`.
async fn event_about(api: &ApiClient, kind: EventKind, subject: &str) -> Result<String, CliError> {
    for _ in 0..LOOKS_MOST {
        let tells =
            |body: &[u8]| serde_json::from_slice::<Value>(body).is_ok_and(|event| event["data"]["id"] == subject);
        let found = api.newest_of(kind).await?.into_iter().find(|event| tells(&event.body));
        if let Some(event) = found {
            return Ok(event.id.to_string());
        }
        sleep(LOOK_AGAIN).await;
    }
    Err(CliError::new(format!("{subject} is made, but no {} about it is among the newest events", kind.word())))
}

/// Unlike any other, as an Idempotency-Key and as the name of a key.
fn random_name() -> String {
    format!("trigger-{:032x}", rand::rng().random::<u128>())
}
