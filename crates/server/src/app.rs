//! What every handler can reach.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use engine::Engine;
use ipnet::IpNet;

use crate::limit::Limits;

/// The running server, seen from a handler. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) limits: Limits,
    /// The service's own origins: pages of ours may call the API whatever a project lists.
    pub(crate) own_origins: Vec<String>,
    pub(crate) checkout_url_base: String,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) body_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) draining: AtomicBool,
}

impl App {
    pub(crate) fn is_draining(&self) -> bool {
        self.shared.draining.load(Ordering::Relaxed)
    }
}
