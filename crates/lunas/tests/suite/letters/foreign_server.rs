//! Letters to a mail server that is not ours: `aiosmtpd`, which `make test` installs; in plain words, over TLS and after STARTTLS,
//! with a user and a password.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use testkit::{Program, Ran, Running};

use crate::support::{
    certificates::{CERTIFICATE, PRIVATE_KEY, write_self_signed},
    commands::{program, tool},
};

/// It encrypts as its first argument says, and then knows one user. It writes down who tried to sign in, and the last letter.
const SERVER: &str = r#"
import asyncio, email, email.policy, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult

way, certificate, key = sys.argv[1:]

class Keep:
    async def handle_DATA(self, server, session, envelope):
        letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
        told = {
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": letter["Subject"],
            "defects": [str(defect) for part in letter.walk() for defect in part.defects],
            "kinds": [part.get_content_type() for part in letter.walk()],
            "plain": letter.get_body(("plain",)).get_content(),
            "html": letter.get_body(("html",)).get_content(),
            "encrypted": server.transport.get_extra_info("cipher") is not None,
            "user": session.auth_data.login.decode() if session.authenticated else None,
        }
        with open("letter.json", "w") as file:
            json.dump(told, file)
        return "250 kept"

def authenticate(server, session, envelope, mechanism, given):
    with open("tried", "a") as file:
        file.write(f"{mechanism} {given.login.decode()}\n")
    return AuthResult(success=(given.login, given.password) == (b"toko", b"quiet"), handled=False, auth_data=given)

context, known, starttls = None, {}, {}
if way != "plain":
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    # It does not know of TLS that came before it.
    known = {"authenticator": authenticate, "auth_required": True, "auth_require_tls": way == "starttls"}
if way == "starttls":
    starttls = {"tls_context": context, "require_starttls": True}

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
conversation = lambda: SMTP(Keep(), hostname="relay.example.com", loop=loop, **known, **starttls)
first = context if way == "smtps" else None
server = loop.run_until_complete(loop.create_server(conversation, "127.0.0.1", 0, ssl=first))
print(json.dumps({"port": str(server.sockets[0].getsockname()[1])}), flush=True)
loop.run_forever()
"#;

/// What the certificate says, and where the server is.
const HOST: &str = "localhost";

/// A running server, with what it writes in the directory of a program.
struct Server {
    program: Program,
    running: Running,
}

impl Server {
    /// `way`: `plain`, `smtps` or `starttls`.
    fn start(way: &str) -> Server {
        let program = program();
        let directory = program.directory.path();
        write_self_signed(HOST, directory);
        let mut command = tool("python", &program);
        command.args(["-c", SERVER, way, CERTIFICATE, PRIVATE_KEY]);
        let running = Running::start(command, directory);
        Server { program, running }
    }

    fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}", self.running.said("port"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.program.directory.path().join(name)
    }

    /// `lunas mail test` with these settings beside the sender.
    fn test(&self, settings: &[(&str, &str)]) -> Ran {
        let mut command = self.program.command(&["mail", "test", "siti@example.com"]);
        command.env("LUNAS_MAIL_FROM", "Toko Kopi ☕ <toko@example.com>").envs(settings.iter().copied());
        command.output().unwrap().into()
    }

    fn letter(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("letter.json")).unwrap()).unwrap()
    }

    /// Who tried to sign in, a line each.
    fn tried(&self) -> String {
        fs::read_to_string(self.path("tried")).unwrap_or_default()
    }
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn a_foreign_server_takes_a_letter_and_finds_nothing_wrong_with_it() {
    let server = Server::start("plain");
    let ran = server.test(&[("LUNAS_MAIL_URL", &server.url("smtp+plain", "127.0.0.1"))]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let letter = server.letter();
    assert_eq!((&letter["from"], &letter["to"][0]), (&"toko@example.com".into(), &"siti@example.com".into()));
    assert_eq!(letter["defects"], json!([]));
    assert_eq!(letter["kinds"], json!(["multipart/alternative", "text/plain", "text/html"]));
    assert!(letter["html"].as_str().unwrap().starts_with("<!doctype html>"), "{letter}");
    assert_eq!((&letter["encrypted"], &letter["user"]), (&json!(false), &Value::Null));
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn a_foreign_server_that_encrypts_takes_letters_of_the_user_whom_it_knows() {
    for (way, scheme) in [("smtps", "smtps"), ("starttls", "smtp")] {
        let server = Server::start(way);
        let (url, authority) = (server.url(scheme, HOST), server.path(CERTIFICATE));
        let with = |password: &str| {
            server.test(&[
                ("LUNAS_MAIL_URL", &url),
                ("LUNAS_MAIL_CA_FILE", authority.to_str().unwrap()),
                ("LUNAS_MAIL_USER", "toko"),
                ("LUNAS_MAIL_PASSWORD", password),
            ])
        };
        let wrong = with("a wrong one");
        assert_eq!(wrong.code, 1, "{way}: {wrong:?}");
        assert!(wrong.stderr.contains("sign in: 535") && !wrong.stderr.contains("a wrong one"), "{way}: {wrong:?}");
        assert!(!server.path("letter.json").exists(), "{way}");
        let right = with("quiet");
        assert_eq!(right.code, 0, "{way}: {right:?}");
        let letter = server.letter();
        assert_eq!((&letter["encrypted"], &letter["user"]), (&json!(true), &json!("toko")), "{way}");
        assert_eq!(letter["defects"], json!([]), "{way}");
        assert_eq!(server.tried(), "PLAIN toko\nPLAIN toko\n", "{way}");
    }
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn a_foreign_server_that_is_not_trusted_or_has_another_name_hears_no_password() {
    for (way, scheme) in [("smtps", "smtps"), ("starttls", "smtp")] {
        let server = Server::start(way);
        let authority = server.path(CERTIFICATE);
        let user = [("LUNAS_MAIL_USER", "toko"), ("LUNAS_MAIL_PASSWORD", "quiet")];
        let (untrusted, other_name) = (server.url(scheme, HOST), server.url(scheme, "127.0.0.1"));
        let trusting = ("LUNAS_MAIL_CA_FILE", authority.to_str().unwrap());
        for settings in [vec![("LUNAS_MAIL_URL", &*untrusted)], vec![("LUNAS_MAIL_URL", &*other_name), trusting]] {
            let ran = server.test(&[&settings[..], &user].concat());
            assert_eq!(ran.code, 1, "{way} {settings:?}: {ran:?}");
            assert!(ran.stderr.contains("certificate"), "{way} {settings:?}: {ran:?}");
            assert_eq!((server.tried().as_str(), server.path("letter.json").exists()), ("", false), "{way}");
        }
    }
}
