//! `lunas verify`: checks the invariants of the data (docs/invariants.md) and lists the rows that break one. It changes nothing.

use engine::{Note, Settings};
use serde::Serialize;
use store::Store;

use crate::{database::Installation, error::CliError, options::GlobalOptions};

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
    let installation = Installation::existing(global, Settings::default()).await?;
    let breaches = installation.engine.verify().await;
    let notes = installation.engine.verify_notes().await;
    installation.close().await;
    let notes = notes?.into_iter().map(|Note { note, row }| NoteJson { note, row }).collect();
    let breaches: Vec<_> =
        breaches?.into_iter().map(|breach| BreachJson { invariant: breach.invariant, row: breach.row }).collect();
    let verified = VerifiedJson { ok: breaches.is_empty(), invariants: Store::invariants_checked(), breaches, notes };
    global.output().show(&verified, VerifiedJson::text)?;
    match verified.ok {
        true => Ok(()),
        false => Err(CliError::new("the database breaks its own rules; keep a copy of it and report the rows above")),
    }
}
