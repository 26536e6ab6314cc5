//! Signing in: who is let in, who is not, and how attempts are throttled.

use std::{collections::BTreeMap, fs, sync::Arc, time::Duration};

use domain::{
    audit::{Actor, Deed},
    user::Token,
};
use futures_util::future::join_all;
use reqwest::Method;
use testkit::{Database, Kit, Options, Reply, on_every_database, on_sqlite, on_sqlite_alone, on_sqlite_with};

use crate::support::{
    customer::{Customer, SetCookie, hidden, is_page},
    dashboard::audited,
    options::{base_url, trusted_proxy},
    people::{PASSWORD, Person, make, sign_in},
    repository::root,
};

on_every_database![
    of_fifty_attempts_at_once_five_are_judged_and_the_right_password_waits_as_well,
    an_attempt_whose_clock_is_behind_that_of_the_last_one_is_judged,
    each_failure_after_the_fifth_doubles_the_wait_up_to_a_quarter_of_an_hour,
];

on_sqlite_alone![
    the_right_password_leads_to_the_page_that_was_asked_for,
    a_refusal_does_not_reveal_whether_the_account_exists,
    an_account_is_throttled_across_all_addresses with trusted_proxy(),
    an_address_is_throttled_across_all_accounts with trusted_proxy(),
    from_one_address_nobody_keeps_others_out_of_an_account with trusted_proxy(),
    a_browser_in_which_the_user_signed_in_before_waits_for_nobody_elses_failures with trusted_proxy(),
    an_address_at_which_the_user_signed_in_before_waits_for_no_failures_elsewhere with trusted_proxy(),
    after_a_new_password_no_browser_and_no_address_is_known with trusted_proxy(),
    a_new_password_from_the_command_line_lifts_every_delay,
    every_sign_in_makes_a_token_of_its_own_and_adopts_none,
    opening_the_form_needs_no_account_and_changes_nothing,
    no_script_and_no_other_site_gets_at_the_session_cookie,
];

const FORM: &str = "/dashboard/sign-in";
/// Five attempts may fail; the fifth is followed by this wait.
const FREE: usize = 5;
const FIRST_DELAY: Duration = Duration::from_secs(1);

fn at_localhost() -> Actor {
    Actor::Stranger { address: "127.0.0.1".to_owned() }
}

/// An attempt to sign in from behind a proxy.
async fn attempt(kit: &Kit, forwarded_for: &str, email: &str, password: &str) -> Reply {
    let browser = Customer::of(kit);
    let form = browser.form(FORM, &[("email", email), ("password", password)]);
    browser.send(form.header("x-forwarded-for", forwarded_for)).await
}

#[track_caller]
fn must_wait(reply: &Reply) -> u64 {
    is_page("a refused attempt", reply, 429);
    reply.header("retry-after").unwrap().parse().unwrap()
}

fn statuses(replies: &[Reply]) -> BTreeMap<u16, usize> {
    replies.iter().fold(BTreeMap::new(), |mut counted, reply| {
        *counted.entry(reply.status.as_u16()).or_default() += 1;
        counted
    })
}

async fn the_right_password_leads_to_the_page_that_was_asked_for(kit: Arc<Kit>) {
    make(&kit, "siti@example.com", false).await;
    for (next, led_to) in [
        ("", "/dashboard"),
        ("/dashboard/account?lang=en", "/dashboard/account?lang=en"),
        ("https://evil.example/dashboard", "/dashboard"),
        ("//evil.example", "/dashboard"),
        ("/dashboard/../../evil", "/dashboard"),
        ("/dashboard/%2e%2E/evil", "/dashboard"),
        ("/dashboard/..%2fevil", "/dashboard"),
    ] {
        let browser = Customer::of(&kit);
        let fields = [("email", " Siti@Example.COM "), ("password", PASSWORD), ("next", next)];
        let reply = browser.post(FORM, &fields).await;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(led_to)), "{next}");
        is_page(next, &browser.open("/dashboard/account").await, 200);
    }
    let signed_in = audited(&kit, Deed::SignedIn).await;
    assert_eq!(signed_in.len(), 7);
    assert!(
        signed_in.iter().all(|(actor, email)| matches!(actor, Actor::User { address, .. } if address == "127.0.0.1")
            && email == "siti@example.com")
    );
}

