//! How many files a server may have open. Every connection is one, and the usual limit is far below what we serve.

use std::fmt::Display;

use crate::http::CONNECTIONS_MOST;

/// Connections to receivers of webhooks, those that wait for the next one included, and the database with its readers.
const OTHERS_MOST: u64 = 2_048;
const WANTED: u64 = CONNECTIONS_MOST as u64 + OTHERS_MOST;

/// Raises the limit as far as we may. A server with a lower one serves all the same, only fewer at once.
pub(crate) fn raise_limit() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit >= WANTED => {}
        Ok(limit) => warn(format_args!("only {limit} files may be open at once")),
        Err(error) => warn(format_args!("the limit of open files cannot be raised: {error}")),
    }
}

fn warn(what: impl Display) {
    let what_to_do = "raise it with `ulimit -n`, or with LimitNOFILE= in a systemd unit";
    tracing::warn!("{what}, and {CONNECTIONS_MOST} connections want {WANTED}; {what_to_do}");
}
