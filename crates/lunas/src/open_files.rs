//! The limit of open files of a server. Every connection counts as one, and the default limit of most systems is far lower than
//! the number of connections that we serve.

use std::fmt::Display;
use web::CONNECTIONS_MOST;

/// The most webhooks in flight at once; the engine has the limit.
const WEBHOOKS_MOST: u64 = 3_072;
/// The database and its readers, the log, and idle connections to webhook receivers.
const OTHERS_USUAL: u64 = 256;
const WANTED: u64 = CONNECTIONS_MOST as u64 + WEBHOOKS_MOST + OTHERS_USUAL;

/// Raises the limit as far as the system allows. With a lower limit the server serves fewer connections at once.
pub(crate) fn raise_limit() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit >= WANTED => {}
        Ok(limit) => warn(format_args!("only {limit} files may be open at once")),
        Err(error) => warn(format_args!("the limit of open files cannot be raised: {error}")),
    }
}

fn warn(what: impl Display) {
    let what_to_do = "raise the hard limit, with LimitNOFILE= in a systemd unit or in /etc/security/limits.conf";
    tracing::warn!("{what}, but full load needs {WANTED}; {what_to_do}");
}
