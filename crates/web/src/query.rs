//! Query strings and form fields: parsing them, and reading the parameters that a handler asks for, each at most once and within
//! its rule. A parameter that no handler asks for is ignored, even if it is not valid UTF-8.

use std::borrow::Cow;

use domain::{rules::Invalid, search::SearchTerm, time::Timestamp};
use engine::Window;
use percent_encoding::percent_decode;

/// Longer names are cut in messages, so that a hostile one cannot fill a log line.
const SHOWN_NAME_CHARACTERS: usize = 64;
/// The largest page number: above it, JSON clients that keep numbers as doubles lose digits.
pub const LAST_PAGE: i64 = 9_007_199_254_740_991;
pub const FIRST_PAGE: i64 = 1;
pub const LARGEST_PAGE_SIZE: i64 = 100;
pub const DEFAULT_PAGE_SIZE: i64 = 20;
pub const SEARCH_CHARACTERS: usize = 255;
/// Times before and after everything that is listed.
const BEGINNING: Timestamp = Timestamp::from_millis(0);
const END: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// One page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub number: i64,
    pub size: i64,
}

impl Page {
    /// How many rows come before this page. It saturates instead of overflowing, so that a page far beyond the end is just empty.
    pub fn offset(self) -> i64 {
        self.number.saturating_sub(FIRST_PAGE).saturating_mul(self.size)
    }
}

impl From<Page> for Window {
    fn from(page: Page) -> Window {
        Window { offset: page.offset(), limit: page.size }
    }
}

/// The decoded parameters in the order they were given.
#[derive(Clone, Debug, Default)]
pub struct Query {
    parameters: Vec<(String, Given)>,
    has_unreadable_name: bool,
}

/// The value of a parameter.
#[derive(Clone, Debug)]
enum Given {
    Text(String),
    NotUtf8,
}

impl Query {
    pub fn parse(raw: Option<&str>) -> Query {
        let mut query = Query::default();
        for piece in raw.unwrap_or_default().split('&').filter(|piece| !piece.is_empty()) {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            match decode(name) {
                Some(name) => query.parameters.push((name, decode(value).map_or(Given::NotUtf8, Given::Text))),
                // No handler asks for it.
                None => query.has_unreadable_name = true,
            }
        }
        query
    }

    /// Parameters that are decoded already.
    pub(crate) fn of(parameters: Vec<(String, String)>) -> Query {
        let parameters = parameters.into_iter().map(|(name, value)| (name, Given::Text(value))).collect();
        Query { parameters, has_unreadable_name: false }
    }

    /// Whether all names and values are valid UTF-8.
    pub fn is_utf8(&self) -> bool {
        !self.has_unreadable_name && self.parameters.iter().all(|(_, value)| matches!(value, Given::Text(_)))
    }

    pub fn names_are_unique(&self) -> bool {
        let mut names: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// The names of all parameters, in the order they were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| name.as_str())
    }

