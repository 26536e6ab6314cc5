//! Letters as their readers get them, for tests that look for what they say and follow their links.

use testkit::{Kit, Relay};

use crate::support::{letters::send_to, wait::until};

/// Everything that a server sends by mail.
pub(crate) struct Mailbox(Relay);

impl Mailbox {
    /// Sets up mail on the server of `kit`, and starts to send.
    pub(crate) async fn of(kit: &Kit) -> Mailbox {
        let relay = Relay::start().await;
        send_to(kit, &relay);
        Mailbox(relay)
    }

    /// The letters in which that text stands, in the order in which they came.
    pub(crate) fn with(&self, text: &str) -> Vec<String> {
        self.0.taken().iter().map(|letter| letter.words()).filter(|words| words.contains(text)).collect()
    }

    /// Waits until so many letters have come in which that text stands, and returns them.
    pub(crate) async fn wait_for(&self, text: &str, count: usize) -> Vec<String> {
        let has_come = || async { self.with(text).len() >= count };
        until(has_come).await;
        self.with(text)
    }
}

/// The path of the link in a letter that begins so.
#[track_caller]
pub(crate) fn link_of(kit: &Kit, letter: &str, path: &str) -> String {
    let before = format!("{}{path}", kit.pages_url);
    let (_, rest) = letter.split_once(&before).unwrap_or_else(|| panic!("no {before} in {letter}"));
    format!("{path}{}", rest.split(|letter: char| !letter.is_ascii_hexdigit()).next().unwrap())
}
