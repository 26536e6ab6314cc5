//! Password hashing with argon2id. Hashing takes memory and a core for a while, so few passwords are hashed at once. Their
//! memory, which is more than all else that an idle server uses, is kept only while one sign-in soon follows another. It is
//! not freed at once: the allocator would use it for small things next, and could not give it back to the system.

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use argon2::{
    Algorithm, Argon2, Block, Params, Version,
    password_hash::phc::{Output, ParamsString, PasswordHash, Salt},
};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, sleep};

pub(crate) use crate::blocking_work::Turn;
use crate::blocking_work::{BlockingWork, WorkError, cores};

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;
const OUTPUT_BYTES: usize = Params::DEFAULT_OUTPUT_LEN;
/// Passwords that are hashed at once, where there are as many cores: more would take memory without being faster.
const AT_ONCE_MOST: usize = 4;
/// Requests that may wait for their turn. Further ones are answered that the server is busy.
const WAITING_MOST: usize = 64;
/// How long memory is kept for the next password.
const KEPT_FOR: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
pub enum HashError {
    #[error("a password could not be hashed")]
    Failed,
    #[error("too many sign in at once")]
    Busy,
}

impl From<WorkError> for HashError {
    fn from(error: WorkError) -> HashError {
        match error {
            WorkError::Busy => HashError::Busy,
            WorkError::Failed => HashError::Failed,
        }
    }
}

/// Hashes passwords, a few at once.
pub(crate) struct Hasher {
    work: BlockingWork,
    /// The memory of the last hashes, and when each piece was used.
    memory: Arc<Mutex<Vec<(Memory, Instant)>>>,
}

type Memory = Vec<Block>;

impl Default for Hasher {
    fn default() -> Hasher {
        Hasher { work: BlockingWork::new(cores().min(AT_ONCE_MOST), WAITING_MOST), memory: Arc::default() }
    }
}

impl Hasher {
    /// Waits until a password may be hashed. When too many wait already it fails at once.
    pub(crate) async fn turn(&self) -> Result<Turn, HashError> {
        Ok(self.work.turn().await?)
    }

    /// The hash of a password, in the form in which it is stored.
    pub(crate) async fn hash(&self, password: SecretString) -> Result<String, HashError> {
        let turn = self.turn().await?;
        let hash = move |memory: &mut Memory| hashed(password.expose_secret().as_bytes(), memory);
        self.on_a_thread(turn, hash).await?
    }

    /// Whether `password` matches the hash `kept`. Without a hash it does not, and the check takes as long.
    pub(crate) async fn matches(
        &self,
        turn: Turn,
        password: SecretString,
        kept: Option<String>,
    ) -> Result<bool, HashError> {
        let check = move |memory: &mut Memory| {
            // Computed at the first call, whether or not the user exists.
            let nobodys = nobodys(memory);
            let known = kept.is_some();
            let kept = kept.as_deref().or(nobodys).unwrap_or_default();
            fits(password.expose_secret().as_bytes(), kept, memory).unwrap_or(false) && known
        };
        self.on_a_thread(turn, check).await
    }

    async fn on_a_thread<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce(&mut Memory) -> T + Send + 'static,
    ) -> Result<T, HashError> {
        let pool = Arc::clone(&self.memory);
        let worked = turn.run(move || {
            let kept = lock(&pool).pop();
            let mut memory = kept.map(|(memory, _)| memory).unwrap_or_default();
            let done = work(&mut memory);
            lock(&pool).push((memory, Instant::now()));
            // From here, as the caller may have gone.
            tokio::spawn(async move {
                sleep(KEPT_FOR).await;
                lock(&pool).retain(|(_, used_at)| used_at.elapsed() < KEPT_FOR);
            });
            done
        });
        Ok(worked.await?)
    }
}

fn lock<T>(pool: &Mutex<T>) -> MutexGuard<'_, T> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hash that is compared with when there is no such user, so that the check takes as long.
fn nobodys(memory: &mut Memory) -> Option<&'static str> {
    static HASH: OnceLock<Option<String>> = OnceLock::new();
    HASH.get_or_init(|| hashed(b"nobody's password", memory).ok()).as_deref()
}

fn hashed(password: &[u8], memory: &mut Memory) -> Result<String, HashError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| HashError::Failed)?;
    let mut salt = [0; SALT_BYTES];
    rand::rng().fill_bytes(&mut salt);
    let (algorithm, version) = (Algorithm::Argon2id, Version::V0x13);
    let hash = PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: ParamsString::try_from(&params).map_err(|_| HashError::Failed)?,
        salt: Some(Salt::new(&salt).map_err(|_| HashError::Failed)?),
        hash: Some(output(&Argon2::new(algorithm, version, params), password, &salt, OUTPUT_BYTES, memory)?),
    };
    Ok(hash.to_string())
}

