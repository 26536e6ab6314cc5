//! What authentication finds out about the caller of a request, for the log line and the headers of the answer.
//!
//! It is kept beside the request and not in the answer, since a handler that panics or runs out of time returns none.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{Extensions, HeaderMap, header};
use domain::id::{KeyId, ProjectId, UserId};

/// The notes on one request, in its extensions.
#[derive(Clone, Default)]
pub struct CallerNotes(Arc<Mutex<Notes>>);

#[derive(Default)]
struct Notes {
    caller: LoggedCaller,
    headers: HeaderMap,
}

/// The authenticated caller, as the request log names it.
#[derive(Clone, Copy, Default)]
pub struct LoggedCaller {
    /// The project whose data was asked for; none where a signed-in user named no project that they are a member of.
    pub project_id: Option<ProjectId>,
    pub key_id: Option<KeyId>,
    pub user_id: Option<UserId>,
}

impl CallerNotes {
    /// The notes of the request with these extensions.
    pub fn of(extensions: &Extensions) -> CallerNotes {
        extensions.get::<CallerNotes>().cloned().unwrap_or_default()
    }

    pub fn caller_is(&self, caller: LoggedCaller) {
        self.notes().caller = caller;
    }

    /// Adds headers that the answer will have, no matter which layer makes it.
    pub fn add_headers(&self, add: impl FnOnce(&mut HeaderMap)) {
        add(&mut self.notes().headers);
    }

    /// Writes the headers into those of the answer, and returns the caller.
    pub(crate) fn write(&self, into: &mut HeaderMap) -> LoggedCaller {
        let notes = self.notes();
        for (name, value) in &notes.headers {
            if name == header::VARY {
                // The handler may have named other headers that the answer depends on.
                into.append(name, value.clone());
            } else {
                into.insert(name, value.clone());
            }
        }
        notes.caller
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
