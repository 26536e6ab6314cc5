//! The allocator, and how the server gives memory back to the system that it does not use any more.

use std::{alloc::GlobalAlloc, convert::Infallible, thread, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

/// Links mimalloc, whose `malloc` takes the place of the C library's: a page takes a quarter less of the cores with it than with
/// glibc's, and musl's takes one lock for all threads. So it serves Rust's own allocator and SQLite alike. As a global allocator it
/// would be asked for an alignment each time, and then allocates more than it needs.
#[used]
static ALLOCATOR: &(dyn GlobalAlloc + Sync) = &mimalloc::MiMalloc;

const GIVEN_BACK_EVERY: Duration = Duration::from_secs(5);

/// Has freed memory given back now and then. mimalloc does that when a thread ends, with what has been free for a second, but
/// the threads of an idle server do not end. It never ends itself.
pub(crate) async fn give_back_memory() -> Infallible {
    let mut ticks = interval(GIVEN_BACK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // Where there are too many threads already, others end.
        drop(thread::Builder::new().spawn(|| {}));
    }
}
