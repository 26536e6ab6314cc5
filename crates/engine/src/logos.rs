//! Logos: reading the files that merchants send, and finding the pictures that pages show.

use std::sync::Arc;

use domain::{face::LogoMark, hex::hex};
use picture::logo::{self, LogoError};
use sha2::{Digest, Sha256};
use store::LogoFile;
use tokio::sync::Semaphore;

use crate::{Engine, Error};

/// Files that are decoded at once. Each takes a core for a moment and up to 64 MB; others wait for their turn.
const DECODED_AT_ONCE: usize = 2;
/// How much of a picture's hash names it: enough that no two pictures share a name.
const HASH_BYTES: usize = 16;

/// A logo that was read from a file and can be stored.
#[derive(Clone)]
pub struct NewLogo {
    pub(crate) mark: LogoMark,
    pub(crate) file: LogoFile,
}

/// Lets few files be decoded at once.
pub(crate) struct LogoTurns(Arc<Semaphore>);

impl Default for LogoTurns {
    fn default() -> LogoTurns {
        LogoTurns(Arc::new(Semaphore::new(DECODED_AT_ONCE)))
    }
}

impl Engine {
    /// Makes a PNG file of our own from the file that a merchant sent. What was sent is not kept.
    pub async fn read_logo(&self, sent: Vec<u8>) -> Result<NewLogo, LogoError> {
        let turn = Arc::clone(&self.logo_turns.0).acquire_owned().await;
        let read = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            new_logo(&sent)
        });
        // Should a decoder panic, the file is a damaged one.
        read.await.unwrap_or(Err(LogoError::Damaged))
    }

    /// The logo with that hash, as a PNG file.
    pub async fn logo(&self, hash: &str) -> Result<Vec<u8>, Error> {
        self.store.logo(hash).await?.ok_or(Error::NotFound("logo"))
    }
}

fn new_logo(sent: &[u8]) -> Result<NewLogo, LogoError> {
    let image = logo::read(sent)?;
    let png = image.png();
    let hash = hex(&Sha256::digest(&png)[..HASH_BYTES]);
    let mark = LogoMark { hash: hash.clone(), width: image.width(), height: image.height() };
    Ok(NewLogo { mark, file: LogoFile { hash, png } })
}
