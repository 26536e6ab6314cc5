//! Whether this node still has a letter, and saving what came of it.

use std::time::Duration;

use domain::id::LetterId;
use store::{CommitError, Guard, LetterWrite};
use tokio::time::sleep;

use super::round::Leased;
use crate::{Engine, Error};

/// How long to rest before what came of a letter is saved once more.
const SAVE_REST: Duration = Duration::from_millis(200);
const SAVE_REST_MOST: Duration = Duration::from_secs(5);
/// How often saving is tried, about a quarter of an hour: as long as it is not saved, this node keeps the letter from being sent a
/// second time.
const SAVES_MOST: u32 = 180;

impl Engine {
    /// Whether this node still has a letter. That is asked only where another node may have found this one gone.
    pub(super) async fn still_has(&self, leased: &Leased) -> Result<bool, Error> {
        if self.surely_has_leased(leased.at) {
            return Ok(true);
        }
        let held = LetterWrite::LeaseHeld { id: leased.letter.id, node: self.node };
        match self.store.commit(held.into()).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(Guard::LetterLeased)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Saves what came of a letter, and gives it back. A letter that the relay has taken would be sent again if that were not saved,
    /// so it is tried for long.
    pub(super) async fn save_attempt_of_letter(
        &self,
        id: LetterId,
        has_news: bool,
        attempted: impl Fn() -> LetterWrite,
    ) {
        let mut rest = SAVE_REST;
        for _ in 0..SAVES_MOST {
            match self.store.commit(attempted().into()).await {
                Ok(()) => return,
                Err(CommitError::Conflict(_)) => {
                    if has_news {
                        tracing::warn!(letter = %id, "another node has taken a letter over, and may send it once more");
                    }
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, letter = %id, "what came of a letter could not be saved and will be tried again");
                }
            }
            sleep(rest).await;
            rest = (rest * 2).min(SAVE_REST_MOST);
        }
    }
}
