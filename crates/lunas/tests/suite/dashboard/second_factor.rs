//! The second factor: adding it, signing in by it, its recovery codes, and removing it.

use std::{process::Command, sync::Arc, time::Duration};

use domain::audit::Deed;
use futures_util::future::join_all;
use reqwest::Method;
use testkit::{Kit, on_every_database, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::{Customer, hidden, is_page},
    dashboard::{audited, element, leads},
    nodes::Node,
    people::{PASSWORD, Person, sign_in},
    repository::root,
    rows::rows,
    second_factor::{
        App, CODE, FACTOR, STEP, add_factor, attempt_of, give_code, give_password, recovery_codes, secret_of,
        sign_in_by_code,
    },
};

on_every_database![
    a_code_signs_in_once_and_none_before_it_does_after_it,
    of_two_who_use_a_code_at_once_at_two_nodes_one_gets_in on 2 threads,
    of_two_who_use_a_recovery_code_at_once_one_gets_in on 2 threads,
    a_form_that_is_sent_twice_adds_one_factor_and_shows_the_same_codes,
];

on_sqlite_alone![
    a_code_counts_from_one_step_before_its_own_to_one_step_after_it,
    without_the_code_there_is_no_session,
    a_pending_sign_in_is_used_once,
    a_pending_sign_in_counts_for_five_minutes_in_its_browser_and_for_its_password,
    the_page_that_was_asked_for_is_opened_after_the_code,
    a_factor_is_added_once_its_first_code_proves_it_and_other_sessions_end,
    a_browser_that_is_known_needs_the_code_too,
    new_recovery_codes_replace_the_old_ones_and_a_form_sent_twice_shows_the_same,
    a_removed_factor_is_asked_for_no_more,
];

const ACCOUNT: &str = "/dashboard/account";
/// How long a pending sign-in counts.
const PENDING: Duration = Duration::from_mins(5);

async fn a_code_signs_in_once_and_none_before_it_does_after_it(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    let added_with = app.code(&kit);
    is_page("the code that it was added with", &give_code(&give_password(&kit, &siti).await, &added_with).await, 401);
    let older = app.next_code(&kit);
    let newer = app.next_code(&kit);
    sign_in_by_code(&kit, &siti, &newer).await;
    for code in [&newer, &older] {
        is_page(code, &give_code(&give_password(&kit, &siti).await, code).await, 401);
    }
    assert_eq!(audited(&kit, Deed::SignInRefused).await.len(), 3);
    sign_in_by_code(&kit, &siti, &app.next_code(&kit)).await;
}

async fn of_two_who_use_a_code_at_once_at_two_nodes_one_gets_in(kit: Arc<Kit>) {
    let node = Node::beside(&kit).await;
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    for _ in 0..3 {
        let code = app.next_code(&kit);
        let here = give_password(&kit, &siti).await;
        let there = give_password(&kit, &siti).await.moved_to(node.address);
        let replies = join_all([give_code(&here, &code), give_code(&there, &code)]).await;
        let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 401]);
    }
    node.stop().await;
}

async fn of_two_who_use_a_recovery_code_at_once_one_gets_in(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (_, codes) = add_factor(&kit, &siti).await;
    let browsers = [give_password(&kit, &siti).await, give_password(&kit, &siti).await];
    let replies = join_all(browsers.iter().map(|browser| give_code(browser, &codes[3]))).await;
    let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 401]);
    // As people may type it.
    let typed = codes[4].to_lowercase().replace('-', " ");
    let browser = give_password(&kit, &siti).await;
    assert_eq!(give_code(&browser, &typed).await.status, 303);
    let page = browser.open("/dashboard/account?lang=en").await;
    assert!(page.text.contains("8 recovery codes are left"), "{}", page.text);
    assert_eq!(audited(&kit, Deed::RecoveryCodeUsed).await.len(), 2);
}

