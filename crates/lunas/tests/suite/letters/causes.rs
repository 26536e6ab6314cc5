//! What causes a letter, and who gets it.

use std::{sync::Arc, time::Duration};

use demobank::Style;
use domain::{access::Role, language::Language, letter::LetterKind, second_factor::LIFT_DELAY, time::HOUR};
use serde_json::json;
use testkit::{Answer, Kit, Relay, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::Customer,
    face::give_face,
    held::held_late,
    letters::{Shop, letters, link_with_email, pay_as, send_to, set_up, states, with_receipts},
    mailbox::{Mailbox, link_of},
    payments::{pending_qris, simulate_paid},
    people::{PASSWORD, Person, make, sign_in},
    rows::erase_customer,
    second_factor::{FACTOR, add_factor, attempt_of, give_code, give_password, recovery_codes},
    wait::until,
    webhooks::{newest_event, wait_for_attempts},
};

on_every_database![
    owners_are_told_of_held_money_and_nobody_else on 2 threads,
    a_customer_who_left_an_address_gets_a_receipt_where_the_project_wants_that on 2 threads,
    a_sandbox_sends_receipts_to_its_members_alone on 2 threads,
    a_customer_who_is_erased_leaves_no_letter_behind on 2 threads,
    webhooks_that_fail_for_an_hour_are_told_once_for_each_stretch on 2 threads,
    an_old_webhook_that_is_sent_again_has_not_failed_for_an_hour on 2 threads,
];

on_sqlite_alone![
    a_sign_in_from_a_new_browser_is_told_and_one_from_a_known_browser_is_not on 2 threads,
    after_a_new_password_every_browser_is_new on 2 threads,
    a_changed_password_is_told on 2 threads,
    a_factor_that_is_added_renewed_or_removed_is_told on 2 threads,
    a_recovery_code_that_is_used_and_a_factor_that_is_lifted_are_told on 2 threads,
    a_receipt_carries_the_shops_logo_with_it on 2 threads,
];

const MINUTE: Duration = Duration::from_mins(1);

async fn kinds(kit: &Kit) -> Vec<LetterKind> {
    letters(kit).await.into_iter().map(|letter| letter.kind).collect()
}

async fn a_sign_in_from_a_new_browser_is_told_and_one_from_a_known_browser_is_not(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    send_to(&kit, &relay);
    let user = make(&kit, "siti@example.com", false).await;
    let browser = Customer::of(&kit);
    assert_eq!(sign_in(&browser, "siti@example.com", PASSWORD).await.status, 303);
    assert_eq!(kinds(&kit).await, [], "who has just made the account knows");
    kit.clock.advance(2 * MINUTE);
    assert_eq!(sign_in(&browser, "siti@example.com", PASSWORD).await.status, 303);
    assert_eq!(kinds(&kit).await, [], "the browser is known");
    assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", "a wrong password").await.status, 401);
    assert_eq!(kinds(&kit).await, [], "nobody has signed in");
    assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", PASSWORD).await.status, 303);
    let taken = relay.has(1).await;
    assert_eq!((taken[0].to.as_str(), kinds(&kit).await), ("siti@example.com", vec![LetterKind::NewDevice]));
    assert_eq!(letters(&kit).await[0].user_id, Some(user.id));
    assert!(taken[0].header("List-Unsubscribe").is_none(), "nobody can switch it off");
    assert!(taken[0].words().contains("127.0.0.1"));
}

async fn after_a_new_password_every_browser_is_new(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let user = make(&kit, "siti@example.com", false).await;
    let browser = Customer::of(&kit);
    assert_eq!(sign_in(&browser, "siti@example.com", PASSWORD).await.status, 303);
    send_to(&kit, &relay);
    kit.clock.advance(2 * MINUTE);
    let link = kit.engine.make_reset_link(&user).await.unwrap().token;
    let reset = [("password", "another long one")];
    assert_eq!(browser.post(&format!("/dashboard/reset/{}", link.reveal()), &reset).await.status, 303);
    // Letters of one moment have no order.
    kit.clock.advance(MINUTE);
    for _ in 0..2 {
        assert_eq!(sign_in(&browser, "siti@example.com", "another long one").await.status, 303);
    }
    assert_eq!(kinds(&kit).await, [LetterKind::PasswordChanged, LetterKind::NewDevice], "once, then it is known again");
}

async fn a_changed_password_is_told(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    send_to(&kit, &relay);
    let person = Person::new(&kit, "siti@example.com").await;
    let wrong = [("old_password", "not the password"), ("new_password", "another long one")];
    assert_eq!(person.post("/dashboard/account/password", &wrong).await.status, 422);
    assert_eq!(kinds(&kit).await, []);
    let right = [("old_password", PASSWORD), ("new_password", "another long one")];
    assert_eq!(person.post("/dashboard/account/password", &right).await.status, 303);
    relay.has(1).await;
    assert_eq!(kinds(&kit).await, [LetterKind::PasswordChanged]);
}

