//! Mock servers of another payment service, which keep everything in memory, compared with our durable product.

use std::{
    env,
    ffi::OsStr,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::{
    load::{self, Requests},
    process::Served,
    report::{Finding, spread},
    requests::{VIRTUAL_ACCOUNT, creates},
    rounds::interleave,
};

const CONNECTIONS: u64 = 16;
const UP_WITHIN: Duration = Duration::from_secs(30);
const GOAL_TIMES: u64 = 3;
const LOCALSTRIPE: &str = "localstripe==1.15.10";
const STATEFUL_MOCK: &str = "stripe-stateful-mock@0.0.16";

/// A peer that runs until this is dropped.
struct Peer {
    name: &'static str,
    address: SocketAddr,
    path: &'static str,
    form: &'static str,
    _child: Child,
}

pub(crate) async fn run(product: &Served, duration: Duration, rounds: usize) -> io::Result<Vec<Finding>> {
    let folder = installed().await?;
    let mut findings = Vec::new();
    for peer in [localstripe(&folder).await?, stateful_mock(&folder).await?] {
        let ours = |round: u64| {
            let run = format!("{}-{round}-{}", peer.name, std::process::id());
            let (address, requests) = (product.address, creates(product, VIRTUAL_ACCOUNT, &run));
            async move { load::run(address, CONNECTIONS, duration, &requests).await }
        };
        let requests = peer.requests();
        let theirs = |_| load::run(peer.address, CONNECTIONS, duration, &requests);
        let measured = interleave(rounds, ours, theirs).await?;
        findings.push(Finding {
            group: "peers",
            product: format!("{}/s", measured.product),
            ceiling: format!("{} {}/s", peer.name, measured.ceiling),
            ratio: spread(&measured),
            goal: format!(">= {GOAL_TIMES}"),
            holds: Some(measured.median() >= GOAL_TIMES * 1_000),
        });
    }
    Ok(findings)
}

impl Peer {
    fn requests(&self) -> Requests {
        let (path, form) = (self.path, self.form);
        Arc::new(move |_, out| {
            let length = form.len();
            out.extend_from_slice(
                format!(
                    "POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer sk_test_peer\r\n\
                     Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
                )
                .as_bytes(),
            );
        })
    }
}

/// Installs both from their package registries into the build folder, once.
async fn installed() -> io::Result<PathBuf> {
    let target = env::current_exe()?.ancestors().nth(2).map(Path::to_owned);
    let folder = target.ok_or_else(|| io::Error::other("no build folder"))?.join("peers");
    if !folder.join("python/localstripe").exists() {
        install("pip3", &["install", "--quiet", "--target"], &folder.join("python"), LOCALSTRIPE).await?;
    }
    if !folder.join("node/node_modules/stripe-stateful-mock").exists() {
        install("npm", &["install", "--silent", "--prefix"], &folder.join("node"), STATEFUL_MOCK).await?;
    }
    Ok(folder)
}

async fn install(program: &str, words: &[&str], into: &Path, package: &str) -> io::Result<()> {
    let status = Command::new(program).args(words).arg(into).arg(package).stdout(Stdio::null()).status().await?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{program} could not install {package}"))) }
}

async fn localstripe(folder: &Path) -> io::Result<Peer> {
    let port = free_port()?.to_string();
    let words = ["-m", "localstripe", "--from-scratch", "--port", &port];
    let (child, address) = start("python3", &words, ("PYTHONPATH", folder.join("python").as_os_str()), &port).await?;
    let (path, form) = ("/v1/payment_intents", "amount=15000&currency=idr");
    Ok(Peer { name: "localstripe", address, path, form, _child: child })
}

async fn stateful_mock(folder: &Path) -> io::Result<Peer> {
    let port = free_port()?.to_string();
    let program = folder.join("node/node_modules/stripe-stateful-mock/dist/cli.js");
    let program = program.to_string_lossy();
    let (child, address) = start("node", &[&program], ("PORT", OsStr::new(&port)), &port).await?;
    let (path, form) = ("/v1/charges", "amount=15000&currency=usd&source=tok_visa");
    Ok(Peer { name: "stripe-stateful-mock", address, path, form, _child: child })
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

async fn start(program: &str, words: &[&str], variable: (&str, &OsStr), port: &str) -> io::Result<(Child, SocketAddr)> {
    let mut command = Command::new(program);
    command.args(words).env(variable.0, variable.1).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let child = command.spawn()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().map_err(io::Error::other)?));
    let began = Instant::now();
    while TcpStream::connect(address).await.is_err() {
        if began.elapsed() > UP_WITHIN {
            return Err(io::Error::other(format!("{program} did not start")));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok((child, address))
}
