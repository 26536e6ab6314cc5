//! Text armour around keys (RFC 7468). What is read may be a secret, so no error quotes it.
//!
//! No crate reads what banks send and tells an operator what a file has in place of a key: `rustls-pki-types` passes over labels that
//! it does not know and text around a section, and `pem-rfc7468` takes only lines of equal length.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// More than the largest RSA key needs.
const BYTES_MOST: usize = 16 * 1024;
const LINE_CHARACTERS: usize = 64;

/// The label and the content of the only section of `text`.
pub(super) fn decode(text: &str) -> Option<(&str, Vec<u8>)> {
    if text.len() > BYTES_MOST {
        return None;
    }
    // Some editors put a byte order mark before the text.
    let text = text.trim_start_matches('\u{feff}').trim();
    let (label, rest) = text.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    let (content, end) = rest.split_once("-----END ")?;
    if end.strip_suffix("-----")? != label {
        return None;
    }
    let content: String = content.split_ascii_whitespace().collect();
    Some((label, STANDARD.decode(content).ok()?))
}

pub(crate) fn encode(label: &str, content: &[u8]) -> String {
    let base64 = STANDARD.encode(content);
    let mut text = format!("-----BEGIN {label}-----\n");
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE_CHARACTERS));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text + &format!("-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_also_with_other_line_ends() {
        for length in [0, 1, 47, 48, 49, 300] {
            let content = vec![0xa5; length];
            let text = encode("NOTE", &content);
            assert!(text.lines().all(|line| line.len() <= LINE_CHARACTERS));
            for text in [text.replace('\n', "\r\n"), format!("\u{feff}\n {text}\n\n"), text] {
                assert_eq!(decode(&text), Some(("NOTE", content.clone())), "{text}");
            }
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let (begin, end) = ("-----BEGIN NOTE-----\n", "-----END NOTE-----\n");
        for text in [
            String::new(),
            "AAAA".to_owned(),
            format!("{begin}AAAA\n"),
            format!("{begin}AA*A\n{end}"),
            format!("{begin}AAA\n{end}"),
            format!("{begin}AAAA\n{}", end.replace("NOTE", "OTHER")),
            format!("{begin}AAAA\n{end}{begin}AAAA\n{end}"),
            format!("before {begin}AAAA\n{end}"),
            format!("{begin}{}\n{end}", "A".repeat(BYTES_MOST)),
        ] {
            assert_eq!(decode(&text), None, "{text}");
        }
    }
}