async fn a_form_that_is_sent_twice_adds_one_factor_and_shows_the_same_codes(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let page = siti.open(FACTOR).await;
    let app = App::of(&page);
    let (attempt, code) = (attempt_of(&page), app.code(&kit));
    let fields = [("attempt", attempt.as_str()), ("code", code.as_str())];
    let send = || siti.post(FACTOR, &fields);
    let shown: Vec<Vec<String>> = join_all([send(), send()]).await.iter().map(recovery_codes).collect();
    assert_eq!(shown[0], shown[1]);
    assert_eq!(recovery_codes(&send().await), shown[0]);
    assert_eq!(audited(&kit, Deed::FactorAdded).await.len(), 1);
    // Another form would be another factor.
    let other = siti.post(FACTOR, &[("attempt", &"0".repeat(32)), ("code", &code)]).await;
    assert_eq!(other.header("location"), Some(ACCOUNT), "{}", other.status);
    let removed = siti.post(&format!("{FACTOR}/remove"), &[]).await;
    assert_eq!(leads(&removed, "factor-removed"), ACCOUNT);
    is_page("codes that count no more", &send().await, 409);
}

async fn a_code_counts_from_one_step_before_its_own_to_one_step_after_it(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    // The clock of a test begins with a step.
    assert_eq!(kit.engine.now().as_millis() % 30_000, 0);
    let just = Duration::from_millis(1);
    for (waited, counts) in [(STEP * 2 - just, true), (STEP * 2, false)] {
        let code = app.next_code(&kit);
        let browser = give_password(&kit, &siti).await;
        kit.clock.advance(waited);
        assert_eq!(give_code(&browser, &code).await.status, if counts { 303 } else { 401 }, "{waited:?} later");
        // To the beginning of a step.
        kit.clock.advance(STEP - Duration::from_millis(u64::try_from(kit.engine.now().as_millis() % 30_000).unwrap()));
    }
    // A phone whose clock is ahead shows the code of the next step.
    let ahead = app.next_code(&kit);
    let browser = give_password(&kit, &siti).await;
    kit.clock.set(kit.engine.now().minus(STEP));
    assert_eq!(give_code(&browser, &ahead).await.status, 303);
    let far_ahead = app.next_code(&kit);
    let further = app.next_code(&kit);
    assert_ne!(far_ahead, further);
    kit.clock.set(kit.engine.now().minus(STEP * 2));
    assert_eq!(give_code(&give_password(&kit, &siti).await, &further).await.status, 401);
}

async fn without_the_code_there_is_no_session(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    let sessions = kit.store.sessions(siti.user.id).await.unwrap();
    let browser = give_password(&kit, &siti).await;
    assert_eq!(browser.cookie("/", "lunas_session"), None);
    assert_eq!(browser.cookie("/", "lunas_known"), None, "it is known to nobody yet");
    is_page("the second step", &browser.open(CODE).await, 200);
    is_page("the account", &browser.open(ACCOUNT).await, 401);
    let api = browser.request(Method::GET, "/v1/project").send().await.unwrap();
    assert_eq!(api.status(), 401);
    for wrong in ["", "12345", "1234567", "abcdef", "'; --", &"9".repeat(2_000), &app.wrong_code(&kit)] {
        is_page(wrong, &give_code(&browser, wrong).await, 401);
        assert_eq!(browser.cookie("/", "lunas_session"), None);
    }
    assert_eq!(kit.store.sessions(siti.user.id).await.unwrap(), sessions);
    // A wrong password is refused as without a factor, and leads to no second step.
    let refused = sign_in(&Customer::of(&kit), "siti@example.com", "not the password").await;
    is_page("a wrong password", &refused, 401);
    assert_eq!(refused.headers.get("set-cookie"), None);
}

