//! Pending sign-ins: of visitors who have given the right password, and must show their second factor before they get a session.
//!
//! A pending sign-in is sealed with the installation's key for one browser, and is in a cookie, so nothing is stored for it. It says
//! whose it is, until when, and which password was given: once that is changed it counts no more. That it was used is stored.

use std::time::Duration;

use domain::{
    hex::{hex, unhex},
    id::UserId,
    time::Timestamp,
};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use crate::{
    VaultError,
    vault::{Place, Vault},
};

/// How long the visitor has for their second factor.
pub const PENDING_LIFETIME: Duration = Duration::from_mins(5);

/// A pending sign-in that is not forged and not too old, in the browser that it was given to.
pub(crate) struct PendingSignIn {
    /// What it is called where its use is stored.
    pub(crate) name: String,
    pub(crate) user_id: UserId,
    /// The digest of the stored hash of the password that was given.
    pub(crate) password: String,
    pub(crate) expires_at: Timestamp,
}

/// A new pending sign-in of a user in `browser`, whose stored hash of the password is `password`.
pub(crate) fn issue(
    vault: &Vault,
    user_id: UserId,
    password: &str,
    browser: &str,
    now: Timestamp,
) -> Result<String, VaultError> {
    let expires_at = now.plus(PENDING_LIFETIME).as_millis();
    let text = format!("{user_id} {expires_at} {}", digest(password));
    Ok(hex(&vault.seal(Place::PendingSignIn, &bound_to(browser), text.as_bytes())?))
}

/// Reads the pending sign-in in a cookie; none where it does not count.
pub(crate) fn read(vault: &Vault, cookie: &str, browser: &str, now: Timestamp) -> Option<PendingSignIn> {
    let sealed = unhex(cookie)?;
    let opened = vault.open(Place::PendingSignIn, &bound_to(browser), &sealed).ok()?;
    let mut parts = opened.expose_secret().split(' ');
    let user_id = parts.next()?.parse().ok()?;
    let expires_at = Timestamp::from_millis(parts.next()?.parse().ok()?);
    let password = parts.next()?.to_owned();
    (now < expires_at).then(|| PendingSignIn { name: hex(&Sha256::digest(&sealed)), user_id, password, expires_at })
}

impl PendingSignIn {
    /// Whether that is still the stored hash of the password that was given.
    pub(crate) fn is_for(&self, password: &str) -> bool {
        self.password == digest(password)
    }
}

fn digest(password: &str) -> String {
    hex(&Sha256::digest(password.as_bytes()))
}

fn bound_to(browser: &str) -> String {
    hex(&Sha256::digest(browser.as_bytes()))
}

#[cfg(test)]
mod tests {
    use domain::id::mint;

    use super::*;
    use crate::SecretKey;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn vault() -> Vault {
        Vault::new(SecretKey::from_base64(&SecretKey::generate_base64()).unwrap().into())
    }

    #[test]
    fn a_pending_sign_in_counts_for_its_user_and_password_in_its_browser_and_for_five_minutes() {
        let (vault, user) = (vault(), mint(NOW, [1; 10]));
        let cookie = issue(&vault, user, "the hash", "Firefox", NOW).unwrap();
        let pending = read(&vault, &cookie, "Firefox", NOW).unwrap();
        assert_eq!((pending.user_id, pending.expires_at), (user, NOW.plus(PENDING_LIFETIME)));
        assert!(pending.is_for("the hash") && !pending.is_for("another hash"));
        assert!(read(&vault, &cookie, "Chrome", NOW).is_none());
        assert!(read(&vault, &cookie, "Firefox", NOW.plus(PENDING_LIFETIME)).is_none());
        for forged in ["", "zz", &cookie[2..], &"0".repeat(cookie.len()), &format!("{cookie}00")] {
            assert!(read(&vault, forged, "Firefox", NOW).is_none(), "{forged}");
        }
        assert!(read(&self::vault(), &cookie, "Firefox", NOW).is_none(), "of another installation");
    }
}
