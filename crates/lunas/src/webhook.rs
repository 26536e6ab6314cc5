//! `lunas webhook`: for those who set up a receiver, and the secret that it knows us by.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand, builder::NonEmptyStringValueParser, value_parser};
use domain::signature::{TOLERANCE, Unverified, verify};
use engine::{Clock, Engine, SystemClock};
use secrecy::ExposeSecret;
use serde::Serialize;

use crate::{
    database::{Database, Installation},
    demo,
    error::CliError,
    options::GlobalOptions,
    output::fields,
    project,
};

/// Far more than any webhook has.
const BODY_BYTES_MOST: u64 = 1_024 * 1_024;
/// A year; who wants more of it does not want to look at the age at all.
const TOLERANCE_SECONDS_MOST: u64 = 366 * 24 * 60 * 60;

#[derive(Subcommand)]
pub(crate) enum WebhookCommand {
    /// Check whether a webhook that was received is genuine, and say why when it is not.
    Verify(VerifyOptions),
    /// Make a new webhook secret. Webhooks are signed with the old one too for a day, so that the receiver can change over.
    RotateSecret {
        /// The project's id, prj_….
        project: String,
        /// Do so even though the last change is less than a day old: the secret before that one is not signed with any more.
        #[arg(long)]
        now: bool,
    },
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// The project's webhook secret, whsec_…. The variable keeps it out of the list of processes.
    #[arg(long, env = "LUNAS_WEBHOOK_SECRET", value_name = "SECRET", hide_env_values = true,
          value_parser = NonEmptyStringValueParser::new())]
    secret: String,
    /// What the header X-Service-Signature said: t=…,v1=….
    #[arg(long)]
    header: String,
    /// The file that holds the body, byte for byte as it came; - is standard input.
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
    /// How old the signature may be.
    #[arg(long, value_name = "SECONDS", default_value_t = TOLERANCE.as_secs(), conflicts_with = "ignore_age",
          value_parser = value_parser!(u64).range(0..=TOLERANCE_SECONDS_MOST))]
    tolerance: u64,
    /// Do not look at the age, as for a webhook that was kept.
    #[arg(long)]
    ignore_age: bool,
}

#[derive(Serialize)]
struct VerdictJson {
    genuine: bool,
    reason: Option<String>,
}

#[derive(Serialize)]
struct RotatedJson {
    project_id: String,
    webhook_secret: String,
    /// Until when webhooks carry a signature by the old secret too.
    old_secret_until: String,
}

pub(crate) async fn run(command: WebhookCommand, global: &GlobalOptions) -> Result<(), CliError> {
    match command {
        WebhookCommand::Verify(options) => say(judge(&options)?, global),
        WebhookCommand::RotateSecret { project, now } => rotate_secret(&project, now, global).await,
    }
}

async fn rotate_secret(project: &str, now: bool, global: &GlobalOptions) -> Result<(), CliError> {
    let database = Database::of(global)?;
    let installation = Installation::sealing_existing(global).await?;
    let rotated = rotated(project, now, &installation.engine).await;
    installation.close().await;
    let rotated = rotated?;
    global.output().show(&rotated, |rotated| {
        let fields = fields(&[
            ("project", rotated.project_id.clone()),
            ("webhook secret", rotated.webhook_secret.clone()),
            ("old one until", rotated.old_secret_until.clone()),
        ]);
        format!("{fields}\n\nGive the new secret to the receiver before then.")
    })?;
    // `lunas listen` signs with the secret that is kept for the demo project. What was shown above is changed in any case.
    demo::remember_secret(&database.home(), &rotated.project_id, &rotated.webhook_secret)
}

async fn rotated(project: &str, now: bool, engine: &Engine) -> Result<RotatedJson, CliError> {
    let project = project::find(engine, project).await?;
    let (secret, until) = match engine.rotate_webhook_secret(project.id, now).await {
        Err(error @ engine::Error::StillRotating { .. }) => {
            return Err(CliError::new(format!(
                "{error}; wait until then, or say --now if no receiver uses it any more"
            )));
        }
        rotated => rotated?,
    };
    Ok(RotatedJson {
        project_id: project.id.to_string(),
        webhook_secret: secret.expose_secret().to_owned(),
        old_secret_until: until.to_string(),
    })
}

fn say(reason: Option<String>, global: &GlobalOptions) -> Result<(), CliError> {
    let verdict = VerdictJson { genuine: reason.is_none(), reason };
    let output = global.output();
    if verdict.genuine || output.json {
        output.show(&verdict, |_| "genuine: this body was signed with this secret".to_owned())?;
    }
    match verdict.reason {
        None => Ok(()),
        Some(reason) => Err(CliError::new(format!("not genuine: {reason}"))),
    }
}

/// Why it is not genuine, or nothing when it is.
fn judge(options: &VerifyOptions) -> Result<Option<String>, CliError> {
    let body = read_body(&options.body)?;
    // People copy the whole line.
    let header = options.header.split_once(':').map_or(options.header.as_str(), |(_, value)| value);
    let tolerance = match options.ignore_age {
        true => Duration::MAX,
        false => Duration::from_secs(options.tolerance),
    };
    let check = |body: &[u8]| verify(header, &options.secret, body, SystemClock.now(), tolerance);
    match check(&body) {
        Ok(()) => Ok(None),
        Err(Unverified::NoMatch)
            if ends_in_a_stray_line(&body, |shorter| check(shorter) != Err(Unverified::NoMatch)) =>
        {
            let what_to_do = "take it away and keep bodies as they come";
            Ok(Some(format!("the body has a line break at its end that was not sent; {what_to_do}")))
        }
        Err(reason) => Ok(Some(reason.to_string())),
    }
}

/// Whether the body matches without the line break at its end: editors and `echo` add one.
fn ends_in_a_stray_line(body: &[u8], matches: impl Fn(&[u8]) -> bool) -> bool {
    let endings: [&[u8]; 2] = [b"\r\n", b"\n"];
    endings.iter().filter_map(|ending| body.strip_suffix(*ending)).any(matches)
}

fn read_body(path: &Path) -> Result<Vec<u8>, CliError> {
    let body = match path == Path::new("-") {
        true => read_some(io::stdin().lock()),
        false => File::open(path).and_then(read_some),
    };
    let body = body.map_err(|error| CliError::file("read the body from", path, &error))?;
    match u64::try_from(body.len()) {
        Ok(length) if length <= BODY_BYTES_MOST => Ok(body),
        _ => Err(CliError::new(format!("{} is no webhook's body: it has more than 1 MiB", path.display()))),
    }
}

/// All there is, or one byte more than there may be.
fn read_some(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(BODY_BYTES_MOST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
