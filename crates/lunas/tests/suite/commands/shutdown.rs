//! Stopping a server: requests in flight are answered, no new ones are taken, and no client delays it for ever.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde_json::Value;
use testkit::{Kit, Options, Ran, Running, Socket, on_every_database, on_sqlite_alone, request_bytes};
use tokio::net::TcpStream;

use crate::support::{
    commands::{program, secret_key},
    samples::{order, qris},
};

on_every_database![requests_in_flight_are_answered_at_shutdown_and_no_new_ones_are_taken];

on_sqlite_alone![
    idle_connections_are_closed_at_shutdown,
    requests_that_never_finish_delay_the_shutdown_only_until_its_timeout with short_drain_timeout(),
];

const PATIENCE: Duration = Duration::from_secs(30);

/// A request whose body the server has asked for and not received, so that it is certainly in flight.
struct InFlight {
    socket: Socket,
    body: Vec<u8>,
}

impl InFlight {
    async fn begin(address: SocketAddr, api_key: &str, idempotency_key: &str, body: &Value) -> InFlight {
        let body = serde_json::to_vec(body).unwrap();
        let (authorization, length) = (format!("Bearer {api_key}"), body.len().to_string());
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Idempotency-Key", idempotency_key),
            ("Content-Type", "application/json"),
            ("Content-Length", length.as_str()),
            ("Expect", "100-continue"),
        ];
        let mut socket = Socket::connect(address).await;
        socket.send(&request_bytes("POST", "/v1/payments", &headers, b"")).await;
        assert_eq!(socket.answer().await.unwrap().status, 100);
        InFlight { socket, body }
    }

    /// Sends the rest and reads the answer, after which the connection must be closed.
    async fn finish(mut self) -> Value {
        assert!(self.socket.send(&self.body).await);
        let reply = self.socket.answer().await.expect("a request in flight is answered");
        assert_eq!(reply.header("connection"), Some("close"), "{} {}", reply.status, reply.text);
        let payment = reply.expect(201);
        self.socket.closed().await;
        payment
    }
}

/// Waits until nothing listens at `address` any more.
async fn refuses_connections(address: SocketAddr) {
    let refused = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("the server still takes connections");
}

async fn requests_in_flight_are_answered_at_shutdown_and_no_new_ones_are_taken(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut in_flight = Vec::new();
    for number in 0..20 {
        let key = format!("flight-{number}");
        in_flight.push(InFlight::begin(kit.address, &project.key, &key, &qris(&project, 15_000)).await);
    }
    kit.ask_to_stop();
    refuses_connections(kit.address).await;
    let mut ids = Vec::new();
    for request in in_flight {
        assert!(!kit.has_stopped(), "it waits for what is in flight");
        let payment = request.finish().await;
        ids.push(payment["id"].as_str().unwrap().to_owned());
    }
    tokio::time::timeout(PATIENCE, kit.stopped()).await.expect("it stops once all is answered");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
    for id in ids {
        kit.engine.payment(project.id, id.parse().unwrap()).await.unwrap();
    }
}

async fn idle_connections_are_closed_at_shutdown(kit: Arc<Kit>) {
    let mut idle = Vec::new();
    for requests in [0, 1, 3] {
        let mut socket = Socket::connect(kit.address).await;
        for _ in 0..requests {
            socket.send(&request_bytes("GET", "/readyz", &[], b"")).await;
            socket.answer().await.unwrap().expect(200);
        }
        idle.push(socket);
    }
    kit.ask_to_stop();
    for mut socket in idle {
        socket.closed().await;
    }
    // They delay nothing: this is far below the timeout for requests in flight.
    tokio::time::timeout(Duration::from_secs(10), kit.stopped()).await.expect("idle connections hold up the stop");
}

/// The server waits for requests for a moment once it is asked to stop, and for an hour before.
fn short_drain_timeout() -> Options {
    let mut options = Options::default();
    options.timeouts.drain = Duration::from_millis(200);
    options.timeouts.header = Duration::from_secs(3_600);
    options.timeouts.body = Duration::from_secs(3_600);
    options.timeouts.request = Duration::from_secs(3_600);
    options
}

