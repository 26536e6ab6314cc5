//! The seals of the audit log: each line of a chain has a hash over itself and over the hash of the line before it, so that
//! nobody removes, changes, inserts or reorders a line unnoticed. Each project has a chain, and so has the installation.
//!
//! A line names people by ids alone, but for its subject, which may be an address for e-mail. The hash covers a salted digest
//! of the subject: when a user is removed, the subject becomes their id and the salt is deleted. The chain still holds then,
//! and nobody learns the address from it.

use sha2::{Digest, Sha256};

use crate::{
    audit::{Actor, AuditLine},
    id::ProjectId,
};

/// How a line is written before it is hashed. A later form gets the next number; lines keep the one that they were sealed in.
pub const SEAL_VERSION: i64 = 1;

/// The first words of everything that is hashed in this form.
const FORM: &[u8] = b"lunas audit 1";
/// The name of the chain for lines that belong to no project.
const INSTALLATION: &str = "installation";
pub const SALT_BYTES: usize = 16;

/// What was added to a line when it was sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// From 1 on, without gaps.
    pub position: i64,
    pub version: i64,
    pub hash: [u8; 32],
    pub subject_digest: [u8; 32],
    /// None once the subject was replaced by the id of a removed user.
    pub salt: Option<Vec<u8>>,
}

/// A line, and its seal once it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedLine {
    pub line: AuditLine,
    pub seal: Option<Seal>,
}

/// The last line of a chain, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainHead {
    pub length: i64,
    pub hash: [u8; 32],
}

/// Why a line is not the next one of its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It has no seal, or one of a form that is not known.
    Unknown,
    /// It does not follow the line before it: one is missing, or came in between.
    Position,
    /// Its subject is not what was sealed.
    Subject,
    /// It is not what was sealed, or the line before it is not.
    Hash,
}

/// The name of the chain of a project, or of the installation.
pub fn chain_name(project_id: Option<ProjectId>) -> String {
    project_id.map_or_else(|| INSTALLATION.to_owned(), |id| id.to_string())
}

/// The chain with that name.
pub fn chain_named(name: &str) -> Option<Option<ProjectId>> {
    match name {
        INSTALLATION => Some(None),
        id => id.parse().ok().map(Some),
    }
}

impl ChainHead {
    /// Of a chain without lines. Its hash names the chain, so that no line of one is a line of another.
    pub fn empty(project_id: Option<ProjectId>) -> ChainHead {
        let mut hasher = Sha256::new();
        write(&mut hasher, FORM);
        write(&mut hasher, chain_name(project_id).as_bytes());
        ChainHead { length: 0, hash: hasher.finalize().into() }
    }

    /// Seals a line as the next one.
    pub fn seal(&self, line: &AuditLine, salt: [u8; SALT_BYTES]) -> Seal {
        let position = self.length + 1;
        let subject_digest = digest_of(&salt, &line.subject);
        Seal {
            position,
            version: SEAL_VERSION,
            hash: hash_of(&self.hash, position, line, &subject_digest),
            subject_digest,
            salt: Some(salt.to_vec()),
        }
    }

    /// The head after a line with this seal.
    pub fn after(seal: &Seal) -> ChainHead {
        ChainHead { length: seal.position, hash: seal.hash }
    }

    /// Checks that `sealed` is the next line, and answers the head after it. A line whose subject was replaced says so itself:
    /// `is_removed` tells whether the subject is the id of a removed user.
    pub fn follow(&self, sealed: &SealedLine, is_removed: impl FnOnce(&str) -> bool) -> Result<ChainHead, Broken> {
        let Some(seal) = sealed.seal.as_ref().filter(|seal| seal.version == SEAL_VERSION) else {
            return Err(Broken::Unknown);
        };
        if seal.position != self.length + 1 {
            return Err(Broken::Position);
        }
        let is_subject = match &seal.salt {
            Some(salt) => digest_of(salt, &sealed.line.subject) == seal.subject_digest,
            None => is_removed(&sealed.line.subject),
        };
        if !is_subject {
            return Err(Broken::Subject);
        }
        if hash_of(&self.hash, seal.position, &sealed.line, &seal.subject_digest) != seal.hash {
            return Err(Broken::Hash);
        }
        Ok(ChainHead::after(seal))
    }
}

/// Writes a field with its length, so that no two lines are written alike.
fn write(hasher: &mut Sha256, field: &[u8]) {
    hasher.update((field.len() as u64).to_be_bytes());
    hasher.update(field);
}

fn digest_of(salt: &[u8], subject: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    write(&mut hasher, FORM);
    write(&mut hasher, salt);
    write(&mut hasher, subject.as_bytes());
    hasher.finalize().into()
}

/// Fields that may be missing come as no field or as one, each with the number of fields before it.
fn write_optional(hasher: &mut Sha256, field: Option<&str>) {
    hasher.update([u8::from(field.is_some())]);
    if let Some(field) = field {
        write(hasher, field.as_bytes());
    }
}

