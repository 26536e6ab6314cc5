//! More nodes of the same installation: engines and servers beside the one that a test is given.

use std::{net::SocketAddr, sync::Arc};

use engine::{Clock, Engine, SecretKey, Settings};
use gateway::{Providers, Simulator};
use store::Store;
use testkit::Kit;
use tokio::{sync::oneshot, task::JoinHandle};
use web::{ServerConfig, Timeouts, limits::BANK_CALLS_PER_SECOND};

/// Another engine, with the usual settings.
pub(crate) fn engine_on(store: Store, clock: Arc<dyn Clock>, providers: Providers) -> Engine {
    let secret_key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
    Engine::new(store, providers, clock, Settings::default(), secret_key)
}

/// The providers of an installation without a bank in production.
pub(crate) fn no_bank() -> Providers {
    Providers { sandbox: Simulator::default(), production: None }
}

/// Another server of the same installation: its own connections, its own limits, the same clock.
pub(crate) struct Node {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Node {
    pub(crate) async fn beside(kit: &Kit) -> Node {
        Node::with_providers(kit, no_bank()).await
    }

    pub(crate) async fn with_providers(kit: &Kit, providers: Providers) -> Node {
        Node::with_rate_limit(kit, providers, 0).await
    }

    pub(crate) async fn with_rate_limit(kit: &Kit, providers: Providers, rate_limit_per_second: u32) -> Node {
        let store = kit.database.open().await;
        let secret_key = kit.secret_key.clone();
        let engine = Engine::new(store.clone(), providers, kit.clock.clone(), Settings::default(), secret_key);
        let config = ServerConfig {
            listen: ([127, 0, 0, 1], 0).into(),
            base_url: None,
            pages_url: None,
            rate_limit_per_second,
            bank_calls_per_second: BANK_CALLS_PER_SECOND,
            trusted_proxies: Vec::new(),
            connections_per_address: 0,
            signature_header: "X-Service-Signature".to_owned(),
            is_development: false,
            has_docs: true,
            timeouts: Timeouts::default(),
        };
        let server = lunas::bind(engine.clone(), config).await.unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Node { address, engine, store, stop, task }
    }

    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap();
        self.store.close().await;
    }
}