async fn a_pending_sign_in_is_used_once(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    let browser = give_password(&kit, &siti).await;
    let pending = browser.cookie("/", "lunas_pending").unwrap();
    let code = app.next_code(&kit);
    assert_eq!(give_code(&browser, &code).await.status, 303);
    assert_eq!(browser.cookie("/", "lunas_pending"), None);
    let other = Customer::of(&kit);
    other.set_cookie("/", "lunas_pending", &pending);
    let again = give_code(&other, &app.next_code(&kit)).await;
    is_page("a pending sign-in that was used", &again, 401);
    assert!(again.text.contains("name=\"password\"") && other.cookie("/", "lunas_session").is_none());
}

async fn a_pending_sign_in_counts_for_five_minutes_in_its_browser_and_for_its_password(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    let in_time = give_password(&kit, &siti).await;
    kit.clock.advance(PENDING - Duration::from_millis(1));
    assert_eq!(give_code(&in_time, &app.code(&kit)).await.status, 303);
    let late = give_password(&kit, &siti).await;
    kit.clock.advance(PENDING);
    let reply = give_code(&late, &app.code(&kit)).await;
    is_page("too late", &reply, 401);
    assert!(reply.text.contains("name=\"password\""), "{}", reply.text);

    let moved = give_password(&kit, &siti).await;
    let form = moved.form(CODE, &[("code", &app.code(&kit))]).header("user-agent", "another browser");
    assert!(moved.send(form).await.text.contains("name=\"password\""));
    for forged in ["", "00", &"0".repeat(300)] {
        let browser = Customer::of(&kit);
        browser.set_cookie("/", "lunas_pending", forged);
        assert!(give_code(&browser, &app.code(&kit)).await.text.contains("name=\"password\""));
    }

    let before_change = give_password(&kit, &siti).await;
    kit.engine.reset_password(&siti.user, "another password".into()).await.unwrap();
    let before = rows(&kit.database);
    let reply = give_code(&before_change, &app.code(&kit)).await;
    assert!(reply.text.contains("name=\"password\"") && before_change.cookie("/", "lunas_session").is_none());
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn the_page_that_was_asked_for_is_opened_after_the_code(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    for (next, led_to) in
        [("/dashboard/account?lang=en", "/dashboard/account?lang=en"), ("//evil.example", "/dashboard")]
    {
        let browser = Customer::of(&kit);
        let fields = [("email", "siti@example.com"), ("password", PASSWORD), ("next", next)];
        let reply = browser.post("/dashboard/sign-in", &fields).await;
        let page = browser.open(reply.header("location").unwrap()).await;
        is_page("the second step", &page, 200);
        let hidden = hidden(&page);
        assert_eq!(hidden, [("next".to_owned(), led_to.to_owned())]);
        let code = app.next_code(&kit);
        let reply = browser.post(CODE, &[("code", &code), ("next", next)]).await;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(led_to)));
    }
}

async fn a_factor_is_added_once_its_first_code_proves_it_and_other_sessions_end(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let elsewhere = Person::signed_in(&kit, siti.user.clone()).await;
    let page = siti.open(FACTOR).await;
    is_page("a new factor", &page, 200);
    let (app, attempt) = (App::of(&page), attempt_of(&page));
    let before = rows(&kit.database);
    for wrong in ["", "12345", "ABCD-EFGH-IJKL-MNOP", &app.wrong_code(&kit)] {
        let reply = siti.post(FACTOR, &[("attempt", &attempt), ("code", wrong)]).await;
        is_page(wrong, &reply, 422);
        assert_eq!(attempt_of(&reply), attempt, "the app need not scan again");
    }
    assert_eq!(rows(&kit.database), before, "nothing is stored before the first code");
    let added = siti.post(FACTOR, &[("attempt", &attempt), ("code", &app.code(&kit))]).await;
    is_page("an added factor", &added, 200);
    for code in recovery_codes(&added) {
        assert!(!rows(&kit.database).iter().any(|row| row.contains(&code)), "they are kept hashed");
    }
    is_page("this session", &siti.open(ACCOUNT).await, 200);
    is_page("another session", &elsewhere.open(ACCOUNT).await, 401);
    assert_eq!(siti.open(FACTOR).await.header("location"), Some(ACCOUNT), "there is one already");
}

