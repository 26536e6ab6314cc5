//! How many files a server may have open. Every connection is one, and the usual limit is far below what we serve.

use std::fmt::Display;
use web::CONNECTIONS_MOST;

/// Webhooks on their way at once, when thousands of projects have one each; the engine sets that limit.
const WEBHOOKS_MOST: u64 = 3_072;
/// The database with its readers, the log, and connections to receivers that wait for the next webhook.
const OTHERS_USUAL: u64 = 256;
const WANTED: u64 = CONNECTIONS_MOST as u64 + WEBHOOKS_MOST + OTHERS_USUAL;

/// Raises the limit as far as we may. A server with a lower one serves all the same, only fewer at once.
pub(crate) fn raise_limit() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit >= WANTED => {}
        Ok(limit) => warn(format_args!("only {limit} files may be open at once")),
        Err(error) => warn(format_args!("the limit of open files cannot be raised: {error}")),
    }
}

fn warn(what: impl Display) {
    let what_to_do = "raise the hard limit, with LimitNOFILE= in a systemd unit or in /etc/security/limits.conf";
    tracing::warn!("{what}, and under full load {WANTED} are wanted; {what_to_do}");
}
