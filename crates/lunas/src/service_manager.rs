//! Notifies systemd, or another service manager that speaks its protocol, of how the server does: that it is ready, that it
//! stops and, for the watchdog, that its database answers. Outside such a manager `NOTIFY_SOCKET` is not set, and it does
//! nothing.
//!
//! The protocol is one datagram. The crate `sd-notify` would wait for a manager that does not read, which must not hold up the
//! server.

use std::{
    convert::Infallible,
    env,
    ffi::OsString,
    future, io,
    os::unix::{
        ffi::OsStrExt,
        net::{SocketAddr, UnixDatagram},
    },
    process,
    time::Duration,
};

use engine::Engine;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// The manager restarts a server whose last ping is older than its watchdog's time. So many pings are due in that time: one
/// that is late or lost does no harm.
const PINGS_PER_WATCHDOG_TIME: u32 = 4;

/// The manager that started this process, if any did.
pub(crate) struct ServiceManager {
    /// Where it listens: a path, or `@` and a name.
    socket: Option<OsString>,
    /// How often it must hear from a healthy server; none where it has no watchdog for this process.
    ping_every: Option<Duration>,
}

impl ServiceManager {
    pub(crate) fn from_environment() -> ServiceManager {
        let socket = env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty());
        let text = |name| env::var(name).ok();
        let ping_every = ping_every(text("WATCHDOG_USEC"), text("WATCHDOG_PID"), process::id());
        ServiceManager { ping_every: ping_every.filter(|_| socket.is_some()), socket }
    }

    /// The server listens, and its database is migrated.
    pub(crate) fn ready(&self, address: std::net::SocketAddr) {
        self.notify(&format!("READY=1\nSTATUS=serving at {address}"));
    }

    /// The server takes no more connections and finishes its requests.
    pub(crate) fn stopping(&self) {
        self.notify("STOPPING=1\nSTATUS=finishing the requests in flight");
    }

    /// Pings the watchdog for as long as the database answers. It never ends.
    pub(crate) async fn ping_while_healthy(&self, engine: &Engine) -> Infallible {
        let Some(every) = self.ping_every else { return future::pending().await };
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if timeout(every, engine.database_answers()).await == Ok(true) {
                self.notify("WATCHDOG=1");
            } else {
                tracing::warn!("the database does not answer, so the watchdog is not pinged");
            }
        }
    }

    /// A manager that cannot be reached is no reason to stop serving.
    fn notify(&self, message: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = send(socket, message) {
            tracing::warn!(%error, "cannot notify the service manager at NOTIFY_SOCKET");
        }
    }
}

/// How often to ping, by what the manager has set. `WATCHDOG_PID` names the process that is meant, if it is not every one.
fn ping_every(time_us: Option<String>, meant: Option<String>, own_id: u32) -> Option<Duration> {
    if meant.is_some_and(|meant| meant.parse() != Ok(own_id)) {
        return None;
    }
    let time_us: u64 = time_us?.parse().ok()?;
    let every = Duration::from_micros(time_us) / PINGS_PER_WATCHDOG_TIME;
    (every > Duration::ZERO).then_some(every)
}

fn send(socket: &OsString, message: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    // A manager that does not read must not hold up the server.
    sender.set_nonblocking(true)?;
    sender.send_to_addr(message.as_bytes(), &address(socket)?)?;
    Ok(())
}

fn address(socket: &OsString) -> io::Result<SocketAddr> {
    match socket.as_bytes() {
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name),
        _ => SocketAddr::from_pathname(socket),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_come_four_times_in_the_watchdogs_time_and_only_from_the_process_that_is_meant() {
        let check = |time_us: Option<&str>, meant: Option<&str>, every_ms: Option<u64>| {
            let every = ping_every(time_us.map(str::to_owned), meant.map(str::to_owned), 7);
            assert_eq!(every, every_ms.map(Duration::from_millis), "{time_us:?} {meant:?}");
        };
        check(Some("120000000"), None, Some(30_000));
        check(Some("120000000"), Some("7"), Some(30_000));
        check(Some("120000000"), Some("8"), None);
        check(Some("120000000"), Some("none"), None);
        check(Some("0"), None, None);
        check(Some("two minutes"), None, None);
        check(None, Some("7"), None);
    }
}
