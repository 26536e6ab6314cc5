//! Lost passwords: a link by letter sets a new one, once, and nobody learns whether there is an account.

use std::{fs, sync::Arc, time::Duration};

use domain::{
    audit::{Actor, Deed},
    password_reset::{RESET_LIFETIME, RESETS_MOST},
    time::HOUR,
    user::Token,
};
use futures_util::future::join_all;
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page},
    dashboard::{audited, leads, without_path},
    mailbox::{Mailbox, link_of},
    options::{base_url, trusted_proxy},
    people::{PASSWORD, Person, make, sign_in},
    repository::root,
    rows::rows,
    second_factor::{CODE, add_factor, give_code},
    wait::until,
};

on_every_database![
    a_link_by_letter_sets_a_new_password_and_ends_every_session on 2 threads,
    of_several_who_use_a_link_at_once_one_sets_the_password on 2 threads,
];

on_sqlite_alone![
    the_answer_does_not_tell_whether_there_is_an_account on 2 threads,
    opening_a_link_changes_nothing_however_often,
    an_unusable_password_leaves_the_link_open,
    every_unusable_link_looks_the_same_and_changes_nothing,
    a_newer_link_voids_the_earlier_ones,
    an_account_gets_a_few_letters_an_hour on 2 threads,
    a_network_asks_a_few_times_and_then_waits with trusted_proxy(),
    the_link_is_made_of_the_configured_address with base_url("https://bayar.toko.test"),
    without_mail_people_are_sent_to_the_operator,
    no_other_site_asks_or_sets_a_password,
    after_a_new_password_the_second_factor_is_still_asked_for,
];

const FORM: &str = "/dashboard/forgot";
const ACCOUNT: &str = "/dashboard/account";
const LINKS: &str = "/dashboard/reset/";
const NEW: &str = "a new one for Siti";
const EMAIL: &str = "siti@example.com";

async fn ask(kit: &Kit, email: &str) -> Reply {
    Customer::of(kit).post(FORM, &[("email", email)]).await
}

/// A link as an operator hands it over.
async fn link_by_hand(kit: &Kit, person: &Person) -> String {
    format!("{LINKS}{}", kit.engine.make_reset_link(&person.user).await.unwrap().token.reveal())
}

async fn set(kit: &Kit, link: &str, password: &str) -> Reply {
    Customer::of(kit).post(link, &[("password", password)]).await
}

async fn has_password(kit: &Kit, person: &Person, password: &str) -> bool {
    kit.engine.has_password(&person.user, password.into()).await.unwrap()
}

async fn a_link_by_letter_sets_a_new_password_and_ends_every_session(kit: Arc<Kit>) {
    let mailbox = Mailbox::of(&kit).await;
    let siti = Person::new(&kit, EMAIL).await;
    let budi = Person::new(&kit, "budi@example.com").await;
    let page = Customer::of(&kit).open("/dashboard/sign-in").await;
    assert!(page.text.contains("href=\"/dashboard/forgot\""), "{}", page.text);
    assert_eq!(leads(&ask(&kit, " Siti@Example.COM ").await, "reset-asked"), FORM);
    let letter = mailbox.wait_for(LINKS, 1).await.remove(0);
    assert!(letter.contains("To: siti@example.com"), "{letter}");
    let link = link_of(&kit, &letter, LINKS);
    is_stored_nowhere(&kit, &link);
    let browser = Customer::of(&kit);
    uses_link(&browser, &link).await;
    // Nobody is signed in by it, here or anywhere.
    for (who, page) in [("the browser", browser.open(ACCOUNT).await), ("a session", siti.open(ACCOUNT).await)] {
        is_page(who, &page, 401);
    }
    is_page("somebody else", &budi.open(ACCOUNT).await, 200);
    is_page("the old password", &sign_in(&Customer::of(&kit), EMAIL, PASSWORD).await, 401);
    assert_eq!(sign_in(&browser, EMAIL, NEW).await.status, 303);
    let told = mailbox.wait_for("Kata sandi Anda diganti", 1).await;
    assert!(told[0].contains("To: siti@example.com"), "{}", told[0]);
    let at = Actor::Stranger { address: "127.0.0.1".to_owned() };
    assert_eq!(audited(&kit, Deed::ResetLinkMade).await, [(at, EMAIL.to_owned())]);
    let by = Actor::User { id: siti.user.id, address: "127.0.0.1".to_owned() };
    assert_eq!(audited(&kit, Deed::PasswordReset).await, [(by, EMAIL.to_owned())]);
}

