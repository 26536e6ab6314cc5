//! Faults that tests cause: a server that stops, crashes, hangs or is replaced. Only for a cluster that a test has for itself.

use std::{
    fs,
    process::{Command, Stdio},
};

use crate::{Cluster, shared::PATIENCE};

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Disconnects the clients, rolls their transactions back and writes everything to its files.
    Fast,
    /// Writes nothing; the next start recovers from the log.
    Immediate,
}

impl Cluster {
    /// Stops the server, even a paused one, and waits until it is gone.
    pub fn stop(&self, mode: StopMode) {
        let signal = match mode {
            StopMode::Fast => "INT",
            StopMode::Immediate => "QUIT",
        };
        send(signal, &[self.postmaster()]);
        send("CONT", &self.processes());
        self.await_end();
    }

    /// Kills every process of the server, as a crash would: they finish nothing and tell no client.
    pub fn kill(&self) {
        // The postmaster first, so that it cannot start another process.
        send("KILL", &[self.postmaster()]);
        send("KILL", &self.processes());
        self.await_end();
    }

    /// Starts a server that was stopped or killed, on the same port and data.
    pub fn start_again(&self) {
        assert!(self.launch(), "PostgreSQL does not start again:\n{}", self.log_tail());
    }

    /// Makes the server hang: its connections stay open and it answers nothing, until [`Cluster::resume`].
    pub fn pause(&self) {
        // The postmaster first, so that it cannot start another process.
        let postmaster = self.postmaster();
        send("STOP", &[postmaster]);
        self.wait_until("is paused", || is_paused(postmaster));
        send("STOP", &self.processes());
        self.wait_until("is paused", || self.processes().into_iter().all(is_paused));
    }

    /// Lets a paused server go on, and waits until it answers.
    pub fn resume(&self) {
        send("CONT", &self.processes());
        self.wait_until("goes on", || !self.processes().into_iter().any(is_paused));
        self.wait_until("answers", || self.run("postgres", "SELECT 1").is_ok());
    }

    /// Makes a standby a primary, and waits until it accepts writes.
    pub fn promote(&self) {
        let promoted = self.run("postgres", &format!("SELECT pg_promote(true, {})", PATIENCE.as_secs()));
        assert_eq!(promoted.as_deref(), Ok("t"), "the standby is not promoted:\n{}", self.log_tail());
    }

    /// Whether it follows another cluster.
    pub fn is_standby(&self) -> bool {
        let answer = self.run("postgres", "SELECT pg_is_in_recovery()");
        answer.unwrap_or_else(|error| panic!("{error}\n{}", self.log_tail())) == "t"
    }

    fn postmaster(&self) -> u32 {
        self.lock().as_ref().expect("the server runs").id()
    }

    fn await_end(&self) {
        let mut server = self.lock();
        self.wait_until("ends", || {
            let ended = server.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some());
            ended && self.processes().is_empty()
        });
        *server = None;
        self.sessions.close();
    }

    /// The server's processes: the working directory of each is the data directory.
    fn processes(&self) -> Vec<u32> {
        let data = self.data();
        let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        all.filter(|id: &u32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|path| path == data)).collect()
    }
}

/// Sends a signal to processes, some of which may have ended already; the caller waits for the effect.
fn send(signal: &str, processes: &[u32]) {
    if !processes.is_empty() {
        let numbers = processes.iter().map(u32::to_string);
        Command::new("kill").args(["-s", signal]).args(numbers).stderr(Stdio::null()).status().unwrap();
    }
}

fn is_paused(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may contain parentheses itself.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}
