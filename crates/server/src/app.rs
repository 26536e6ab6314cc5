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

use crate::{limit::Limits, pages::place::Place};

/// The running server, seen from a handler. One pointer: it is cloned several times per request.
#[derive(Clone)]
pub(crate) struct App(Arc<Inside>);

pub(crate) struct Inside {
    pub(crate) engine: Engine,
    pub(crate) shared: Shared,
}

pub(crate) struct Shared {
    pub(crate) limits: Limits,
    /// The service's own origins: pages of ours may call the API whatever a project lists.
    pub(crate) own_origins: Vec<String>,
    pub(crate) checkout_url_base: String,
    pub(crate) place: Place,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) body_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) draining: AtomicBool,
}

impl Deref for App {
    type Target = Inside;

    fn deref(&self) -> &Inside {
        &self.0
    }
}

impl App {
    pub(crate) fn new(engine: Engine, shared: Shared) -> App {
        App(Arc::new(Inside { engine, shared }))
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.shared.draining.load(Ordering::Relaxed)
    }
}