/// Neither the link nor what opens it.
fn is_stored_nowhere(kit: &Kit, link: &str) {
    let token = link.rsplit('/').next().unwrap();
    assert!(Token::parse(token).is_some());
    assert!(!rows(&kit.database).iter().any(|row| row.contains(token)));
}

async fn uses_link(browser: &Customer, link: &str) {
    let page = browser.open(link).await;
    is_page("a link", &page, 200);
    assert_eq!((page.header("cache-control"), page.header("referrer-policy")), (Some("no-store"), Some("no-referrer")));
    assert!(page.text.contains(EMAIL));
    assert_eq!(leads(&browser.post(link, &[("password", NEW)]).await, "password-reset"), "/dashboard/sign-in");
    let page = browser.open("/dashboard/sign-in?done=password-reset&lang=en").await;
    assert!(page.text.contains("The password is changed."), "{}", page.text);
}

async fn of_several_who_use_a_link_at_once_one_sets_the_password(kit: Arc<Kit>) {
    let siti = Person::new(&kit, EMAIL).await;
    let link = link_by_hand(&kit, &siti).await;
    let passwords: Vec<String> = (0..6).map(|number| format!("a new password {number}")).collect();
    let replies = join_all(passwords.iter().map(|password| set(&kit, &link, password))).await;
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 404).count(), 5, "{statuses:?}");
    let winner = statuses.iter().position(|status| *status == 303).unwrap();
    for (at, password) in passwords.iter().enumerate() {
        assert_eq!(has_password(&kit, &siti, password).await, at == winner, "{password}");
    }
    assert_eq!(audited(&kit, Deed::PasswordReset).await.len(), 1);
}

