//! Payments as a CSV file (RFC 4180), read from the database page by page while the browser downloads it.
//!
//! It begins with a byte order mark, without which Excel takes UTF-8 for another encoding and garbles names. Excel with
//! Indonesian settings separates columns by semicolons and other programs by commas, so there is one file for each. No
//! cell is a formula.

use std::{io, time::Duration};

use axum::body::{Body, Bytes};
use domain::{
    id::{PaymentId, ProjectId},
    payment::{Customer, Payment},
    project::Project,
    time::Timestamp,
    user::Token,
};
use engine::{Engine, PaymentFilter, Scan};
use futures_util::stream;
use tokio::time::Instant;
use web::{
    limits::StreamSlot,
    page::moment::{date_of, local_rfc3339},
};

/// Payments per read, and so the most that are held in memory.
const PAGE: i64 = 500;
/// The longest that a download may take.
const LONGEST: Duration = Duration::from_hours(1);
const NAME_CHARACTERS: usize = 40;

const COLUMNS: [&str; 15] = [
    "id",
    "reference",
    "status",
    "method",
    "bank",
    "amount",
    "fee",
    "net",
    "created_at",
    "paid_at",
    "expires_at",
    "customer_name",
    "customer_email",
    "customer_phone",
    "link_id",
];

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
pub(crate) struct Export {
    pub(crate) engine: Engine,
    pub(crate) token: Token,
    pub(crate) address: String,
    pub(crate) project: ProjectId,
    pub(crate) filter: PaymentFilter,
    pub(crate) separator: Separator,
    /// The time for which statuses are given.
    pub(crate) now: Timestamp,
    pub(crate) _slot: StreamSlot,
}

/// How far it has been sent.
struct Reading {
    export: Export,
    next: Next,
    ends: Instant,
}

enum Next {
    Head,
    From(Option<PaymentId>),
    End,
}

impl Export {
    pub(crate) fn into_body(self) -> Body {
        let reading = Reading { export: self, next: Next::Head, ends: Instant::now() + LONGEST };
        Body::from_stream(stream::unfold(reading, Reading::next))
    }

    /// The next payments. Each page is read with the reader's session and membership as they are now. A file that
    /// cannot be finished breaks off, so that it cannot be mistaken for a complete one.
    async fn page(&self, before: Option<PaymentId>) -> io::Result<Scan> {
        let visit = self.engine.visit(&self.token, self.address.clone(), false).await.map_err(io::Error::other)?;
        let visit = visit.ok_or_else(|| io::Error::other("the session has ended"))?;
        let desk = self.engine.desk(&visit, self.project).await.map_err(io::Error::other)?;
        desk.payments_scan(&self.filter, before, PAGE).await.map_err(io::Error::other)
    }
}

impl Reading {
    async fn next(mut self) -> Option<(io::Result<Bytes>, Reading)> {
        let separator = self.export.separator;
        let (text, next) = match self.next {
            Next::Head => (format!("\u{feff}{}", line(separator, &COLUMNS.map(str::to_owned))), Next::From(None)),
            Next::End => return None,
            Next::From(_) if Instant::now() > self.ends => {
                return Some(self.broken(io::Error::other("the download took too long")));
            }
            Next::From(before) => match self.export.page(before).await {
                Err(error) => return Some(self.broken(error)),
                Ok(Scan { payments, before }) => {
                    let lines = payments.iter().map(|payment| line(separator, &cells(payment, self.export.now)));
                    (lines.collect(), before.map_or(Next::End, |before| Next::From(Some(before))))
                }
            },
        };
        self.next = next;
        Some((Ok(text.into()), self))
    }

    fn broken(mut self, error: io::Error) -> (io::Result<Bytes>, Reading) {
        tracing::info!(%error, "a download of payments broke off");
        self.next = Next::End;
        (Err(error), self)
    }
}

/// The name of the file, with the project's name and the day.
pub(crate) fn file_name(project: &Project, now: Timestamp) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' };
    let words: String = project.name.chars().take(NAME_CHARACTERS).map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    let name = if words.is_empty() { project.id.to_string() } else { words.join("-") };
    format!("{name}-{}.csv", date_of(now))
}

