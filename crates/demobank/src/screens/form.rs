//! What a form of the screens sends: fields, and a file where it has one.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use url::form_urlencoded;

/// How many parts of a form with a file are read.
const PARTS_MOST: usize = 8;

/// A field of a form; empty if it was not sent.
pub(super) fn field(body: &[u8], name: &str) -> String {
    form_urlencoded::parse(body).find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// The content of a field or file of a `multipart/form-data` form; none if it was not sent.
pub(super) fn part<'a>(content_type: &str, body: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (_, boundary) = content_type.split_once("boundary=")?;
    let boundary = boundary.split(';').next().unwrap_or_default().trim().trim_matches('"');
    let delimiter = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(&delimiter.as_bytes()[2..])?;
    for _ in 0..PARTS_MOST {
        let head_ends = position(rest, b"\r\n\r\n")?;
        let content = &rest[head_ends + 4..];
        let content_ends = position(content, delimiter.as_bytes())?;
        let head = String::from_utf8_lossy(&rest[..head_ends]);
        if head.contains(&format!(" name=\"{name}\"")) {
            return Some(&content[..content_ends]);
        }
        rest = &content[content_ends + delimiter.len()..];
    }
    None
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

pub(super) fn see_other(location: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_of_a_form_are_found_by_name_and_kept_byte_by_byte() {
        let kind = "multipart/form-data; boundary=\"xy\"";
        let body = b"--xy\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n a\r\nb \r\n--xy\r\n\
                     Content-Disposition: form-data; name=\"picture\"; filename=\"text\"\r\nContent-Type: image/png\r\n\r\n\
                     \x89\0--x\r\n--xy--\r\n";
        assert_eq!(part(kind, body, "text"), Some(b" a\r\nb ".as_slice()));
        assert_eq!(part(kind, body, "picture"), Some(b"\x89\0--x".as_slice()));
        assert_eq!(part(kind, body, "other"), None);
        assert_eq!(part("text/plain", body, "text"), None);
        for length in 0..body.len() {
            part(kind, &body[..length], "picture");
        }
    }
}
