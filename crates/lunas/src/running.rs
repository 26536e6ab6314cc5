//! A server and its reconcilers, from the moment its address is bound until a signal has stopped it.

use std::{net::SocketAddr, pin::Pin};

use engine::{Courier, Engine, Reconcilers};
use tokio::{
    pin, select,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};
use web::{Server, ServerConfig};

use crate::{database::Installation, error::CliError, open_files, options::WebhookOptions, site::bind};

/// Bound and ready, but not serving yet.
pub(crate) struct Running {
    server: Server,
    installation: Installation,
    signals: Signals,
    courier: Courier,
}

impl Running {
    pub(crate) async fn start(
        installation: Installation,
        config: ServerConfig,
        webhooks: &WebhookOptions,
    ) -> Result<Running, CliError> {
        open_files::raise_limit();
        match Running::bind(&installation.engine, config, webhooks).await {
            Ok((server, courier, signals)) => Ok(Running { server, installation, signals, courier }),
            Err(error) => {
                installation.close().await;
                Err(error)
            }
        }
    }

    async fn bind(
        engine: &Engine,
        config: ServerConfig,
        webhooks: &WebhookOptions,
    ) -> Result<(Server, Courier, Signals), CliError> {
        let signals = Signals::watch()?;
        let listen = config.listen;
        let config = ServerConfig { signature_header: webhooks.signature_header(), ..config };
        let server = bind(engine.clone(), config).await.map_err(|error| {
            let what_to_do = "stop what uses it, or choose another with --listen";
            CliError::new(format!("cannot listen on {listen}: {error}; {what_to_do}"))
        })?;
        let courier = webhooks.courier(engine, server.pages_url().to_owned()).await?;
        Ok((server, courier, signals))
    }

    /// The address that was bound.
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub(crate) fn base_url(&self) -> &str {
        self.server.base_url()
    }

    pub(crate) fn pages_url(&self) -> &str {
        self.server.pages_url()
    }

    /// Serves until a signal comes, then lets requests in flight finish. A second signal does not wait for them.
    pub(crate) async fn until_stopped(self) {
        let Running { server, installation, mut signals, courier } = self;
        let reconcilers = Reconcilers::start(&installation.engine, courier);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = server.run(async {
            // Dropping the sender means the same as sending.
            let _ = stopped.await;
        });
        pin!(serving);
        select! {
            () = &mut serving => {}
            name = signals.next() => {
                tracing::info!(signal = name, "stopping once the requests in flight are answered");
                drop(stop);
                finish(serving, &mut signals).await;
            }
        }
        reconcilers.stop().await;
        installation.close().await;
        tracing::info!("stopped");
    }
}

/// Waits for what is in flight, unless a signal comes first.
async fn finish(serving: Pin<&mut impl Future<Output = ()>>, signals: &mut Signals) {
    select! {
        () = serving => {}
        name = signals.next() => tracing::warn!(signal = name, "stopping without waiting any longer"),
    }
}

/// The signals that ask a process to end.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn watch() -> Result<Signals, CliError> {
        let watch = |kind| signal(kind).map_err(|error| CliError::because("cannot watch for signals", &error));
        Ok(Signals { terminate: watch(SignalKind::terminate())?, interrupt: watch(SignalKind::interrupt())? })
    }

    pub(crate) async fn next(&mut self) -> &'static str {
        select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
