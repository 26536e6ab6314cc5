//! Files of lines, mostly CSV (RFC 4180), read from the database page by page while the browser downloads them.
//!
//! A CSV file begins with a byte order mark, without which Excel takes UTF-8 for another encoding and garbles names. Excel with
//! Indonesian settings separates columns by semicolons and other programs by commas, so there is one file for each. No
//! cell is a formula.

use std::{future::Future, io, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{id::ProjectId, project::Project, time::Timestamp, user::Token};
use engine::{Desk, Engine, Error};
use futures_util::stream;
use tokio::time::Instant;
use web::{
    client,
    limits::StreamSlot,
    page::{moment::date_of, page_error::PageError},
};

use crate::page::Page;

/// Lines per read, and so the most that are held in memory.
pub(crate) const LINES_AT_ONCE: i64 = 500;
/// The longest that a download may take.
const LONGEST: Duration = Duration::from_hours(1);
const NAME_CHARACTERS: usize = 40;

/// The cells of some lines, and where to go on; none at the end.
pub(crate) type Lines<Cursor> = (Vec<Vec<String>>, Option<Cursor>);

/// What a file lists.
pub(crate) trait Table: Send + Sync + 'static {
    /// Where to go on.
    type Cursor: Send;
    const FORMAT: Format = Format::Csv;
    /// The first line of a CSV file.
    const COLUMNS: &'static [&'static str];

    /// The next lines, at most [`LINES_AT_ONCE`].
    fn page(
        &self,
        desk: &Desk,
        cursor: Option<Self::Cursor>,
    ) -> impl Future<Output = Result<Lines<Self::Cursor>, Error>> + Send;
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    /// Each line is one cell, which is a value of JSON. There is no head.
    JsonLines,
}

impl Format {
    const fn content_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv; charset=utf-8; header=present",
            Format::JsonLines => "application/x-ndjson; charset=utf-8",
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::JsonLines => "jsonl",
        }
    }

    fn head(self, separator: Separator, columns: &[&str]) -> String {
        match self {
            Format::Csv => {
                let head: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
                format!("\u{feff}{}", line(separator, &head))
            }
            Format::JsonLines => String::new(),
        }
    }

    fn line(self, separator: Separator, cells: &[String]) -> String {
        match self {
            Format::Csv => line(separator, cells),
            Format::JsonLines => cells.concat() + "\n",
        }
    }
}

/// The character between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    Comma,
    Semicolon,
}

impl Separator {
    const fn character(self) -> char {
        match self {
            Separator::Comma => ',',
            Separator::Semicolon => ';',
        }
    }
}

/// A file that is being sent, and to whom.
struct Export<T> {
    engine: Engine,
    token: Token,
    address: String,
    project: ProjectId,
    table: T,
    separator: Separator,
    _slot: StreamSlot,
}

/// How far it has been sent.
struct Reading<T: Table> {
    export: Export<T>,
    next: Next<T::Cursor>,
    ends: Instant,
}

enum Next<Cursor> {
    Head,
    From(Option<Cursor>),
    End,
}

/// The answer that sends a file, with semicolons where the address asks for them. `name`: what stands in the file's name
/// after that of the project.
pub(crate) fn download<T: Table>(
    page: &Page,
    headers: &HeaderMap,
    name: &str,
    table: T,
) -> Result<Response, PageError> {
    // A file counts against the limit of streams, as an event stream does.
    let (app, address) = (&page.app, page.visitor.address);
    let slot = app.limits.stream(client::limited_as(address));
    let (Some(slot), Some(token)) = (slot, web::session::token(&app.settings.urls, headers)) else {
        return Err(PageError::with(StatusCode::SERVICE_UNAVAILABLE));
    };
    let for_excel = page.query("separator") == Some("semicolon");
    let name = format!("{}.{}", file_name(page.project(), name, page.now()), T::FORMAT.extension());
    let export = Export {
        token,
        address: address.to_string(),
        project: page.project().id,
        table,
        separator: if for_excel { Separator::Semicolon } else { Separator::Comma },
        _slot: slot,
        engine: app.engine.clone(),
    };
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(T::FORMAT.content_type())),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    Ok((headers, export.into_body()).into_response())
}

impl<T: Table> Export<T> {
    fn into_body(self) -> Body {
        let reading = Reading { export: self, next: Next::Head, ends: Instant::now() + LONGEST };
        Body::from_stream(stream::unfold(reading, Reading::next))
    }

    /// The next lines. Each page is read with the reader's session and membership as they are now. A file that cannot be
    /// finished breaks off, so that it cannot be mistaken for a complete one.
    async fn page(&self, cursor: Option<T::Cursor>) -> io::Result<Lines<T::Cursor>> {
        let visit = self.engine.visit(&self.token, self.address.clone(), false).await.map_err(io::Error::other)?;
        let visit = visit.ok_or_else(|| io::Error::other("the session has ended"))?;
        let desk = self.engine.desk(&visit, self.project).await.map_err(io::Error::other)?;
        self.table.page(&desk, cursor).await.map_err(io::Error::other)
    }
}