async fn requests_that_never_finish_delay_the_shutdown_only_until_its_timeout(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let stuck = InFlight::begin(kit.address, &project.key, "stuck", &qris(&project, 15_000)).await;
    let mut half = Socket::connect(kit.address).await;
    half.send(b"GET /healthz HT").await;
    kit.ask_to_stop();
    tokio::time::timeout(PATIENCE, kit.stopped()).await.expect("a stuck request holds up the stop for ever");
    drop((stuck, half));
    let listed = kit.store.payments(project.id, &Default::default(), engine::Window { offset: 0, limit: 1 }).await;
    assert_eq!(listed.unwrap().total, 0);
}

#[tokio::test]
async fn sigterm_answers_requests_in_flight_and_exits_0() {
    let program = program();
    let mut running = program.dev();
    let (address, key, order) =
        (running.address(), running.said("api_key").to_owned(), order(running.said("project_id")));
    let mut in_flight = Vec::new();
    for number in 0..10 {
        in_flight.push(InFlight::begin(address, &key, &format!("flight-{number}"), &order).await);
    }
    let mut idle = Socket::connect(address).await;
    idle.send(&request_bytes("GET", "/readyz", &[], b"")).await;
    idle.answer().await.unwrap().expect(200);
    running.signal("TERM");
    refuses_connections(address).await;
    idle.closed().await;
    let mut answered = Vec::new();
    for request in in_flight {
        answered.push(request.finish().await);
    }
    assert_eq!(running.ended(), Some(0), "{}", running.log());

    let again = program.dev();
    for payment in answered {
        let kept = again.api().get(&format!("/v1/payments/{}", payment["id"].as_str().unwrap())).await.expect(200);
        assert_eq!((&kept["reference"], &kept["created_at"]), (&payment["reference"], &payment["created_at"]));
    }
    let list = again.api().get("/v1/payments").await.expect(200);
    assert_eq!(list["pagination"]["total_items"], 10);
    assert_eq!(program.json(&["verify", "--json", "--database", &program.database()])["ok"], true);
}

/// A closed terminal killed the server in the middle of its requests.
#[tokio::test]
async fn sighup_answers_requests_in_flight_on_serve_and_exits_0() {
    let (program, secret_key) = (program(), secret_key());
    let mut running = program.serve(&secret_key);
    let address = running.address();
    let create = |arguments: &[&str]| Ran::from(program.served(arguments, &secret_key).output().unwrap()).json(0);
    let project = create(&["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"]);
    let project = project["id"].as_str().unwrap();
    let key = create(&["key", "create", "--project", project, "--name", "server", "--json"]);
    let key = key["key"].as_str().unwrap();
    let mut in_flight = Vec::new();
    for number in 0..5 {
        in_flight.push(InFlight::begin(address, key, &format!("flight-{number}"), &order(project)).await);
    }
    running.signal("HUP");
    refuses_connections(address).await;
    for request in in_flight {
        request.finish().await;
    }
    assert_eq!(running.ended(), Some(0), "{}", running.log());
    assert!(running.log().contains("SIGHUP"), "{}", running.log());
}

#[tokio::test]
async fn a_server_that_was_started_to_ignore_sighup_goes_on_and_others_stop() {
    let program = program();
    let mut running = program.dev();
    running.signal("HUP");
    assert_eq!(running.ended(), Some(0), "{}", running.log());
    // As `nohup` starts it.
    let dev = program.command(&["dev", "--json", "--listen", "127.0.0.1:0"]);
    let mut ignoring = std::process::Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(dev.get_program()).args(dev.get_args());
    ignoring.current_dir(program.directory.path()).stdin(std::process::Stdio::null());
    ignoring.envs(dev.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut running = Running::start(ignoring, program.directory.path());
    running.signal("HUP");
    running.api().pay("k", &order(running.said("project_id"))).await.expect(201);
    running.signal("TERM");
    assert_eq!(running.ended(), Some(0), "{}", running.log());
    assert!(running.log().contains("SIGTERM"), "{}", running.log());
}

#[tokio::test]
async fn sigint_stops_as_sigterm_does() {
    let program = program();
    let mut running = program.dev();
    running.api().pay("k", &order(running.said("project_id"))).await.expect(201);
    running.signal("INT");
    assert_eq!(running.ended(), Some(0), "{}", running.log());
}
