//! `lunas secret`: encrypts the stored secrets anew when the secret key is rotated.

use clap::Subcommand;
use engine::{Rotation, Settings};
use serde::Serialize;

use crate::{
    database::{Database, Installation},
    error::CliError,
    options::GlobalOptions,
    secret_key::{self, FoundKeys},
};

#[derive(Subcommand)]
pub(crate) enum SecretCommand {
    /// Encrypt every stored secret anew with LUNAS_SECRET_KEY. LUNAS_SECRET_KEY_PREVIOUS, the old key, decrypts them. Servers that
    /// have both keys go on serving meanwhile. If it is interrupted, run it again: it continues. If a secret does not decrypt, it
    /// changes nothing.
    Rotate,
}

#[derive(Serialize)]
struct RotatedJson {
    /// How many secrets were encrypted anew.
    resealed: u64,
    /// How many secrets there are; all of them are encrypted with the current key.
    total: u64,
}

pub(crate) async fn run(command: SecretCommand, global: &GlobalOptions) -> Result<(), CliError> {
    match command {
        SecretCommand::Rotate => rotate(global).await,
    }
}

async fn rotate(global: &GlobalOptions) -> Result<(), CliError> {
    let database = Database::of(global)?;
    let store = database.open_existing().await?;
    let Some(found) = secret_key::find(&database.home())? else { return Err(secret_key_missing(&database)) };
    if found.keys.others.contains(&found.keys.current) {
        let others = found.origins_of_others().join(" and ");
        return Err(CliError::new(format!(
            "{} and {others} hold the same key; give the new key in the first and the old one in the second",
            found.origin()
        )));
    }
    let installation = Installation::new(store, Settings::default(), found.keys.clone());
    let rotation = installation.engine.rotate_secrets().await;
    installation.close().await;
    let rotated = done(rotation?, &found)?;
    global.output().show(&rotated, |rotated| text(rotated, &found))
}

fn done(rotation: Rotation, found: &FoundKeys) -> Result<RotatedJson, CliError> {
    match rotation {
        Rotation::Done { resealed, total } => Ok(RotatedJson { resealed, total }),
        Rotation::Unopened(unopened) => {
            let damaged = unopened.iter().filter(|secret| !secret.key_is_missing);
            let damaged = damaged.map(|secret| format!("{} is damaged, or belongs to another place", secret.place));
            let reasons = found.missing_for(&unopened).into_iter().chain(damaged);
            Err(CliError::several(reasons.map(|reason| format!("nothing was changed: {reason}")).collect()))
        }
        Rotation::Unfinished => Err(CliError::new(format!(
            "others keep on encrypting with another key; give every server the {} of this command, and run it again",
            found.origin()
        ))),
    }
}

fn text(rotated: &RotatedJson, found: &FoundKeys) -> String {
    let RotatedJson { resealed, total } = rotated;
    let what = format!("All {total} stored secrets are encrypted with the key in {}; {resealed} were", found.origin());
    let what = format!("{what} encrypted anew.");
    match found.origins_of_others() {
        [] => what,
        others => format!(
            "{what}\n\nWhat to do next: restart every server without {}, and run `lunas doctor` there.\n\
             Keep the old key for as long as you keep backups from before.",
            others.join(" and ")
        ),
    }
}

fn secret_key_missing(database: &Database) -> CliError {
    let file = secret_key::file_in(&database.home());
    CliError::new(format!(
        "there is no secret key: {} is not set and there is no {}; give the new key there, and the old one in {}",
        secret_key::VARIABLE,
        file.display(),
        secret_key::PREVIOUS_VARIABLE
    ))
}
