//! The allocator, and how the server gives memory back to the system that it does not use any more.

use std::{convert::Infallible, hint::black_box, thread, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

/// mimalloc serves all Rust code: a page takes a quarter less of the cores with it than with glibc's allocator.
///
/// It does not take the place of the C library's `malloc`: it would then serve preloaded libraries as well, such as those of
/// monitoring agents, and it asks the clock while it starts. A library that takes the place of the clock and allocates in it would
/// enter it half made, and the program would crash before it begins. So SQLite and other C code use glibc's.
#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Links mimalloc, whose `malloc` takes the place of musl's, which has one lock for all threads. Rust's own allocator and SQLite
/// use it alike. As a global allocator it would be asked for an alignment each time, and then allocates more than it needs.
#[cfg(target_env = "musl")]
#[used]
static ALLOCATOR: &(dyn std::alloc::GlobalAlloc + Sync) = &mimalloc::MiMalloc;

const GIVEN_BACK_EVERY: Duration = Duration::from_secs(5);

/// Has freed memory given back now and then. mimalloc does that when a thread ends, with what has been free for a second, but
/// the threads of an idle server do not end. It never ends itself.
pub(crate) async fn give_back_memory() -> Infallible {
    let mut ticks = interval(GIVEN_BACK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // mimalloc notices the end of a thread only if the thread has allocated. Where there are too many threads already, others end.
        drop(thread::Builder::new().spawn(|| drop(black_box(Box::new(0_u8)))));
    }
}
