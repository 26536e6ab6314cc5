//! Logos: reading the files that merchants send, and finding the pictures that pages show.

use domain::{face::LogoMark, hex::hex};
use picture::logo::{self, LogoError};
use sha2::{Digest, Sha256};
use store::LogoFile;

use crate::{Engine, Error, blocking_work::WorkError};

/// How much of a picture's hash names it: enough that no two pictures share a name.
const HASH_BYTES: usize = 16;

/// A logo that was read from a file and can be stored.
#[derive(Clone)]
pub struct NewLogo {
    pub(crate) mark: LogoMark,
    pub(crate) file: LogoFile,
}

impl Engine {
    /// Makes a PNG file of our own from the file that a merchant sent. What was sent is not kept. When too many files wait already,
    /// or there is no thread for it, it fails as a busy server does.
    pub async fn read_logo(&self, sent: Vec<u8>) -> Result<Result<NewLogo, LogoError>, Error> {
        let turn = self.logo_reading.turn().await?;
        match turn.run_quietly(move || new_logo(&sent)).await {
            Ok(read) => Ok(read),
            // Should a decoder panic, the file is a damaged one.
            Err(WorkError::Failed) => Ok(Err(LogoError::Damaged)),
            Err(busy) => Err(busy.into()),
        }
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
