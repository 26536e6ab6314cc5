//! What the files of this crate share: time limits, the role, running programs, random names.

use std::{
    fs::File,
    io::{Read, Write},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// Anything that works at all takes less time than this, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The only role of a new cluster, a superuser.
pub(crate) const ROLE: &str = "lunas";

/// Gives a program its input and waits until it exits; returns what it printed, or what it printed as its error.
pub(crate) fn finish(mut command: Command, input: &str) -> Result<String, String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        // In a thread, because a program may print before it has read everything. A program that exits before it has read
        // everything reports its own error, so a broken pipe is none of ours.
        scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
        child.wait_with_output().unwrap()
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{} ({})", text(&output.stderr), output.status))
    }
}

pub(crate) fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