fn cells(payment: &Payment, now: Timestamp) -> [String; COLUMNS.len()] {
    let Customer { name, email, phone, .. } =
        payment.checkout.as_ref().map(|checkout| checkout.customer.clone()).unwrap_or_default();
    [
        payment.id.to_string(),
        without_formula(&payment.reference),
        payment.status_at(now).word().to_owned(),
        payment.method.kind().word().to_owned(),
        payment.method.bank().map(|bank| bank.code().to_owned()).unwrap_or_default(),
        payment.amount.get().to_string(),
        payment.fee.get().to_string(),
        payment.merchant_net().get().to_string(),
        local_rfc3339(payment.created_at),
        payment.paid_at().map(local_rfc3339).unwrap_or_default(),
        local_rfc3339(payment.expires_at),
        without_formula(&name),
        without_formula(&email),
        without_formula(&phone),
        payment.link_id.map(|id| id.to_string()).unwrap_or_default(),
    ]
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
fn without_formula(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for part in text.split_inclusive([',', ';', '\t', '\r', '\n', '|']) {
        if begins_formula(part) {
            safe.push('\'');
        }
        safe.push_str(part);
    }
    safe
}

/// Programs drop quotes, spaces and invisible characters before a formula, and some read the wide forms of its signs as
/// the usual ones.
fn begins_formula(text: &str) -> bool {
    let dropped = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '"' | '\'' | '`' | '‘' | '’' | '“' | '”' | '＂' | '＇')
            || matches!(character, '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
    };
    let sign = |character: char| {
        matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '﹦' | '﹢' | '﹣' | '﹫' | '−')
    };
    text.starts_with(['\t', '\r', '\n']) || text.trim_start_matches(dropped).starts_with(sign)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use domain::{access::Role, project::Environment};
    use engine::{NewProject, NewUser, SecretKey, Settings, SignIn, SystemClock, Whereabouts};
    use gateway::{Providers, Simulator};
    use http_body_util::BodyExt;

    use super::*;
    use web::limits::{BANK_CALLS_PER_SECOND, Limits};

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    /// An engine with a database of its own, which is deleted with its directory.
    async fn engine() -> (Engine, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let store = store::Store::open_sqlite(&directory.path().join("lunas.db")).await.unwrap();
        let providers = Providers { sandbox: Simulator::default(), production: None };
        let key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        (Engine::new(store, providers, std::sync::Arc::new(SystemClock), Settings::default(), key), directory)
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
            SignIn::Refused | SignIn::Wait { .. } => panic!("the password is right"),
        }
    }

    #[tokio::test]
    async fn a_file_breaks_off_when_its_reader_has_signed_out() {
        let (engine, _directory) = engine().await;
        let limits = Limits::new(1, BANK_CALLS_PER_SECOND);
        let (token, project) = signed_in(&engine).await;
        for stays in [true, false] {
            let copy = Token::parse(&token.reveal()).unwrap();
            let export = Export {
                token: Token::parse(&token.reveal()).unwrap(),
                address: ADDRESS.to_string(),
                project,
                filter: PaymentFilter::default(),
                separator: Separator::Comma,
                now: engine.now(),
                _slot: limits.stream(ADDRESS).unwrap(),
                engine: engine.clone(),
            };
            let mut body = export.into_body();
            let head = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(head.starts_with("\u{feff}id,reference,".as_bytes()));
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
    fn a_cell_with_anything_that_splits_is_quoted() {
        let cells = ["a", "b,c", "d;e", "f\"g", "h\ni", ""].map(str::to_owned);
        assert_eq!(line(Separator::Comma, &cells), "a,\"b,c\",\"d;e\",\"f\"\"g\",\"h\ni\",\r\n");
        assert_eq!(line(Separator::Semicolon, &cells), "a;\"b,c\";\"d;e\";\"f\"\"g\";\"h\ni\";\r\n");
    }
}
