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
    /// Where merchants reach the API.
    pub(crate) base_url: String,
    pub(crate) checkout_url_base: String,
    /// The header that carries a webhook's signature.
    pub(crate) signature_header: String,
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

#[cfg(test)]
impl App {
    /// A server on a file of its own that gives requests so long; the file is gone with its directory.
    pub(crate) async fn sample(limits: Limits, request_timeout: Duration) -> (App, tempfile::TempDir) {
        use engine::{SecretKey, Settings, SystemClock};
        use gateway::{Providers, Simulator};

        let directory = tempfile::tempdir().unwrap();
        let store = store::Store::open_sqlite(&directory.path().join("lunas.db")).await.unwrap();
        let key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        let shared = Shared {
            limits,
            own_origins: Vec::new(),
            base_url: String::new(),
            signature_header: String::new(),
            checkout_url_base: String::new(),
            place: Place::at(""),
            trusted_proxies: Vec::new(),
            body_timeout: Duration::from_secs(60),
            request_timeout,
            draining: false.into(),
        };
        let providers = Providers { sandbox: Simulator::default(), production: None };
        (App::new(Engine::new(store, providers, Arc::new(SystemClock), Settings::default(), key), shared), directory)
    }
}
