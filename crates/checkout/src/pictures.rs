//! Pictures that anybody may ask for: the card with a payment's QR code, and the one that chats show of a link.
//!
//! To draw one takes some milliseconds of a core, so few are drawn at once, at low priority, few requests wait for that, and the
//! newest pictures are kept in memory. A drawing goes on when its request is gone, and keeps its turn until it ends. Nothing is drawn
//! for a client that has the picture already, or that asks for its headers alone.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::hex::hex;
use engine::{BlockingWork, Error, half_of_the_cores};
use sha2::{Digest, Sha256};
use web::{
    Failure, etag,
    page::{page_error::PageError, render::unsent_body},
};

/// Pictures that are kept, and what they may take together. One takes about 45 KB.
const PICTURES_MOST: usize = 128;
const PICTURES_BYTES_MOST: usize = 8 * 1024 * 1024;
/// Requests that wait until their picture can be drawn. Further ones are told to come back.
const WAITING_MOST: usize = 16;
/// How much of the hash tells two pictures apart.
const KEY_BYTES: usize = 16;

/// Identifies a picture by the texts that it shows.
pub(crate) fn key<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_be_bytes());
        hash.update(text);
    }
    hex(&hash.finalize()[..KEY_BYTES])
}

/// The pictures that were drawn last, and the work of drawing others.
pub(crate) struct Pictures {
    kept: Mutex<Kept>,
    drawing: BlockingWork,
}

/// Pictures by their keys, the oldest first.
#[derive(Default)]
struct Kept {
    pictures: VecDeque<(String, Bytes)>,
    bytes: usize,
}

impl Kept {
    fn get(&self, key: &str) -> Option<Bytes> {
        self.pictures.iter().find(|(known, _)| known == key).map(|(_, picture)| picture.clone())
    }

    /// Another request may have drawn the same picture meanwhile.
    fn add(&mut self, key: String, picture: Bytes) {
        if self.get(&key).is_some() {
            return;
        }
        self.bytes += picture.len();
        self.pictures.push_back((key, picture));
        while self.pictures.len() > PICTURES_MOST || self.bytes > PICTURES_BYTES_MOST {
            let Some((_, oldest)) = self.pictures.pop_front() else { return };
            self.bytes -= oldest.len();
        }
    }
}

impl Default for Pictures {
    fn default() -> Pictures {
        Pictures { kept: Mutex::default(), drawing: BlockingWork::new(half_of_the_cores(), WAITING_MOST) }
    }
}

impl Pictures {
    /// The answer to a request for the picture with that key. `draw` makes its PNG file, or none where there can be none.
    pub(crate) async fn answer(
        &self,
        (method, headers): (&Method, &HeaderMap),
        key: String,
        cached: HeaderValue,
        draw: impl FnOnce() -> Option<Vec<u8>> + Send + 'static,
    ) -> Result<Response, PageError> {
        let tag = etag::of(&key);
        let version: [(HeaderName, HeaderValue); 2] = [(header::CACHE_CONTROL, cached), (header::ETAG, tag.clone())];
        if etag::is_known(headers, &tag) {
            return Ok((StatusCode::NOT_MODIFIED, version).into_response());
        }
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("image/png"))];
        let body = if method == Method::HEAD { unsent_body() } else { self.picture(key, draw).await?.into() };
        Ok((version, kind, body).into_response())
    }

    async fn picture(
        &self,
        key: String,
        draw: impl FnOnce() -> Option<Vec<u8>> + Send + 'static,
    ) -> Result<Bytes, PageError> {
        if let Some(picture) = self.kept().get(&key) {
            return Ok(picture);
        }
        let turn = self.drawing.turn().await.map_err(Failure::from)?;
        // Another request may have drawn it meanwhile.
        if let Some(picture) = self.kept().get(&key) {
            return Ok(picture);
        }
        let drawn = turn.run_quietly(draw).await.map_err(Failure::from)?;
        let picture = Bytes::from(drawn.ok_or(Error::NotFound("picture"))?);
        self.kept().add(key, picture.clone());
        Ok(picture)
    }

    /// Never from a thread that draws: it may be set aside while it has the lock, and every request would wait for it.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_pictures_are_kept_within_both_limits() {
        let mut kept = Kept::default();
        let small = Bytes::from_static(b"x");
        for number in 0..=PICTURES_MOST {
            kept.add(number.to_string(), small.clone());
            kept.add(number.to_string(), small.clone());
        }
        assert_eq!((kept.pictures.len(), kept.bytes), (PICTURES_MOST, PICTURES_MOST));
        assert!(kept.get("0").is_none() && kept.get("1").is_some());
        let large = Bytes::from(vec![0; PICTURES_BYTES_MOST / 2]);
        for number in 0..3 {
            kept.add(format!("large {number}"), large.clone());
        }
        assert!(kept.bytes <= PICTURES_BYTES_MOST && kept.get("large 2").is_some() && kept.get("large 0").is_none());
    }

    #[test]
    fn texts_that_only_run_together_alike_are_other_pictures() {
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_ne!(key(["a", ""]), key(["a"]));
        assert_eq!(key(["a", "b"]), key(["a", "b"]));
    }
}
