//! A round: which letters are sent now, and that they are leased.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Instant,
};

use domain::{
    id::ProjectId,
    letter_queue::{BOUND_WITHIN, HELD_BACK_FOR, LetterState, OF_PROJECT_MOST, QueuedLetter},
};
use futures_util::future::join_all;
use store::{CommitError, Guard, LetterWrite};
use tokio::sync::watch;

use crate::{Engine, Error};

/// Due letters of one project, and of none, that are read for a round.
const READ_OF_EACH: usize = 16;
/// Connections to the relay at once.
const SESSIONS_MOST: usize = 8;

/// How a round ended.
pub(super) enum RoundEnd {
    /// So many letters were due and taken up.
    Sent { found: usize },
    /// The relay could not be reached, or did not let us in.
    NoRelay,
    /// The database did not answer.
    Failed,
}

/// A letter that this node has.
#[derive(Clone)]
pub(super) struct Leased {
    pub(super) letter: QueuedLetter,
    /// No later than it was committed.
    pub(super) at: Instant,
}

impl Engine {
    pub(super) async fn post_round(&self, most: usize, stopped: &watch::Receiver<bool>) -> RoundEnd {
        let leased = match self.lease_letters(most).await {
            Ok(leased) => leased,
            Err(error) => {
                tracing::warn!(%error, "looking for letters to send failed and will be retried");
                return RoundEnd::Failed;
            }
        };
        let found = leased.len();
        let mut groups: Vec<Vec<Leased>> = vec![Vec::new(); found.min(SESSIONS_MOST)];
        for (index, leased) in leased.into_iter().enumerate() {
            groups[index % SESSIONS_MOST].push(leased);
        }
        let ends = join_all(groups.into_iter().map(|group| self.send_group(group, stopped))).await;
        if ends.into_iter().all(|had_relay| had_relay) { RoundEnd::Sent { found } } else { RoundEnd::NoRelay }
    }

    /// Leases some of the letters that are due.
    async fn lease_letters(&self, most: usize) -> Result<Vec<Leased>, Error> {
        let due = self.store.due_letters(self.now(), READ_OF_EACH).await?;
        let due = self.within_project_bounds(due).await?;
        let mut leased = Vec::new();
        for letter in chosen(due, most) {
            let LetterState::Waiting { due_at } = letter.state else { continue };
            let at = Instant::now();
            let lease = LetterWrite::Leased { id: letter.id, due_at, node: self.node };
            match self.store.commit(lease.into()).await {
                Ok(()) => leased.push(Leased { letter, at }),
                // Another node was faster.
                Err(CommitError::Conflict(Guard::LetterDue)) => {}
                Err(error) => {
                    // What is leased already is sent all the same.
                    tracing::warn!(%error, "a letter could not be leased and will be later");
                    break;
                }
            }
        }
        Ok(leased)
    }

    /// Puts off the letters of projects that have sent enough for now; answers the others.
    async fn within_project_bounds(&self, mut due: Vec<QueuedLetter>) -> Result<Vec<QueuedLetter>, Error> {
        let now = self.now();
        let bounded = |letter: &QueuedLetter| letter.project_id.filter(|_| !letter.kind.is_security());
        let projects: HashSet<ProjectId> = due.iter().filter_map(bounded).collect();
        for project_id in projects {
            let sent = self.store.letters_sent_of(project_id, now.minus(BOUND_WITHIN), OF_PROJECT_MOST).await?;
            if sent >= OF_PROJECT_MOST {
                due.retain(|letter| bounded(letter) != Some(project_id));
                let until = now.plus(HELD_BACK_FOR);
                self.store.commit(LetterWrite::ProjectPutOff { project_id, until }.into()).await?;
            }
        }
        Ok(due)
    }
}

/// Chooses letters: those about security first, then one of each project in turn, and at most one for each address.
fn chosen(due: Vec<QueuedLetter>, most: usize) -> Vec<QueuedLetter> {
    let (urgent, others): (Vec<_>, Vec<_>) = due.into_iter().partition(|letter| letter.kind.is_security());
    let mut order: Vec<Option<ProjectId>> = Vec::new();
    let mut lanes: HashMap<Option<ProjectId>, VecDeque<QueuedLetter>> = HashMap::new();
    for letter in others {
        let lane = lanes.entry(letter.project_id).or_default();
        if lane.is_empty() {
            order.push(letter.project_id);
        }
        lane.push_back(letter);
    }
    let mut in_turn = urgent;
    while lanes.values().any(|lane| !lane.is_empty()) {
        in_turn.extend(order.iter().filter_map(|project| lanes.get_mut(project)?.pop_front()));
    }
    let mut addresses = HashSet::new();
    in_turn.retain(|letter| addresses.insert(letter.recipient.clone()));
    in_turn.truncate(most);
    in_turn
}

#[cfg(test)]
mod tests {
    use domain::{id::mint, language::Language, letter::LetterKind, letter_queue::Channel, time::Timestamp};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn letter(kind: LetterKind, project: u8, recipient: &str) -> QueuedLetter {
        QueuedLetter {
            id: mint(NOW, [1; 10]),
            kind,
            channel: Channel::Mail,
            project_id: (project > 0).then(|| mint(NOW, [project; 10])),
            user_id: None,
            recipient: recipient.to_owned(),
            language: Language::Indonesian,
            queued_at: NOW,
            expires_at: NOW,
            attempts: 0,
            state: LetterState::Waiting { due_at: NOW },
            answer: None,
        }
    }

    fn recipients(chosen: &[QueuedLetter]) -> Vec<&str> {
        chosen.iter().map(|letter| letter.recipient.as_str()).collect()
    }

    #[test]
    fn security_goes_first_and_projects_take_turns() {
        use LetterKind::{NewDevice, Receipt};
        let many = ["a", "b", "c", "d"].map(|recipient| letter(Receipt, 1, recipient));
        let due = [many.to_vec(), vec![letter(Receipt, 2, "e"), letter(Receipt, 0, "f"), letter(NewDevice, 0, "g")]];
        assert_eq!(recipients(&chosen(due.concat(), 5)), ["g", "a", "e", "f", "b"]);
    }

    #[test]
    fn an_address_gets_one_letter_at_a_time() {
        let due = ["a", "a", "b", "a"].map(|recipient| letter(LetterKind::Receipt, 1, recipient));
        assert_eq!(recipients(&chosen(due.to_vec(), 9)), ["a", "b"]);
    }
}
