//! A file that is made once and sent often: compressed when it is made, and not sent again to a browser that has it. What is in it,
//! and how long browsers may keep it, is up to the caller.

use std::io::{self, Write};

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

use crate::etag;

/// How much of the hash names a version: enough that no two versions of a file share it.
const HASH_BYTES: usize = 8;

/// A file in memory, plain and compressed.
pub struct StoredFile {
    media_type: &'static str,
    hash: String,
    etag: HeaderValue,
    plain: Bytes,
    gzipped: Bytes,
}

impl StoredFile {
    pub fn new(media_type: &'static str, plain: Vec<u8>) -> StoredFile {
        let hash: String = Sha256::digest(&plain)[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
        StoredFile {
            media_type,
            etag: etag::of(&hash),
            hash,
            // Writing into memory does not fail. Should it do so, the plain file is sent instead.
            gzipped: gzipped(&plain).unwrap_or_default().into(),
            plain: plain.into(),
        }
    }

    /// Names this version of the file.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The answer to a request with these headers; `cached` says how long browsers may keep it.
    pub fn answer(&self, request: &HeaderMap, cached: HeaderValue) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(self.media_type)),
            (header::CACHE_CONTROL, cached),
            (header::ETAG, self.etag.clone()),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
        ];
        if etag::is_known(request, &self.etag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if accepts_gzip(request) && !self.gzipped.is_empty() {
            let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
            return (headers, encoding, self.gzipped.clone()).into_response();
        }
        (headers, self.plain.clone()).into_response()
    }
}

fn gzipped(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain)?;
    encoder.finish()
}

/// Whether the client accepts gzip; `q=0` means that it does not.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|offer| {
        let (encoding, quality) = offer.split_once(';').unwrap_or((offer, ""));
        let refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.trim_matches(['0', '.', ' ']).is_empty());
        encoding.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to(file: &StoredFile, headers: &[(header::HeaderName, HeaderValue)]) -> (StatusCode, Option<String>) {
        let response = file.answer(&headers.iter().cloned().collect(), HeaderValue::from_static("no-cache"));
        let encoding = response.headers().get(header::CONTENT_ENCODING);
        (response.status(), encoding.map(|encoding| encoding.to_str().unwrap().to_owned()))
    }

    #[test]
    fn a_client_gets_gzip_where_it_accepts_it_and_nothing_where_it_has_the_file() {
        let file = StoredFile::new("text/css", b"a{color:red}b{color:red}".to_vec());
        let accepting = |value| answer_to(&file, &[(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]);
        let gzip = (StatusCode::OK, Some("gzip".to_owned()));
        for accepted in ["gzip", "gzip, deflate, br", "br;q=1.0, GZIP;q=0.5", "deflate,gzip;q=1"] {
            assert_eq!(accepting(accepted), gzip, "{accepted}");
        }
        for refused in ["", "br", "gzip;q=0", "gzip; q=0.0", "identity"] {
            assert_eq!(accepting(refused), (StatusCode::OK, None), "{refused}");
        }
        let known = [(header::IF_NONE_MATCH, file.etag.clone())];
        assert_eq!(answer_to(&file, &known), (StatusCode::NOT_MODIFIED, None));
    }
}