/// A letter with these words comes to its user.
async fn is_told_to_siti(mailbox: &Mailbox, words: &str) {
    let letter = mailbox.wait_for(words, 1).await.remove(0);
    assert!(letter.contains("To: siti@example.com"), "{letter}");
    assert!(!letter.contains("List-Unsubscribe"), "nobody can switch it off: {letter}");
}

async fn factor_letters(kit: &Kit) -> usize {
    kinds(kit).await.into_iter().filter(|kind| *kind == LetterKind::FactorChanged).count()
}

async fn a_factor_that_is_added_renewed_or_removed_is_told(kit: Arc<Kit>) {
    let mailbox = Mailbox::of(&kit).await;
    let siti = Person::new(&kit, "siti@example.com").await;
    let refused = [("attempt", "0123456789abcdef0123456789abcdef"), ("code", "12345")];
    assert_eq!(siti.post(FACTOR, &refused).await.status, 422);
    assert_eq!(factor_letters(&kit).await, 0, "nothing was changed");
    add_factor(&kit, &siti).await;
    is_told_to_siti(&mailbox, "Faktor kedua diaktifkan").await;
    let path = format!("{FACTOR}/codes");
    let attempt = attempt_of(&siti.open(&path).await);
    for _ in 0..2 {
        recovery_codes(&siti.post(&path, &[("attempt", &attempt)]).await);
    }
    is_told_to_siti(&mailbox, "Kode pemulihan diperbarui").await;
    assert_eq!(siti.post(&format!("{FACTOR}/remove"), &[]).await.status, 303);
    is_told_to_siti(&mailbox, "Mulai sekarang, kata sandi saja cukup untuk masuk ke akun Anda.").await;
    assert_eq!(factor_letters(&kit).await, 3, "each once");
}

async fn a_recovery_code_that_is_used_and_a_factor_that_is_lifted_are_told(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let operator = Person::operator(&kit, "operator@example.com").await;
    let (_, codes) = add_factor(&kit, &siti).await;
    let mailbox = Mailbox::of(&kit).await;
    assert_eq!(give_code(&give_password(&kit, &siti).await, &codes[0]).await.status, 303);
    is_told_to_siti(&mailbox, "Kode yang tersisa: 9.").await;
    let lift = format!("/dashboard/operator/users/{}/lift", siti.user.id);
    for _ in 0..2 {
        assert_eq!(operator.post(&lift, &[]).await.status, 303);
    }
    is_told_to_siti(&mailbox, "Faktor kedua akan dimatikan").await;
    kit.clock.advance(LIFT_DELAY);
    kit.engine.lift_due_factors().await.unwrap();
    is_told_to_siti(&mailbox, "Faktor kedua dimatikan oleh operator").await;
    assert_eq!(factor_letters(&kit).await, 3, "each once");
}

async fn owners_are_told_of_held_money_and_nobody_else(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.sandbox().await;
    for (role, email) in [(Role::Owner, "owner@example.com"), (Role::Developer, "dev@example.com")] {
        Person::member(&kit, project.id, role, email).await;
    }
    Person::operator(&kit, "operator@example.com").await;
    send_to(&kit, &relay);
    let held = held_late(&kit, &project, "late").await;
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "owner@example.com");
    assert!(taken[0].words().contains(&held.path(&project)), "it leads to the decision: {}", taken[0].words());
    assert!(taken[0].header("List-Unsubscribe").unwrap().starts_with(&format!("<{}", kit.pages_url)));
    assert_eq!(taken[0].header("List-Unsubscribe-Post").as_deref(), Some("List-Unsubscribe=One-Click"));
    assert_eq!(kinds(&kit).await, [LetterKind::MoneyHeld]);
}

async fn a_customer_who_left_an_address_gets_a_receipt_where_the_project_wants_that(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let shop = Shop::new(&kit, Style::BCA).await;
    send_to(&kit, &relay);
    shop.sell_to(&kit, "siti@example.com").await;
    assert_eq!(kinds(&kit).await, [], "off by default");
    with_receipts(&kit, &shop.contracted.project).await;
    shop.pay(&shop.contracted.payment().await).await;
    assert_eq!(kinds(&kit).await, [], "nobody left an address");
    let payment = shop.sell_to(&kit, "Siti@Example.com").await;
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "siti@example.com");
    assert!(taken[0].words().contains(payment["id"].as_str().unwrap()));
    assert_eq!(kinds(&kit).await, [LetterKind::Receipt]);
}

