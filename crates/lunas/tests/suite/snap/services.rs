//! Where a bank has two services for one thing, the log of calls, the printed doors and the call itself mean the same one.

use std::sync::Arc;

use demobank::Service;
use domain::method::Method;
use engine::{BankDoor, BankTest};
use testkit::{Kit, on_sqlite_alone};

use crate::support::acquirers::acquired_for;

on_sqlite_alone![a_bank_with_both_services_for_a_qr_is_asked_as_wallets_are_and_logged_so];

async fn a_bank_with_both_services_for_a_qr_is_asked_as_wallets_are_and_logged_so(kit: Arc<Kit>) {
    let both = [("path.debit_status", "/v1.0/debit/status"), ("path.debit_cancel", "/v1.0/debit/cancel")];
    let acquired = acquired_for(&kit, kit.production().await, "generic", Method::Qris, &both).await;
    assert_eq!(kit.engine.test_bank_account(acquired.account).await.unwrap(), BankTest::Answered);
    let asked = |service| acquired.asked.calls_of(service).len();
    assert_eq!((asked(Service::DebitStatus), asked(Service::Query)), (1, 0));
    let file = kit.engine.bank_account_file(acquired.account).await.unwrap();
    let logged: Vec<i64> = file.calls.iter().map(|call| call.service).filter(|service| *service != 73).collect();
    assert_eq!(logged, [55]);
    assert!(file.doors().contains(&BankDoor::DebitNotice) && !file.doors().contains(&BankDoor::QrNotice));
}
