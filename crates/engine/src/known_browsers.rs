//! Browsers in which somebody has signed in before. Each holds a cookie that says so, with one entry for each user who
//! signed in there. It grants nothing: with the right password it spares them the delays that others cause.
//!
//! An entry is sealed with the installation's key for one address for e-mail, so nobody can make one up or use it for
//! another account. It says with which password the user signed in, and counts as long as they have that one: whoever was in
//! with the old one is a stranger after it was changed.

use domain::{
    hex::{hex, unhex},
    time::Timestamp,
    user::{Email, KNOWN_LIFETIME},
};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use crate::{
    VaultError,
    vault::{Place, Vault},
};

/// Users of one browser that it remembers; a further one replaces the first.
const USERS_MOST: usize = 4;
const SEPARATOR: char = '_';
/// How much of a password's digest an entry has: enough to tell it from another one.
const DIGEST_BYTES: usize = 8;

/// Whom an entry is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Account<'a> {
    pub(crate) email: &'a Email,
    /// What is stored of their password.
    pub(crate) password: &'a str,
}

/// The entry of that user among those of a browser.
pub(crate) fn entry<'a>(vault: &Vault, cookie: &'a str, account: Account<'_>, now: Timestamp) -> Option<&'a str> {
    entry_since(vault, cookie, account, Timestamp::from_millis(0), now)
}

/// The same, if it was issued after that.
pub(crate) fn entry_since<'a>(
    vault: &Vault,
    cookie: &'a str,
    account: Account<'_>,
    since: Timestamp,
    now: Timestamp,
) -> Option<&'a str> {
    let counts = |at: Timestamp| since < at && now < at.plus(KNOWN_LIFETIME);
    entries(cookie).find(|entry| issued_at(vault, entry, account).is_some_and(counts))
}

/// The cookie of a browser in which that user has signed in now.
pub(crate) fn with_user(
    vault: &Vault,
    cookie: Option<&str>,
    account: Account<'_>,
    now: Timestamp,
) -> Result<String, VaultError> {
    let text = format!("{} {}", now.as_millis(), digest(account.password));
    let own = hex(&vault.seal(Place::KnownBrowser, account.email.as_str(), text.as_bytes())?);
    let others = entries(cookie.unwrap_or_default()).filter(|entry| opened(vault, entry, account.email).is_none());
    let all: Vec<&str> = std::iter::once(own.as_str()).chain(others).take(USERS_MOST).collect();
    Ok(all.join(&SEPARATOR.to_string()))
}

fn entries(cookie: &str) -> impl Iterator<Item = &str> {
    cookie.split(SEPARATOR).take(USERS_MOST).filter(|entry| !entry.is_empty())
}

/// When an entry of that user was issued, if they still have the password that they had then.
fn issued_at(vault: &Vault, entry: &str, account: Account<'_>) -> Option<Timestamp> {
    let text = opened(vault, entry, account.email)?;
    let (at, password) = text.split_once(' ')?;
    at.parse().ok().map(Timestamp::from_millis).filter(|_| password == digest(account.password))
}

/// What an entry says, if it is of that user.
fn opened(vault: &Vault, entry: &str, email: &Email) -> Option<String> {
    let opened = vault.open(Place::KnownBrowser, email.as_str(), &unhex(entry)?).ok()?;
    Some(opened.expose_secret().to_owned())
}

fn digest(password: &str) -> String {
    hex(&Sha256::digest(password.as_bytes())[..DIGEST_BYTES])
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

    fn of(email: &Email) -> Account<'_> {
        Account { email, password: "the hash" }
    }

    #[test]
    fn a_browser_is_known_to_those_who_signed_in_there_and_to_nobody_else() {
        let (vault, siti, budi) = (vault(), email("siti"), email("budi"));
        let cookie = with_user(&vault, None, of(&siti), NOW).unwrap();
        assert!(entry(&vault, &cookie, of(&siti), NOW).is_some());
        assert!(entry(&vault, &cookie, of(&budi), NOW).is_none());
        assert!(entry(&self::vault(), &cookie, of(&siti), NOW).is_none(), "another installation made it");
        for made_up in ["", "_", "zz", &cookie[1..], &"0".repeat(82)] {
            assert!(entry(&vault, made_up, of(&siti), NOW).is_none(), "{made_up}");
        }
        let both = with_user(&vault, Some(&cookie), of(&budi), NOW).unwrap();
        assert!(entry(&vault, &both, of(&siti), NOW).is_some() && entry(&vault, &both, of(&budi), NOW).is_some());
    }

    #[test]
    fn a_browser_remembers_a_few_users_each_of_them_once_and_for_half_a_year() {
        let vault = vault();
        let signing_in = |cookie: String, name: &str| with_user(&vault, Some(&cookie), of(&email(name)), NOW).unwrap();
        let cookie = ["a", "b", "a", "c", "d", "e"].into_iter().fold(String::new(), signing_in);
        let known = |name: &str, now| entry(&vault, &cookie, of(&email(name)), now).is_some();
        assert_eq!(["a", "b", "c", "d", "e"].map(|name| known(name, NOW)), [true, false, true, true, true]);
        assert!(!known("e", NOW.plus(KNOWN_LIFETIME)));
        assert!(cookie.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && cookie.len() < 600);
    }

    #[test]
    fn a_browser_is_known_for_as_long_as_its_user_has_the_password_with_which_they_signed_in() {
        let (vault, siti) = (vault(), email("siti"));
        let changed = Account { email: &siti, password: "another hash" };
        let cookie = with_user(&vault, None, of(&siti), NOW).unwrap();
        assert!(entry(&vault, &cookie, changed, NOW).is_none());
        let later = NOW.plus(KNOWN_LIFETIME / 2);
        let signed_in_again = with_user(&vault, Some(&cookie), changed, later).unwrap();
        assert!(entry_since(&vault, &signed_in_again, changed, NOW, later).is_some());
        assert!(entry(&vault, &signed_in_again, of(&siti), later).is_none(), "the old entry is replaced");
    }
}
