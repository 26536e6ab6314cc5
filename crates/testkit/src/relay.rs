//! A mail relay: takes letters by SMTP on a free port, remembers all of them, and behaves as a test tells it to.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use domain::hex::hex;
use gateway::{MailSettings, Mailer};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedWriteHalf},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

/// Longer than any letter takes, so that one that never comes fails its test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a slow relay takes for a letter.
const MOMENT: Duration = Duration::from_millis(100);

/// What a relay does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    Takes,
    /// 550 for every recipient.
    Refuses,
    /// 451 for each recipient the first time, and takes the letter after that.
    Greylists,
    /// No greeting.
    Hangs,
    /// Nobody listens, as far as the caller can tell: the connection ends at once.
    Away,
    /// Takes a letter, and ends the connection before it says so.
    LosesAnswer,
    /// Takes a letter, and says so only once [`Relay::release`] is called.
    HangsAfterTaking,
    /// Takes a moment for each letter.
    Slow,
    /// Says that it can encrypt, and then goes on in plain words.
    LiesAboutTls,
    /// Does not offer to encrypt.
    OffersNoTls,
}

/// A letter that the relay has.
#[derive(Clone, Debug)]
pub struct TakenLetter {
    pub from: String,
    pub to: String,
    /// Its lines, with dots at the start as they were.
    pub text: String,
}

impl TakenLetter {
    /// The value of a header, unfolded; none if there is none.
    pub fn header(&self, name: &str) -> Option<String> {
        let (headers, _) = self.text.split_once("\r\n\r\n")?;
        let unfolded = headers.replace("\r\n ", " ").replace("\r\n\t", " ");
        let start = format!("{}:", name.to_ascii_lowercase());
        let found = unfolded.lines().find(|line| line.to_ascii_lowercase().starts_with(&start));
        found.map(|line| line[start.len()..].trim().to_owned())
    }

