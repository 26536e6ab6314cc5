//! How letters are sent: options of the commands that send them or queue them, and the password, which no flag takes.

use std::path::PathBuf;

use clap::Args;
use engine::{Mail, Notices, Settings};
use gateway::{MailSettings, Mailer};
use secrecy::SecretString;

use crate::{
    database::{Database, Installation},
    error::CliError,
    options::{GlobalOptions, PagesUrl},
    private_files, remote, variables,
};

pub(crate) const PASSWORD_VARIABLE: &str = "LUNAS_MAIL_PASSWORD";
/// The most of a file with certificates that is read.
const AUTHORITIES_BYTES_MOST: usize = 1024 * 1024;

/// How letters are sent.
#[derive(Args)]
#[command(next_help_heading = "Mail")]
pub(crate) struct MailOptions {
    /// The relay that letters are handed to: smtps://HOST for TLS from the start, smtp://HOST for STARTTLS, which is then
    /// demanded, or on this machine alone smtp+plain://127.0.0.1:PORT. Without it, no letters are sent.
    #[arg(long, env = "LUNAS_MAIL_URL", value_name = "URL")]
    mail_url: Option<String>,
    /// The user to sign in to the relay with. The password is LUNAS_MAIL_PASSWORD.
    #[arg(long, env = "LUNAS_MAIL_USER", value_name = "NAME")]
    mail_user: Option<String>,
    /// Whom letters come from, such as `Toko <toko@example.com>`.
    #[arg(long, env = "LUNAS_MAIL_FROM", value_name = "ADDRESS")]
    mail_from: Option<String>,
    /// A file of certificates in PEM that are trusted for the relay besides those of the machine.
    #[arg(long, env = "LUNAS_MAIL_CA_FILE", value_name = "FILE")]
    mail_ca_file: Option<PathBuf>,
}

impl MailOptions {
    /// What letters are sent with; none where mail is not set up.
    pub(crate) fn mailer(&self) -> Result<Option<Mailer>, CliError> {
        let Some(url) = self.mail_url.clone().filter(|url| !url.is_empty()) else { return Ok(None) };
        let from = self.mail_from.clone().filter(|from| !from.is_empty());
        let from = from
            .ok_or_else(|| CliError::new("LUNAS_MAIL_FROM is not set; set it to the address that letters come from"))?;
        let settings = MailSettings {
            url,
            user: self.mail_user.clone(),
            password: password()?,
            from,
            extra_authorities: self.extra_authorities()?,
        };
        Mailer::new(settings).map(Some).map_err(|error| CliError::new(format!("mail cannot be sent: {error}")))
    }

    fn extra_authorities(&self) -> Result<Option<Vec<u8>>, CliError> {
        let Some(path) = self.mail_ca_file.as_ref().filter(|path| !path.as_os_str().is_empty()) else {
            return Ok(None);
        };
        let read = private_files::read_if_present(path).map_err(|error| CliError::file("read", path, &error))?;
        let missing = || CliError::new(format!("there is no file {}, which LUNAS_MAIL_CA_FILE names", path.display()));
        let pem = read.ok_or_else(missing)?;
        if pem.len() > AUTHORITIES_BYTES_MOST {
            return Err(CliError::new(format!("{} is too long for a file of certificates", path.display())));
        }
        Ok(Some(pem.into_bytes()))
    }
}

/// What commands need that cause letters. A server sends what they queue.
#[derive(Args)]
pub(crate) struct LetterOptions {
    #[command(flatten)]
    pages_url: PagesUrl,
    #[command(flatten)]
    mail: MailOptions,
}

impl LetterOptions {
    /// An existing installation. Where mail is set up, letters are queued, also as notices of projects, and sealed with the secret key.
    pub(crate) async fn installation(&self, global: &GlobalOptions) -> Result<Installation, CliError> {
        match self.mail.mailer()? {
            Some(mailer) => self.with_mail(mailer, global).await,
            None => Installation::existing(global, Settings::default()).await,
        }
    }

    /// The same for a command that encrypts something in any case.
    pub(crate) async fn sealing_installation(&self, global: &GlobalOptions) -> Result<Installation, CliError> {
        match self.mail.mailer()? {
            Some(mailer) => self.with_mail(mailer, global).await,
            None => Installation::sealing_existing(global, Settings::default()).await,
        }
    }

    async fn with_mail(&self, mailer: Mailer, global: &GlobalOptions) -> Result<Installation, CliError> {
        let installation = Installation::sealing_existing(global, Settings::default()).await?;
        let is_development = installation.engine.is_development().await?;
        let pages_url = pages_url(&self.pages_url, is_development, global)?;
        installation.engine.set_up_notices(Notices { pages_url: pages_url.clone(), operators: None });
        installation.engine.set_up_mail(Mail { mailer, pages_url });
        Ok(installation)
    }
}

/// Where people reach the pages, for what a command tells them. For the database of `lunas dev` it is where that server listens, unless
/// another one is given.
pub(crate) fn pages_url(given: &PagesUrl, is_development: bool, global: &GlobalOptions) -> Result<String, CliError> {
    let url = match given.checked(is_development)? {
        None if is_development => remote::read_address(&Database::of(global)?.home())?,
        url => url,
    };
    let mend = "set it here as for `lunas serve`, to the https URL at which people reach the dashboard";
    url.ok_or_else(|| CliError::new(format!("LUNAS_BASE_URL is not set; {mend}")))
}

fn password() -> Result<Option<SecretString>, CliError> {
    let Some(value) = variables::get(PASSWORD_VARIABLE) else { return Ok(None) };
    let text = value.text.into_string();
    text.map(|text| Some(text.into())).map_err(|_| CliError::new(format!("{} is no text", value.origin)))
}
