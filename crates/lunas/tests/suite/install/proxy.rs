//! nginx with the configuration of docs/install.md, in front of a test's server: as a process of the person who runs the tests,
//! on free ports, with a certificate that is made for it.

use std::{
    env, fs,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use reqwest::{Certificate, Client, Method, RequestBuilder, Response, redirect::Policy};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Kit, Options, Reply};
use tokio::net::TcpStream;

use crate::support::{certificates::write_self_signed, repository::root, wait::until};

/// The name in the configuration and the certificate.
pub(crate) const NAME: &str = "pay.example.com";

/// What Debian's own configuration has around that of a site, with everything in a directory of the test.
const AROUND: &str = "
daemon off;
master_process off;
pid DIRECTORY/nginx.pid;
error_log DIRECTORY/error.log;
events { worker_connections 256; }
http {
    access_log off;
    gzip on;
    default_type application/octet-stream;
    client_body_temp_path DIRECTORY/body;
    proxy_temp_path DIRECTORY/proxy;
    fastcgi_temp_path DIRECTORY/fastcgi;
    uwsgi_temp_path DIRECTORY/uwsgi;
    scgi_temp_path DIRECTORY/scgi;
    include DIRECTORY/site.conf;
}
";

/// A running nginx; it ends when this value is dropped.
pub(crate) struct Proxy {
    process: Child,
    directory: TempDir,
    pub(crate) plain_port: u16,
    secure_port: u16,
    certificate: Certificate,
}

/// A client of the proxy that has an address of its own.
pub(crate) struct Visitor {
    client: Client,
    base_url: String,
}

/// The settings of a server behind this proxy, as the package has them.
pub(crate) fn behind_proxy(rate_limit_per_second: u32) -> Options {
    let base_url = Some(format!("https://{NAME}"));
    Options {
        base_url,
        trusted_proxies: vec!["127.0.0.1/32".parse().unwrap()],
        rate_limit_per_second,
        ..Options::default()
    }
}

impl Proxy {
    pub(crate) async fn before(kit: &Kit) -> Proxy {
        Proxy::before_address(kit.address).await
    }

    pub(crate) async fn before_address(server: SocketAddr) -> Proxy {
        let directory = tempfile::tempdir().unwrap();
        let certificate = Certificate::from_der(&write_self_signed(NAME, directory.path())).unwrap();
        let (plain_port, secure_port) = free_ports();
        let site = site(&directory, server, plain_port, secure_port);
        fs::write(directory.path().join("site.conf"), site).unwrap();
        let around = AROUND.replace("DIRECTORY", directory.path().to_str().unwrap());
        fs::write(directory.path().join("nginx.conf"), around).unwrap();
        let process = start(directory.path());
        let mut proxy = Proxy { process, directory, plain_port, secure_port, certificate };
        proxy.listens().await;
        proxy
    }

    async fn listens(&mut self) {
        let (address, log) = ((Ipv4Addr::LOCALHOST, self.secure_port), self.directory.path().join("error.log"));
        until(async || TcpStream::connect(address).await.is_ok()).await;
        let ended = self.process.try_wait().unwrap();
        assert!(ended.is_none(), "nginx has ended: {}", fs::read_to_string(log).unwrap());
    }

    /// A client that trusts the certificate and connects from `address`, one of this machine's.
    pub(crate) fn visitor(&self, address: [u8; 4]) -> Visitor {
        let there = SocketAddr::from((Ipv4Addr::LOCALHOST, self.secure_port));
        let client = Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .tls_certs_only([self.certificate.clone()])
            .resolve(NAME, there)
            .local_address(IpAddr::from(address))
            .build()
            .unwrap();
        Visitor { client, base_url: format!("https://{NAME}:{}", self.secure_port) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Visitor {
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base_url))
    }

    /// Sends a request; the body of the answer is still to be read.
    pub(crate) async fn begin(&self, request: RequestBuilder) -> Response {
        request.send().await.unwrap()
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> Reply {
        let response = self.begin(request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        Reply { status, headers, json: serde_json::from_str(&text).unwrap_or(Value::Null), text }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }
}

/// The configuration of the document, with this test's ports, files and server.
fn site(directory: &TempDir, server: SocketAddr, plain_port: u16, secure_port: u16) -> String {
    let document = fs::read_to_string(root().join("docs/install.md")).unwrap();
    let mut site = document.split("```nginx\n").nth(1).unwrap().split("```").next().unwrap().to_owned();
    let directory = directory.path().display();
    for (written, here) in [
        ("server 127.0.0.1:8080;", format!("server {server};")),
        ("listen 80;", format!("listen 127.0.0.1:{plain_port};")),
        ("listen [::]:80;", String::new()),
        ("listen 443 ssl http2;", format!("listen 127.0.0.1:{secure_port} ssl http2;")),
        ("listen [::]:443 ssl http2;", String::new()),
        ("/etc/letsencrypt/live/pay.example.com/fullchain.pem", format!("{directory}/fullchain.pem")),
        ("/etc/letsencrypt/live/pay.example.com/privkey.pem", format!("{directory}/privkey.pem")),
    ] {
        assert_eq!(site.matches(written).count(), 1, "the document has `{written}` once");
        site = site.replace(written, &here);
    }
    site
}

fn start(directory: &Path) -> Child {
    let log = directory.join("error.log");
    let mut command = Command::new(nginx());
    command.arg("-e").arg(log).arg("-p").arg(directory).arg("-c").arg(directory.join("nginx.conf"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Debian's nginx: installed, or unpacked by `make nginx`.
fn nginx() -> PathBuf {
    let unpacked = root().join("target/nginx/usr/sbin");
    let folders = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let found = folders.into_iter().chain(["/usr/sbin".into(), unpacked]).map(|folder| folder.join("nginx"));
    found.into_iter().find(|path| path.is_file()).expect("nginx is not there: run `make nginx`")
}

/// Two ports that are free now. nginx cannot be told to choose for itself.
fn free_ports() -> (u16, u16) {
    let bound = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [plain, secure] = bound.map(|listener| listener.local_addr().unwrap().port());
    (plain, secure)
}
