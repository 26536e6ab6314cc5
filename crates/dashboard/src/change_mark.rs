//! A project's change token as an address holds it: short, and without meaning to readers.

use sha2::{Digest, Sha256};

/// Enough bytes that no two change tokens of a project have the same mark.
const MARK_BYTES: usize = 8;

pub(crate) fn change_mark(change_token: &str) -> String {
    let hash = Sha256::digest(change_token);
    hash[..MARK_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}
