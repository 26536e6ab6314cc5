//! What operators see of the calls between a bank and us: figures, our token, what is due, and whether calls are suspended.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Service};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{acquired, ask_after},
    bank_accounts::account_of,
    customer::is_page,
    people::Person,
};

on_every_database![
    an_accounts_page_counts_calls_of_both_directions_by_service_and_code,
    a_job_that_waits_for_more_than_ten_minutes_is_pointed_out,
];

on_sqlite_alone![
    calls_that_fail_are_pointed_out_until_the_bank_works_again,
    the_bank_of_an_acquirer_is_given_the_door_for_its_notifications,
];

const BANKS: &str = "/dashboard/operator/banks";

/// The text of the page without marks.
async fn read(operator: &Person, path: &str) -> String {
    let page = operator.open(&format!("{path}?lang=en")).await;
    is_page(path, &page, 200);
    let mut text = String::new();
    let mut is_mark = false;
    for character in page.text.chars() {
        match character {
            '<' => is_mark = true,
            '>' => is_mark = false,
            character if !is_mark => text.push(character),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without white space: cells of a table follow each other with or without it.
fn without_white_space(text: &str) -> String {
    text.split_whitespace().collect()
}

async fn an_accounts_page_counts_calls_of_both_directions_by_service_and_code(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let acquired = acquired(&kit, "midtrans").await;
    let page = format!("{BANKS}/{}", acquired.account);
    assert!(read(&operator, &page).await.contains("None is known"), "no token yet");
    for _ in 0..2 {
        let payment = acquired.payment().await;
        acquired.pays(&payment).await;
    }
    acquired.asked.fail_next_of(Service::Generate, Fault::Status(400));
    assert_eq!(acquired.pay("refused").await.status, 503);
    kit.engine.save_bank_calls().await.unwrap();
    let page = read(&operator, &page).await;
    for shown in [
        "Token (73)Us, to the bank2007300Answered1",
        "New QRIS (47)Us, to the bank2004700Answered2",
        "New QRIS (47)Us, to the bank4004700Refused1",
        "QRIS paid (52)The bank, to us2005200Noted2",
        "Calls work",
        "Due to be asked0",
    ] {
        assert!(without_white_space(&page).contains(&without_white_space(shown)), "{shown}: {page}");
    }
    assert!(!page.contains("None is known"), "{page}");
    assert!(!page.contains(&acquired.client_id.replace("client-", "secret-")), "no secret");
}

async fn calls_that_fail_are_pointed_out_until_the_bank_works_again(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    let acquired = acquired(&kit, "midtrans").await;
    let page = format!("{BANKS}/{}", acquired.account);
    acquired.payment().await;
    acquired.asked.fail_every(Service::Generate, Some(Fault::Status(500)));
    for number in 0..5 {
        assert_eq!(acquired.pay(&number.to_string()).await.status, 503);
        kit.engine.save_bank_calls().await.unwrap();
        let (account, list) = (read(&operator, &page).await, read(&operator, BANKS).await);
        for shown in [&account, &list] {
            let words = match number {
                0 => "The latest call to the bank failed",
                4 => "Many calls to the bank have failed.",
                _ => "calls to the bank failed, the first at",
            };
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert_eq!(account.contains("Suspended"), number == 4);
    }
    acquired.asked.fail_every(Service::Generate, None);
    ask_after(&kit, Duration::from_secs(31)).await;
    acquired.payment().await;
    kit.engine.save_bank_calls().await.unwrap();
    let account = read(&operator, &page).await;
    assert!(account.contains("Calls work") && !account.contains("failed, the first"), "{account}");
}

async fn a_job_that_waits_for_more_than_ten_minutes_is_pointed_out(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let page = format!("{BANKS}/{}", acquired.account);
    acquired.payment().await;
    let warning = "The bank should have been asked something since";
    // A QRIS lives for 15 minutes, and the bank is asked a minute later.
    kit.clock.advance(Duration::from_mins(17));
    let operator = Person::operator(&kit, "operator@example.com").await;
    let due = read(&operator, &page).await;
    assert!(due.contains("Due to be asked1") && !due.contains(warning), "{due}");
    kit.clock.advance(Duration::from_mins(10));
    assert!(read(&operator, &page).await.contains(warning));
    assert!(read(&operator, BANKS).await.contains(warning));
    ask_after(&kit, Duration::ZERO).await;
    let done = read(&operator, &page).await;
    assert!(done.contains("Due to be asked0") && !done.contains(warning), "{done}");
}

async fn the_bank_of_an_acquirer_is_given_the_door_for_its_notifications(kit: Arc<Kit>) {
    let operator = Person::operator(&kit, "operator@example.com").await;
    for (profile, path) in [("midtrans", "/v1.0/qr/qr-mpm-notify"), ("dana", "/v1.0/debit/notify")] {
        let acquired = acquired(&kit, profile).await;
        let page = read(&operator, &format!("{BANKS}/{}", acquired.account)).await;
        assert!(page.contains(&format!("/snap/{}{path}", acquired.account)), "{page}");
        for path in ["/v1.0/transfer-va/inquiry", "/v1.0/access-token/b2b"] {
            assert!(!page.contains(&format!("/snap/{}{path}", acquired.account)), "{page}");
        }
        assert!(page.contains("lunas bank assign") && page.contains("--method qris"), "{page}");
    }
    let project = kit.production().await;
    let ours = account_of(&kit, project.id).await;
    let page = read(&operator, &format!("{BANKS}/{ours}")).await;
    assert!(page.contains("transfer-va/inquiry") && !page.contains("-notify") && !page.contains("notify-"), "{page}");
    assert!(!page.contains("Our calls to the bank"), "nobody calls this bank: {page}");
}
