//! `lunas verify`: checks the invariants of the data (docs/invariants.md) and lists the rows that break one. It changes nothing.

use engine::{Engine, Note, Settings};
use serde::Serialize;
use store::Store;

use crate::{
    database::{Database, Installation},
    error::CliError,
    options::GlobalOptions,
    secret_key,
};

/// The invariant that is checked only where the secret key is at hand.
const SECRETS_OPEN: &str = "I16 every stored secret opens with the secret key, in its own row and column";

#[derive(Serialize)]
struct VerifiedJson {
    ok: bool,
    invariants: usize,
    breaches: Vec<BreachJson>,
    /// Rows that are worth a look, though they break nothing.
    notes: Vec<NoteJson>,
}

#[derive(Serialize)]
struct BreachJson {
    invariant: &'static str,
    row: String,
}

#[derive(Serialize)]
struct NoteJson {
    note: &'static str,
    row: String,
}

impl VerifiedJson {
    fn text(&self) -> String {
        let breaches = self.breaches.iter().map(|breach| format!("{}: {}", breach.invariant, breach.row));
        let notes = self.notes.iter().map(|note| format!("note: {}: {}", note.note, note.row));
        let summary = match self.ok {
            true => format!("{} invariants checked: ok", self.invariants),
            false => format!("{} invariants checked; rows that break one: {}", self.invariants, self.breaches.len()),
        };
        breaches.chain(notes).chain([summary]).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) async fn run(global: &GlobalOptions) -> Result<(), CliError> {
    let has_key = secret_key::find(&Database::of(global)?.home())?.is_some();
    let installation = Installation::existing(global, Settings::default()).await?;
    let breaches = breaches(&installation.engine, has_key).await;
    let notes = installation.engine.verify_notes().await;
    installation.close().await;
    let breaches = breaches?;
    let notes = notes?.into_iter().map(|Note { note, row }| NoteJson { note, row }).collect();
    let invariants = Store::invariants_checked() + usize::from(has_key);
    let verified = VerifiedJson { ok: breaches.is_empty(), invariants, breaches, notes };
    global.output().show(&verified, VerifiedJson::text)?;
    match verified.ok {
        true => Ok(()),
        false => Err(CliError::new("the database breaks its own rules; keep a copy of it and report the rows above")),
    }
}

async fn breaches(engine: &Engine, has_key: bool) -> Result<Vec<BreachJson>, engine::Error> {
    let breaches = engine.verify().await?.into_iter();
    let mut breaches: Vec<_> =
        breaches.map(|breach| BreachJson { invariant: breach.invariant, row: breach.row }).collect();
    if has_key {
        let unopened = engine.examine_secrets().await?.unopened.into_iter();
        breaches.extend(unopened.map(|secret| BreachJson { invariant: SECRETS_OPEN, row: secret.place }));
    }
    Ok(breaches)
}