    /// The value as given, possibly empty.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Invalid> {
        let mut values = self.parameters.iter().filter(|(given, _)| given == name).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(Invalid::new(name, "must be given only once")),
            (Some(Given::NotUtf8), None) => Err(Invalid::new(name, "must be valid UTF-8")),
            (Some(Given::Text(value)), None) => Ok(Some(value)),
            (None, None) => Ok(None),
        }
    }

    /// The value of a filter. An empty one is more likely a variable that was not set than a wish for everything.
    pub fn filter(&self, name: &str) -> Result<Option<&str>, Invalid> {
        match self.text(name)? {
            Some("") => Err(Invalid::new(name, "must not be empty; leave it out to filter nothing")),
            value => Ok(value),
        }
    }

    /// The text to search for.
    pub fn search(&self) -> Result<Option<String>, Invalid> {
        let Some(text) = self.filter("search")? else { return Ok(None) };
        if text.chars().nth(SEARCH_CHARACTERS).is_some() {
            return Err(Invalid::new("search", format!("must have at most {SEARCH_CHARACTERS} characters")));
        }
        if text.contains(char::is_control) {
            return Err(Invalid::new("search", "must not contain control characters"));
        }
        Ok(Some(text.to_owned()))
    }

    /// What to look for in everything that a payment is known by.
    pub fn q(&self) -> Result<Option<SearchTerm>, Invalid> {
        self.filter("q")?.map(SearchTerm::parse).transpose()
    }

    /// A date-time. Clients often forget to encode the `+` of an offset, which then arrives as a space, so a space is read as `+`.
    pub fn instant(&self, name: &str) -> Result<Option<Timestamp>, Invalid> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let restored = text.rsplit_once(' ').map(|(before, offset)| format!("{before}+{offset}"));
        let parsed =
            Timestamp::parse(text).or_else(|error| restored.map_or(Err(error), |text| Timestamp::parse(&text)));
        parsed.map(Some).map_err(|error| Invalid::new(name, error.to_string()))
    }

    /// The range of `created_from` and `created_to`, of which either may be left out. The second instant is not in the range.
    pub fn created(&self) -> Result<Option<(Timestamp, Timestamp)>, Invalid> {
        let (from, to) = (self.instant("created_from")?, self.instant("created_to")?);
        if from.zip(to).is_some_and(|(from, to)| to <= from) {
            return Err(Invalid::new("created_to", "must be later than `created_from`; it is not in the range itself"));
        }
        Ok((from.is_some() || to.is_some()).then(|| (from.unwrap_or(BEGINNING), to.unwrap_or(END))))
    }

    pub fn page(&self) -> Result<Page, Invalid> {
        let number = self.whole_number("page", LAST_PAGE)?.unwrap_or(FIRST_PAGE);
        let size = self.whole_number("page_size", LARGEST_PAGE_SIZE)?.unwrap_or(DEFAULT_PAGE_SIZE);
        Ok(Page { number, size })
    }

    /// A parameter that must be one of `words`; returns the value that the word stands for.
    pub fn choice<T: Clone>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Invalid> {
        let Some(given) = self.text(name)? else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == given) {
            Some((_, meaning)) => Ok(Some(meaning.clone())),
            None => {
                let allowed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                Err(Invalid::new(name, format!("must be one of {}", allowed.join(", "))))
            }
        }
    }

    fn whole_number(&self, name: &str, largest: i64) -> Result<Option<i64>, Invalid> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        // `parse` alone would accept `+1`, which form decoding turns into ` 1`; digits alone are read the same everywhere.
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits && (1..=largest).contains(&number) => Ok(Some(number)),
            _ => Err(Invalid::new(name, format!("must be a whole number from 1 to {largest}"))),
        }
    }
}

/// A name that the client chose, made safe to put in a message: cut, and with control characters escaped.
pub fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(SHOWN_NAME_CHARACTERS).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN_NAME_CHARACTERS).is_some() {
        text.push_str("...");
    }
    text
}

