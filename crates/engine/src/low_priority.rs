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

/// Has the current thread work only while its processor has nothing else to do, for good. A thread of lower priority may go on for
/// some milliseconds before another gets its processor; this one is interrupted at once.
pub(crate) fn work_when_idle() {
    #[cfg(target_os = "linux")]
    {
        use thread_priority::{
            NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
            thread_native_id,
        };

        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle) {
            tracing::debug!(?error, "a thread cannot wait for idle processors");
            lower_priority();
        }
    }
}