impl<T: Table> Reading<T> {
    async fn next(mut self) -> Option<(io::Result<Bytes>, Reading<T>)> {
        let separator = self.export.separator;
        let (text, next) = match std::mem::replace(&mut self.next, Next::End) {
            Next::Head => (T::FORMAT.head(separator, T::COLUMNS), Next::From(None)),
            Next::End => return None,
            Next::From(_) if Instant::now() > self.ends => {
                return Some(self.broken(io::Error::other("the download took too long")));
            }
            Next::From(cursor) => match self.export.page(cursor).await {
                Err(error) => return Some(self.broken(error)),
                Ok((lines, cursor)) => {
                    let text = lines.iter().map(|cells| T::FORMAT.line(separator, cells)).collect();
                    (text, cursor.map_or(Next::End, |cursor| Next::From(Some(cursor))))
                }
            },
        };
        self.next = next;
        Some((Ok(text.into()), self))
    }

    fn broken(mut self, error: io::Error) -> (io::Result<Bytes>, Reading<T>) {
        tracing::info!(%error, "a download broke off");
        self.next = Next::End;
        (Err(error), self)
    }
}

/// The name of the file without its extension, with the project's name and the day.
fn file_name(project: &Project, name: &str, now: Timestamp) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' };
    let words: String = project.name.chars().take(NAME_CHARACTERS).map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    let of = if words.is_empty() { project.id.to_string() } else { words.join("-") };
    format!("{of}{name}-{}", date_of(now))
}

fn line(separator: Separator, cells: &[String]) -> String {
    let mut line = String::new();
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            line.push(separator.character());
        }
        if cell.contains([',', ';', '"', '\t', '\r', '\n']) {
            line.push('"');
            line.push_str(&cell.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(cell);
        }
    }
    line + "\r\n"
}

/// A text that no spreadsheet takes for a formula: an apostrophe is put before every character that could begin one. A
/// program may split cells at another character than we do, so each part between such characters is checked by itself.
pub(crate) fn without_formula(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for part in text.split_inclusive([',', ';', '\t', '\r', '\n', '|']) {
        if begins_formula(part) {
            safe.push('\'');
        }
        safe.push_str(part);
    }
    safe
}

/// JSON that no spreadsheet takes for a formula. A sign that could begin one is written by its number, which JSON allows in
/// a text, and all signs stand in texts.
pub(crate) fn json_without_formula(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for part in json.split_inclusive([',', ';', '|']) {
        match part.find(is_sign).filter(|_| begins_formula(part)) {
            Some(at) => {
                let (before, rest) = part.split_at(at);
                let mut rest = rest.chars();
                let sign = rest.next().map_or(0, u32::from);
                safe.push_str(&format!("{before}\\u{sign:04x}{}", rest.as_str()));
            }
            None => safe.push_str(part),
        }
    }
    safe
}

/// The signs with which a formula begins. Some programs read the wide forms as the usual ones.
fn is_sign(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '﹦' | '﹢' | '﹣' | '﹫' | '−')
}

