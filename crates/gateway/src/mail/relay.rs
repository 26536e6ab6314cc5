//! Where letters are handed to, and how: what an operator sets, checked.

use std::{fmt, net::IpAddr};

use lettre::{
    Address,
    message::Mailbox,
    transport::smtp::client::{Certificate, TlsParameters},
};
use secrecy::SecretString;
use url::{Host, Url};

/// The port for letters that are encrypted from the first byte on.
const IMPLICIT_TLS_PORT: u16 = 465;
/// The port for letters that programs hand in.
const SUBMISSION_PORT: u16 = 587;
const NAME_CHARACTERS_MOST: usize = 100;

/// What an operator sets about mail.
pub struct MailSettings {
    /// `smtps://HOST:PORT`, `smtp://HOST:PORT` or, on this machine alone, `smtp+plain://HOST:PORT`.
    pub url: String,
    pub user: Option<String>,
    pub password: Option<SecretString>,
    /// Whom letters come from: an address, with or without a name before it.
    pub from: String,
    /// Certificates in PEM that are trusted besides those of the machine.
    pub extra_authorities: Option<Vec<u8>>,
}

/// How the way to the relay is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// From the first byte on.
    Implicit,
    /// From STARTTLS on, without which nothing is said.
    StartTls,
    /// Not at all, as the relay is on this machine.
    Plain,
}

/// A setting about mail that cannot be used. It never repeats a password.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableMail {
    #[error("the relay must be smtps://HOST, smtp://HOST or smtp+plain://127.0.0.1:PORT, and nothing after that")]
    Url,
    #[error("the URL of the relay holds a user or a password; set LUNAS_MAIL_USER and LUNAS_MAIL_PASSWORD instead")]
    Credentials,
    #[error("letters go unencrypted to this machine alone; use smtps:// or smtp://, which demands STARTTLS")]
    PlainElsewhere,
    #[error("letters must come from an address such as `Toko <toko@example.com>`")]
    From,
    #[error("a user and a password are set both or neither")]
    HalfCredentials,
    #[error("the certificates that are trusted besides cannot be read as PEM")]
    Authorities,
    #[error("this machine has no certificates to check a relay against: {0}")]
    Tls(String),
}

/// A relay, as it is spoken to.
#[derive(Clone)]
pub(super) struct Relay {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) encryption: Encryption,
    /// None where nothing is encrypted.
    pub(super) tls: Option<TlsParameters>,
    pub(super) user: Option<(String, SecretString)>,
    pub(super) from: Mailbox,
}

impl fmt::Display for Relay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.encryption {
            Encryption::Implicit => "smtps",
            Encryption::StartTls => "smtp",
            Encryption::Plain => "smtp+plain",
        };
        write!(formatter, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl Relay {
    pub(super) fn of(settings: MailSettings) -> Result<Relay, UnusableMail> {
        let MailSettings { url, user, password, from, extra_authorities } = settings;
        let (host, port, encryption) = way(&url)?;
        let from = sender(&from)?;
        let user = match (user.filter(|user| !user.is_empty()), password) {
            (Some(user), Some(password)) => Some((user, password)),
            (None, None) => None,
            _ => return Err(UnusableMail::HalfCredentials),
        };
        let tls = match encryption {
            Encryption::Plain => None,
            Encryption::Implicit | Encryption::StartTls => Some(tls(&host, extra_authorities)?),
        };
        Ok(Relay { host, port, encryption, tls, user, from })
    }
}

fn way(url: &str) -> Result<(String, u16, Encryption), UnusableMail> {
    let url = Url::parse(url).map_err(|_| UnusableMail::Url)?;
    let (encryption, default_port) = match url.scheme() {
        "smtps" => (Encryption::Implicit, IMPLICIT_TLS_PORT),
        "smtp" => (Encryption::StartTls, SUBMISSION_PORT),
        "smtp+plain" => (Encryption::Plain, SUBMISSION_PORT),
        _ => return Err(UnusableMail::Url),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UnusableMail::Credentials);
    }
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        return Err(UnusableMail::Url);
    }
    // The host of a scheme that is not of the web is not parsed, but kept as a domain.
    let host = url.host().ok_or(UnusableMail::Url)?;
    let host = match host {
        Host::Domain(name) => name.to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    };
    if encryption == Encryption::Plain && !is_this_machine(&host) {
        return Err(UnusableMail::PlainElsewhere);
    }
    Ok((host, url.port().unwrap_or(default_port), encryption))
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The sender of letters, as it was set: `toko@example.com` or `Toko <toko@example.com>`.
fn sender(text: &str) -> Result<Mailbox, UnusableMail> {
    let text = text.trim();
    let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, address)) => (Some(name.trim().trim_matches('"').to_owned()), address),
        None => (None, text),
    };
    let address: Address = address.trim().parse().map_err(|_| UnusableMail::From)?;
    let name = name.filter(|name| !name.is_empty());
    let is_odd = |name: &String| name.chars().any(char::is_control) || name.chars().count() > NAME_CHARACTERS_MOST;
    match name {
        Some(name) if is_odd(&name) => Err(UnusableMail::From),
        name => Ok(Mailbox::new(name, address)),
    }
}