async fn a_browser_that_is_known_needs_the_code_too(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, _) = add_factor(&kit, &siti).await;
    assert!(siti.browser.cookie("/", "lunas_known").is_some());
    siti.post("/dashboard/sign-out", &[]).await;
    sign_in(&siti.browser, "siti@example.com", PASSWORD).await;
    is_page("the account", &siti.browser.open(ACCOUNT).await, 401);
    assert_eq!(give_code(&siti.browser, &app.next_code(&kit)).await.status, 303);
    is_page("the account", &siti.browser.open(ACCOUNT).await, 200);
}

async fn new_recovery_codes_replace_the_old_ones_and_a_form_sent_twice_shows_the_same(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (_, old) = add_factor(&kit, &siti).await;
    let path = format!("{FACTOR}/codes");
    let attempt = attempt_of(&siti.open(&path).await);
    let new = recovery_codes(&siti.post(&path, &[("attempt", &attempt)]).await);
    assert!(new.iter().all(|code| !old.contains(code)));
    assert_eq!(recovery_codes(&siti.post(&path, &[("attempt", &attempt)]).await), new);
    assert_eq!(audited(&kit, Deed::RecoveryCodesRenewed).await.len(), 1);
    is_page("an old one", &give_code(&give_password(&kit, &siti).await, &old[0]).await, 401);
    assert_eq!(give_code(&give_password(&kit, &siti).await, &new[0]).await.status, 303);
}

async fn a_removed_factor_is_asked_for_no_more(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let (app, codes) = add_factor(&kit, &siti).await;
    let pending = give_password(&kit, &siti).await;
    siti.post(&format!("{FACTOR}/remove"), &[]).await;
    for code in [&app.next_code(&kit), &codes[0]] {
        is_page("a code of a factor that is gone", &give_code(&pending, code).await, 401);
    }
    Person::signed_in(&kit, siti.user.clone()).await;
    is_page("a factor to remove", &siti.post(&format!("{FACTOR}/remove"), &[]).await, 404);
    is_page("codes to renew", &siti.post(&format!("{FACTOR}/codes"), &[]).await, 404);
    assert_eq!(audited(&kit, Deed::FactorRemoved).await.len(), 1);
}

/// An app of other authors: `pyotp`, with the address that the page's QR code holds in place of a scan.
const FOREIGN_APP: &str = r#"
import sys, pyotp
app = pyotp.parse_uri(sys.argv[1])
assert (app.issuer, app.name) == ("Lunas", "siti@example.com")
print(app.at(int(sys.argv[2])))
"#;

fn foreign_code(kit: &Kit, address: &str) -> String {
    let seconds = (kit.engine.now().as_millis() / 1_000).to_string();
    let ran =
        Command::new(root().join("target/test-tools/bin/python")).args(["-c", FOREIGN_APP, address, &seconds]).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the tools that `make test` installs"]
async fn an_app_that_is_not_ours_adds_a_factor_and_signs_in_by_it() {
    on_sqlite(async |kit: Arc<Kit>| {
        let siti = Person::new(&kit, "siti@example.com").await;
        let page = siti.open(FACTOR).await;
        let key = element(&page.text, "factor-secret").replace(' ', "");
        let address = secret_of(&key).address("Lunas", "siti@example.com");
        let added = [("attempt", &*attempt_of(&page)), ("code", &*foreign_code(&kit, &address))];
        is_page("an added factor", &siti.post(FACTOR, &added).await, 200);
        for _ in 0..5 {
            kit.clock.advance(STEP);
            sign_in_by_code(&kit, &siti, &foreign_code(&kit, &address)).await;
        }
    })
    .await;
}
