//! Relays that encrypt: which of them is spoken to, and what they hear.

use std::sync::{Arc, Mutex};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::letter_queue::SendOutcome;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use super::{MailSettings, Mailer, Post, Session};
use crate::{self_signed::self_signed, snap::pem};

const HOST: &str = "localhost";
const USER: &str = "toko";
const PASSWORD: &str = "quiet";

/// When a relay encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Implicit,
    StartTls,
    /// After STARTTLS; and with the answer to it comes more, which anybody on the way may have put there.
    StartTlsAndMore,
}

impl Way {
    fn scheme(self) -> &'static str {
        match self {
            Way::Implicit => "smtps",
            Way::StartTls | Way::StartTlsAndMore => "smtp",
        }
    }

    fn answer_to_starttls(self) -> &'static str {
        match self {
            Way::Implicit => "500 what",
            Way::StartTls => "220 go on",
            Way::StartTlsAndMore => "220 go on\r\n250-relay.example.com\r\n250 AUTH PLAIN",
        }
    }
}

/// What a relay has heard, line by line.
#[derive(Clone, Default)]
struct Heard {
    plain: Arc<Mutex<Vec<String>>>,
    encrypted: Arc<Mutex<Vec<String>>>,
}

impl Heard {
    fn plain(&self) -> Vec<String> {
        self.plain.lock().unwrap().clone()
    }

    fn encrypted(&self) -> Vec<String> {
        self.encrypted.lock().unwrap().clone()
    }
}

struct Relay {
    url: String,
    /// Its certificate as PEM.
    authority: Vec<u8>,
    heard: Heard,
}

impl Relay {
    /// A relay at `localhost` that shows a certificate for `name`.
    async fn start(name: &str, way: Way) -> Relay {
        let listener = TcpListener::bind((HOST, 0)).await.unwrap();
        let url = format!("{}://{HOST}:{}", way.scheme(), listener.local_addr().unwrap().port());
        let (acceptor, certificate) = self_signed(name);
        let heard = Heard::default();
        let hearing = heard.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, acceptor.clone(), way, hearing.clone()));
            }
        });
        Relay { url, authority: pem::encode("CERTIFICATE", &certificate).into_bytes(), heard }
    }

    fn mailer(&self, extra_authorities: Option<Vec<u8>>, password: &str) -> Mailer {
        let settings = MailSettings {
            url: self.url.clone(),
            user: Some(USER.to_owned()),
            password: Some(password.into()),
            from: "Toko <toko@example.com>".to_owned(),
            extra_authorities,
        };
        Mailer::new(settings).unwrap()
    }

    async fn open(&self, extra_authorities: Option<Vec<u8>>, password: &str) -> Result<Session, SendOutcome> {
        self.mailer(extra_authorities, password).open(&mut |_| {}).await
    }

    /// What a caller is told who trusts the certificate, or nobody but the machine, and gets no session.
    async fn refusal(&self, extra_authorities: Option<Vec<u8>>) -> String {
        match self.open(extra_authorities, PASSWORD).await {
            Err(SendOutcome::NoRelay(answer)) => answer,
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("there is a session"),
        }
    }
}

/// Callers hang up where they do not trust it.
async fn converse(stream: TcpStream, acceptor: TlsAcceptor, way: Way, heard: Heard) -> Option<()> {
    let mut stream = stream;
    if way != Way::Implicit {
        say(&mut stream, "220 relay.example.com").await?;
        let mut lines = BufReader::new(&mut stream);
        while !next_line(&mut lines, &heard.plain).await?.starts_with("STARTTLS") {
            say(&mut lines, "250-relay.example.com\r\n250 STARTTLS").await?;
        }
        say(&mut stream, way.answer_to_starttls()).await?;
    }
    let mut lines = BufReader::new(acceptor.accept(stream).await.ok()?);
    if way == Way::Implicit {
        say(&mut lines, "220 relay.example.com").await?;
    }
    let credentials = STANDARD.encode(format!("\0{USER}\0{PASSWORD}"));
    loop {
        let line = next_line(&mut lines, &heard.encrypted).await?;
        let answer = match line.get(..4).unwrap_or_default() {
            "EHLO" => "250-relay.example.com\r\n250 AUTH PLAIN",
            "AUTH" if line == format!("AUTH PLAIN {credentials}") => "235 welcome",
            "AUTH" => "535 who are you",
            "DATA" => {
                say(&mut lines, "354 go on").await?;
                while next_line(&mut lines, &heard.encrypted).await? != "." {}
                "250 taken"
            }
            _ => "250 ok",
        };
        say(&mut lines, answer).await?;
    }
}

