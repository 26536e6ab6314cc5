//! Tickets of visitors who are told to wait before they sign in: nobody keeps others out of their account by taking every moment
//! at which it is free.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use testkit::{Kit, Reply, on_every_database, on_postgres_with, on_sqlite_alone};

use crate::support::{
    customer::{Customer, SetCookie, is_page},
    nodes::Node,
    options::trusted_proxy,
    people::{PASSWORD, make},
};

on_every_database![
    who_waits_as_told_gets_in_while_others_take_every_free_moment with trusted_proxy(),
    a_ticket_admits_one_attempt with trusted_proxy(),
];

on_sqlite_alone![
    an_attacker_with_tickets_delays_others_once_for_each_of_their_networks with trusted_proxy(),
    a_ticket_counts_after_its_wait_at_its_account_in_its_browser_and_unchanged with trusted_proxy(),
    a_ticket_expires with trusted_proxy(),
    a_ticket_lifts_no_delay_of_its_own_address with trusted_proxy(),
    a_ticket_does_not_reveal_whether_the_account_exists with trusted_proxy(),
];

const FORM: &str = "/dashboard/sign-in";
const COOKIE: &str = "lunas_ticket";
const SITI: &str = "siti@example.com";
const BUDI: &str = "budi@example.com";
/// Between two attempts by ticket at one account, and from one network.
const LANE_PAUSE: u64 = 2;
const NETWORK_PAUSE: Duration = Duration::from_mins(10);
const LIFETIME: Duration = Duration::from_mins(15);

/// Sends wrong passwords, each from an address and a network that were never seen before.
#[derive(Default)]
struct Attacker(AtomicUsize);

impl Attacker {
    fn address(&self) -> String {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        format!("203.{}.{}.7", number / 250, number % 250)
    }

    /// Takes every attempt that the account allows now.
    async fn take_the_moment(&self, kit: &Kit, email: &str) {
        loop {
            let reply = attempt_in(&Customer::of(kit), &self.address(), email, "wrong").await;
            if reply.status == 429 {
                return;
            }
            assert_eq!(reply.status, 401);
        }
    }

    /// Lets time pass; the attacker is the first to come afterwards.
    async fn wait(&self, kit: &Kit, email: &str, pause: Duration) {
        kit.clock.advance(pause);
        self.take_the_moment(kit, email).await;
    }
}

/// An attempt in that browser, from behind a proxy.
async fn attempt_in(browser: &Customer, address: &str, email: &str, password: &str) -> Reply {
    let form = browser.form(FORM, &[("email", email), ("password", password)]);
    browser.send(form.header("x-forwarded-for", address)).await
}

/// An attempt of a browser that has this cookie and calls itself that.
async fn attempt_with(kit: &Kit, ticket: &str, user_agent: Option<&str>, email: &str) -> Reply {
    let browser = Customer::of(kit);
    let form = browser.form(FORM, &[("email", email), ("password", PASSWORD)]);
    let form = form.header("cookie", format!("{COOKIE}={ticket}")).header("x-forwarded-for", "198.51.199.99");
    browser.send(user_agent.into_iter().fold(form, |form, name| form.header("user-agent", name))).await
}

#[track_caller]
fn must_wait(reply: &Reply) -> u64 {
    is_page("an attempt that must wait", reply, 429);
    reply.header("retry-after").unwrap().parse().unwrap()
}

fn ticket_of(browser: &Customer) -> String {
    browser.cookie("/", COOKIE).unwrap()
}

/// A browser that was told to wait, after the wait, when the account is blocked again.
async fn waited(kit: &Kit, attacker: &Attacker, address: &str, email: &str) -> Customer {
    attacker.take_the_moment(kit, email).await;
    let browser = Customer::of(kit);
    let wait = must_wait(&attempt_in(&browser, address, email, PASSWORD).await);
    attacker.wait(kit, email, Duration::from_secs(wait)).await;
    browser
}

/// Before there were tickets, a visitor who obeyed every Retry-After was kept out for as long as the attack went on.
async fn who_waits_as_told_gets_in_while_others_take_every_free_moment(kit: Arc<Kit>) {
    make(&kit, SITI, false).await;
    let (attacker, browser) = (Attacker::default(), Customer::of(&kit));
    for _ in 0..6 {
        attacker.wait(&kit, SITI, Duration::from_secs(8)).await;
    }
    let wait = must_wait(&attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await);
    assert!(wait <= 8, "{wait}");
    let [cookie] = &SetCookie::all(&attempt_in(&Customer::of(&kit), "198.51.100.1", SITI, PASSWORD).await.headers)[..]
    else {
        panic!("one cookie")
    };
    let expected = (COOKIE, "/", i64::try_from(LIFETIME.as_secs()).unwrap());
    assert_eq!((cookie.name.as_str(), cookie.path.as_str(), i64::from(cookie.seconds)), expected);
    assert_eq!(cookie.flags, ["HttpOnly", "SameSite=Lax"]);
    attacker.wait(&kit, SITI, Duration::from_secs(wait)).await;
    must_wait(&attempt_in(&Customer::of(&kit), "198.51.100.2", SITI, PASSWORD).await);
    let reply = attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    assert_eq!(browser.cookie("/", COOKIE), None, "it is of no use any more");
    is_page("signed in", &browser.open("/dashboard/account").await, 200);
}

