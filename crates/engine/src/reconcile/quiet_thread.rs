//! A thread for work that may wait while requests are answered.

use std::{future::Future, thread};

use tokio::{runtime, sync::oneshot};

use crate::low_priority::lower_priority;

/// Runs `work`, and every task that it spawns, on a thread of its own: at full speed while a processor is free, and at low priority
/// when requests need them all.
pub(super) async fn run(name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
    let (ended, end) = oneshot::channel::<()>();
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Dropped when the work has ended, also by a panic.
        let _ended = ended;
        lower_priority();
        match runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(work),
            Err(error) => tracing::error!(%error, name, "a runtime was not started"),
        }
    });
    match thread {
        // Nothing is ever sent; the wait ends when the other side is dropped.
        Ok(_) => drop(end.await),
        Err(error) => tracing::error!(%error, name, "a thread was not started"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn work_and_its_tasks_run_at_low_priority_and_are_waited_for() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        let note = move || {
            let priority = rustix::process::getpriority_process(None).unwrap();
            notes.lock().unwrap().push((thread::current().name().map(str::to_owned), priority));
        };
        let work = async move {
            note();
            tokio::spawn(async move { note() }).await.unwrap();
        };
        let own = rustix::process::getpriority_process(None).unwrap();
        run("quiet", work).await;
        let lowered = if cfg!(target_os = "linux") { (own + 10).min(19) } else { own };
        assert_eq!(*seen.lock().unwrap(), [(Some("quiet".to_owned()), lowered), (Some("quiet".to_owned()), lowered)]);
        assert_eq!(rustix::process::getpriority_process(None).unwrap(), own);
    }

    #[tokio::test]
    async fn a_panic_ends_the_wait() {
        run("quiet", async { panic!("on purpose") }).await;
    }
}
