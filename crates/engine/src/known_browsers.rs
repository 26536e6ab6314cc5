//! Browsers in which somebody has signed in before. Each holds a cookie that says so, with one entry for each user who
//! signed in there. It grants nothing: with the right password it spares them the delays that others cause.
//!
//! An entry is sealed with the installation's key for one address for e-mail, so nobody can make one up or use it for
//! another account.

use domain::{
    hex::{hex, unhex},
    time::Timestamp,
    user::{Email, KNOWN_LIFETIME},
};
use secrecy::ExposeSecret;

use crate::{
    VaultError,
    vault::{Place, Vault},
};

/// Users of one browser that it remembers; a further one replaces the first.
const USERS_MOST: usize = 4;
const SEPARATOR: char = '_';

/// The entry of that user among those of a browser.
pub(crate) fn entry<'a>(vault: &Vault, cookie: &'a str, email: &Email, now: Timestamp) -> Option<&'a str> {
    entries(cookie).find(|entry| is_of(vault, entry, email, now))
}

/// The same, if it was issued after that.
pub(crate) fn entry_since<'a>(
    vault: &Vault,
    cookie: &'a str,
    email: &Email,
    since: Timestamp,
    now: Timestamp,
) -> Option<&'a str> {
    entries(cookie)
        .find(|entry| issued_at(vault, entry, email).is_some_and(|at| since < at && now < at.plus(KNOWN_LIFETIME)))
}

/// The cookie of a browser in which that user has signed in now.
pub(crate) fn with_user(
    vault: &Vault,
    cookie: Option<&str>,
    email: &Email,
    now: Timestamp,
) -> Result<String, VaultError> {
    let own = hex(&vault.seal(Place::KnownBrowser, email.as_str(), now.as_millis().to_string().as_bytes())?);
    let others = entries(cookie.unwrap_or_default()).filter(|entry| !is_of(vault, entry, email, now));
    let all: Vec<&str> = std::iter::once(own.as_str()).chain(others).take(USERS_MOST).collect();
    Ok(all.join(&SEPARATOR.to_string()))
}

fn entries(cookie: &str) -> impl Iterator<Item = &str> {
    cookie.split(SEPARATOR).take(USERS_MOST).filter(|entry| !entry.is_empty())
}

fn is_of(vault: &Vault, entry: &str, email: &Email, now: Timestamp) -> bool {
    issued_at(vault, entry, email).is_some_and(|at| now < at.plus(KNOWN_LIFETIME))
}

fn issued_at(vault: &Vault, entry: &str, email: &Email) -> Option<Timestamp> {
    let opened = vault.open(Place::KnownBrowser, email.as_str(), &unhex(entry)?).ok()?;
    opened.expose_secret().parse().ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretKey;

    fn vault() -> Vault {
        Vault::new(SecretKey::from_base64(&SecretKey::generate_base64()).unwrap().into())
    }

    fn email(name: &str) -> Email {
        Email::parse(&format!("{name}@example.com")).unwrap()
    }

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn a_browser_is_known_to_those_who_signed_in_there_and_to_nobody_else() {
        let (vault, siti, budi) = (vault(), email("siti"), email("budi"));
        let cookie = with_user(&vault, None, &siti, NOW).unwrap();
        assert!(entry(&vault, &cookie, &siti, NOW).is_some());
        assert!(entry(&vault, &cookie, &budi, NOW).is_none());
        assert!(entry(&self::vault(), &cookie, &siti, NOW).is_none(), "another installation made it");
        for made_up in ["", "_", "zz", &cookie[1..], &"0".repeat(82)] {
            assert!(entry(&vault, made_up, &siti, NOW).is_none(), "{made_up}");
        }
        let both = with_user(&vault, Some(&cookie), &budi, NOW).unwrap();
        assert!(entry(&vault, &both, &siti, NOW).is_some() && entry(&vault, &both, &budi, NOW).is_some());
    }

    #[test]
    fn a_browser_remembers_a_few_users_each_of_them_once_and_for_half_a_year() {
        let vault = vault();
        let signing_in = |cookie: String, name: &str| with_user(&vault, Some(&cookie), &email(name), NOW).unwrap();
        let cookie = ["a", "b", "a", "c", "d", "e"].into_iter().fold(String::new(), signing_in);
        let known = |name: &str, now| entry(&vault, &cookie, &email(name), now).is_some();
        assert_eq!(["a", "b", "c", "d", "e"].map(|name| known(name, NOW)), [true, false, true, true, true]);
        assert!(!known("e", NOW.plus(KNOWN_LIFETIME)));
        assert!(cookie.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && cookie.len() < 500);
    }
}
