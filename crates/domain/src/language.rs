//! The languages that pages and payment instructions are written in, and which of them a browser asks for.

/// How many ranges of an Accept-Language header are read; browsers send a handful.
const MOST_LANGUAGE_RANGES: usize = 32;

/// The weight of a language range that gives none, in thousandths.
const FULL_WEIGHT: u16 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Indonesian,
    English,
}

impl Language {
    /// The language that a browser asks for: Indonesian unless English has a higher weight, since most customers read
    /// it.
    pub fn from_accept_language(header: Option<&str>) -> Language {
        let mut best: Option<(u16, Language)> = None;
        let (mut no_indonesian, mut no_english) = (false, false);
        let ranges = header.unwrap_or_default().split(',').take(MOST_LANGUAGE_RANGES);
        for (language, weight) in ranges.filter_map(language_range) {
            match (weight, language) {
                (0, Language::Indonesian) => no_indonesian = true,
                (0, Language::English) => no_english = true,
                _ if best.is_none_or(|(heaviest, _)| weight > heaviest) => best = Some((weight, language)),
                _ => {}
            }
        }
        match best {
            Some((_, language)) => language,
            None if no_indonesian && !no_english => Language::English,
            None => Language::Indonesian,
        }
    }
}

/// One range of Accept-Language; none when we do not have its language or its weight cannot be read.
fn language_range(range: &str) -> Option<(Language, u16)> {
    let mut parts = range.split(';');
    let primary = parts.next()?.trim().split('-').next()?;
    let is = |code: &str| primary.eq_ignore_ascii_case(code);
    // `in` is what `id` was called before 1989; old Java and Android still send it.
    let language = if is("id") || is("in") {
        Language::Indonesian
    } else if is("en") {
        Language::English
    } else {
        return None;
    };
    let quality = parts.filter_map(|part| part.split_once('=')).find(|(key, _)| key.trim().eq_ignore_ascii_case("q"));
    let weight = quality.map_or(Some(FULL_WEIGHT), |(_, value)| thousandths(value.trim()))?;
    Some((language, weight))
}

/// Reads an RFC 9110 quality value: 0 to 1 with at most three decimals.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let padded = decimals.bytes().chain(std::iter::repeat(b'0')).take(3);
    let fraction = padded.fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    match whole {
        "0" => Some(fraction),
        "1" if fraction == 0 => Some(FULL_WEIGHT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_with_the_highest_weight_wins_and_indonesian_when_there_is_none() {
        let (id, en) = (Language::Indonesian, Language::English);
        assert_eq!(Language::from_accept_language(None), id);
        for (header, language) in [
            ("", id),
            ("id", id),
            ("id-ID", id),
            ("in", id),
            ("in-ID,en;q=0.8", id),
            ("en", en),
            ("EN-us", en),
            ("en-US,en;q=0.9,id;q=0.8", en),
            ("id;q=0.8, en;q=0.9", en),
            ("en ; Q=0.2 , id ; q = 0.3", id),
            ("id,en", id),
            ("en,id", en),
            ("en;q=0.5,id;q=0.500", en),
            ("fr", id),
            ("fr,de;q=0.9", id),
            ("fr,en;q=0.1", en),
            ("*", id),
            ("en;q=0", id),
            ("en;q=0.000,fr", id),
            ("id;q=0", en),
            ("id;q=0,en;q=0", id),
            ("en;q=1.000", en),
            ("en;q=0.001", en),
            ("en;level=1;q=0.5,id;q=0.4", en),
        ] {
            assert_eq!(Language::from_accept_language(Some(header)), language, "{header}");
        }
    }

    #[test]
    fn ranges_of_a_language_header_that_cannot_be_read_are_skipped() {
        for weight in ["", "2", "1.001", "0.0000", "-1", "+0.5", ".5", "abc", "0.é", "0,5", "NaN"] {
            let header = format!("en;q={weight},id;q=0.1");
            assert_eq!(Language::from_accept_language(Some(&header)), Language::Indonesian, "{header}");
        }
        for header in [",,;;==,en", "é-é;q=é,en", ";q=1,en", "english,en_US,en", "-en,en"] {
            assert_eq!(Language::from_accept_language(Some(header)), Language::English, "{header}");
        }
        let endless = "fr,".repeat(MOST_LANGUAGE_RANGES) + "en";
        assert_eq!(Language::from_accept_language(Some(&endless)), Language::Indonesian);
    }
}
