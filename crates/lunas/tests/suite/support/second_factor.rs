//! A user's second factor: the app on their phone, as far as it computes codes, and signing in with it.

use std::time::Duration;

use domain::{second_factor::FactorSecret, time::Timestamp};
use reqwest::StatusCode;
use testkit::{Kit, Reply};

use crate::support::{
    customer::{Customer, hidden, is_page},
    dashboard::element,
    people::{PASSWORD, Person, sign_in},
};

pub(crate) const FACTOR: &str = "/dashboard/account/factor";
pub(crate) const CODE: &str = "/dashboard/sign-in/code";
/// How long an app shows a code.
pub(crate) const STEP: Duration = Duration::from_secs(30);
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The app on the phone.
pub(crate) struct App(FactorSecret);

impl App {
    /// The app that was given the key of a page.
    pub(crate) fn of(page: &Reply) -> App {
        App(secret_of(&element(&page.text, "factor-secret").replace(' ', "")))
    }

    /// The code that it shows now.
    pub(crate) fn code(&self, kit: &Kit) -> String {
        self.code_at(kit.engine.now())
    }

    pub(crate) fn code_at(&self, at: Timestamp) -> String {
        self.0.code(at)
    }

    /// A code that was not shown before.
    pub(crate) fn next_code(&self, kit: &Kit) -> String {
        kit.clock.advance(STEP);
        self.code(kit)
    }

    /// Six digits that are none of the codes that count now.
    pub(crate) fn wrong_code(&self, kit: &Kit) -> String {
        let now = kit.engine.now();
        let counting = [now.minus(STEP), now, now.plus(STEP)].map(|at| self.0.code(at));
        let wrong =
            ["000000", "000001", "000002", "000003"].into_iter().find(|code| counting.iter().all(|own| own != code));
        wrong.unwrap().to_owned()
    }
}

/// The secret that a key in base32 stands for.
pub(crate) fn secret_of(key: &str) -> FactorSecret {
    let digits = key.chars().map(|letter| BASE32.find(letter).unwrap());
    let mut bits: String = digits.map(|digit| format!("{digit:05b}")).collect();
    let mut bytes = Vec::new();
    while bits.len() >= 8 {
        let rest = bits.split_off(8);
        bytes.push(u8::from_str_radix(&bits, 2).unwrap());
        bits = rest;
    }
    FactorSecret::of_bytes(&bytes).unwrap()
}

/// Adds a second factor; returns its app and its recovery codes.
pub(crate) async fn add_factor(kit: &Kit, person: &Person) -> (App, Vec<String>) {
    let page = person.open(FACTOR).await;
    is_page("a new factor", &page, 200);
    let app = App::of(&page);
    let added = person.post(FACTOR, &[("attempt", &attempt_of(&page)), ("code", &app.code(kit))]).await;
    is_page("an added factor", &added, 200);
    (app, recovery_codes(&added))
}

/// The id of the form on a page.
pub(crate) fn attempt_of(page: &Reply) -> String {
    hidden(page).into_iter().find(|(name, _)| name == "attempt").unwrap().1
}

/// The recovery codes that a page shows.
pub(crate) fn recovery_codes(page: &Reply) -> Vec<String> {
    let codes: Vec<String> = element(&page.text, "recovery-codes").lines().map(str::to_owned).collect();
    assert_eq!(codes.len(), 10, "{}", page.text);
    codes
}

/// Gives the right password in a new browser, which comes to the second step.
pub(crate) async fn give_password(kit: &Kit, person: &Person) -> Customer {
    let browser = Customer::of(kit);
    let reply = sign_in(&browser, person.user.email.as_str(), PASSWORD).await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER, "{}", reply.text);
    assert_eq!(reply.header("location"), Some("/dashboard/sign-in/code?next=%2Fdashboard"));
    browser
}

pub(crate) async fn give_code(browser: &Customer, code: &str) -> Reply {
    browser.post(CODE, &[("code", code)]).await
}

/// Signs in with password and code, in a new browser.
pub(crate) async fn sign_in_by_code(kit: &Kit, person: &Person, code: &str) -> Person {
    let browser = give_password(kit, person).await;
    let reply = give_code(&browser, code).await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER, "{}", reply.text);
    Person { user: person.user.clone(), browser }
}
