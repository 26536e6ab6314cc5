//! Where what operators are told goes as notices: options of the servers, and the secret, which no flag takes.

use clap::{Args, ValueEnum};
use domain::language::Language;
use engine::OperatorUrl;
use gateway::AddressGuard;

use crate::{error::CliError, variables};

pub(crate) const SECRET_VARIABLE: &str = "LUNAS_NOTICE_SECRET";
/// As long as the secrets of webhooks, without their prefix.
const SECRET_CHARACTERS_LEAST: usize = 32;

/// Where notices for operators go.
#[derive(Args)]
#[command(next_help_heading = "Notices")]
pub(crate) struct NoticeOptions {
    /// The URL that operators are told at besides by mail, such as that a bank is down. It needs LUNAS_NOTICE_SECRET, which signs
    /// what is sent there. Projects set a URL of their own in the dashboard.
    // The URL of a gateway often holds a secret, so the help must not show its value.
    #[arg(long, env = "LUNAS_NOTICE_URL", value_name = "URL", hide_env_values = true)]
    notice_url: Option<String>,
    /// The language of notices for operators.
    #[arg(long, env = "LUNAS_NOTICE_LANGUAGE", value_name = "LANGUAGE", value_enum, default_value_t = NoticeLanguage::Id)]
    notice_language: NoticeLanguage,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NoticeLanguage {
    Id,
    En,
}

impl NoticeOptions {
    /// What is set; none where no URL is. The URL is judged like those of webhooks, here and again whenever something is sent.
    /// `https_only`: it must be encrypted.
    pub(crate) fn operators(&self, guard: &AddressGuard, https_only: bool) -> Result<Option<OperatorUrl>, CliError> {
        let Some(url) = self.notice_url.clone().filter(|url| !url.is_empty()) else { return Ok(None) };
        guard
            .check_url(&url, https_only)
            .map_err(|reason| CliError::new(format!("LUNAS_NOTICE_URL is refused: {reason}")))?;
        let mend = "`openssl rand -hex 32` generates one, which the server behind LUNAS_NOTICE_URL needs too";
        let secret = match variables::get(SECRET_VARIABLE) {
            None => return Err(CliError::new(format!("{SECRET_VARIABLE} is not set; {mend}"))),
            Some(value) => {
                let text = value.text.into_string();
                text.map_err(|_| CliError::new(format!("{} is no text", value.origin)))?
            }
        };
        if secret.chars().count() < SECRET_CHARACTERS_LEAST {
            return Err(CliError::new(format!(
                "{SECRET_VARIABLE} has fewer than {SECRET_CHARACTERS_LEAST} characters; {mend}"
            )));
        }
        let language = match self.notice_language {
            NoticeLanguage::Id => Language::Indonesian,
            NoticeLanguage::En => Language::English,
        };
        Ok(Some(OperatorUrl { url, secret: secret.into(), language, https_only }))
    }
}
