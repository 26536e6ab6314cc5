//! Extracts a form that may carry a file: the fields, and the bytes of the file, both within limits.
//!
//! The reader is our own because the whole body is small enough for memory, and then a form is just text between
//! boundaries. Anything that browsers do not send is refused.

use axum::{
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};

use super::{form::Form, page_error::PageError};
use crate::{App, body};

/// The largest file that a form may carry.
pub const FILE_BYTES_MOST: usize = 256 * 1024;
/// The form around the file: its fields, and what names and separates them.
const FORM_BYTES_MOST: usize = 16 * 1024;
/// A larger body is still read up to here, so that the page can say that the file is too large: photographs of phones
/// have up to ten megabytes.
const DISCARDED_BYTES_MOST: usize = 24 * 1024 * 1024;
/// The standard allows 70 characters.
const BOUNDARY_CHARACTERS_MOST: usize = 70;
/// Parts of one form.
const PARTS_MOST: usize = 32;

/// A submitted form, and the file that it carries.
pub struct Upload {
    pub form: Form,
    pub file: UploadedFile,
}

/// What was sent for the form's file.
#[derive(Debug, PartialEq, Eq)]
pub enum UploadedFile {
    /// The form was sent without a file.
    None,
    TooLarge,
    Whole(Vec<u8>),
}

impl FromRequest<App> for Upload {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<Upload, PageError> {
        let Some(boundary) = boundary(request.headers()) else {
            return Ok(Upload { form: Form::from_request(request, app).await?, file: UploadedFile::None });
        };
        let most = FILE_BYTES_MOST + FORM_BYTES_MOST;
        let (bytes, is_whole) = body::read_beginning(request, app, most, DISCARDED_BYTES_MOST).await?;
        let parsed = parsed(&bytes, &boundary, is_whole);
        let parsed = parsed.and_then(|(fields, file)| Some(Upload { form: Form::of(fields)?, file }));
        parsed.ok_or_else(|| PageError::with(StatusCode::UNPROCESSABLE_ENTITY))
    }
}

/// The text between the parts of a `multipart/form-data` body; none where the body is of another type.
fn boundary(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let (media_type, parameters) = value.split_once(';')?;
    if !media_type.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let named = |parameter: &str| {
        let (name, value) = parameter.trim().split_once('=')?;
        name.eq_ignore_ascii_case("boundary").then(|| value.trim_matches('"').to_owned())
    };
    let boundary = parameters.split(';').find_map(named)?;
    (1..=BOUNDARY_CHARACTERS_MOST).contains(&boundary.len()).then_some(boundary)
}

type Parts = (Vec<(String, String)>, UploadedFile);

/// The fields and the file of a body. Of one that is not whole, the last part is a file that is too large.
fn parsed(body: &[u8], boundary: &str, is_whole: bool) -> Option<Parts> {
    let separator = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(&separator.as_bytes()[2..])?;
    let (mut fields, mut file) = (Vec::new(), UploadedFile::None);
    for _ in 0..PARTS_MOST {
        if rest.starts_with(b"--") {
            return Some((fields, file));
        }
        let (head, content) = split(rest.strip_prefix(b"\r\n")?, b"\r\n\r\n")?;
        let name = disposition(head)?;
        let Some((content, next)) = split(content, separator.as_bytes()) else {
            let is_cut_file = !is_whole && name.is_file && file == UploadedFile::None;
            return is_cut_file.then_some((fields, UploadedFile::TooLarge));
        };
        rest = next;
        if !name.is_file {
            fields.push((name.field, std::str::from_utf8(content).ok()?.to_owned()));
        } else if file != UploadedFile::None {
            return None;
        } else if content.len() > FILE_BYTES_MOST {
            file = UploadedFile::TooLarge;
        } else if !content.is_empty() {
            // A browser sends an empty file where none was chosen.
            file = UploadedFile::Whole(content.to_vec());
        }
    }
    None
}

/// What a part's head says about it.
struct PartName {
    field: String,
    is_file: bool,
}

fn disposition(head: &[u8]) -> Option<PartName> {
    let head = std::str::from_utf8(head).ok()?;
    let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let value = lines.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("content-disposition"))?.1;
    let parameters = value.trim().strip_prefix("form-data;")?;
    // Our fields have plain names. The name of a file may hold anything, but browsers write quotes in it as %22.
    let field = parameters.trim().strip_prefix("name=\"")?.split('"').next()?;
    Some(PartName { field: field.to_owned(), is_file: parameters.contains("; filename=\"") })
}

fn split<'a>(bytes: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes.windows(separator.len()).position(|window| window == separator)?;
    Some((&bytes[..at], &bytes[at + separator.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let part = |(head, content): &(&str, &[u8])| {
            [b"--x\r\nContent-Disposition: form-data; ", head.as_bytes(), b"\r\n\r\n", content, b"\r\n"].concat()
        };
        [parts.iter().map(part).collect::<Vec<_>>().concat(), b"--x--\r\n".to_vec()].concat()
    }

    const LOGO: &str = "name=\"logo\"; filename=\"a %22 é.png\"\r\nContent-Type: image/png";

    fn sent(body: &[u8]) -> Option<Parts> {
        parsed(body, "x", true)
    }

    #[test]
    fn fields_and_the_file_are_found_between_the_boundaries() {
        let content = b"\x89PNG\r\n\r\n--y\r\n-";
        let (fields, file) =
            sent(&body(&[("name=\"token\"", b"a=b&c"), (LOGO, content), ("name=\"e\"", b"")])).unwrap();
        assert_eq!(fields, [("token".to_owned(), "a=b&c".to_owned()), ("e".to_owned(), String::new())]);
        assert_eq!(file, UploadedFile::Whole(content.to_vec()));
        assert_eq!(sent(&body(&[(LOGO, b"")])).unwrap().1, UploadedFile::None);
        assert_eq!(sent(&body(&[])).unwrap(), (Vec::new(), UploadedFile::None));
    }

    #[test]
    fn a_file_over_the_limit_is_known_as_too_large_with_the_fields_before_it() {
        let whole = body(&[("name=\"token\"", b"t"), (LOGO, &vec![7; FILE_BYTES_MOST + 1])]);
        assert_eq!(sent(&whole).unwrap().1, UploadedFile::TooLarge);
        let (fields, file) = parsed(&whole[..5_000], "x", false).unwrap();
        assert_eq!((fields.len(), file), (1, UploadedFile::TooLarge));
    }

    #[test]
    fn what_browsers_do_not_send_is_refused() {
        let whole = body(&[("name=\"token\"", b"t"), (LOGO, b"1")]);
        for end in 0..whole.len() - 4 {
            assert_eq!(sent(&whole[..end]), None, "{end}");
        }
        let twice = body(&[(LOGO, b"1"), (LOGO, b"2")]);
        let many = body(&[("name=\"a\"", &b"1"[..]); PARTS_MOST + 1]);
        let nameless = body(&[("", b"1")]);
        let not_text = body(&[("name=\"a\"", b"\xff")]);
        for wrong in [&b""[..], b"--y--", &twice, &many, &nameless, &not_text] {
            assert_eq!(sent(wrong), None);
        }
    }

    #[test]
    fn the_boundary_is_in_the_header() {
        let found = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(value));
            boundary(&headers)
        };
        assert_eq!(found("multipart/form-data; boundary=----abc").as_deref(), Some("----abc"));
        assert_eq!(found("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"").as_deref(), Some("a b"));
        for value in
            ["multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=a", "text/plain"]
        {
            assert_eq!(found(value), None, "{value}");
        }
    }
}