/// Decodes form encoding; none where the result is not valid UTF-8.
fn decode(encoded: &str) -> Option<String> {
    let spaced = if encoded.contains('+') { Cow::Owned(encoded.replace('+', " ")) } else { Cow::Borrowed(encoded) };
    percent_decode(spaced.as_bytes()).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(raw: &str) -> Query {
        Query::parse(Some(raw))
    }

    fn message<T>(result: Result<T, Invalid>) -> Option<String> {
        result.err().map(|invalid| invalid.to_string())
    }

    #[test]
    fn a_shown_name_is_short_and_on_one_line() {
        let longest = "x".repeat(SHOWN_NAME_CHARACTERS);
        let rows = [
            ("amount", "amount".to_owned()),
            ("jumlah-é😀", "jumlah-é😀".to_owned()),
            ("a\r\nb\0\u{1b}", r"a\r\nb\0\u{1b}".to_owned()),
            (&longest, longest.clone()),
            (&format!("{longest}y"), format!("{longest}...")),
        ];
        for (name, want) in rows {
            assert_eq!(shown(name), want, "{name:?}");
        }
    }

    #[test]
    fn an_instant_accepts_an_offset_whose_plus_was_not_encoded() {
        let utc = "2026-11-14T09:30:00.000Z";
        for raw in ["at=2026-11-14T09:30:00Z", "at=2026-11-14T16:30:00%2B07:00", "at=2026-11-14T16:30:00+07:00"] {
            assert_eq!(query(raw).instant("at").unwrap().map(|at| at.to_string()).as_deref(), Some(utc), "{raw}");
        }
        assert_eq!(query("").instant("at").unwrap(), None);
        for raw in ["at=", "at=now", "at=2026-11-14", "at=2026-11-14T16:30:00+7"] {
            assert!(message(query(raw).instant("at")).is_some_and(|text| text.starts_with("`at` must be")), "{raw}");
        }
    }

    #[test]
    fn a_range_of_creation_is_half_open_and_neither_empty_nor_the_wrong_way_round() {
        let (ten, eleven) = ("2026-11-14T10:00:00Z", "2026-11-14T11:00:00Z");
        let at = |text| Timestamp::parse(text).unwrap();
        for (raw, want) in [
            (String::new(), None),
            (format!("created_from={ten}&created_to={eleven}"), Some((at(ten), at(eleven)))),
            (format!("created_from={ten}"), Some((at(ten), END))),
            (format!("created_to={ten}"), Some((BEGINNING, at(ten)))),
        ] {
            assert_eq!(query(&raw).created(), Ok(want), "{raw}");
        }
        let order = "`created_to` must be later than `created_from`; it is not in the range itself";
        for (raw, want) in [
            (format!("created_from={eleven}&created_to={ten}"), order),
            (format!("created_from={ten}&created_to={ten}"), order),
            ("created_from=".to_owned(), "`created_from` must be an RFC 3339 date-time such as 2026-11-14T09:30:00Z"),
            (
                "created_to=2026-11-14".to_owned(),
                "`created_to` must be an RFC 3339 date-time such as 2026-11-14T09:30:00Z",
            ),
            (format!("created_to={ten}&created_to={ten}"), "`created_to` must be given only once"),
        ] {
            assert_eq!(message(query(&raw).created()).as_deref(), Some(want), "{raw}");
        }
    }

    #[test]
    fn parameters_are_form_decoded() {
        let rows = [
            ("a=1", Some("1")),
            ("b=2&a=1&c", Some("1")),
            ("a", Some("")),
            ("a=", Some("")),
            ("&&a=b=c&", Some("b=c")),
            ("a=x+y%20z%2B", Some("x y z+")),
            ("%61=%C3%A9", Some("é")),
            // A stray percent sign is kept, as browsers' own form decoding does.
            ("a=100%", Some("100%")),
            ("a=%zz", Some("%zz")),
            ("", None),
            ("A=1", None),
            ("=1", None),
        ];
        for (raw, want) in rows {
            assert_eq!(query(raw).text("a"), Ok(want), "{raw}");
        }
        assert_eq!(Query::parse(None).text("a"), Ok(None));
    }

    #[test]
    fn only_a_parameter_asked_for_must_be_valid_utf8() {
        let rows = [
            ("search=%ff", Err("`search` must be valid UTF-8")),
            ("search=kopi%C3", Err("`search` must be valid UTF-8")),
            ("search=%ff&search=kopi", Err("`search` must be given only once")),
            ("search=kopi&x=%ff", Ok(Some("kopi"))),
            ("a%0Ab=%ff&search=kopi", Ok(Some("kopi"))),
            ("%ff=1&search=kopi", Ok(Some("kopi"))),
            ("search%ff=1", Ok(None)),
        ];
        for (raw, want) in rows {
            let found = query(raw).search();
            assert_eq!(
                found.map_err(|invalid| invalid.to_string()),
                want.map(|text| text.map(str::to_owned)).map_err(str::to_owned),
                "{raw}"
            );
            assert!(!query(raw).is_utf8(), "{raw}");
        }
        assert!(query("a=%C3%A9&b=").is_utf8());
    }

    #[test]
    fn only_a_parameter_asked_for_must_be_given_once() {
        let query = query("page=1&search=a&p%61ge=1&utm=1&utm=2&status=");
        assert_eq!(message(query.page()).as_deref(), Some("`page` must be given only once"));
        assert_eq!(query.search(), Ok(Some("a".to_owned())));
        assert_eq!(query.text("status"), Ok(Some("")));
    }

    #[test]
    fn a_page_has_defaults_and_limits() {
        let rows = [
            ("", 1, 20, 0),
            ("page=1", 1, 20, 0),
            ("page=3&page_size=50", 3, 50, 100),
            ("page=007", 7, 20, 120),
            ("page_size=1", 1, 1, 0),
            ("page_size=100", 1, 100, 0),
            ("page=9007199254740991", LAST_PAGE, 20, 180_143_985_094_819_800),
            ("page=9007199254740991&page_size=100", LAST_PAGE, 100, 900_719_925_474_099_000),
        ];
        for (raw, number, size, offset) in rows {
            let page = query(raw).page().unwrap();
            assert_eq!((page, page.offset()), (Page { number, size }, offset), "{raw}");
        }
        assert_eq!(Page { number: i64::MAX, size: i64::MAX }.offset(), i64::MAX);
    }

    #[test]
    fn a_page_that_is_no_number_within_its_limits_is_refused() {
        let everywhere =
            ["", "0", "-1", "+1", "%2B1", "%201", "1%20", "1.0", "1e1", "x", "0x1", "1_0", "%D9%A1", "1%00"];
        for value in everywhere.iter().chain(&["9007199254740992", "99999999999999999999999999"]) {
            let want = "`page` must be a whole number from 1 to 9007199254740991";
            assert_eq!(message(query(&format!("page={value}")).page()).as_deref(), Some(want), "{value}");
        }
        for value in everywhere.iter().chain(&["101", "99999999999999999999999999"]) {
            let want = "`page_size` must be a whole number from 1 to 100";
            assert_eq!(message(query(&format!("page_size={value}")).page()).as_deref(), Some(want), "{value}");
        }
    }

    #[test]
    fn a_search_is_short_text_without_control_characters() {
        let longest = "é".repeat(SEARCH_CHARACTERS);
        let rows = [("", None), ("search=kopi+susu", Some("kopi susu")), ("search=%25_", Some("%_"))];
        for (raw, want) in rows {
            assert_eq!(query(raw).search(), Ok(want.map(str::to_owned)), "{raw}");
        }
        assert_eq!(query(&format!("search={longest}")).search(), Ok(Some(longest.clone())));
        for raw in ["search=", "search", "search=&page=1"] {
            let want = "`search` must not be empty; leave it out to filter nothing";
            assert_eq!(message(query(raw).search()).as_deref(), Some(want), "{raw}");
        }
        let too_long = query(&format!("search={longest}e")).search();
        assert_eq!(message(too_long).as_deref(), Some("`search` must have at most 255 characters"));
        assert_eq!(query("q=Kopi+susu").q(), SearchTerm::parse("kopi susu").map(Some));
        let want = "`q` must not be empty; leave it out to filter nothing";
        assert_eq!(message(query("q=").q()).as_deref(), Some(want));
        for raw in ["search=a%00", "search=%0A", "search=%7F", "search=%C2%85"] {
            let want = "`search` must not contain control characters";
            assert_eq!(message(query(raw).search()).as_deref(), Some(want), "{raw}");
        }
    }

    #[test]
    fn a_choice_is_one_of_its_words() {
        let words = [("qris", 1), ("virtual_account", 2)];
        let rows = [("", None), ("method=qris", Some(1)), ("method=virtual%5Faccount", Some(2))];
        for (raw, want) in rows {
            assert_eq!(query(raw).choice("method", &words), Ok(want), "{raw}");
        }
        for raw in ["method=", "method=QRIS", "method=card", "method=qris%20"] {
            let want = "`method` must be one of `qris`, `virtual_account`";
            assert_eq!(message(query(raw).choice("method", &words)).as_deref(), Some(want), "{raw}");
        }
        let twice = query("method=qris&method=qris").choice("method", &words);
        assert_eq!(message(twice).as_deref(), Some("`method` must be given only once"));
    }
}
