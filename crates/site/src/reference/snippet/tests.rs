//! Runs the examples by the programs that they are for, against a server that notes what arrives. A language that is not installed
//! is checked by its text alone.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use serde_json::Value;

use super::{request::KEY_VARIABLE, *};
use crate::reference::json::Json;

/// Everything that one of the languages gives a meaning to.
const HOSTILE: &str = "\"double\" 'single' `back` \\n \\ \n\r\t $HOME ${x} {$y} #{z} <?php ?> </script> <!-- %s %% !! \u{0}\u{7f} é漢😀 \
                       \u{2028}\u{202e}\u{feff} @file \"\"\" ''' $(id) */ //";

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

fn hostile_body() -> Json {
    Json::Object(vec![
        ("text".to_owned(), text(HOSTILE)),
        (HOSTILE.to_owned(), text("as a name")),
        ("__proto__".to_owned(), text("a member")),
        ("numbers".to_owned(), Json::Object(vec![("0".to_owned(), text("zero")), ("1".to_owned(), Json::Bool(false))])),
        ("empty".to_owned(), Json::Object(Vec::new())),
        ("list".to_owned(), Json::List(vec![Json::Null, Json::Bool(true), Json::Number("999999999999".to_owned())])),
        ("nothing".to_owned(), Json::List(Vec::new())),
    ])
}

fn hostile() -> Request {
    let mut request = Request {
        method: "POST".to_owned(),
        path: "/v1/things/{id}/do".to_owned(),
        query: vec![("q".to_owned(), HOSTILE.to_owned())],
        headers: vec![("Idempotency-Key".to_owned(), "it's $HOME \"`x`\" \\ {$y} <?".to_owned())],
        is_keyed: true,
        body: Some(hostile_body()),
    };
    request.fill_path("id", HOSTILE);
    request
}

fn bare() -> Request {
    Request {
        method: "DELETE".to_owned(),
        path: "/v1/bare".to_owned(),
        query: Vec::new(),
        headers: Vec::new(),
        is_keyed: false,
        body: None,
    }
}

/// What arrived: the first line, the headers with small names, and the body.
struct Arrived {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Arrived {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Takes one request and answers it with an error, whose body every example prints.
fn take_one(listener: &TcpListener) -> Arrived {
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = head {
            let arrived = read_head(&bytes[..end], &bytes[end + 4..]);
            let length = arrived.header("content-length").map_or(0, |length| length.parse::<usize>().unwrap());
            if arrived.body.len() >= length {
                let answer = "{\"error\":\"told\"}";
                write!(
                    stream,
                    "HTTP/1.1 418 Teapot\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                    answer.len()
                )
                .unwrap();
                return arrived;
            }
        }
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "the example hung up");
        bytes.extend_from_slice(&piece[..count]);
    }
}

fn read_head(head: &[u8], body: &[u8]) -> Arrived {
    let head = String::from_utf8(head.to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Arrived { line, headers: lines.map(header).collect(), body: body.to_vec() }
}

fn is_installed(program: &str) -> bool {
    let version = if program == "go" { "version" } else { "--version" };
    let run = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

/// Runs the example of a language, and returns what arrived and what it printed; nothing where the language is not installed.
fn run(language: &str, request: &Request) -> Option<(Arrived, String)> {
    let (programs, file): (&[&str], _) = match language {
        "curl" => (&["sh", "curl"], "example.sh"),
        "node" => (&["node"], "example.mjs"),
        "php" => (&["php"], "example.php"),
        "python" => (&["python3"], "example.py"),
        _ => (&["go", "run"], "example.go"),
    };
    if !is_installed(if language == "curl" { "curl" } else { programs[0] }) {
        return None;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let snippet = snippets(&base_url, request).into_iter().find(|snippet| snippet.id == language).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(file);
    std::fs::write(&path, &snippet.code).unwrap();
    let taking = thread::spawn(move || take_one(&listener));
    let program = if language == "curl" { &programs[..1] } else { programs };
    let output = command(program, &path).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{language}: {}\n{}", String::from_utf8_lossy(&output.stderr), snippet.code);
    Some((taking.join().unwrap(), printed))
}

fn command(program: &[&str], path: &Path) -> Command {
    let mut command = Command::new(program[0]);
    command
        .args(&program[1..])
        .arg(path)
        .env(KEY_VARIABLE, "the key")
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY");
    command
}

const LANGUAGES: [&str; 5] = ["curl", "node", "php", "python", "go"];

#[test]
fn every_language_sends_hostile_texts_as_they_are() {
    let expected: Value = serde_json::from_str(&hostile_body().pretty()).unwrap();
    assert_eq!(expected["text"], HOSTILE);
    for language in LANGUAGES {
        let Some((arrived, printed)) = run(language, &hostile()) else { continue };
        let target = format!("POST {} HTTP/1.1", hostile().url(""));
        assert_eq!(arrived.line, target, "{language}");
        assert_eq!(serde_json::from_slice::<Value>(&arrived.body).unwrap(), expected, "{language}");
        assert_eq!(arrived.header("authorization"), Some("Bearer the key"), "{language}");
        assert_eq!(arrived.header("content-type"), Some("application/json"), "{language}");
        assert_eq!(arrived.header("idempotency-key"), Some(hostile().headers[0].1.as_str()), "{language}");
        assert!(printed.contains("{\"error\":\"told\"}"), "{language} prints {printed}");
    }
}

#[test]
fn every_language_sends_a_request_without_key_and_body() {
    for language in LANGUAGES {
        let Some((arrived, printed)) = run(language, &bare()) else { continue };
        assert_eq!(arrived.line, "DELETE /v1/bare HTTP/1.1", "{language}");
        assert_eq!((arrived.header("authorization"), arrived.body.len()), (None, 0), "{language}");
        assert!(printed.contains("{\"error\":\"told\"}"), "{language} prints {printed}");
    }
}

#[test]
fn go_takes_a_body_as_it_is_unless_it_has_a_back_quote() {
    let with = |value: &str| {
        let body = Json::Object(vec![("a".to_owned(), text(value))]);
        go::write("http://x/", &Request { body: Some(body), ..bare() })
    };
    assert!(
        with("it's \"so\"\n").contains("strings.NewReader(`{\n  \"a\": \"it's \\\"so\\\"\\n\"\n}`)"),
        "{}",
        with("x")
    );
    assert!(with("`").contains(r#"strings.NewReader("{\n  \"a\": \"`\"\n}")"#), "{}", with("`"));
}

#[test]
fn parameters_in_addresses_are_encoded() {
    let url = hostile().url("https://pay.example");
    let (path, query) = url.strip_prefix("https://pay.example/v1/things/").unwrap().split_once('?').unwrap();
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte));
    assert!(is_plain(path.strip_suffix("/do").unwrap()) && is_plain(query.strip_prefix("q=").unwrap()), "{url}");
    let parsed = percent_encoding::percent_decode_str(&query[2..]).decode_utf8().unwrap();
    assert_eq!(parsed, HOSTILE);
}
