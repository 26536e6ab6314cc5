//! Interrupts scans whose caller has gone: a client that hung up, or a request that ran out of time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::InterruptHandle;

use super::reader::{Read, Reader};
use crate::error::StoreError;

/// A scan that its caller can interrupt from another thread.
#[derive(Default)]
pub(super) struct Interruptible(Arc<Mutex<ScanState>>);

/// The caller of a scan. Dropping it interrupts the scan, unless it has ended.
pub(super) struct Caller(Arc<Mutex<ScanState>>);

#[derive(Default)]
enum ScanState {
    #[default]
    Waiting,
    Running(InterruptHandle),
    /// It has ended, or its caller has gone before it began.
    Over,
}

impl Interruptible {
    pub(super) fn caller(&self) -> Caller {
        Caller(Arc::clone(&self.0))
    }

    /// Runs `scan`, which must be all that the reader does meanwhile.
    pub(super) fn run(&self, reader: &mut Reader, scan: Read) -> Result<(), StoreError> {
        {
            let mut state = lock(&self.0);
            if let ScanState::Over = *state {
                return Err(StoreError::unavailable("the caller of the scan has gone"));
            }
            *state = ScanState::Running(reader.interrupt_handle());
        }
        let answer = scan(reader);
        // From here on the connection may be used for another read, which must not be interrupted.
        *lock(&self.0) = ScanState::Over;
        answer
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        if let ScanState::Running(handle) = &*state {
            handle.interrupt();
        }
        *state = ScanState::Over;
    }
}

fn lock(state: &Mutex<ScanState>) -> MutexGuard<'_, ScanState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