async fn an_attacker_with_tickets_delays_others_once_for_each_of_their_networks(kit: Arc<Kit>) {
    const NETWORKS: usize = 4;
    make(&kit, SITI, false).await;
    let attacker = Attacker::default();
    attacker.wait(&kit, SITI, Duration::ZERO).await;
    // Several addresses in each network, all of which have waited before the visitor comes.
    let mut collected = Vec::new();
    for number in 0..3 * NETWORKS {
        let (browser, address) = (Customer::of(&kit), format!("192.0.{}.{number}", number % NETWORKS));
        must_wait(&attempt_in(&browser, &address, SITI, "wrong").await);
        collected.push((browser, address));
    }
    attacker.wait(&kit, SITI, Duration::from_secs(8)).await;
    let browser = Customer::of(&kit);
    let mut wait = must_wait(&attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await);
    let (mut waits, mut taken) = (Vec::new(), 0);
    loop {
        waits.push(wait);
        attacker.wait(&kit, SITI, Duration::from_secs(wait)).await;
        for (browser, address) in &collected {
            let reply = attempt_in(browser, address, SITI, "wrong").await;
            taken += usize::from(reply.status == 401);
        }
        let reply = attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await;
        if reply.status == 303 {
            break;
        }
        wait = must_wait(&reply);
        assert!(wait <= LANE_PAUSE, "{waits:?}, then {wait}");
        assert!(waits.len() <= NETWORKS, "{waits:?}");
    }
    assert_eq!(taken, NETWORKS, "each network takes one moment, and no more: {waits:?}");
}

async fn a_ticket_admits_one_attempt(kit: Arc<Kit>) {
    make(&kit, SITI, false).await;
    let attacker = Attacker::default();
    let browser = waited(&kit, &attacker, "198.51.100.1", SITI).await;
    let used = ticket_of(&browser);
    assert_eq!(attempt_in(&browser, "198.51.100.1", SITI, "a typing error").await.status, 401);
    // A second one waits like everybody else, and gets another ticket.
    attacker.wait(&kit, SITI, Duration::from_secs(LANE_PAUSE)).await;
    let wait = must_wait(&attempt_in(&browser, "198.51.101.1", SITI, PASSWORD).await);
    let other = ticket_of(&browser);
    assert_ne!(other, used);
    attacker.wait(&kit, SITI, Duration::from_secs(wait)).await;
    must_wait(&attempt_with(&kit, &used, None, SITI).await);
    // Its network has had its attempt; another network has not.
    must_wait(&attempt_in(&browser, "198.51.100.2", SITI, PASSWORD).await);
    assert_eq!(ticket_of(&browser), other, "a ticket that was not used is kept");
    assert_eq!(attempt_in(&browser, "198.51.101.1", SITI, PASSWORD).await.status, 303);

    // Of many attempts at once with one ticket, one is judged.
    attacker.wait(&kit, SITI, Duration::from_secs(LANE_PAUSE)).await;
    let browser = waited(&kit, &attacker, "198.51.102.1", SITI).await;
    let attempts = (0..8).map(|number| {
        let (browser, address) = (browser.moved_to(kit.address), format!("198.51.{}.1", 110 + number));
        async move { attempt_in(&browser, &address, SITI, "wrong").await }
    });
    let statuses: Vec<u16> =
        futures_util::future::join_all(attempts).await.iter().map(|reply| reply.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 1, "{statuses:?}");
}

async fn a_ticket_counts_after_its_wait_at_its_account_in_its_browser_and_unchanged(kit: Arc<Kit>) {
    for email in [SITI, BUDI] {
        make(&kit, email, false).await;
    }
    let attacker = Attacker::default();
    attacker.take_the_moment(&kit, SITI).await;
    attacker.wait(&kit, SITI, Duration::from_secs(8)).await;
    let browser = Customer::of(&kit);
    let wait = must_wait(&attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await);
    let ticket = ticket_of(&browser);
    // Too early, and told to wait no longer than before.
    kit.clock.advance(Duration::from_secs(wait - 1));
    assert_eq!(must_wait(&attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await), 1);
    assert_eq!(ticket_of(&browser), ticket);
    attacker.wait(&kit, SITI, Duration::from_secs(1)).await;
    attacker.take_the_moment(&kit, BUDI).await;
    must_wait(&attempt_with(&kit, &ticket, None, BUDI).await);
    must_wait(&attempt_with(&kit, &ticket, Some("Another/1.0"), SITI).await);
    must_wait(&attempt_in(&Customer::of(&kit), "198.51.100.1", SITI, PASSWORD).await);
    let last = if ticket.ends_with('0') { "1" } else { "0" };
    for forged in ["", "0", "x", &ticket[2..], &format!("{}{last}", &ticket[..ticket.len() - 1]), &"0".repeat(200)] {
        must_wait(&attempt_with(&kit, forged, None, SITI).await);
    }
    assert_eq!(attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await.status, 303);
}

