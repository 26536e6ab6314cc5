//! What every handler can reach.

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

/// The running server, as a handler sees it. One pointer: it is cloned several times per request.
#[derive(Clone)]
pub struct App(Arc<Inner>);

pub struct Inner {
    pub engine: Engine,
    pub settings: Settings,
    pub limits: Limits,
    draining: AtomicBool,
}

/// How this server was set up.
pub struct Settings {
    /// The service's own origins: its own pages may call the API, whichever origins a project allows.
    pub own_origins: Vec<String>,
    /// Where merchants' programs reach the API.
    pub base_url: String,
    /// Where people reach the pages.
    pub pages_url: String,
    /// The header that carries a webhook's signature.
    pub signature_header: String,
    pub urls: SiteUrls,
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

    /// Whether the server has begun to stop.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// From now on the server is not ready, and open event streams end.
    pub fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.engine.stop_watching();
    }
}
