//! More nodes of the same installation: engines and servers beside the one that a test is given.

use std::{net::SocketAddr, sync::Arc};

use engine::{Clock, Engine, SecretKey, Settings};
use store::Store;
use testkit::Kit;
use tokio::{sync::oneshot, task::JoinHandle};
use web::{ServerConfig, Timeouts, limits::BANK_CALLS_PER_SECOND};

/// Another engine, with the usual settings.
pub(crate) fn engine_on(store: Store, clock: Arc<dyn Clock>) -> Engine {
    let secret_key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
    Engine::new(store, clock, Settings::default(), secret_key)
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
        let store = kit.database.open().await;
        let secret_key = kit.secret_key.clone();
        let engine = Engine::new(store.clone(), kit.clock.clone(), Settings::default(), secret_key);
        let config = ServerConfig {
            listen: ([127, 0, 0, 1], 0).into(),
            base_url: None,
            pages_url: None,
            rate_limit_per_second: 0,
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
