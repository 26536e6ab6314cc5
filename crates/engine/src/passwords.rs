//! Password hashing with argon2id. Hashing takes memory and a core for a while, so the number of concurrent hashes is
//! limited.

use std::sync::{Arc, LazyLock};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// As many as there are cores: more would take memory without being faster.
static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Arc::new(Semaphore::new(cores))
});

/// The hash that is compared with when there is no such user, so that the check takes as long.
static NOBODYS: LazyLock<Option<String>> = LazyLock::new(|| hashed(b"nobody's password").ok());

#[derive(Debug, thiserror::Error)]
#[error("a password could not be hashed")]
pub struct HashError;

/// The hash of a password, in the form in which it is stored.
pub(crate) async fn hash(password: SecretString) -> Result<String, HashError> {
    with_permit(move || hashed(password.expose_secret().as_bytes())).await?
}

/// Whether `password` matches the hash `kept`. Without a hash it does not, and the check takes as long.
pub(crate) async fn matches(password: SecretString, kept: Option<String>) -> Result<bool, HashError> {
    with_permit(move || {
        // Computed at the first call, whether or not the user exists.
        let nobodys = NOBODYS.clone();
        let known = kept.is_some();
        let kept = kept.or(nobodys).unwrap_or_default();
        let equal = PasswordHash::new(&kept).is_ok_and(|kept| {
            argon2().is_ok_and(|argon2| argon2.verify_password(password.expose_secret().as_bytes(), &kept).is_ok())
        });
        equal && known
    })
    .await
}

async fn with_permit<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashError> {
    let permit = Arc::clone(&PERMITS).acquire_owned().await.map_err(|_| HashError)?;
    let worked = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    worked.await.map_err(|_| HashError)
}

fn argon2() -> Result<Argon2<'static>, HashError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| HashError)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hashed(password: &[u8]) -> Result<String, HashError> {
    let mut salt = [0; SALT_BYTES];
    rand::rng().fill_bytes(&mut salt);
    let hash = argon2()?.hash_password_with_salt(password, &salt).map_err(|_| HashError)?;
    Ok(hash.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_kept_as_argon2id_with_a_salt_of_its_own_and_matches_itself_alone() {
        let (one, other) = (hash("correct horse".into()).await.unwrap(), hash("correct horse".into()).await.unwrap());
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        assert!(matches("correct horse".into(), Some(one.clone())).await.unwrap());
        assert!(!matches("correct hors".into(), Some(one)).await.unwrap());
        assert!(!matches("correct horse".into(), Some("damaged".to_owned())).await.unwrap());
    }

    #[tokio::test]
    async fn nobody_has_no_password_not_even_the_one_that_theirs_is_compared_with() {
        let kept = NOBODYS.as_deref().unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "it costs what anybody's costs: {kept}");
        assert!(!matches("nobody's password".into(), None).await.unwrap());
    }
}