fn hash_of(previous: &[u8; 32], position: i64, line: &AuditLine, subject_digest: &[u8; 32]) -> [u8; 32] {
    let (actor, address) = match &line.actor {
        Actor::User { id, address } => (id.to_string(), Some(address.as_str())),
        Actor::Key(id) => (id.to_string(), None),
        Actor::CommandLine => ("command-line".to_owned(), None),
        Actor::Stranger { address } => ("stranger".to_owned(), Some(address.as_str())),
    };
    let mut hasher = Sha256::new();
    write(&mut hasher, FORM);
    write(&mut hasher, previous);
    hasher.update(position.to_be_bytes());
    write(&mut hasher, line.id.to_string().as_bytes());
    hasher.update(line.at.as_millis().to_be_bytes());
    write(&mut hasher, actor.as_bytes());
    write_optional(&mut hasher, address);
    write_optional(&mut hasher, line.project_id.map(|id| id.to_string()).as_deref());
    write(&mut hasher, line.deed.word().as_bytes());
    write(&mut hasher, subject_digest);
    write(&mut hasher, line.detail.as_bytes());
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{audit::Deed, hex::hex, id::mint, time::Timestamp};

    const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

    fn line(number: u8) -> AuditLine {
        AuditLine {
            id: mint(NOW, [number; 10]),
            at: NOW,
            actor: Actor::User { id: mint(NOW, [1; 10]), address: "203.0.113.9".to_owned() },
            project_id: Some(mint(NOW, [2; 10])),
            deed: Deed::MemberInvited,
            subject: "siti@toko.example".to_owned(),
            detail: "viewer".to_owned(),
        }
    }

    fn chain(lines: u8) -> (ChainHead, Vec<SealedLine>) {
        let beginning = ChainHead::empty(line(0).project_id);
        let mut head = beginning.clone();
        let sealed = (0..lines).map(|number| {
            let line = line(number);
            let seal = head.seal(&line, [number; SALT_BYTES]);
            head = ChainHead::after(&seal);
            SealedLine { line, seal: Some(seal) }
        });
        let sealed = sealed.collect();
        (beginning, sealed)
    }

    fn walk(beginning: &ChainHead, lines: &[SealedLine]) -> Result<ChainHead, Broken> {
        lines.iter().try_fold(beginning.clone(), |head, line| head.follow(line, |subject| subject == "removed"))
    }

    fn broken(change: impl FnOnce(&mut Vec<SealedLine>)) -> Broken {
        let (beginning, mut lines) = chain(4);
        change(&mut lines);
        walk(&beginning, &lines).unwrap_err()
    }

    #[test]
    fn a_line_that_is_removed_changed_inserted_or_reordered_breaks_the_chain() {
        let (beginning, lines) = chain(4);
        assert_eq!(walk(&beginning, &lines).unwrap().length, 4);
        assert_eq!(broken(|lines| drop(lines.remove(1))), Broken::Position);
        assert_eq!(broken(|lines| lines.swap(1, 2)), Broken::Position);
        assert_eq!(broken(|lines| lines.insert(1, lines[0].clone())), Broken::Position);
        assert_eq!(broken(|lines| lines[1].seal = None), Broken::Unknown);
        assert_eq!(broken(|lines| lines[1].line.subject = "other@toko.example".to_owned()), Broken::Subject);
        assert_eq!(broken(|lines| lines[1].line.detail = "owner".to_owned()), Broken::Hash);
        assert_eq!(broken(|lines| lines[1].line.deed = Deed::RoleChanged), Broken::Hash);
        assert_eq!(broken(|lines| lines[1].line.at = NOW.plus(std::time::Duration::from_secs(1))), Broken::Hash);
        assert_eq!(broken(|lines| lines[1].line.actor = Actor::CommandLine), Broken::Hash);
        assert_eq!(broken(|lines| lines[1].line.project_id = None), Broken::Hash);
        assert_eq!(broken(|lines| lines[1].line.id = mint(NOW, [77; 10])), Broken::Hash);
        let swapped = |lines: &mut Vec<SealedLine>| {
            let (one, other) = (lines[1].line.clone(), lines[2].line.clone());
            (lines[1].line, lines[2].line) = (other, one);
        };
        assert_ne!(broken(swapped), Broken::Position);
    }

    #[test]
    fn a_chain_holds_after_a_subject_was_replaced_by_a_removed_user() {
        let (beginning, mut lines) = chain(3);
        let seal = lines[1].seal.as_mut().unwrap();
        seal.salt = None;
        lines[1].line.subject = "removed".to_owned();
        assert_eq!(walk(&beginning, &lines).unwrap().length, 3);
        lines[1].line.subject = "somebody".to_owned();
        assert_eq!(walk(&beginning, &lines), Err(Broken::Subject));
    }

    #[test]
    fn chains_begin_differently_and_are_found_by_their_names() {
        let project = line(0).project_id;
        assert_ne!(ChainHead::empty(project), ChainHead::empty(None));
        assert_eq!(chain_named(&chain_name(project)), Some(project));
        assert_eq!(chain_named(&chain_name(None)), Some(None));
        assert_eq!(chain_named("other"), None);
    }

    /// Lines that were sealed by a released version must verify for ever: this hash never changes.
    #[test]
    fn the_first_form_stays_as_it_is() {
        let (_, lines) = chain(1);
        let hash = "b1cee78accff04af81b4407557a128f83a303caa0cca2c76552b52518a3db2d8";
        assert_eq!(hex(&lines[0].seal.as_ref().unwrap().hash), hash);
    }
}
