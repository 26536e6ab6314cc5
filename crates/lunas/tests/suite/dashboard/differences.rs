//! Days compared with banks, and what differs, on the operator's pages.

use std::{sync::Arc, time::Duration};

use demobank::{NotifyHabit, PayOrder};
use domain::{
    audit::{Actor, Deed},
    bank_request::{day_text, jakarta_day, jakarta_day_begin},
    receipt::DECISION_NOTE,
};
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{Acquired, code_of, hosted_there},
    bank_accounts::account_of,
    customer::is_page,
    dashboard::{audited, leads},
    payments::status,
    people::Person,
    rows::rows,
};

on_every_database![
    an_operator_compares_a_day_and_sees_its_sums,
    open_differences_are_listed_with_what_to_do_and_settled_ones_apart,
    a_difference_is_settled_with_a_note_and_once,
];

on_sqlite_alone![
    a_day_that_cannot_be_compared_is_a_mistake_and_changes_nothing,
    a_bank_that_cannot_be_asked_is_said_on_the_page,
    an_account_whose_numbers_live_here_says_that_nothing_is_compared,
];

const DIFFERENCES: &str = "/dashboard/operator/differences";

struct World {
    acquired: Acquired,
    operator: Person,
}

impl World {
    async fn new(kit: &Kit) -> World {
        let acquired = hosted_there(kit, "briva-ws").await;
        World { acquired, operator: Person::operator(kit, "operator@example.com").await }
    }

    /// The next day in Jakarta. A session would not live so long.
    async fn on_the_next_day(kit: &Kit, acquired: Acquired) -> World {
        kit.clock.set(jakarta_day_begin(jakarta_day(kit.engine.now()) + 1).plus(Duration::from_mins(5)));
        World { acquired, operator: Person::operator(kit, "operator@example.com").await }
    }

    /// A day that was compared, with money that the bank has lost since it told us of it, and money that we were not told of.
    async fn after_a_day(kit: &Kit) -> World {
        let acquired = hosted_there(kit, "briva-ws").await;
        let (lost, missed) = (acquired.payment().await, acquired.payment().await);
        acquired.pays(&lost).await;
        acquired.asked.forget_money(code_of(&lost)).unwrap();
        acquired.pays_as(&missed, PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }).await;
        let world = World::on_the_next_day(kit, acquired).await;
        let date = day_text(jakarta_day(kit.engine.now()) - 1);
        leads(&world.compare(&date).await, "day-compared");
        assert_eq!(status(&world.acquired.project, &missed).await, "paid");
        world
    }

    fn bank(&self) -> String {
        format!("/dashboard/operator/banks/{}", self.acquired.account)
    }

    async fn compare(&self, date: &str) -> Reply {
        self.operator.post(&format!("{}/compare", self.bank()), &[("date", date)]).await
    }

    /// The address of the only open difference, and its subject.
    async fn open(&self) -> (String, String) {
        let page = self.operator.open(DIFFERENCES).await;
        let query = page.text.split("/differences/look?").nth(1).unwrap().split('"').next().unwrap();
        let query = query.replace("&#38;", "&").replace("&amp;", "&");
        let subject = query.split("subject=").nth(1).unwrap().split('&').next().unwrap().to_owned();
        (format!("{DIFFERENCES}/look?{query}"), subject)
    }

    async fn settle(&self, subject: &str, note: &str) -> Reply {
        let account = self.acquired.account.to_string();
        let fields = [("account", &*account), ("subject", subject), ("kind", "missing_there"), ("note", note)];
        self.operator.post(&format!("{DIFFERENCES}/settle"), &fields).await
    }
}

#[track_caller]
fn contains_all(page: &Reply, texts: &[&str]) {
    for text in texts {
        assert!(page.text.contains(text), "{text} is not in {}", page.text);
    }
}

async fn an_operator_compares_a_day_and_sees_its_sums(kit: Arc<Kit>) {
    let world = World::after_a_day(&kit).await;
    let page = world.operator.open(&format!("{}?lang=en", world.bank())).await;
    is_page("the account", &page, 200);
    let date = day_text(jakarta_day(kit.engine.now()) - 1);
    contains_all(&page, &[&date, "By the bank’s report", "1<br>Rp150.000", "Look at it"]);
    let lines = audited(&kit, Deed::BankDayCompared).await;
    assert_eq!(lines.len(), 1);
    assert!(matches!(&lines[0].0, Actor::User { id, .. } if *id == world.operator.user.id));
    leads(&world.compare(&date).await, "day-compared");
    assert_eq!(kit.engine.reconciliations(world.acquired.account, 10).await.unwrap().len(), 1);
}