/// Programs drop quotes, spaces and invisible characters before a formula.
fn begins_formula(text: &str) -> bool {
    let dropped = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '"' | '\'' | '`' | '‘' | '’' | '“' | '”' | '＂' | '＇')
            || matches!(character, '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
    };
    text.starts_with(['\t', '\r', '\n']) || text.trim_start_matches(dropped).starts_with(is_sign)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use domain::{access::Role, project::Environment};
    use engine::{NewProject, NewUser, SecretKey, Settings, SignIn, SystemClock, Whereabouts};
    use http_body_util::BodyExt;

    use super::*;
    use web::limits::{BANK_CALLS_PER_SECOND, Limits};

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    /// An engine with a database of its own, which is deleted with its directory.
    async fn engine() -> (Engine, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let store = store::Store::open_sqlite(&directory.path().join("lunas.db")).await.unwrap();
        let key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        (Engine::new(store, std::sync::Arc::new(SystemClock), Settings::default(), key), directory)
    }

    /// The session of a new user, and a project that they own.
    async fn signed_in(engine: &Engine) -> (Token, ProjectId) {
        let (email, password) = ("siti@toko.example", "twelve or more");
        let new = NewUser { email: email.to_owned(), password: password.into(), is_operator: false };
        let user = engine.create_user(new).await.unwrap();
        let new = NewProject { name: "Toko".to_owned(), environment: Environment::Sandbox, merchant_name: None };
        let (project, _) = engine.create_project(new).await.unwrap();
        engine.add_member(project.id, &user, Role::Owner).await.unwrap();
        let whereabouts =
            Whereabouts { address: ADDRESS.to_string(), counted_as: ADDRESS.to_string(), ..Whereabouts::default() };
        match engine.sign_in(email, password.into(), &whereabouts).await.unwrap() {
            SignIn::Done(session) => (session.token, project.id),
            SignIn::Refused | SignIn::CodeNeeded { .. } | SignIn::Wait { .. } => panic!("the password is right"),
        }
    }

    /// A table with so many lines.
    struct Numbers(i64);

    impl Table for Numbers {
        type Cursor = i64;
        const COLUMNS: &'static [&'static str] = &["number", "half"];

        async fn page(&self, _: &Desk, cursor: Option<i64>) -> Result<Lines<i64>, Error> {
            let from = cursor.unwrap_or(0);
            let until = self.0.min(from + LINES_AT_ONCE);
            let lines = (from..until).map(|number| vec![number.to_string(), (number / 2).to_string()]).collect();
            Ok((lines, (until < self.0).then_some(until)))
        }
    }

    fn export(engine: &Engine, token: &Token, project: ProjectId, limits: &Limits, table: Numbers) -> Export<Numbers> {
        Export {
            token: Token::parse(&token.reveal()).unwrap(),
            address: ADDRESS.to_string(),
            project,
            table,
            separator: Separator::Comma,
            _slot: limits.stream(ADDRESS).unwrap(),
            engine: engine.clone(),
        }
    }

    #[tokio::test]
    async fn a_file_is_read_in_pages_of_a_limited_size_as_it_is_sent() {
        let (engine, _directory) = engine().await;
        let limits = Limits::new(1, BANK_CALLS_PER_SECOND);
        let (token, project) = signed_in(&engine).await;
        let mut body = export(&engine, &token, project, &limits, Numbers(3 * LINES_AT_ONCE - 1)).into_body();
        let (mut lines, mut pages) = (0, 0);
        while let Some(frame) = body.frame().await {
            let text = String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap();
            assert!(text.lines().count() as i64 <= LINES_AT_ONCE);
            lines += text.lines().count() as i64;
            pages += 1;
        }
        assert_eq!((lines, pages), (3 * LINES_AT_ONCE, 4), "a head, and all numbers");
    }

    #[tokio::test]
    async fn a_file_breaks_off_when_its_reader_has_signed_out() {
        let (engine, _directory) = engine().await;
        let limits = Limits::new(1, BANK_CALLS_PER_SECOND);
        let (token, project) = signed_in(&engine).await;
        for stays in [true, false] {
            let copy = Token::parse(&token.reveal()).unwrap();
            let mut body = export(&engine, &token, project, &limits, Numbers(2)).into_body();
            let head = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(head, "\u{feff}number,half\r\n".as_bytes());
            if !stays {
                let visit = engine.visit(&copy, ADDRESS.to_string(), true).await.unwrap().unwrap();
                engine.sign_out(&visit).await.unwrap();
            }
            let rest = body.frame().await.unwrap();
            assert_eq!(rest.is_ok(), stays, "an incomplete file does not end like a complete one");
            assert!(body.frame().await.is_none());
        }
    }

    #[test]
    fn no_text_begins_a_formula_wherever_a_program_splits_it() {
        for (text, safe) in [
            ("INV-2026/1", "INV-2026/1"),
            ("=1+1", "'=1+1"),
            ("+62 812", "'+62 812"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t'=1"),
            ("\r1", "'\r1"),
            ("  =1", "'  =1"),
            ("\"=1", "'\"=1"),
            ("'=1", "''=1"),
            ("＝1", "'＝1"),
            ("\u{200b}\u{feff}=1", "'\u{200b}\u{feff}=1"),
            ("−2", "'−2"),
            ("a;=1", "a;'=1"),
            ("a,\"=1", "a,'\"=1"),
            ("a\n@b", "a\n'@b"),
            ("a=b+c-d@e", "a=b+c-d@e"),
            ("", ""),
        ] {
            assert_eq!(without_formula(text), safe, "{text:?}");
        }
    }

    #[test]
    fn json_begins_no_formula_and_means_the_same() {
        for (json, safe) in [
            (r#"{"a":"=1"}"#, r#"{"a":"=1"}"#),
            (r#"{"a":"b","=c":"+62, -1;@x"}"#, r#"{"a":"b","\u003dc":"+62, \u002d1;\u0040x"}"#),
            (r#"{"a":"x|＝1"}"#, r#"{"a":"x|\uff1d1"}"#),
            ("{}", "{}"),
        ] {
            assert_eq!(json_without_formula(json), safe);
            let read = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(json), read(safe));
            assert_eq!(without_formula(safe), safe, "nothing is left that could be one");
        }
    }

    #[test]
    fn a_cell_with_anything_that_splits_is_quoted() {
        let cells = ["a", "b,c", "d;e", "f\"g", "h\ni", ""].map(str::to_owned);
        assert_eq!(line(Separator::Comma, &cells), "a,\"b,c\",\"d;e\",\"f\"\"g\",\"h\ni\",\r\n");
        assert_eq!(line(Separator::Semicolon, &cells), "a;\"b,c\";\"d;e\";\"f\"\"g\";\"h\ni\";\r\n");
    }
}
