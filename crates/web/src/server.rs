//! The listener: accepts connections, limits their number and duration, and on a stop lets requests in flight finish. What a
//! request is answered is up to the surfaces.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    num::NonZeroU32,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
};
use engine::Engine;
use hyper::{
    body::{Frame, SizeHint},
    server::conn::http1,
};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown};
use ipnet::IpNet;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_io_timeout::TimeoutStream;

use crate::{
    App, Settings, Silence,
    client::Peer,
    connections::Connections,
    handle_request::handle_request,
    idle_timeout::{Handling, IdleTimeoutStream, IdleTimeouts},
    limits::Limits,
    page::site_urls::SiteUrls,
    surface::Surfaces,
    unread_body,
};

pub const CONNECTIONS_MOST: usize = 16_384;
const HEADERS_MOST: usize = 100;
const HEAD_BYTES_MOST: usize = 16 * 1024;
/// The pause after a failed accept. The usual cause is that the process has no file descriptors left, which a busy loop would
/// not mend.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub struct ServerConfig {
    pub listen: SocketAddr,
    /// The URL at which programs reach this service; derived from the bound address when not given.
    pub base_url: Option<String>,
    /// The URL at which people reach the pages; the base URL when not given.
    pub pages_url: Option<String>,
    /// Requests per second and key; 0 lifts all limits.
    pub rate_limit_per_second: u32,
    /// Calls per second and bank account, where limits are not lifted.
    pub bank_calls_per_second: NonZeroU32,
    /// The networks whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Connections that one address may have open at once, if it is not a trusted proxy; 0 lifts the limit.
    pub connections_per_address: usize,
    /// The header that carries a webhook's signature; pages name it to the people who write receivers.
    pub signature_header: String,
    /// Whether the installation is for development: its production projects take no real money, and pages say so.
    pub is_development: bool,
    /// Whether the documentation is served at `/docs`.
    pub has_docs: bool,
    pub timeouts: Timeouts,
}

#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a client to send the whole head of a request.
    pub header: Duration,
    /// For a client to begin the next request on a connection. Proxies usually close theirs after 60 seconds, and should be
    /// the first to do so: a request that meets a connection which is just being closed is lost.
    pub idle: Duration,
    /// For a client to send the whole body.
    pub body: Duration,
    /// For the server to answer a request.
    pub request: Duration,
    /// For requests in flight to finish once the server is asked to stop.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            header: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            body: Duration::from_secs(10),
            request: Duration::from_secs(30),
            drain: Duration::from_secs(25),
        }
    }
}

/// A server that is bound to its address but does not accept connections yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    surfaces: Surfaces,
    connections: Connections,
    timeouts: Timeouts,
}

impl Server {
    /// Binds the address. `surfaces` builds what the server offers, once its settings are known.
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
        let connections = Connections::new(config.connections_per_address, config.trusted_proxies.clone());
        let settings = Settings {
            is_development: config.is_development,
            has_docs: config.has_docs,
            own_origins,
            base_url,
            urls: SiteUrls::below(&pages_url),
            pages_url,
            signature_header: config.signature_header,
            trusted_proxies: config.trusted_proxies,
            body_timeout: config.timeouts.body,
            request_timeout: config.timeouts.request,
        };
        let app = App::new(engine, Limits::new(config.rate_limit_per_second, config.bank_calls_per_second), settings);
        let surfaces = surfaces(&app);
        Ok(Server { listener, address, app, surfaces, connections, timeouts: config.timeouts })
    }

    /// The bound address, with the port that the system chose where port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn base_url(&self) -> &str {
        &self.app.settings.base_url
    }

    pub fn pages_url(&self) -> &str {
        &self.app.settings.pages_url
    }

    /// Serves until `stop` resolves; then accepts no more connections and lets requests in flight finish.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        let Server { listener, app, surfaces, connections, timeouts, .. } = self;
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
                    // Dropping the stream of an address that has too many closes it.
                    let Some(slot) = connections.enter(address.ip()) else { continue };
                    let (app, surfaces, watcher) = (app.clone(), Arc::clone(&surfaces), graceful.watcher());
                    tokio::spawn(async move {
                        // An error here means that the connection broke, so nothing more can be sent to its client.
                        let _ = watcher.watch(connection(stream, address, app, surfaces, timeouts)).await;
                        drop((permit, slot));
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        app.start_draining();
        // Connections are asked to end first: who finds that no new ones are taken can rely on it.
        let close = async move { drop(listener) };
        let (drained, ()) = tokio::join!(biased; tokio::time::timeout(timeouts.drain, graceful.shutdown()), close);
        if drained.is_err() {
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
    // Answers are small, so they are sent without delay. If the socket refuses the option, it is about to fail anyway.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    // Without it, a client that never reads its answers would keep its connection for ever.
    stream.set_write_timeout(Some(timeouts.request));
    let idle_timeouts = IdleTimeouts { head: timeouts.header, idle: timeouts.idle };
    let (stream, phase) = IdleTimeoutStream::new(Box::pin(stream), idle_timeouts);
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut handling = phase.handle(idle_timeouts);
        let (mut request, unread_body) = unread_body::watch(request);
        request.extensions_mut().insert(Peer(address.ip()));
        // Boxed, because a connection otherwise holds the memory of this future as long as it lives, also while it only streams
        // an answer, and thousands of pages may have a stream open.
        let (app, surfaces) = (app.clone(), Arc::clone(&surfaces));
        Box::pin(async move {
            let mut answer = handle_request(app, &surfaces, request).await;
            if answer.extensions().get::<Silence>().is_some() {
                // The connection ends without an answer when its service fails.
                return Err(Silenced);
            }
            if let Some(unread_body) = unread_body
                && !unread_body.drain(timeouts.body).await
            {
                answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                handling.linger();
            }
            Ok(answer.map(|body| AnswerBody { body, _handling: handling }))
        })
    });
    // It gets no timer: the stream knows all limits, and one more timer would be set for every request.
    http1::Builder::new()
        .max_headers(HEADERS_MOST)
        .max_buf_size(HEAD_BYTES_MOST)
        .serve_connection(TokioIo::new(stream), service)
}

/// A request that gets no answer.
#[derive(Debug, thiserror::Error)]
#[error("this request gets no answer")]
struct Silenced;

/// The body of an answer. While it is being sent, the connection is not idle.
struct AnswerBody {
    body: Body,
    _handling: Handling,
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn without_slash(url: String) -> String {
    url.trim_end_matches('/').to_owned()
}

fn origin_of(url: &str) -> Option<String> {
    url::Url::parse(url).ok().map(|url| url.origin().ascii_serialization())
}
