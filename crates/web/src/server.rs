//! The listener: accepts connections, limits their number and time, and lets them finish when the server is asked to stop.

use std::{convert::Infallible, future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{body::Body, extract::Request};
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
    App, Settings, client::Peer, limits::Limits, page::site_urls::SiteUrls, request::handle_request, surface::Surfaces,
};

pub const CONNECTIONS_MOST: usize = 16_384;
const HEADERS_MOST: usize = 100;
const HEAD_BYTES_MOST: usize = 16 * 1024;
/// The pause after a failed accept: the usual cause is that the process has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub struct ServerConfig {
    pub listen: SocketAddr,
    /// Where merchants' programs reach the API; made from the bound address when not given.
    pub base_url: Option<String>,
    /// Where people reach the pages; the base URL when not given.
    pub pages_url: Option<String>,
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
    surfaces: Surfaces,
    timeouts: Timeouts,
}

impl Server {
    /// `surfaces`: makes what this server offers.
    pub async fn bind(
        engine: Engine,
        config: ServerConfig,
        surfaces: impl FnOnce(&App) -> Surfaces,
    ) -> io::Result<Server> {
        let listener = TcpListener::bind(config.listen).await?;
        let address = listener.local_addr()?;
        let base_url = without_slash(config.base_url.unwrap_or_else(|| format!("http://{address}")));
        let pages_url = without_slash(config.pages_url.unwrap_or_else(|| base_url.clone()));
        let own_origins = [&base_url, &pages_url].into_iter().filter_map(|url| origin_of(url)).collect();
        let settings = Settings {
            own_origins,
            base_url,
            urls: SiteUrls::below(&pages_url),
            pages_url,
            signature_header: config.signature_header,
            trusted_proxies: config.trusted_proxies,
            body_timeout: config.timeouts.body,
            request_timeout: config.timeouts.request,
        };
        let app = App::new(engine, Limits::new(config.rate_limit_per_second), settings);
        let surfaces = surfaces(&app);
        Ok(Server { listener, address, app, surfaces, timeouts: config.timeouts })
    }

    /// The address it listens on, with the port that was found free when 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn base_url(&self) -> &str {
        &self.app.settings.base_url
    }

    pub fn pages_url(&self) -> &str {
        &self.app.settings.pages_url
    }

    /// Serves until `stop` resolves; then accepts nothing more and lets what is in flight finish.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        let Server { listener, app, surfaces, timeouts, .. } = self;
        let surfaces = Arc::new(surfaces);
        let graceful = GracefulShutdown::new();
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MOST));
        let mut stop = pin!(stop);
        loop {
            let accept = async {
                let permit = Arc::clone(&permits).acquire_owned().await;
                (permit, listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                accepted = accept => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, address)) => {
                    let (app, surfaces, watcher) = (app.clone(), Arc::clone(&surfaces), graceful.watcher());
                    tokio::spawn(async move {
                        // What a failed connection could still tell its client, it has told.
                        let _ = watcher.watch(connection(stream, address, app, surfaces, timeouts)).await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        app.start_draining();
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
    surfaces: Arc<Surfaces>,
    timeouts: Timeouts,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    // Answers are small and wanted at once. A socket that refuses is about to fail anyway.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    // A client that does not read its answers must not keep its connection for ever.
    stream.set_write_timeout(Some(timeouts.request));
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(Peer(address.ip()));
        // Boxed, because a connection reserves room for its service's future as long as it lives, also while it only streams an
        // answer, which it may do for thousands of pages at the same time.
        let (app, surfaces) = (app.clone(), Arc::clone(&surfaces));
        Box::pin(async move { Ok::<_, Infallible>(handle_request(app, &surfaces, request).await) })
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