async fn say(stream: &mut (impl AsyncWrite + Unpin), words: &str) -> Option<()> {
    stream.write_all(format!("{words}\r\n").as_bytes()).await.ok()?;
    stream.flush().await.ok()
}

async fn next_line(lines: &mut BufReader<impl AsyncRead + Unpin>, heard: &Mutex<Vec<String>>) -> Option<String> {
    let mut line = String::new();
    if lines.read_line(&mut line).await.ok()? == 0 {
        return None;
    }
    let line = line.trim_end().to_owned();
    heard.lock().unwrap().push(line.clone());
    Some(line)
}

fn post() -> Post {
    Post {
        id: "ltr_1".to_owned(),
        to: "siti@example.com".to_owned(),
        subject: "Struk".to_owned(),
        plain: "Halo".to_owned(),
        html: "<p>Halo</p>".to_owned(),
        picture: None,
        unsubscribe: None,
    }
}

#[tokio::test]
async fn a_trusted_relay_gets_password_and_letter_and_all_of_it_encrypted() {
    for way in [Way::Implicit, Way::StartTls] {
        let relay = Relay::start(HOST, way).await;
        let mut session = relay.open(Some(relay.authority.clone()), PASSWORD).await.unwrap_or_else(|error| {
            panic!("{way:?}: {error:?}");
        });
        let outcome = session.send(post(), &mut |_| {}).await;
        assert_eq!(outcome, SendOutcome::Taken("250 taken".to_owned()), "{way:?}");
        let before = relay.heard.plain();
        let expected: &[&str] = if way == Way::Implicit { &[] } else { &["EHLO example.com", "STARTTLS"] };
        assert_eq!(before, expected, "{way:?}");
        let encrypted = relay.heard.encrypted();
        assert_eq!(encrypted[0], "EHLO example.com", "{way:?}");
        assert!(encrypted[1].starts_with("AUTH PLAIN "), "{encrypted:?}");
        assert!(encrypted.iter().any(|line| line == "Subject: Struk"), "{encrypted:?}");
    }
}

#[tokio::test]
async fn a_relay_that_refuses_the_password_gets_no_letter() {
    for way in [Way::Implicit, Way::StartTls] {
        let relay = Relay::start(HOST, way).await;
        let refused = relay.open(Some(relay.authority.clone()), "a wrong one").await.err();
        assert_eq!(refused, Some(SendOutcome::NoRelay("sign in: 535 who are you".to_owned())), "{way:?}");
        assert!(!relay.heard.encrypted().iter().any(|line| line.starts_with("MAIL")), "{way:?}");
    }
}

#[tokio::test]
async fn nothing_is_said_to_a_relay_whose_certificate_is_not_trusted_or_names_another_host() {
    for way in [Way::Implicit, Way::StartTls] {
        for (name, is_trusted) in [(HOST, false), ("relay.example.com", true)] {
            let relay = Relay::start(name, way).await;
            let refusal = relay.refusal(is_trusted.then(|| relay.authority.clone())).await;
            assert!(refusal.contains("certificate"), "{way:?} {name}: {refusal}");
            assert_eq!(relay.heard.encrypted(), [""; 0], "{way:?} {name}");
        }
    }
}

/// As CVE-2021-33515 and its kin had it: who is on the way puts answers into the plain part, and they count as encrypted.
#[tokio::test]
async fn what_comes_before_the_handshake_is_no_answer_of_after_it() {
    let relay = Relay::start(HOST, Way::StartTlsAndMore).await;
    let refusal = relay.refusal(Some(relay.authority.clone())).await;
    assert!(refusal.starts_with("starttls: "), "{refusal}");
    assert_eq!(relay.heard.encrypted(), [""; 0]);
}