async fn a_receipt_carries_the_shops_logo_with_it(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let shop = Shop::with_receipts(&kit, Style::BCA).await;
    send_to(&kit, &relay);
    shop.sell_to(&kit, "siti@example.com").await;
    assert!(!relay.has(1).await[0].text.contains("cid:"), "a shop without one");
    give_face(&kit, shop.contracted.project.id).await;
    shop.sell_to(&kit, "budi@example.com").await;
    let letter = &relay.has(2).await[1].text;
    for part in ["multipart/related", "Content-Type: image/png", "Content-ID: <logo>", "cid:logo"] {
        assert_eq!(letter.matches(part).count(), 1, "{part}: {letter}");
    }
    assert!(!letter.contains("/logos/"), "nothing is fetched: {letter}");
}

/// Everybody may have a sandbox, and pays there with no money: nobody is written to who has nothing to do with it.
async fn a_sandbox_sends_receipts_to_its_members_alone(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let siti = Person::member(&kit, project.id, Role::Viewer, "siti@example.com").await;
    Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    Person::member(&kit, other.id, Role::Owner, "budi@example.com").await;
    with_receipts(&kit, &project).await;
    send_to(&kit, &relay);
    let link = link_with_email(&project).await;
    for stranger in ["pelanggan@example.com", "budi@example.com"] {
        pay_as(&kit, &project, &link, stranger).await;
    }
    assert_eq!(kinds(&kit).await, []);
    let payment = pay_as(&kit, &project, &link, "Siti@Example.com").await;
    assert_eq!(relay.has(1).await[0].to, "siti@example.com");
    let again = json!({ "outcome": "paid", "receipt_id": "once more" });
    project.api.post(&format!("/v1/sandbox/payments/{}/simulate", payment["id"].as_str().unwrap()), &again).await;
    let receipts = async || kinds(&kit).await.into_iter().filter(|kind| *kind == LetterKind::Receipt).count();
    assert_eq!(receipts().await, 1, "a second payment of the same bill is held, and no receipt");
    kit.engine.deactivate_user(&siti.user, None, false).await.unwrap();
    pay_as(&kit, &project, &link, "siti@example.com").await;
    assert_eq!(receipts().await, 1, "who cannot sign in any more is a stranger");
}

async fn a_customer_who_is_erased_leaves_no_letter_behind(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let shop = Shop::with_receipts(&kit, Style::BCA).await;
    send_to(&kit, &relay);
    let erased = shop.sell_to(&kit, "siti@example.com").await;
    shop.sell_to(&kit, "budi@example.com").await;
    until(async || states(&kit).await == ["sent"; 2]).await;
    kit.engine.delete_letters_to_erased_customers().await.unwrap();
    assert_eq!(kinds(&kit).await, [LetterKind::Receipt; 2]);
    erase_customer(&kit.database, erased["id"].as_str().unwrap());
    kit.engine.delete_letters_to_erased_customers().await.unwrap();
    let left = letters(&kit).await;
    assert_eq!(left.len(), 1);
    let shown = kit.engine.shown_letter(left[0].id).await.unwrap();
    assert_eq!(shown.address.as_deref(), Some("budi@example.com"));
}

async fn webhooks_that_fail_for_an_hour_are_told_once_for_each_stretch(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, receiver) = kit.hooked(Answer::Status(500)).await;
    for (role, email) in [(Role::Owner, "owner@example.com"), (Role::Viewer, "viewer@example.com")] {
        Person::member(&kit, project.id, role, email).await;
    }
    send_to(&kit, &relay);
    kit.may_leave_deliveries_due();
    pay(&project).await;
    // The next attempt is due some time after the record of the one before, so that is waited for.
    let event = newest_event(&project).await;
    wait_for_attempts(&kit, &event, 1).await;
    kit.clock.advance(HOUR - MINUTE);
    wait_for_attempts(&kit, &event, 2).await;
    assert_eq!(kinds(&kit).await, [], "it has not lasted for an hour");
    kit.clock.advance(2 * MINUTE);
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "owner@example.com");
    assert!(taken[0].words().contains(&receiver.url()));
    kit.clock.advance(HOUR);
    wait_for_attempts(&kit, &event, 3).await;
    receiver.answer(Answer::Status(200));
    kit.clock.advance(HOUR);
    until(async || kit.store.letter_alerts("").await.unwrap().is_empty()).await;
    assert_eq!(kinds(&kit).await, [LetterKind::WebhookFailing], "once for the stretch");
    receiver.answer(Answer::Status(500));
    pay(&project).await;
    wait_for_attempts(&kit, &newest_event(&project).await, 1).await;
    kit.clock.advance(HOUR + MINUTE);
    relay.has(2).await;
    assert_eq!(kinds(&kit).await, [LetterKind::WebhookFailing; 2]);
}

async fn pay(project: &TestProject) {
    let payment = pending_qris(project, 15_000).await;
    simulate_paid(project, &payment).await;
}

