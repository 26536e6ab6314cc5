//! Runs a server and its reconcilers from the bound address until a signal stops them, for `lunas dev` and `lunas serve`.

use std::{fs, net::SocketAddr, pin::Pin};

use engine::{Courier, Engine, Mail, Notices, OperatorUrl, Reconcilers};
use gateway::Mailer;
use tokio::{
    pin, select,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};
use web::{Server, ServerConfig};

use crate::{
    allocator::give_back_memory, database::Installation, error::CliError, open_files, options::WebhookOptions,
    rehearsal::Screens, service_manager::ServiceManager, surfaces::bind_with,
};

/// SIGHUP is the first signal, so its bit in a mask of signals is the lowest.
const SIGHUP_BIT: u64 = 1;

/// A server that is bound, and from [`RunningServer::until_stopped`] on serves.
pub(crate) struct RunningServer {
    server: Server,
    installation: Installation,
    signals: Signals,
    courier: Courier,
}

/// What a server sends, and how.
pub(crate) struct Sending<'a> {
    pub(crate) webhooks: &'a WebhookOptions,
    /// None where no letters are sent.
    pub(crate) mailer: Option<Mailer>,
    /// None where operators are told by mail alone.
    pub(crate) operators: Option<OperatorUrl>,
}

impl RunningServer {
    /// Binds the address. On failure it closes the installation. With `screens`, those of a rehearsal are served too.
    pub(crate) async fn start(
        installation: Installation,
        config: ServerConfig,
        sending: Sending<'_>,
        screens: Option<Screens>,
    ) -> Result<RunningServer, CliError> {
        open_files::raise_limit();
        match RunningServer::bind(&installation.engine, config, sending, screens).await {
            Ok((server, courier, signals)) => Ok(RunningServer { server, installation, signals, courier }),
            Err(error) => {
                installation.close().await;
                Err(error)
            }
        }
    }

    async fn bind(
        engine: &Engine,
        config: ServerConfig,
        Sending { webhooks, mailer, operators }: Sending<'_>,
        screens: Option<Screens>,
    ) -> Result<(Server, Courier, Signals), CliError> {
        let signals = Signals::watch()?;
        let listen = config.listen;
        let config = ServerConfig { signature_header: webhooks.signature_header(), ..config };
        let server = bind_with(engine.clone(), config, screens).await.map_err(|error| {
            let what_to_do = "stop the program that uses it, or choose another address with --listen";
            CliError::new(format!("cannot listen on {listen}: {error}; {what_to_do}"))
        })?;
        if let Some(mailer) = mailer {
            engine.set_up_mail(Mail { mailer, pages_url: server.pages_url().to_owned() });
        }
        engine.set_up_notices(Notices { pages_url: server.pages_url().to_owned(), operators });
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

    /// Serves until a signal, then lets requests in flight finish. A second signal ends it without waiting for them.
    pub(crate) async fn until_stopped(self) {
        let RunningServer { server, installation, mut signals, courier } = self;
        // On SQLite the lock of the file says that no other server runs; elsewhere, nodes that run are known to the database.
        if let Err(error) = installation.engine.release_orphaned_leases().await {
            tracing::warn!(%error, "leases of webhooks of an earlier process were not released and will run out");
        }
        let reconcilers = Reconcilers::start(&installation.engine, courier);
        let (stop, stopped) = oneshot::channel::<()>();
        let address = server.address();
        let serving = server.run(async {
            // Dropping the sender means the same as sending.
            let _ = stopped.await;
        });
        pin!(serving);
        let manager = ServiceManager::from_environment();
        manager.ready(address);
        select! {
            () = &mut serving => {}
            never = manager.ping_while_healthy(&installation.engine) => match never {},
            never = give_back_memory() => match never {},
            name = signals.next() => {
                tracing::info!(signal = name, "stopping after the requests in flight");
                manager.stopping();
                drop(stop);
                finish(serving, &mut signals).await;
            }
        }
        reconcilers.stop().await;
        installation.close().await;
        tracing::info!("stopped");
    }
}

/// Waits until requests in flight are answered, or a signal comes.
async fn finish(serving: Pin<&mut impl Future<Output = ()>>, signals: &mut Signals) {
    select! {
        () = serving => {}
        name = signals.next() => tracing::warn!(signal = name, "stopping without waiting for requests in flight"),
    }
}

/// The signals that ask a process to end.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// The end of the terminal; none where `nohup` made the process ignore it.
    hangup: Option<Signal>,
}

impl Signals {
    pub(crate) fn watch() -> Result<Signals, CliError> {
        let watch = |kind| signal(kind).map_err(|error| CliError::because("cannot watch for signals", &error));
        let hangup = if ignores_hangup() { None } else { Some(watch(SignalKind::hangup())?) };
        Ok(Signals { terminate: watch(SignalKind::terminate())?, interrupt: watch(SignalKind::interrupt())?, hangup })
    }

    pub(crate) async fn next(&mut self) -> &'static str {
        select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            () = received(&mut self.hangup) => "SIGHUP",
        }
    }
}

/// Waits for the signal; for ever where it is not watched.
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process was started to ignore SIGHUP, as by `nohup`. Watching the signal would undo that. Where the system does
/// not say, it was not.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & SIGHUP_BIT != 0)
}
