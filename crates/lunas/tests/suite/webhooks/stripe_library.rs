//! Our signatures, checked by Stripe's official library, an implementation that is not ours. `make test` installs it.

use std::fs;

use domain::{signature::signature_header, time::Timestamp};
use engine::{Clock, SystemClock};
use testkit::{Program, Ran, Receiver};

use crate::support::{
    commands::{program, tool},
    webhooks::secret,
};

const BODY: &[u8] = r#"{"id":"evt_1","data":{"name":"Toko Kopi ☕"}}"#.as_bytes();
const JUDGE: &str = r#"
import sys
import stripe
body, header, secret = open(sys.argv[1], "rb").read(), sys.argv[2], sys.argv[3]
try:
    stripe.WebhookSignature.verify_header(body, header, secret, tolerance=300)
    print("genuine")
except stripe.SignatureVerificationError as error:
    print("refused:", error)
"#;

#[track_caller]
fn judge(program: &Program, header: &str, body: &[u8], secret: &str) -> String {
    let path = program.directory.path().join("body");
    fs::write(&path, body).unwrap();
    let mut command = tool("python", program);
    let ran = Ran::from(command.args(["-c", JUDGE]).arg(path).args([header, secret]).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout.trim().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the tools that `make test` installs"]
async fn delivered_and_forwarded_webhooks_are_genuine_to_stripes_library() {
    let program = program();
    let running = program.dev();
    let receiver = Receiver::start().await;
    let update = ["project", "update", running.said("project_id"), "--json", "--webhook-url"];
    program.json(&[&update[..], &[&receiver.url()]].concat());
    let forwarded = Receiver::start().await;
    let listen = program.command(&["listen", "--json", "--forward-to", &forwarded.url()]);
    let _listening = testkit::Running::start(listen, program.directory.path());
    for (number, kind) in ["payment.paid", "payment.failed", "apikey.deleted"].into_iter().enumerate() {
        program.json(&["trigger", kind, "--json"]);
        for receiver in [&receiver, &forwarded] {
            let received = &receiver.arrived(number + 1).await[number];
            let header = received.header("x-service-signature");
            assert_eq!(judge(&program, header, &received.body, running.said("webhook_secret")), "genuine", "{kind}");
        }
    }
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn stripes_library_accepts_either_secret_of_a_rotation_and_refuses_forgeries() {
    let program = program();
    let (new, old) = (secret("baru"), secret("lama"));
    let both = signature_header(&[&new, &old], SystemClock.now(), BODY);
    for known in [&new, &old] {
        assert_eq!(judge(&program, &both, BODY, known), "genuine");
    }
    let day_ago = Timestamp::from_millis(SystemClock.now().as_millis() - 86_400_000);
    let late = signature_header(&[&new], day_ago, BODY);
    for (header, body, secret) in
        [(&both, BODY, &secret("lain")), (&both, &BODY[1..], &new), (&late, BODY, &new), (&String::new(), BODY, &new)]
    {
        assert!(judge(&program, header, body, secret).starts_with("refused"), "{header}");
    }
}
