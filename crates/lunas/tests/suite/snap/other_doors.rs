//! Doors that an account does not use: nothing is told or asked there, so no money is taken twice.

use std::sync::Arc;

use demobank::{Knobs, Notification, Service, Style};
use domain::{bank_money::MoneyMarks, money::Rupiah};
use gateway::snap::{About, BankMoney, NotificationRead, Standing};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use super::acts::{said, shaped};
use crate::support::{
    acquirers::{acquired, hosted_there, open_strays},
    banks::{AMOUNT, contracted, number},
    payments::{status, unapplied},
    rows::rows,
};

on_every_database![
    money_that_we_were_asked_to_take_cannot_be_told_at_another_door,
    money_that_we_were_asked_to_take_is_known_when_it_is_told,
];

on_sqlite_alone![an_account_has_only_the_doors_that_its_bank_uses];

const NOTICES: [(Service, &str); 3] =
    [(Service::VaNotify, "4043400"), (Service::QrNotify, "4045200"), (Service::DebitNotify, "4045600")];

async fn money_that_we_were_asked_to_take_cannot_be_told_at_another_door(kit: Arc<Kit>) {
    for style in [Style::BCA, Style::GENERIC] {
        let own = contracted(&kit, style).await;
        let payment = own.payment().await;
        let number = number(&payment);
        let answer = own.pay(&number, Knobs::default()).await;
        assert_eq!(said(&answer), ("2002500", "00"));
        let told = Notification {
            reference: "R".to_owned(),
            bank_reference: answer.sent.request_id.clone(),
            number,
            amount: AMOUNT,
            status: "00".to_owned(),
            receipt_id: answer.sent.request_id,
            ..Notification::default()
        };
        let before = rows(&kit.database);
        for (service, code) in NOTICES {
            let answer = own.bank.notify(&own.contract, service, told.clone(), Knobs::default()).await;
            assert_eq!((answer.code(), answer.message()), (code, "Invalid Routing"), "{}", answer.text);
        }
        assert_eq!(rows(&kit.database), before);
        assert_eq!((status(&own.project, &payment).await.as_str(), unapplied(&own.project).await), ("paid", 0));
    }
}

async fn money_that_we_were_asked_to_take_is_known_when_it_is_told(kit: Arc<Kit>) {
    let own = contracted(&kit, Style::BCA).await;
    let payment = own.payment().await;
    let number = number(&payment);
    let receipt_id = own.pay(&number, Knobs::default()).await.sent.request_id;
    let open = kit.engine.bank_door(own.account).await.unwrap().unwrap();
    let before = rows(&kit.database);
    let heard = NotificationRead {
        about: About { reference: None, bank_reference: None, number: Some(number) },
        standing: Standing::Paid(BankMoney {
            receipt_id,
            amount: Rupiah::new(AMOUNT),
            paid_at: None,
            marks: MoneyMarks::default(),
        }),
        unreadable: None,
    };
    kit.engine.record_notification(&open, heard, "{}", true).await.unwrap();
    assert_eq!(rows(&kit.database), before);
    assert_eq!((open_strays(&kit).await.len(), unapplied(&own.project).await), (0, 0));
}

async fn an_account_has_only_the_doors_that_its_bank_uses(kit: Arc<Kit>) {
    let told = Notification {
        reference: "R".to_owned(),
        bank_reference: "B".to_owned(),
        number: "777770000000000001".to_owned(),
        amount: AMOUNT,
        status: "00".to_owned(),
        receipt_id: "1".repeat(30),
        ..Notification::default()
    };
    for (acquired, used) in [
        (acquired(&kit, "midtrans").await, &[Service::QrNotify][..]),
        (acquired(&kit, "dana").await, &[Service::DebitNotify]),
        (hosted_there(&kit, "briva-ws").await, &[Service::VaNotify, Service::Payment]),
    ] {
        let strays = open_strays(&kit).await.len();
        for (service, code) in NOTICES.into_iter().chain([(Service::Payment, "4042500")]) {
            if used.contains(&service) {
                continue;
            }
            let answer = shaped(acquired.tells(service, told.clone(), Knobs::default()).await);
            assert_eq!((answer.code(), answer.message()), (code, "Invalid Routing"), "{}", answer.text);
        }
        assert_eq!(open_strays(&kit).await.len(), strays);
        // The doors that are there take the same message.
        for service in used {
            assert_eq!(acquired.tells(*service, told.clone(), Knobs::default()).await.status, 200);
        }
        assert_eq!(open_strays(&kit).await.len(), strays + 1);
    }
}