fn tls(host: &str, extra_authorities: Option<Vec<u8>>) -> Result<TlsParameters, UnusableMail> {
    let mut builder = TlsParameters::builder(host.to_owned());
    if let Some(pem) = extra_authorities {
        builder = builder.add_root_certificate(Certificate::from_pem(&pem).map_err(|_| UnusableMail::Authorities)?);
    }
    builder.build().map_err(|error| UnusableMail::Tls(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_encrypted_unless_it_is_on_this_machine() {
        use Encryption::{Implicit, Plain, StartTls};
        for (url, expected) in [
            ("smtps://relay.example.com", Ok(("relay.example.com", 465, Implicit))),
            ("smtps://relay.example.com:2465/", Ok(("relay.example.com", 2465, Implicit))),
            ("smtp://relay.example.com", Ok(("relay.example.com", 587, StartTls))),
            ("smtp://10.0.0.9:25", Ok(("10.0.0.9", 25, StartTls))),
            ("smtp+plain://127.0.0.1:1025", Ok(("127.0.0.1", 1025, Plain))),
            ("smtp+plain://localhost", Ok(("localhost", 587, Plain))),
            ("smtp+plain://relay.example.com", Err(UnusableMail::PlainElsewhere)),
            ("smtp+plain://10.0.0.9", Err(UnusableMail::PlainElsewhere)),
            ("smtp+plain://127.0.0.1.example.com", Err(UnusableMail::PlainElsewhere)),
            ("smtps://toko:quiet@relay.example.com", Err(UnusableMail::Credentials)),
            ("smtps://toko@relay.example.com", Err(UnusableMail::Credentials)),
            ("https://relay.example.com", Err(UnusableMail::Url)),
            ("smtps://relay.example.com/?tls=off", Err(UnusableMail::Url)),
            ("smtps://relay.example.com/x", Err(UnusableMail::Url)),
            ("smtps://", Err(UnusableMail::Url)),
            ("relay.example.com:25", Err(UnusableMail::Url)),
            ("", Err(UnusableMail::Url)),
        ] {
            let expected = expected.map(|(host, port, encryption)| (host.to_owned(), port, encryption));
            assert_eq!(way(url), expected, "{url}");
        }
    }

    #[test]
    fn letters_come_from_an_address_with_or_without_a_name() {
        let fine = |text: &str| sender(text).map(|mailbox| mailbox.to_string()).ok();
        assert_eq!(fine("toko@example.com").as_deref(), Some("toko@example.com"));
        assert_eq!(fine(" Toko <toko@example.com> ").as_deref(), Some("Toko <toko@example.com>"));
        assert_eq!(fine("\"Toko, Budi\" <toko@example.com>").as_deref(), Some("\"Toko, Budi\" <toko@example.com>"));
        for wrong in
            ["", "Toko", "<>", "Toko <toko>", "a@b, c@d", "To\r\nBcc: x <toko@example.com>", "toko@example.com\r\n.x"]
        {
            assert_eq!(fine(wrong), None, "{wrong:?}");
        }
    }
}
