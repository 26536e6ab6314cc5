//! How many files of logos are decoded at once, and how many wait for it.

use crate::blocking_work::{BlockingWork, Turn, WorkError};

/// Files that are decoded at once. Each takes a core for a moment and up to 64 MB; others wait for their turn.
const DECODED_AT_ONCE: usize = 2;
/// Files that wait for their turn, each in memory. With more, the server is busy.
const WAITING_MOST: usize = 16;

/// Lets few files be decoded at once.
pub(crate) struct LogoReading(BlockingWork);

impl Default for LogoReading {
    fn default() -> LogoReading {
        LogoReading(BlockingWork::new(DECODED_AT_ONCE, WAITING_MOST))
    }
}

impl LogoReading {
    /// Waits for a turn. When too many files wait already it fails at once.
    pub(crate) async fn turn(&self) -> Result<Turn, WorkError> {
        self.0.turn().await
    }
}
