//! Tickets of visitors who were told to wait before they sign in.
//!
//! Everybody can make an account wait, by sending wrong passwords from ever new addresses. At each moment at which it is free
//! again, who comes first is judged, and a program is always quicker than a person. So a visitor who must wait because of an
//! account gets a ticket: after the wait it admits one attempt apart from all who have none, however often those come.
//!
//! An attacker can collect tickets too, as many as they like. What they do not have at will are networks (/24, for IPv6 /48):
//! after an attempt by ticket a network's next one at that account waits for [`NETWORK_PAUSE`], and attempts by ticket at one
//! account are [`LANE_PAUSE`] apart. So an attacker with n networks, however many addresses and tickets in each, takes at most
//! n of these attempts in [`NETWORK_PAUSE`]; a visitor from another network who comes back as told is judged after the wait of
//! their ticket and n + 1 times [`LANE_PAUSE`] at the latest, as long as the latter is not longer than [`NETWORK_PAUSE`], which is
//! 299 networks. With 300 and more, an attacker takes every one of these attempts for as long as they like; so does one in the
//! visitor's own network. Then only browsers and addresses in which the user has signed in before get in. And all of them together
//! guess no faster than once in [`LANE_PAUSE`].
//!
//! A ticket is sealed with the installation's key for one account and one browser, and is in a cookie. To give one, nothing is
//! stored, and what it says of an account is the same whether or not there is such a user. That it was used is stored.

use std::time::Duration;

use domain::{
    hex::{hex, unhex},
    time::Timestamp,
};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use crate::{
    VaultError,
    vault::{Place, Vault},
};

/// How long a ticket can be used once its wait is over. It begins with the wait, and a person may need a while to type again.
pub const TICKET_LIFETIME: Duration = Duration::from_mins(15);
/// Between two attempts by ticket at one account.
pub(crate) const LANE_PAUSE: Duration = Duration::from_secs(2);
/// Between two attempts by ticket from one network at one account.
pub(crate) const NETWORK_PAUSE: Duration = Duration::from_mins(10);

/// A ticket that is not forged and not too old, at the account and in the browser that it was given for.
pub(crate) struct Ticket {
    /// What it is called where its use is stored.
    pub(crate) name: String,
    /// When the visitor has waited as told.
    pub(crate) not_before: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// A new ticket for an attempt at `account` in `browser` from `not_before` on.
pub(crate) fn issue(vault: &Vault, account: &str, browser: &str, not_before: Timestamp) -> Result<String, VaultError> {
    let text = not_before.as_millis().to_string();
    Ok(hex(&vault.seal(Place::SignInTicket, &bound_to(account, browser), text.as_bytes())?))
}

/// Reads the ticket in a cookie; none where it does not count.
pub(crate) fn read(vault: &Vault, cookie: &str, account: &str, browser: &str, now: Timestamp) -> Option<Ticket> {
    let sealed = unhex(cookie)?;
    let opened = vault.open(Place::SignInTicket, &bound_to(account, browser), &sealed).ok()?;
    let not_before = Timestamp::from_millis(opened.expose_secret().parse().ok()?);
    let expires_at = not_before.plus(TICKET_LIFETIME);
    (now < expires_at).then(|| Ticket { name: hex(&Sha256::digest(&sealed)), not_before, expires_at })
}

fn bound_to(account: &str, browser: &str) -> String {
    format!("{account} {}", hex(&Sha256::digest(browser.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretKey;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn vault() -> Vault {
        Vault::new(SecretKey::from_base64(&SecretKey::generate_base64()).unwrap().into())
    }

    #[test]
    fn a_ticket_counts_at_its_account_in_its_browser_and_until_it_expires() {
        let vault = vault();
        let cookie = issue(&vault, "account:1", "Firefox", NOW).unwrap();
        let read = |cookie: &str, account: &str, browser: &str, now| read(&vault, cookie, account, browser, now);
        let ticket = read(&cookie, "account:1", "Firefox", NOW).unwrap();
        assert_eq!((ticket.not_before, ticket.expires_at), (NOW, NOW.plus(TICKET_LIFETIME)));
        assert!(read(&cookie, "account:2", "Firefox", NOW).is_none());
        assert!(read(&cookie, "account:1", "Chrome", NOW).is_none());
        assert!(read(&cookie, "account:1", "Firefox", NOW.plus(TICKET_LIFETIME)).is_none());
        for forged in ["", "zz", &cookie[2..], &"0".repeat(cookie.len()), &format!("{cookie}00")] {
            assert!(read(forged, "account:1", "Firefox", NOW).is_none(), "{forged}");
        }
        assert!(self::read(&self::vault(), &cookie, "account:1", "Firefox", NOW).is_none(), "of another installation");
    }

    #[test]
    fn a_ticket_has_one_name_and_another_ticket_of_the_same_moment_has_another() {
        let vault = vault();
        let name = |cookie: &str| read(&vault, cookie, "account:1", "", NOW).map(|ticket| ticket.name);
        let [one, other] = [NOW; 2].map(|at| issue(&vault, "account:1", "", at).unwrap());
        assert_eq!(name(&one), name(&one));
        assert_ne!(name(&one), name(&other));
        assert_eq!(name(&one.to_uppercase()), None, "it is written in one way only");
    }
}