async fn a_ticket_expires(kit: Arc<Kit>) {
    make(&kit, SITI, false).await;
    let attacker = Attacker::default();
    let browser = waited(&kit, &attacker, "198.51.100.1", SITI).await;
    let expired = ticket_of(&browser);
    attacker.wait(&kit, SITI, LIFETIME).await;
    let wait = must_wait(&attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await);
    assert_ne!(ticket_of(&browser), expired);
    attacker.wait(&kit, SITI, Duration::from_secs(wait)).await;
    must_wait(&attempt_with(&kit, &expired, None, SITI).await);
    // The next one is good until its last moment.
    attacker.wait(&kit, SITI, LIFETIME - Duration::from_millis(1)).await;
    assert_eq!(attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await.status, 303);
}

/// Guesses of one visitor are slowed down as before.
async fn a_ticket_lifts_no_delay_of_its_own_address(kit: Arc<Kit>) {
    make(&kit, SITI, false).await;
    let (attacker, address) = (Attacker::default(), "198.51.100.1");
    let mut browsers = Vec::new();
    attacker.take_the_moment(&kit, SITI).await;
    for _ in 0..8 {
        let browser = Customer::of(&kit);
        must_wait(&attempt_in(&browser, address, SITI, "wrong").await);
        browsers.push(browser);
    }
    let mut judged = 0;
    for browser in &browsers {
        attacker.wait(&kit, SITI, NETWORK_PAUSE / 8).await;
        judged += usize::from(attempt_in(browser, address, SITI, "wrong").await.status == 401);
    }
    assert_eq!(judged, 1, "one of its network in ten minutes");
    attacker.wait(&kit, SITI, NETWORK_PAUSE / 8 + Duration::from_secs(1)).await;
    for number in 0..4 {
        attempt_in(&Customer::of(&kit), address, &format!("nobody{number}@example.com"), "wrong").await;
    }
    let wait = must_wait(&attempt_in(&browsers[7], address, SITI, PASSWORD).await);
    assert_eq!(wait, 1, "the address itself must wait after its fifth failure");
    attacker.wait(&kit, SITI, Duration::from_secs(wait)).await;
    assert_eq!(attempt_in(&browsers[7], address, SITI, PASSWORD).await.status, 303);
}

/// What a browser gets when it must wait, but for what differs between any two answers.
fn answer(reply: &Reply, email: &str) -> (u16, BTreeSet<String>, usize, String) {
    let names = reply.headers.keys().map(ToString::to_string).collect();
    let [cookie] = &SetCookie::all(&reply.headers)[..] else { panic!("one cookie") };
    (reply.status.as_u16(), names, cookie.value.len(), reply.text.replace(email, "EMAIL"))
}

async fn a_ticket_does_not_reveal_whether_the_account_exists(kit: Arc<Kit>) {
    make(&kit, SITI, false).await;
    let mut answers = Vec::new();
    for email in [SITI, "dewi@example.com", "siti.example.com"] {
        let (attacker, browser) = (Attacker::default(), Customer::of(&kit));
        attacker.0.store(1_000 * answers.len(), Ordering::Relaxed);
        attacker.take_the_moment(&kit, email).await;
        let first = attempt_in(&browser, "198.51.100.1", email, "wrong").await;
        attacker.wait(&kit, email, Duration::from_secs(must_wait(&first))).await;
        let second = attempt_in(&browser, "198.51.100.1", email, "wrong").await;
        assert_eq!(second.status, 401, "{email}");
        assert_eq!(second.headers.get("set-cookie"), None, "{email}");
        answers.push((answer(&first, email), second.text.replace(email, "EMAIL")));
        kit.clock.advance(NETWORK_PAUSE);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[tokio::test]
async fn a_ticket_of_one_node_is_honoured_by_another_and_by_both_together_once() {
    on_postgres_with(trusted_proxy(), async |kit: Arc<Kit>| {
        make(&kit, SITI, false).await;
        let node = Node::beside(&kit).await;
        let attacker = Attacker::default();
        let browser = waited(&kit, &attacker, "198.51.100.1", SITI).await;
        let there = browser.moved_to(node.address);
        assert_eq!(attempt_in(&there, "", SITI, "a typing error").await.status, 401);
        attacker.wait(&kit, SITI, Duration::from_secs(LANE_PAUSE)).await;
        must_wait(&attempt_in(&browser, "198.51.100.1", SITI, PASSWORD).await);
        attacker.wait(&kit, SITI, NETWORK_PAUSE).await;
        let there = browser.moved_to(node.address);
        assert_eq!(attempt_in(&there, "", SITI, PASSWORD).await.status, 303);
        node.stop().await;
    })
    .await;
}