/// What a browser gets, without what differs between any two answers.
fn seen(reply: &Reply) -> (u16, Vec<String>, String) {
    let own = ["x-request-id", "date"];
    let mut headers: Vec<String> = reply
        .headers
        .iter()
        .filter(|(name, _)| !own.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    headers.sort();
    (reply.status.as_u16(), headers, reply.text.clone())
}

async fn the_answer_does_not_tell_whether_there_is_an_account(kit: Arc<Kit>) {
    let mailbox = Mailbox::of(&kit).await;
    make(&kit, EMAIL, false).await;
    let (known, unknown) = (ask(&kit, EMAIL).await, ask(&kit, "nobody@example.com").await);
    assert_eq!(seen(&known), seen(&unknown));
    assert_eq!(known.status, 303);
    mailbox.wait_for(LINKS, 1).await;
    let waiting = || async { kit.store.reset_requests(10).await.unwrap().is_empty() };
    until(waiting).await;
    assert_eq!(mailbox.with("nobody@example.com").len(), 0);
    // Nothing is kept of an address that has no account.
    assert!(!rows(&kit.database).iter().any(|row| row.contains("nobody@example.com")));
    let odd = "a".repeat(1_000) + "@example.com";
    for wrong in ["", "siti", "a@b@c", "siti@example.com\r\nBcc: x@example.com", odd.as_str()] {
        let page = ask(&kit, wrong).await;
        is_page(wrong, &page, 422);
    }
}

/// Timing is not measured, as that would test this machine. But who asks causes one commit of the same writes for every address, and
/// nothing is read about the address until a background step takes the request.
#[test]
fn asking_reads_nothing_about_an_account() {
    let source = fs::read_to_string(root().join("crates/engine/src/lost_passwords.rs")).unwrap();
    let (_, body) = source.split_once("pub async fn request_reset(").unwrap();
    let (body, _) = body.split_once("\n    }\n").unwrap();
    assert!(!body.contains("user") && !body.contains("has_mail"), "{body}");
    assert_eq!((body.matches("store.").count(), body.matches("commit(").count()), (1, 1), "{body}");
}

async fn opening_a_link_changes_nothing_however_often(kit: Arc<Kit>) {
    let siti = Person::new(&kit, EMAIL).await;
    let link = link_by_hand(&kit, &siti).await;
    let before = rows(&kit.database);
    for _ in 0..3 {
        is_page("a stranger", &Customer::of(&kit).open(&link).await, 200);
        is_page("the user", &siti.open(&link).await, 200);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn an_unusable_password_leaves_the_link_open(kit: Arc<Kit>) {
    let siti = Person::new(&kit, EMAIL).await;
    let link = link_by_hand(&kit, &siti).await;
    let before = rows(&kit.database);
    let long = "é".repeat(129);
    for password in ["", "eleven char", long.as_str()] {
        let page = set(&kit, &link, password).await;
        is_page(password, &page, 422);
        assert!(password.is_empty() || !page.text.contains(password), "a password is not shown again");
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(set(&kit, &link, NEW).await.status, 303);
    assert!(has_password(&kit, &siti, NEW).await);
}

async fn every_unusable_link_looks_the_same_and_changes_nothing(kit: Arc<Kit>) {
    let siti = Person::new(&kit, EMAIL).await;
    let used = link_by_hand(&kit, &siti).await;
    assert_eq!(set(&kit, &used, NEW).await.status, 303);
    let budi = Person::new(&kit, "budi@example.com").await;
    let changed = link_by_hand(&kit, &budi).await;
    kit.engine.reset_password(&budi.user, "changed meanwhile".into()).await.unwrap();
    let dewi = Person::new(&kit, "dewi@example.com").await;
    let late = link_by_hand(&kit, &dewi).await;
    kit.clock.advance(RESET_LIFETIME);
    let before = rows(&kit.database);
    let guessed = format!("{LINKS}{}", "0".repeat(64));
    let links = [used, changed, late, guessed, format!("{LINKS}junk")];
    let mut pages = Vec::new();
    for link in &links {
        let (opened, sent) = (Customer::of(&kit).open(link).await, set(&kit, link, "yet another one").await);
        is_page(link, &opened, 404);
        is_page(link, &sent, 404);
        pages.extend([without_path(&opened, link), without_path(&sent, link)]);
        assert!(!opened.text.contains("@example.com"), "{}", opened.text);
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
    assert_eq!(rows(&kit.database), before);
    assert!(has_password(&kit, &dewi, PASSWORD).await);
}

async fn a_newer_link_voids_the_earlier_ones(kit: Arc<Kit>) {
    let siti = Person::new(&kit, EMAIL).await;
    let (first, second) = (link_by_hand(&kit, &siti).await, link_by_hand(&kit, &siti).await);
    is_page("the first one", &set(&kit, &first, NEW).await, 404);
    assert_eq!(set(&kit, &second, NEW).await.status, 303);
}

async fn an_account_gets_a_few_letters_an_hour(kit: Arc<Kit>) {
    let mailbox = Mailbox::of(&kit).await;
    make(&kit, EMAIL, false).await;
    let most = usize::try_from(RESETS_MOST).unwrap();
    let ask_once = async || {
        let taken = || async { kit.store.reset_requests(10).await.unwrap().is_empty() };
        assert_eq!(ask(&kit, EMAIL).await.status, 303);
        until(taken).await;
    };
    for _ in 0..most {
        ask_once().await;
        // So that the network need not wait.
        kit.clock.advance(Duration::from_mins(1));
    }
    mailbox.wait_for(LINKS, most).await;
    ask_once().await;
    assert_eq!(audited(&kit, Deed::ResetLinkMade).await.len(), most);
    kit.clock.advance(HOUR);
    ask_once().await;
    mailbox.wait_for(LINKS, most + 1).await;
    assert_eq!(audited(&kit, Deed::ResetLinkMade).await.len(), most + 1);
}

async fn a_network_asks_a_few_times_and_then_waits(kit: Arc<Kit>) {
    let _mailbox = Mailbox::of(&kit).await;
    let ask = async |address: &str, email: &str| {
        let browser = Customer::of(&kit);
        browser.send(browser.form(FORM, &[("email", email)]).header("x-forwarded-for", address)).await
    };
    let mut waited = 0;
    for number in 0..8 {
        // Each asks for another account, known or not.
        let reply = ask("203.0.113.7", &format!("{number}@example.com")).await;
        if reply.status == 429 {
            is_page("one too many", &reply, 429);
            assert!(reply.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
            waited += 1;
        }
    }
    assert_eq!(waited, 3, "five are free");
    assert_eq!(ask("198.51.100.4", EMAIL).await.status, 303, "others need not wait");
    // It has nothing to do with signing in.
    let siti = make(&kit, EMAIL, false).await;
    let browser = Customer::of(&kit);
    let form = browser.form("/dashboard/sign-in", &[("email", siti.email.as_str()), ("password", PASSWORD)]);
    assert_eq!(browser.send(form.header("x-forwarded-for", "203.0.113.7")).await.status, 303);
}

async fn the_link_is_made_of_the_configured_address(kit: Arc<Kit>) {
    let mailbox = Mailbox::of(&kit).await;
    make(&kit, EMAIL, false).await;
    let browser = Customer::of(&kit);
    let form = browser.form(FORM, &[("email", EMAIL)]).header("host", "evil.example");
    let form = form.header("x-forwarded-host", "evil.example").header("forwarded", "host=evil.example");
    assert_eq!(browser.send(form).await.status, 303);
    let letter = mailbox.wait_for(LINKS, 1).await.remove(0);
    assert!(letter.contains(&format!("https://bayar.toko.test{LINKS}")), "{letter}");
    assert!(!letter.contains("evil.example"), "{letter}");
}

async fn without_mail_people_are_sent_to_the_operator(kit: Arc<Kit>) {
    make(&kit, EMAIL, false).await;
    let page = Customer::of(&kit).open("/dashboard/sign-in?lang=en").await;
    assert!(!page.text.contains(FORM) && page.text.contains("Ask the operator"), "{}", page.text);
    let before = rows(&kit.database);
    let page = Customer::of(&kit).open(&format!("{FORM}?lang=en")).await;
    is_page("the form", &page, 200);
    assert!(page.text.contains("Ask the operator") && !page.text.contains("<form"), "{}", page.text);
    is_page("a request", &ask(&kit, EMAIL).await, 404);
    assert_eq!(rows(&kit.database), before);
}

async fn no_other_site_asks_or_sets_a_password(kit: Arc<Kit>) {
    let siti = Person::new(&kit, EMAIL).await;
    let link = link_by_hand(&kit, &siti).await;
    let before = rows(&kit.database);
    let browser = Customer::of(&kit);
    for (path, fields) in [(FORM, [("email", EMAIL)]), (link.as_str(), [("password", NEW)])] {
        let forged = browser.form(path, &fields).header("sec-fetch-site", "cross-site");
        is_page(path, &browser.send(forged).await, 403);
    }
    assert_eq!(rows(&kit.database), before);
}

/// Who can read somebody's letters gets a new password by them, and no session.
async fn after_a_new_password_the_second_factor_is_still_asked_for(kit: Arc<Kit>) {
    let siti = Person::new(&kit, EMAIL).await;
    let (app, codes) = add_factor(&kit, &siti).await;
    let pending = Customer::of(&kit);
    assert!(sign_in(&pending, EMAIL, PASSWORD).await.header("location").unwrap().starts_with(CODE));
    let browser = Customer::of(&kit);
    uses_link(&browser, &link_by_hand(&kit, &siti).await).await;
    is_page("no session", &browser.open(ACCOUNT).await, 401);
    is_page("a sign-in from before", &give_code(&pending, &app.next_code(&kit)).await, 401);
    let second = sign_in(&browser, EMAIL, NEW).await;
    assert!(second.header("location").unwrap().starts_with(CODE), "{:?}", second.headers);
    is_page("without the code", &browser.open(ACCOUNT).await, 401);
    is_page("a wrong code", &give_code(&browser, &app.wrong_code(&kit)).await, 401);
    assert_eq!(give_code(&browser, &app.next_code(&kit)).await.status, 303);
    is_page("with the code", &browser.open(ACCOUNT).await, 200);
    let other = Customer::of(&kit);
    sign_in(&other, EMAIL, NEW).await;
    assert_eq!(give_code(&other, &codes[0]).await.status, 303, "recovery codes stay too");
}