    /// Its text with what quoted-printable has done undone, in which tests look for words.
    pub fn words(&self) -> String {
        let joined = self.text.replace("=\r\n", "");
        let mut bytes = Vec::new();
        let mut rest = joined.as_bytes();
        while let Some((first, more)) = rest.split_first() {
            let escaped = (*first == b'=')
                .then(|| more.get(..2))
                .flatten()
                .and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
            match escaped {
                Some(byte) => {
                    bytes.push(byte);
                    rest = &more[2..];
                }
                None => {
                    bytes.push(*first);
                    rest = more;
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

struct Inside {
    manner: Manner,
    taken: Vec<TakenLetter>,
    seen: Vec<String>,
    connections: usize,
}

struct Shared {
    inside: Mutex<Inside>,
    count: watch::Sender<usize>,
    release: watch::Sender<bool>,
    /// Answers that were held back and are given by now.
    answered: AtomicUsize,
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap()
    }

    fn take(&self, letter: TakenLetter) {
        let count = {
            let mut inside = self.inside();
            inside.taken.push(letter);
            inside.taken.len()
        };
        self.count.send_replace(count);
    }
}

/// A running relay.
pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Relay {
    pub async fn start() -> Relay {
        Relay::with(Manner::Takes).await
    }

    pub async fn with(manner: Manner) -> Relay {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let inside = Inside { manner, taken: Vec::new(), seen: Vec::new(), connections: 0 };
        let shared = Arc::new(Shared {
            inside: Mutex::new(inside),
            count: watch::Sender::new(0),
            release: watch::Sender::new(false),
            answered: AtomicUsize::new(0),
        });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                serving.inside().connections += 1;
                let shared = Arc::clone(&serving);
                connections.spawn(async move {
                    // A caller may hang up at any moment.
                    let _ = converse(connection, &shared).await;
                });
            }
        });
        Relay { address, shared, task }
    }

    /// Its URL for a caller on this machine, without encryption.
    pub fn url(&self) -> String {
        format!("smtp+plain://{}", self.address)
    }

    /// What hands letters to it, without encryption.
    pub fn mailer(&self) -> Mailer {
        mailer_at(self.url())
    }

    /// What demands STARTTLS of it.
    pub fn mailer_with_tls(&self) -> Mailer {
        mailer_at(format!("smtp://{}", self.address))
    }

    pub fn behave(&self, manner: Manner) {
        self.shared.inside().manner = manner;
    }

    /// Gives the answers that it has held back.
    pub fn release(&self) {
        self.shared.release.send_replace(true);
    }

    /// How many answers it has given that were held back.
    pub fn released(&self) -> usize {
        self.shared.answered.load(Ordering::SeqCst)
    }

    /// The letters that it has taken, in their order.
    pub fn taken(&self) -> Vec<TakenLetter> {
        self.shared.inside().taken.clone()
    }

    pub fn connections(&self) -> usize {
        self.shared.inside().connections
    }

    /// Waits until it has so many letters.
    #[track_caller]
    pub fn has(&self, count: usize) -> impl Future<Output = Vec<TakenLetter>> {
        let mut counted = self.shared.count.subscribe();
        async move {
            let enough = counted.wait_for(|taken| *taken >= count);
            let waited = tokio::time::timeout(PATIENCE, enough).await.map(|_| ());
            assert!(waited.is_ok(), "{count} letters are wanted, and {} came", self.taken().len());
            self.taken()
        }
    }
}

fn mailer_at(url: String) -> Mailer {
    let from = "Toko <toko@example.com>".to_owned();
    Mailer::new(MailSettings { url, user: None, password: None, from, extra_authorities: None }).unwrap()
}

async fn converse(connection: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let manner = || shared.inside().manner.clone();
    if manner() == Manner::Away {
        return Ok(());
    }
    if manner() == Manner::Hangs {
        std::future::pending::<()>().await;
    }
    let (reading, mut out) = connection.into_split();
    let mut lines = BufReader::new(reading);
    say(&mut out, "220 relay.example.com").await?;
    let (mut from, mut to) = (String::new(), String::new());
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let line = line.trim_end();
        let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
        match verb.as_str() {
            "EHLO" if matches!(manner(), Manner::LiesAboutTls) => {
                say(&mut out, "250-relay.example.com\r\n250-8BITMIME\r\n250 STARTTLS").await?;
            }
            "EHLO" => say(&mut out, "250-relay.example.com\r\n250 8BITMIME").await?,
            "STAR" => say(&mut out, "220 go on\r\n250 but in plain words").await?,
            "MAIL" => {
                from = between(line);
                say(&mut out, "250 ok").await?;
            }
            "RCPT" => {
                to = between(line);
                let answer = recipient(shared, &to);
                say(&mut out, answer).await?;
            }
            "DATA" => {
                say(&mut out, "354 go on").await?;
                let text = letter(&mut lines).await?;
                shared.take(TakenLetter { from: from.clone(), to: to.clone(), text });
                match manner() {
                    Manner::LosesAnswer => return Ok(()),
                    Manner::HangsAfterTaking => {
                        let mut released = shared.release.subscribe();
                        // The relay lives for as long as its connections.
                        let _ = released.wait_for(|released| *released).await;
                        shared.answered.fetch_add(1, Ordering::SeqCst);
                    }
                    Manner::Slow => tokio::time::sleep(MOMENT).await,
                    _ => {}
                }
                say(&mut out, "250 taken").await?;
            }
            "RSET" | "NOOP" => say(&mut out, "250 ok").await?,
            "QUIT" => return say(&mut out, "221 bye").await,
            _ => say(&mut out, &format!("500 what is {}", hex(line.as_bytes()))).await?,
        }
    }
}

fn recipient(shared: &Shared, to: &str) -> &'static str {
    let mut inside = shared.inside();
    match inside.manner {
        Manner::Refuses => "550 nobody here",
        Manner::Greylists if !inside.seen.iter().any(|seen| seen == to) => {
            inside.seen.push(to.to_owned());
            "451 come again"
        }
        _ => "250 ok",
    }
}

async fn letter(lines: &mut (impl AsyncBufReadExt + Unpin)) -> std::io::Result<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).await? == 0 || line == ".\r\n" {
            return Ok(text);
        }
        text.push_str(&line);
    }
}

/// The address between angle brackets.
fn between(line: &str) -> String {
    let inner = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map(|(address, _)| address.to_owned()).unwrap_or_default()
}

async fn say(out: &mut OwnedWriteHalf, words: &str) -> std::io::Result<()> {
    out.write_all(format!("{words}\r\n").as_bytes()).await
}
