//! The socket side: accepts connections, bounds them in number and time, and lets them finish when asked to stop.

use std::{
    convert::Infallible,
    future::Future,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::{Router, body::Body, extract::Request};
use engine::Engine;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use ipnet::IpNet;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_io_timeout::TimeoutStream;

use crate::{
    api::events::webhook_body,
    app::{App, Shared},
    client::Peer,
    front,
    limit::Limits,
    pages::place::Place,
    routes,
};

pub(crate) const CONNECTIONS_MOST: usize = 16_384;
const HEADERS_MOST: usize = 100;
const HEAD_BYTES_MOST: usize = 16 * 1024;
/// Rest after a failed accept: the usual cause is that the process has no file descriptors left.
const ACCEPT_REST: Duration = Duration::from_millis(50);

pub struct ServerConfig {
    pub listen: SocketAddr,
    /// Where clients reach the API; made from the bound address when not given.
    pub base_url: Option<String>,
    /// Where customers reach the hosted pages; the base URL when not given.
    pub checkout_url_base: Option<String>,
    /// Requests per second and key; 0 lifts every limit.
    pub rate_limit_per_second: u32,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// The header that carries a webhook's signature, for people to read about.
    pub signature_header: String,
    pub timeouts: Timeouts,
}

#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// To send a whole request head.
    pub header: Duration,
    /// To send a whole body.
    pub body: Duration,
    /// To answer.
    pub request: Duration,
    /// To finish what is in flight once asked to stop.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            header: Duration::from_secs(10),
            body: Duration::from_secs(10),
            request: Duration::from_secs(30),
            drain: Duration::from_secs(25),
        }
    }
}

/// A server that has its address and does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    base_url: String,
    timeouts: Timeouts,
}

impl Server {
    pub async fn bind(engine: Engine, config: ServerConfig) -> io::Result<Server> {
        let listener = TcpListener::bind(config.listen).await?;
        let address = listener.local_addr()?;
        let base_url = without_slash(config.base_url.unwrap_or_else(|| format!("http://{address}")));
        let checkout_url_base = without_slash(config.checkout_url_base.unwrap_or_else(|| base_url.clone()));
        let own_origins = [&base_url, &checkout_url_base].into_iter().filter_map(|url| origin_of(url)).collect();
        let shared = Shared {
            limits: Limits::new(config.rate_limit_per_second),
            own_origins,
            base_url: base_url.clone(),
            place: Place::at(&checkout_url_base),
            checkout_url_base,
            signature_header: config.signature_header,
            trusted_proxies: config.trusted_proxies,
            body_timeout: config.timeouts.body,
            request_timeout: config.timeouts.request,
            draining: false.into(),
        };
        let app = App::new(engine, shared);
        Ok(Server { listener, address, app, base_url, timeouts: config.timeouts })
    }

    /// The address it listens on, with the port that was found free when 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    pub fn checkout_url_base(&self) -> &str {
        &self.app.shared.checkout_url_base
    }

    /// How this server's events look in a webhook.
    pub fn webhook_body(&self) -> engine::Body {
        webhook_body(self.app.shared.checkout_url_base.clone())
    }

    /// Serves until `stop` resolves; then accepts nothing more and lets what is in flight finish.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        let Server { listener, app, timeouts, .. } = self;
        let router = routes::router(&app);
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS_MOST));
        let mut stop = pin!(stop);
        loop {
            let accept = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                accepted = accept => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, address)) => {
                    let (app, router, watcher) = (app.clone(), router.clone(), graceful.watcher());
                    tokio::spawn(async move {
                        // A connection that fails has told its client whatever could be told.
                        let _ = watcher.watch(connection(stream, address, app, router, timeouts)).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_REST).await;
                }
            }
        }
        app.shared.draining.store(true, Ordering::Relaxed);
        app.engine.stop_watching();
        drop(listener);
        if tokio::time::timeout(timeouts.drain, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not finish in time");
        }
    }
}

fn connection(
    stream: TcpStream,
    address: SocketAddr,
    app: App,
    router: Router,
    timeouts: Timeouts,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    // Answers are small and wanted at once. A socket that refuses is about to fail anyway.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    // A client that does not read its answers must not keep its place for ever.
    stream.set_write_timeout(Some(timeouts.request));
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(Peer(address.ip()));
        // In a box, since a connection keeps the place of its service's future for as long as it lives, also while it only
        // streams an answer, which thousands of pages have it do at the same time.
        let answer = Box::pin(front::attend(app.clone(), router.clone(), request));
        async move { Ok::<_, Infallible>(answer.await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.header)
        .max_headers(HEADERS_MOST)
        .max_buf_size(HEAD_BYTES_MOST)
        .serve_connection(TokioIo::new(Box::pin(stream)), service)
}

fn without_slash(url: String) -> String {
    url.trim_end_matches('/').to_owned()
}

fn origin_of(url: &str) -> Option<String> {
    url::Url::parse(url).ok().map(|url| url.origin().ascii_serialization())
}
