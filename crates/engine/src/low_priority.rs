//! Threads that yield the processors to those that answer requests.

/// How much nicer such a thread is than the others. While processors are busy, a thread that answers requests gets about nine times
/// as much of them.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;

/// Lowers the priority of the current thread for good. On Linux a thread has a priority of its own; elsewhere it would be that of
/// the whole process, so nothing is done there.
pub(crate) fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICER) {
        tracing::warn!(%error, "a thread keeps the priority of requests");
    }
}