async fn a_day_that_cannot_be_compared_is_a_mistake_and_changes_nothing(kit: Arc<Kit>) {
    let world = World::new(&kit).await;
    world.operator.open(&format!("{}?lang=en", world.bank())).await;
    let today = jakarta_day(kit.engine.now());
    let before = rows(&kit.database);
    for (date, says) in [
        ("", "Enter a day."),
        ("yesterday", "Enter a day."),
        ("2026-02-30", "Enter a day."),
        (&day_text(today), "not over in Jakarta"),
        (&day_text(today + 400), "not over in Jakarta"),
        (&day_text(today - 1), "before the account was created"),
    ] {
        let reply = world.compare(date).await;
        is_page(date, &reply, 422);
        contains_all(&reply, &[says, "aria-invalid"]);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_bank_that_cannot_be_asked_is_said_on_the_page(kit: Arc<Kit>) {
    let world = World::on_the_next_day(&kit, hosted_there(&kit, "briva-ws").await).await;
    world.operator.open(&format!("{}?lang=en", world.bank())).await;
    world.acquired.doors.close().await;
    let reply = world.compare(&day_text(jakarta_day(kit.engine.now()) - 1)).await;
    is_page("the bank is gone", &reply, 409);
    contains_all(&reply, &["The day was not compared"]);
    assert_eq!(kit.engine.reconciliations(world.acquired.account, 10).await.unwrap(), []);
}

async fn an_account_whose_numbers_live_here_says_that_nothing_is_compared(kit: Arc<Kit>) {
    let account = account_of(&kit, kit.production().await.id).await;
    kit.clock.advance(Duration::from_hours(24));
    let operator = Person::operator(&kit, "operator@example.com").await;
    let path = format!("/dashboard/operator/banks/{account}");
    let page = operator.open(&format!("{path}?lang=en")).await;
    contains_all(&page, &["Not supported: this account’s numbers live here"]);
    assert!(!page.text.contains("name=\"date\""), "there is nothing to ask for");
    let date = day_text(jakarta_day(kit.engine.now()) - 1);
    is_page("sent all the same", &operator.post(&format!("{path}/compare"), &[("date", &date)]).await, 409);
}

async fn open_differences_are_listed_with_what_to_do_and_settled_ones_apart(kit: Arc<Kit>) {
    let empty = Person::operator(&kit, "first@example.com").await;
    contains_all(&empty.open(&format!("{DIFFERENCES}?lang=en")).await, &["No open differences"]);
    contains_all(&empty.open(&format!("{DIFFERENCES}?tab=settled")).await, &["Nothing settled yet"]);
    let world = World::after_a_day(&kit).await;
    let page = world.operator.open(&format!("{DIFFERENCES}?lang=en")).await;
    is_page("one", &page, 200);
    contains_all(&page, &["One open", "The bank does not know this money", "Ask the bank about this ID", "Rp150.000"]);
    let banks = world.operator.open("/dashboard/operator/banks").await;
    contains_all(&banks, &["One difference with a bank is open.", &format!("href=\"{DIFFERENCES}\"")]);
    let (address, subject) = world.open().await;
    let own = world.operator.open(&address).await;
    is_page("its own page", &own, 200);
    contains_all(&own, &[&subject, "name=\"note\"", "pay_"]);
    leads(&world.settle(&subject, "the bank found it").await, "difference-settled");
    let page = world.operator.open(DIFFERENCES).await;
    contains_all(&page, &["No open differences"]);
    let settled = world.operator.open(&format!("{DIFFERENCES}?tab=settled")).await;
    contains_all(&settled, &["the bank found it", &subject]);
    assert!(!world.operator.open(&address).await.text.contains("name=\"note\""), "there is nothing left to do");
    assert!(!world.operator.open("/dashboard/operator/banks").await.text.contains("difference with a bank"));
}

async fn a_difference_is_settled_with_a_note_and_once(kit: Arc<Kit>) {
    let world = World::after_a_day(&kit).await;
    world.operator.open(&format!("{DIFFERENCES}?lang=en")).await;
    let (_, subject) = world.open().await;
    let before = rows(&kit.database);
    for note in [String::new(), " ".to_owned(), "x".repeat(DECISION_NOTE.most + 1), "a\0b".to_owned()] {
        let reply = world.settle(&subject, &note).await;
        is_page("a bad note", &reply, 422);
        contains_all(&reply, &["aria-invalid"]);
    }
    for unknown in ["", "none", "a\0b"] {
        is_page(unknown, &world.settle(unknown, "why").await, 404);
    }
    for query in ["", "?account=junk&subject=x&kind=fee", "?account=bac_01kc2m8r5gfq9t3v7x1y4z6a8b&subject=x&kind=fee"]
    {
        is_page(query, &world.operator.open(&format!("{DIFFERENCES}/look{query}")).await, 404);
    }
    assert_eq!(rows(&kit.database), before);
    let (one, other) = tokio::join!(world.settle(&subject, "mine"), world.settle(&subject, "theirs"));
    let mut answers = [one.status.as_u16(), other.status.as_u16()];
    answers.sort_unstable();
    assert_eq!(answers, [303, 409], "sent twice, it is settled once");
    let lines = audited(&kit, Deed::DifferenceSettled).await;
    assert_eq!(lines.len(), 1);
    assert!(matches!(&lines[0].0, Actor::User { id, .. } if *id == world.operator.user.id));
}