/// Whether the password has that hash; none where the hash cannot be read.
fn fits(password: &[u8], kept: &str, memory: &mut Memory) -> Option<bool> {
    let kept = PasswordHash::new(kept).ok()?;
    let algorithm = Algorithm::try_from(kept.algorithm.as_str()).ok()?;
    let version = Version::try_from(kept.version?).ok()?;
    let argon2 = Argon2::new(algorithm, version, Params::try_from(&kept).ok()?);
    let (salt, expected) = (kept.salt?, kept.hash?);
    // The time that this comparison takes says nothing about where two outputs differ.
    Some(output(&argon2, password, &salt, expected.len(), memory).ok()? == expected)
}

fn output(
    argon2: &Argon2<'_>,
    password: &[u8],
    salt: &[u8],
    length: usize,
    memory: &mut Memory,
) -> Result<Output, HashError> {
    memory.resize(argon2.params().block_count().max(memory.len()), Block::new());
    let mut bytes = vec![0; length];
    let filled = argon2.hash_password_into_with_memory(password, salt, &mut bytes, memory.as_mut_slice());
    filled.ok().and_then(|()| Output::new(&bytes).ok()).ok_or(HashError::Failed)
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::PasswordHasher as _;
    use futures_util::future::{FutureExt as _, join_all};

    use super::*;

    const HEAD: &str = "$argon2id$v=19$m=19456,t=2,p=1$";

    async fn matches(password: &str, kept: Option<String>) -> bool {
        let hasher = Hasher::default();
        hasher.matches(hasher.turn().await.unwrap(), password.into(), kept).await.unwrap()
    }

    #[tokio::test]
    async fn a_password_is_kept_as_argon2id_with_a_salt_of_its_own_and_matches_itself_alone() {
        let hash = async || Hasher::default().hash("correct horse".into()).await.unwrap();
        let (one, other) = (hash().await, hash().await);
        assert!(one.starts_with(HEAD), "{one}");
        assert_ne!(one, other);
        assert!(matches("correct horse", Some(one.clone())).await);
        assert!(!matches("correct hors", Some(one)).await);
        assert!(!matches("correct horse", Some("damaged".to_owned())).await);
    }

    /// The hashes of earlier versions were made by the library's own function for passwords.
    #[tokio::test]
    async fn a_hash_of_an_earlier_version_is_understood() {
        let made = Argon2::default().hash_password_with_salt(b"correct horse", &[7; SALT_BYTES]).unwrap().to_string();
        assert!(made.starts_with(HEAD), "{made}");
        assert!(matches("correct horse", Some(made.clone())).await);
        assert!(!matches("correct hors", Some(made)).await);
    }

    #[tokio::test]
    async fn nobody_has_no_password_not_even_the_one_that_theirs_is_compared_with() {
        let kept = nobodys(&mut Vec::new()).unwrap();
        assert!(kept.starts_with(HEAD), "it costs what anybody's costs: {kept}");
        assert!(!matches("nobody's password", None).await);
    }

    #[tokio::test]
    async fn passwords_are_hashed_a_few_at_once_in_memory_that_is_kept_for_a_while() {
        let hasher = Hasher::default();
        let at_once = hasher.work.free_turns();
        assert!(at_once <= AT_ONCE_MOST);
        let hashes = join_all((0..16).map(|_| hasher.hash("correct horse".into()))).await;
        assert!(hashes.iter().all(Result::is_ok));
        let kept: Vec<(usize, *const Block)> =
            lock(&hasher.memory).iter().map(|(one, _)| (one.len(), one.as_ptr())).collect();
        assert!((1..=at_once).contains(&kept.len()), "{}", kept.len());
        assert!(kept.iter().all(|(blocks, _)| *blocks == MEMORY_KIB as usize));
        hasher.hash("correct horse".into()).await.unwrap();
        assert!(lock(&hasher.memory).iter().all(|(one, _)| kept.iter().any(|(_, place)| *place == one.as_ptr())));
        tokio::time::pause();
        tokio::time::advance(KEPT_FOR / 2).await;
        assert!(!lock(&hasher.memory).is_empty());
        tokio::time::advance(KEPT_FOR).await;
        tokio::task::yield_now().await;
        assert!(lock(&hasher.memory).is_empty());
    }

    #[tokio::test]
    async fn memory_is_not_kept_for_a_caller_who_has_gone() {
        let hasher = Hasher::default();
        assert!(Box::pin(hasher.hash("correct horse".into())).now_or_never().is_none());
        while lock(&hasher.memory).is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
        tokio::time::pause();
        for _ in 0..3 {
            sleep(KEPT_FOR).await;
        }
        assert!(lock(&hasher.memory).is_empty());
    }

    #[tokio::test]
    async fn who_would_be_one_too_many_to_wait_is_turned_away_at_once() {
        let hasher = Hasher::default();
        let mut turns = Vec::new();
        for _ in 0..hasher.work.free_turns() {
            turns.push(hasher.turn().await.unwrap());
        }
        let mut waiting: Vec<_> = (0..WAITING_MOST).map(|_| Box::pin(hasher.turn())).collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        assert!(matches!(hasher.turn().await, Err(HashError::Busy)));
        drop(turns);
        assert!(waiting.remove(0).await.is_ok());
    }
}
