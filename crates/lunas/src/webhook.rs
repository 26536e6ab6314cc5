//! `lunas webhook`: checks the signature of a received webhook, and rotates a project's webhook secret.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand, builder::NonEmptyStringValueParser, value_parser};
use domain::signature::{TOLERANCE, Unverified, verify};
use engine::{Clock, Engine, Settings, SystemClock};
use secrecy::ExposeSecret;
use serde::Serialize;

use crate::{
    database::{Database, Installation},
    demo_credentials,
    error::CliError,
    options::GlobalOptions,
    output::fields,
    project,
};

/// Far more than any webhook has.
const BODY_BYTES_MOST: u64 = 1_024 * 1_024;
/// A year; for more there is --ignore-age.
const TOLERANCE_SECONDS_MOST: u64 = 366 * 24 * 60 * 60;

#[derive(Subcommand)]
pub(crate) enum WebhookCommand {
    /// Check whether a received webhook is genuine, and say why if it is not.
    Verify(VerifyOptions),
    /// Create a new webhook secret. For a day webhooks are signed with the old one too, so that the receiver can switch.
    RotateSecret {
        /// The project's id, prj_….
        project: String,
        /// Rotate even if the last rotation was less than a day ago. The oldest secret stops working at once.
        #[arg(long)]
        now: bool,
    },
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// The project's webhook secret, whsec_…. Use the variable to keep it out of the process list.
    #[arg(long, env = "LUNAS_WEBHOOK_SECRET", value_name = "SECRET", hide_env_values = true,
          value_parser = NonEmptyStringValueParser::new())]
    secret: String,
    /// The value of the header X-Service-Signature: t=…,v1=….
    #[arg(long)]
    header: String,
    /// The file with the body, byte for byte as it was received; - is standard input.
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
    /// The greatest age of the signature, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = TOLERANCE.as_secs(), conflicts_with = "ignore_age",
          value_parser = value_parser!(u64).range(0..=TOLERANCE_SECONDS_MOST))]
    tolerance: u64,
    /// Do not check the age, for example of a webhook that was stored.
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
    /// Until when webhooks are signed with the old secret too.
    old_secret_until: String,
}

pub(crate) async fn run(command: WebhookCommand, global: &GlobalOptions) -> Result<(), CliError> {
    match command {
        WebhookCommand::Verify(options) => report(check(&options)?, global),
        WebhookCommand::RotateSecret { project, now } => rotate_secret(&project, now, global).await,
    }
}

async fn rotate_secret(project: &str, now: bool, global: &GlobalOptions) -> Result<(), CliError> {
    let database = Database::of(global)?;
    let installation = Installation::sealing_existing(global, Settings::default()).await?;
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
    // `lunas listen` signs with the demo project's saved secret. It is replaced last: the rotation is committed in any case.
    demo_credentials::replace_webhook_secret(&database.home(), &rotated.project_id, &rotated.webhook_secret)
}

async fn rotated(project: &str, now: bool, engine: &Engine) -> Result<RotatedJson, CliError> {
    let project = project::find(engine, project).await?;
    let (secret, until) = match engine.rotate_webhook_secret(project.id, now).await {
        Err(error @ engine::Error::StillRotating { .. }) => {
            return Err(CliError::new(format!(
                "{error}; wait until then, or use --now if no receiver needs it any more"
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

fn report(reason: Option<String>, global: &GlobalOptions) -> Result<(), CliError> {
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

/// Why the webhook is not genuine; none if it is.
fn check(options: &VerifyOptions) -> Result<Option<String>, CliError> {
    let body = read_body(&options.body)?;
    // Users often copy the whole header line, with its name.
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
            let what_to_do = "remove it, and store bodies exactly as received";
            Ok(Some(format!("the body ends with a line break that was not sent; {what_to_do}")))
        }
        Err(reason) => Ok(Some(reason.to_string())),
    }
}

/// Whether the body matches without its last line break, which editors and `echo` add.
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
        _ => Err(CliError::new(format!("{} is not the body of a webhook: it is larger than 1 MiB", path.display()))),
    }
}

/// Reads at most one byte more than a body may have, so that the caller notices a larger one.
fn read_some(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(BODY_BYTES_MOST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
