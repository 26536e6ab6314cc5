//! The state that every handler gets: the engine, the server's settings and its limits. It handles no request.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use engine::Engine;
use ipnet::IpNet;

use crate::{limits::Limits, page::site_urls::SiteUrls};

/// The state of a running server. It is one pointer, because axum clones it several times per request.
#[derive(Clone)]
pub struct App(Arc<Inner>);

pub struct Inner {
    pub engine: Engine,
    pub settings: Settings,
    pub limits: Limits,
    draining: AtomicBool,
}

/// The configuration of this server, after defaults are filled in.
pub struct Settings {
    /// The origins of this service itself. Its own pages may call it, even where a project's list of origins does not name them.
    pub own_origins: Vec<String>,
    /// The URL at which programs reach this service.
    pub base_url: String,
    /// The URL at which people reach the pages.
    pub pages_url: String,
    /// The header that carries a webhook's signature.
    pub signature_header: String,
    /// Whether the installation is for development: its production projects take no real money.
    pub is_development: bool,
    /// Whether the documentation is served at `/docs`, so that pages may lead there.
    pub has_docs: bool,
    pub urls: SiteUrls,
    /// The networks whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    pub body_timeout: Duration,
    pub request_timeout: Duration,
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    pub fn new(engine: Engine, limits: Limits, settings: Settings) -> App {
        App(Arc::new(Inner { engine, settings, limits, draining: AtomicBool::new(false) }))
    }

    /// Whether the server is stopping.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Marks the server as stopping: from now on it is not ready, and open event streams end.
    pub fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.engine.stop_watching();
    }
}