/// What a browser gets in an answer, without what it has sent itself.
fn refusal_of(reply: &Reply, email: &str) -> (u16, BTreeMap<String, String>, String) {
    let own = ["x-request-id", "date"];
    let headers = reply.headers.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    (reply.status.as_u16(), headers, reply.text.replace(email, "EMAIL"))
}

async fn a_refusal_does_not_reveal_whether_the_account_exists(kit: Arc<Kit>) {
    make(&kit, "siti@example.com", false).await;
    let mut answers = Vec::new();
    for email in ["siti@example.com", "dewi@example.com", "siti.example.com"] {
        let reply = sign_in(&Customer::of(&kit), email, "not the password").await;
        is_page(email, &reply, 401);
        assert_eq!(reply.headers.get("set-cookie"), None, "{email}");
        answers.push(refusal_of(&reply, email));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    let mut refused = audited(&kit, Deed::SignInRefused).await;
    refused.sort_by(|one, other| one.1.cmp(&other.1));
    // A text that is no email address may be a password in the wrong field, so it is not recorded.
    let expected = ["", "dewi@example.com", "siti@example.com"].map(|email| (at_localhost(), email.to_owned()));
    assert_eq!(refused, expected);
}

/// Timing is not measured, as that would test this machine. But everybody takes the same path through the code, and the
/// password is compared before anything depends on whether the account was found.
#[test]
fn an_unknown_account_costs_a_password_comparison_too() {
    let source = fs::read_to_string(root().join("crates/engine/src/sign_in.rs")).unwrap();
    let (_, body) = source.split_once("pub async fn sign_in(").unwrap();
    let (body, _) = body.split_once("\n    }\n").unwrap();
    let (before, after) = body.split_once("self.hasher.matches(turn, password, kept).await?").unwrap();
    let (_, looked_up) = before.split_once("let found = ").unwrap();
    assert!(!looked_up.contains("return") && !looked_up.contains("if "), "{looked_up}");
    assert!(after.contains("SignIn::Refused"), "{after}");
    assert!(!after.contains("hasher."), "once");
}

async fn of_fifty_attempts_at_once_five_are_judged_and_the_right_password_waits_as_well(kit: Arc<Kit>) {
    make(&kit, "siti@example.com", false).await;
    let attempts = (0..50).map(|n| {
        let kit = Arc::clone(&kit);
        async move { sign_in(&Customer::of(&kit), "siti@example.com", &format!("wrong password {n}")).await }
    });
    let replies = join_all(attempts).await;
    assert_eq!(statuses(&replies), BTreeMap::from([(401, FREE), (429, 50 - FREE)]));
    for reply in replies.iter().filter(|reply| reply.status == 429) {
        assert_eq!(must_wait(reply), FIRST_DELAY.as_secs());
    }
    assert_eq!(audited(&kit, Deed::SignInRefused).await.len(), FREE);
    must_wait(&sign_in(&Customer::of(&kit), "siti@example.com", PASSWORD).await);
    kit.clock.advance(FIRST_DELAY);
    assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", PASSWORD).await.status, 303);
}

/// Of two attempts at the same moment, the one that read the clock first may be counted last. Nor are two nodes' clocks equal.
async fn an_attempt_whose_clock_is_behind_that_of_the_last_one_is_judged(kit: Arc<Kit>) {
    make(&kit, "siti@example.com", false).await;
    for (password, status) in [(PASSWORD, 303), ("wrong", 401), ("wrong", 401), (PASSWORD, 303), (PASSWORD, 303)] {
        assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", password).await.status, status);
        kit.clock.set(kit.engine.now().minus(Duration::from_millis(1)));
    }
}

async fn each_failure_after_the_fifth_doubles_the_wait_up_to_a_quarter_of_an_hour(kit: Arc<Kit>) {
    make(&kit, "siti@example.com", false).await;
    let browser = Customer::of(&kit);
    for _ in 0..FREE {
        assert_eq!(sign_in(&browser, "siti@example.com", "wrong").await.status, 401);
    }
    let mut wait = 1;
    for _ in 0..12 {
        assert_eq!(must_wait(&sign_in(&browser, "siti@example.com", "wrong").await), wait);
        kit.clock.advance(Duration::from_secs(wait));
        assert_eq!(sign_in(&browser, "siti@example.com", "wrong").await.status, 401);
        wait = (wait * 2).min(900);
    }
    assert_eq!(wait, 900);
}

async fn an_account_is_throttled_across_all_addresses(kit: Arc<Kit>) {
    for email in ["siti@example.com", "dewi@example.com"] {
        make(&kit, email, false).await;
    }
    for n in 0..FREE {
        let address = format!("203.0.113.{n}");
        assert_eq!(attempt(&kit, &address, "siti@example.com", "wrong").await.status, 401);
    }
    must_wait(&attempt(&kit, "198.51.100.1", "siti@example.com", PASSWORD).await);
    assert_eq!(attempt(&kit, "198.51.100.1", "dewi@example.com", PASSWORD).await.status, 303);
    // An account that does not exist is throttled in the same way, or the difference would reveal it.
    for n in 10..10 + FREE {
        let address = format!("203.0.113.{n}");
        assert_eq!(attempt(&kit, &address, "nobody@example.com", "wrong").await.status, 401);
    }
    must_wait(&attempt(&kit, "198.51.100.2", "nobody@example.com", "wrong").await);
}

async fn an_address_is_throttled_across_all_accounts(kit: Arc<Kit>) {
    make(&kit, "siti@example.com", false).await;
    for n in 0..FREE {
        let email = format!("person{n}@example.com");
        assert_eq!(attempt(&kit, "203.0.113.7", &email, "wrong").await.status, 401);
    }
    must_wait(&attempt(&kit, "203.0.113.7", "siti@example.com", PASSWORD).await);
    // Addresses that a client writes before its own change nothing; another address is counted separately.
    must_wait(&attempt(&kit, "198.51.100.1, 203.0.113.7", "siti@example.com", PASSWORD).await);
    assert_eq!(attempt(&kit, "203.0.113.8", "siti@example.com", PASSWORD).await.status, 303);
    // Addresses of one IPv6 network count as one.
    for n in 0..FREE {
        let address = format!("2001:db8:0:1::{n}");
        assert_eq!(attempt(&kit, &address, &format!("somebody{n}@example.com"), "wrong").await.status, 401);
    }
    must_wait(&attempt(&kit, "2001:db8:0:1::ffff", "siti@example.com", PASSWORD).await);
    assert_eq!(attempt(&kit, "2001:db8:0:2::1", "siti@example.com", PASSWORD).await.status, 303);
}

/// An attempt in that browser, from behind a proxy.
async fn attempt_in(browser: &Customer, forwarded_for: &str, email: &str, password: &str) -> Reply {
    let form = browser.form(FORM, &[("email", email), ("password", password)]);
    browser.send(form.header("x-forwarded-for", forwarded_for)).await
}

/// Sends wrong passwords from an address, each as soon as it is allowed, until the address must wait for long.
async fn attack(kit: &Kit, address: &str, email: &str) {
    let mut waited = 0;
    while waited < 900 {
        let reply = attempt(kit, address, email, "wrong").await;
        if reply.status != 401 {
            waited = must_wait(&reply);
            kit.clock.advance(Duration::from_secs(waited));
        }
    }
    assert_eq!(attempt(kit, address, email, "wrong").await.status, 401);
    assert_eq!(must_wait(&attempt(kit, address, email, "wrong").await), 900);
}

async fn from_one_address_nobody_keeps_others_out_of_an_account(kit: Arc<Kit>) {
    make(&kit, "siti@example.com", false).await;
    attack(&kit, "203.0.113.66", "siti@example.com").await;
    let wait = must_wait(&attempt(&kit, "198.51.100.1", "siti@example.com", PASSWORD).await);
    assert!(wait <= 8, "a few seconds, not {wait}");
    kit.clock.advance(Duration::from_secs(wait));
    assert!(must_wait(&attempt(&kit, "203.0.113.66", "siti@example.com", PASSWORD).await) > 800);
    assert_eq!(attempt(&kit, "198.51.100.1", "siti@example.com", PASSWORD).await.status, 303);
}

async fn a_browser_in_which_the_user_signed_in_before_waits_for_nobody_elses_failures(kit: Arc<Kit>) {
    for email in ["siti@example.com", "budi@example.com"] {
        make(&kit, email, false).await;
    }
    let (shared, email) = ("203.0.113.66", "siti@example.com");
    let browser = Customer::of(&kit);
    for email in ["siti@example.com", "budi@example.com"] {
        assert_eq!(attempt_in(&browser, shared, email, PASSWORD).await.status, 303);
    }
    // Everybody behind one address is slowed down, the account is as well, and this browser is not.
    attack(&kit, shared, email).await;
    must_wait(&attempt(&kit, shared, email, PASSWORD).await);
    for address in [shared, "198.51.100.1"] {
        assert_eq!(attempt_in(&browser, address, email, PASSWORD).await.status, 303, "{address}");
    }
    // It is known to those who signed in there, and to nobody else.
    must_wait(&attempt_in(&browser, shared, "dewi@example.com", "wrong").await);
    // Guesses in it are its own.
    for _ in 0..FREE {
        assert_eq!(attempt_in(&browser, "198.51.100.2", email, "wrong").await.status, 401);
    }
    must_wait(&attempt_in(&browser, "198.51.100.3", email, PASSWORD).await);
    assert_eq!(attempt_in(&browser, "198.51.100.2", "budi@example.com", PASSWORD).await.status, 303);
}

async fn an_address_at_which_the_user_signed_in_before_waits_for_no_failures_elsewhere(kit: Arc<Kit>) {
    let email = "siti@example.com";
    make(&kit, email, false).await;
    assert_eq!(attempt(&kit, "198.51.100.1", email, PASSWORD).await.status, 303);
    for n in 0..FREE {
        assert_eq!(attempt(&kit, &format!("203.0.113.{n}"), email, "wrong").await.status, 401);
    }
    must_wait(&attempt(&kit, "198.51.100.2", email, PASSWORD).await);
    assert_eq!(attempt(&kit, "198.51.100.1", email, PASSWORD).await.status, 303);
    // Its own failures count, and only there.
    for _ in 0..FREE {
        assert_eq!(attempt(&kit, "198.51.100.1", email, "wrong").await.status, 401);
    }
    must_wait(&attempt(&kit, "198.51.100.1", email, PASSWORD).await);
}

/// Whoever signed in with the old password is a stranger afterwards: they have to wait as all do who guess.
async fn after_a_new_password_no_browser_and_no_address_is_known(kit: Arc<Kit>) {
    let (email, address, next) = ("siti@example.com", "198.51.100.1", "another long one");
    let siti = make(&kit, email, false).await;
    let (before, owner) = (Customer::of(&kit), Customer::of(&kit));
    for browser in [&before, &owner] {
        assert_eq!(attempt_in(browser, address, email, PASSWORD).await.status, 303);
    }
    let link = kit.engine.make_reset_link(&siti).await.unwrap().token;
    let reply = owner.post(&format!("/dashboard/reset/{}", link.reveal()), &[("password", next)]).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    for n in 0..FREE {
        assert_eq!(attempt(&kit, &format!("203.0.113.{n}"), email, "wrong").await.status, 401);
    }
    for browser in [&before, &owner] {
        must_wait(&attempt_in(browser, address, email, next).await);
    }
    kit.clock.advance(Duration::from_mins(1));
    let person = Person { user: siti, browser: owner };
    assert_eq!(attempt_in(&person.browser, address, email, next).await.status, 303);
    let change = [("old_password", next), ("new_password", PASSWORD)];
    assert_eq!(person.post("/dashboard/account/password", &change).await.status, 303);
    for n in 0..FREE {
        assert_eq!(attempt(&kit, &format!("203.0.113.{n}"), email, "wrong").await.status, 401);
    }
    must_wait(&attempt_in(&person.browser, address, email, PASSWORD).await);
}

async fn a_new_password_from_the_command_line_lifts_every_delay(kit: Arc<Kit>) {
    let siti = make(&kit, "siti@example.com", false).await;
    for _ in 0..FREE {
        assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", "wrong").await.status, 401);
    }
    must_wait(&sign_in(&Customer::of(&kit), "siti@example.com", PASSWORD).await);
    kit.engine.reset_password(&siti, "another password".into()).await.unwrap();
    assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", "another password").await.status, 303);
}

/// A process counts them in its memory, and not in its database; each of the many attempts takes a hash.
#[tokio::test]
async fn failed_attempts_fill_no_more_than_a_part_of_the_log() {
    on_sqlite_with(trusted_proxy(), |kit| async move {
        // Each from another address and at another account, so that none has to wait.
        for n in 0..210 {
            let (address, email) = (format!("203.0.{}.{}", n / 200, n % 200), format!("nobody{n}@example.com"));
            assert_eq!(attempt(&kit, &address, &email, "wrong").await.status, 401);
        }
        assert_eq!(audited(&kit, Deed::SignInRefused).await.len(), 200);
    })
    .await;
}

/// A user who must wait is told so while nothing can be written at all.
#[tokio::test]
async fn an_attempt_that_must_wait_does_not_reach_the_writer() {
    on_sqlite(|kit| async move {
        make(&kit, "siti@example.com", false).await;
        for _ in 0..FREE {
            assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", "wrong").await.status, 401);
        }
        let Database::Sqlite(path) = &kit.database else { panic!("a file") };
        let other = rusqlite::Connection::open(path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        for _ in 0..20 {
            must_wait(&sign_in(&Customer::of(&kit), "siti@example.com", PASSWORD).await);
        }
        other.execute_batch("ROLLBACK").unwrap();
    })
    .await;
}

async fn no_script_and_no_other_site_gets_at_the_session_cookie(kit: Arc<Kit>) {
    let rows = [
        (Options::default(), "lunas_session", vec!["HttpOnly", "SameSite=Lax"]),
        (base_url("https://pay.example"), "__Host-lunas_session", vec!["HttpOnly", "SameSite=Lax", "Secure"]),
    ];
    for (options, name, flags) in rows {
        kit.on_another(options, |kit| async move {
            make(&kit, "siti@example.com", false).await;
            let reply = sign_in(&Customer::of(&kit), "siti@example.com", PASSWORD).await;
            let [cookie, known] = &SetCookie::all(&reply.headers)[..] else { panic!("two cookies") };
            let seconds = 12 * 60 * 60;
            assert_eq!((cookie.name.as_str(), cookie.path.as_str(), cookie.seconds), (name, "/", seconds));
            assert_eq!(cookie.flags, flags);
            let known_name = name.replace("session", "known");
            assert_eq!((&known.name, known.path.as_str(), known.seconds), (&known_name, "/", 180 * 24 * 60 * 60));
            assert_eq!(known.flags, flags);
            let token = Token::parse(&cookie.value).unwrap();
            assert!(!reply.text.contains(&token.reveal()));
            // Nothing that is stored opens a session.
            let kept = crate::support::rows::rows(&kit.database);
            assert!(!kept.iter().any(|row| row.contains(&token.reveal()) || row.contains(PASSWORD)));
        })
        .await;
    }
}

async fn every_sign_in_makes_a_token_of_its_own_and_adopts_none(kit: Arc<Kit>) {
    let siti = make(&kit, "siti@example.com", false).await;
    // An attacker has planted a token that they know in this browser.
    let (browser, planted) = (Customer::of(&kit), "ab".repeat(32));
    let form = browser.form(FORM, &[("email", "siti@example.com"), ("password", PASSWORD)]);
    let reply = browser.send(form.header("cookie", format!("lunas_session={planted}"))).await;
    assert_eq!(reply.status, 303);
    let given = browser.cookie("/", "lunas_session").unwrap();
    assert_ne!(given, planted);
    let with = |token: &str| {
        let stranger = Customer::of(&kit);
        let request = stranger.request(Method::GET, "/dashboard/account");
        let request = request.header("cookie", format!("lunas_session={token}"));
        async move { stranger.send(request).await.status.as_u16() }
    };
    assert_eq!((with(&planted).await, with(&given).await), (401, 200));

    // A live session that an attacker planted in this browser ends when the victim signs in.
    let mallory = Person::new(&kit, "mallory@example.com").await;
    let stolen = mallory.token().unwrap().reveal();
    let browser = Customer::of(&kit);
    let form = browser.form(FORM, &[("email", siti.email.as_str()), ("password", PASSWORD)]);
    browser.send(form.header("cookie", format!("lunas_session={stolen}"))).await;
    let own = browser.cookie("/", "lunas_session").unwrap();
    assert_eq!((with(&stolen).await, with(&own).await), (401, 200));
    assert!(browser.open("/dashboard/account").await.text.contains("siti@example.com"));
}

async fn opening_the_form_needs_no_account_and_changes_nothing(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let before = crate::support::rows::rows(&kit.database);
    let page = Customer::of(&kit).open(FORM).await;
    is_page("the form", &page, 200);
    assert_eq!(hidden(&page), [("next".to_owned(), "/dashboard".to_owned())]);
    // A signed-in user is redirected.
    assert_eq!(siti.open(FORM).await.header("location"), Some("/dashboard"));
    assert_eq!(crate::support::rows::rows(&kit.database), before);
}