async fn an_old_webhook_that_is_sent_again_has_not_failed_for_an_hour(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (well, receiver) = kit.hooked(Answer::Status(200)).await;
    let (failing, _receiver) = kit.hooked(Answer::Status(500)).await;
    for (project, email) in [(&well, "well@example.com"), (&failing, "failing@example.com")] {
        Person::member(&kit, project.id, Role::Owner, email).await;
    }
    send_to(&kit, &relay);
    kit.may_leave_deliveries_due();
    for project in [&well, &failing] {
        pay(project).await;
        wait_for_attempts(&kit, &newest_event(project).await, 1).await;
    }
    kit.clock.advance(HOUR - MINUTE);
    receiver.answer(Answer::Status(500));
    let event = newest_event(&well).await;
    kit.engine.resend(well.id, event.parse().unwrap()).await.unwrap();
    wait_for_attempts(&kit, &event, 2).await;
    kit.clock.advance(2 * MINUTE);
    // The same look finds both: what was caused an hour ago, and failed for the first time just now.
    assert_eq!(relay.has(1).await[0].to, "failing@example.com");
    assert_eq!(kinds(&kit).await, [LetterKind::WebhookFailing]);
    kit.clock.advance(HOUR);
    assert_eq!(relay.has(2).await[1].to, "well@example.com");
}

/// A letter is caused by its change: a change that is refused causes none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_refused_queues_no_letter() {
    testkit::on_sqlite(async |kit: Arc<Kit>| {
        let relay = Relay::start().await;
        set_up(&kit, relay.mailer());
        let project = kit.sandbox().await;
        let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
        let path = format!("/dashboard/{}/settings/members", project.id);
        let invite =
            [("email", "owner@example.com"), ("role", "viewer"), ("attempt", "0123456789abcdef0123456789abcdef")];
        assert_eq!(owner.post(&path, &invite).await.status, 409, "that address is a member already");
        let invite =
            [("email", "budi@example.com"), ("role", "viewer"), ("attempt", "fedcba9876543210fedcba9876543210")];
        for _ in 0..2 {
            assert_eq!(owner.post(&path, &invite).await.status, 200);
        }
        assert_eq!(kinds(&kit).await, [LetterKind::Invitation], "a form that is sent twice invites once");
        kit.clock.advance(MINUTE);
        let english = [("email", "dewi@example.com"), ("role", "viewer")];
        assert_eq!(owner.post(&format!("{path}?lang=en"), &english).await.status, 200);
        let languages: Vec<Language> = letters(&kit).await.into_iter().map(|letter| letter.language).collect();
        assert_eq!(languages, [Language::Indonesian, Language::English], "that of the page of who invites");
    })
    .await;
}

/// With the project comes the letter, in the language of the page on which the operator creates it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_who_creates_a_project_for_somebody_invites_them_by_letter() {
    testkit::on_sqlite(async |kit: Arc<Kit>| {
        let relay = Relay::start().await;
        send_to(&kit, &relay);
        let operator = Person::operator(&kit, "operator@example.com").await;
        let path = "/dashboard/operator/projects/new";
        let new = |name, owner, attempt| {
            [("name", name), ("environment", "production"), ("owner", owner), ("attempt", attempt)]
        };
        let first = new("Kopi", "siti@example.com", "0123456789abcdef0123456789abcdef");
        for _ in 0..2 {
            let page = operator.post(path, &first).await;
            assert_eq!(page.status, 200);
            assert!(page.text.contains("juga kami kirim lewat email"), "{}", page.text);
        }
        let taken = relay.has(1).await;
        kit.clock.advance(MINUTE);
        let second = new("Teh", "budi@example.com", "fedcba9876543210fedcba9876543210");
        assert_eq!(operator.post(&format!("{path}?lang=en"), &second).await.status, 200);
        let own = new("Sendiri", "operator@example.com", "00112233445566778899aabbccddeeff");
        assert_eq!(operator.post(path, &own).await.status, 303);
        let then = relay.has(2).await;
        let queued: Vec<_> = letters(&kit).await.into_iter().map(|letter| (letter.kind, letter.language)).collect();
        let invited = |language| (LetterKind::Invitation, language);
        assert_eq!(queued, [invited(Language::Indonesian), invited(Language::English)], "a form invites once");
        assert_eq!((taken[0].to.as_str(), then[1].to.as_str()), ("siti@example.com", "budi@example.com"));
        for letter in [&taken[0], &then[1]] {
            let link = link_of(&kit, &letter.words(), "/dashboard/invite/");
            let page = Customer::of(&kit).open(&link).await;
            assert_eq!(page.status, 200);
            assert!(page.text.contains(&letter.to), "{}", page.text);
        }
    })
    .await;
}
