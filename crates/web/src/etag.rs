//! Entity tags: the name of a version of an answer, by which a browser that has this version asks for another one.

use axum::http::{HeaderMap, HeaderValue, header};

/// The tag of the version with that name, which consists of letters and digits.
pub fn of(version: &str) -> HeaderValue {
    HeaderValue::try_from(format!("\"{version}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Whether the client has the version with this tag. A proxy that compresses an answer marks its tag as weak; it names the same
/// version.
pub fn is_known(request: &HeaderMap, tag: &HeaderValue) -> bool {
    let lines = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut known = lines.flat_map(|line| line.split(',')).map(str::trim);
    known.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one).as_bytes() == tag.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_by_itself_in_a_list_and_as_a_weak_one() {
        let is_known = |asked: &'static str| {
            let request = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static(asked))]);
            is_known(&request, &of("1a"))
        };
        for known in ["\"1a\"", "W/\"1a\"", "\"2b\", \"1a\"", "\"2b\",W/\"1a\"", "*"] {
            assert!(is_known(known), "{known}");
        }
        for unknown in ["", "1a", "\"1A\"", "\"2b\"", "\"1a", "\"2b\", \"3c\""] {
            assert!(!is_known(unknown), "{unknown}");
        }
        assert!(!super::is_known(&HeaderMap::new(), &of("1a")));
    }
}
