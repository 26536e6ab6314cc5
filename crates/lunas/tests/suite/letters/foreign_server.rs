//! Letters to a mail server that is not ours: `aiosmtpd`, which `make test` installs.

use std::fs;

use testkit::{Ran, Running};

use crate::support::commands::{program, tool};

const SERVER: &str = r#"
import asyncio, email, email.policy, json, sys
from aiosmtpd.controller import Controller

class Keep:
    async def handle_DATA(self, server, session, envelope):
        letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
        told = {
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": letter["Subject"],
            "defects": [str(defect) for part in letter.walk() for defect in part.defects],
            "kinds": [part.get_content_type() for part in letter.walk()],
            "plain": letter.get_body(("plain",)).get_content(),
            "html": letter.get_body(("html",)).get_content(),
        }
        with open(sys.argv[1], "w") as file:
            json.dump(told, file)
        return "250 kept"

controller = Controller(Keep(), hostname="127.0.0.1", port=0)
controller.port = int(sys.argv[2])
controller.start()
print(json.dumps({"port": controller.port}), flush=True)
asyncio.new_event_loop().run_forever()
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the tools that `make test` installs"]
async fn a_foreign_server_takes_a_letter_and_finds_nothing_wrong_with_it() {
    let program = program();
    let kept = program.directory.path().join("letter.json");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut command = tool("python", &program);
    command.args(["-c", SERVER]).arg(&kept).arg(&port);
    let _server = Running::start(command, program.directory.path());
    let url = format!("smtp+plain://127.0.0.1:{port}");
    let words =
        ["mail", "test", "siti@example.com", "--mail-url", &url, "--mail-from", "Toko Kopi ☕ <toko@example.com>"];
    let ran: Ran = program.run(&words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let letter: serde_json::Value = serde_json::from_str(&fs::read_to_string(kept).unwrap()).unwrap();
    assert_eq!((&letter["from"], &letter["to"][0]), (&"toko@example.com".into(), &"siti@example.com".into()));
    assert_eq!(letter["defects"], serde_json::json!([]));
    assert_eq!(letter["kinds"], serde_json::json!(["multipart/alternative", "text/plain", "text/html"]));
    assert!(letter["html"].as_str().unwrap().starts_with("<!doctype html>"), "{letter}");
}
