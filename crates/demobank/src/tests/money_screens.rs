//! The screens of accounts, transfers and refunds.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use serde_json::json;
use tower::ServiceExt;

use super::{
    refunds::{order, pay},
    sender::{FAR, SOURCE, Sender},
};
use crate::{AccountState, Fate, Habits, NewAccount, Service, TransferState, screens_with_codes};

struct Desk {
    sender: Sender,
    router: Router,
}

impl Desk {
    async fn open() -> Desk {
        let sender = Sender::open(Habits::GENERIC).await;
        let (bank, asked) = (Arc::clone(&sender.shop.kit.bank), Arc::clone(&sender.shop.asked));
        Desk { sender, router: screens_with_codes(bank, asked, "/dev/bank", "/shop/dev/bank") }
    }

    async fn ask(&self, request: Request<Body>) -> (StatusCode, String) {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, location) = (response.status(), response.headers().get("location").cloned());
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        (status, location.map_or(text, |location| location.to_str().unwrap().to_owned()))
    }

    async fn get(&self, path: &str) -> String {
        let (status, page) = self.ask(Request::get(path).body(Body::empty()).unwrap()).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        page
    }

    async fn post(&self, path: &str, form: &str) -> (StatusCode, String) {
        let request = Request::post(path).header("host", "localhost").header("sec-fetch-site", "same-origin");
        self.ask(request.body(Body::from(form.to_owned())).unwrap()).await
    }

    /// Presses a button, and follows the redirect.
    async fn press(&self, path: &str, form: &str) -> String {
        let (status, location) = self.post(path, form).await;
        assert_eq!((status, location), (StatusCode::SEE_OTHER, format!("/shop{path}")), "{form}");
        self.get(path).await
    }
}

#[track_caller]
fn contains(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
}

#[tokio::test]
async fn accounts_transfers_and_refunds_are_seen_with_where_they_stand() {
    let desk = Desk::open().await;
    contains(&desk.get("/dev/bank").await, &["href=\"/shop/dev/bank/money\""]);
    contains(&desk.get("/dev/bank/money").await, &["Nothing was sent yet.", "Nothing was given back yet."]);
    let (sender, shop) = (&desk.sender, &desk.sender.shop);
    sender.send(Service::Interbank, "T1", 150_000).await.unwrap();
    sender.send(Service::Intrabank, "T2", 99_000_000).await.unwrap();
    shop.asked.fate_of_next(Fate { takes_ms: 60_000, ..Fate::default() });
    sender.send(Service::Intrabank, "T3", 40_000).await.unwrap();
    pay(shop, "R1").await;
    shop.code(Service::QrRefund, &order(shop, "F1", 50_000)).await;
    let page = desk.get("/dev/bank/money").await;
    contains(
        &page,
        &["TOKO UJI COBA", SOURCE, "Rp9.850.000", "BUDI SANTOSO, Bank Central Asia, 9876500002", "Arrived", "Refused"],
    );
    contains(&page, &["On its way", "To the payer of R1", "Given back", "Toko Uji Coba: payments", "Rp10.100.000"]);
    assert!(!page.contains("<script") && !page.contains("style="));
    let code = shop.asked.code("R1").unwrap().bank_reference;
    contains(&desk.get(&format!("/dev/bank/codes/{code}")).await, &["Given back: Rp50.000, F1", "given back in part"]);
    shop.code(Service::QrRefund, &order(shop, "F2", 100_000)).await;
    contains(&desk.get(&format!("/dev/bank/codes/{code}")).await, &[">Given back<"]);
    let account = desk.get(&format!("/dev/bank/money/accounts/022/{SOURCE}")).await;
    contains(
        &account,
        &["TRSF REFUND 17 BUDI SANTOSO", "-Rp150.000", "Held for transfers on their way", "Rp9.810.000"],
    );
    let refused = shop.asked.transfer("T2").unwrap().bank_reference;
    let page = desk.get(&format!("/dev/bank/money/transfers/{refused}")).await;
    contains(&page, &["Transfer T2", "4031714", "Refused"]);
    assert!(!page.contains("<button"));
}

#[tokio::test]
async fn people_end_transfers_and_change_accounts_by_buttons() {
    let desk = Desk::open().await;
    let (sender, bank) = (&desk.sender, &desk.sender.shop.asked);
    for reference in ["T1", "T2"] {
        bank.fate_of_next(Fate { takes_ms: 60_000, ..Fate::default() });
        sender.send(Service::Interbank, reference, 150_000).await.unwrap();
    }
    let path =
        |reference: &str| format!("/dev/bank/money/transfers/{}", bank.transfer(reference).unwrap().bank_reference);
    contains(&desk.get(&path("T1")).await, &["Let it arrive", "Let it fail"]);
    contains(&desk.press(&path("T1"), "action=done").await, &["Arrived", "Send it back"]);
    contains(&desk.press(&path("T1"), "action=return").await, &["Came back"]);
    contains(&desk.press(&path("T2"), "action=fail").await, &["Failed"]);
    assert_eq!((sender.sent(), bank.transfer("T1").unwrap().state), (0, TransferState::Returned));
    for form in ["action=done", "action=fail", "action=return", "action=x", ""] {
        let (status, page) = desk.post(&path("T2"), form).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        contains(&page, &["role=\"alert\""]);
    }
    let account = format!("/dev/bank/money/accounts/{}/{FAR}", sender.other);
    contains(&desk.press(&account, "action=deposit&amount=1.000").await, &["Rp1.000", "CASH IN"]);
    contains(&desk.press(&account, "action=withdraw&amount=400").await, &["Rp600", "CASH OUT"]);
    contains(&desk.press(&account, "action=close").await, &["Closed", "Open the account again"]);
    assert_eq!(bank.account(sender.other, FAR).unwrap().state, AccountState::Closed);
    contains(&desk.press(&account, "action=open").await, &["Close the account"]);
    contains(&desk.press(&account, "action=block").await, &["Blocked"]);
    for form in ["action=withdraw&amount=601", "action=deposit&amount=0", "action=deposit&amount=x", "action=x"] {
        let (status, page) = desk.post(&account, form).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        contains(&page, &["role=\"alert\""]);
    }
    assert_eq!((bank.account(sender.other, FAR).unwrap().balance, bank.books_total()), (600, 0));
}

#[tokio::test]
async fn what_is_not_there_is_told_and_forms_of_other_sites_change_nothing() {
    let desk = Desk::open().await;
    for (path, words) in [
        ("/dev/bank/money/accounts/014/1", "This bank has no such account."),
        ("/dev/bank/money/transfers/none", "This bank has no such transfer."),
    ] {
        let (status, page) = desk.ask(Request::get(path).body(Body::empty()).unwrap()).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        contains(&page, &[words]);
        assert_eq!(desk.post(path, "action=open").await.0, StatusCode::NOT_FOUND);
    }
    let path = format!("/dev/bank/money/accounts/022/{SOURCE}");
    let request = Request::post(&path).header("host", "localhost").header("sec-fetch-site", "cross-site");
    let (status, _) = desk.ask(request.body(Body::from("action=deposit&amount=5")).unwrap()).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(desk.sender.has("022", SOURCE), super::sender::BALANCE);
}

#[tokio::test]
async fn names_references_and_remarks_from_outside_are_escaped() {
    let desk = Desk::open().await;
    let evil = "<script>alert(1)</script>";
    let bank = &desk.sender.shop.asked;
    bank.open_account(NewAccount {
        bank: "014".into(),
        number: "5".into(),
        name: evil.into(),
        ..NewAccount::default()
    });
    let mut order = desk.sender.order(Service::Interbank, evil, 1_000);
    order["remark"] = evil.into();
    order["beneficiaryAccountNo"] = json!("5");
    assert_eq!(desk.sender.shop.code(Service::Interbank, &order).await, "200 2001800");
    let transfer = bank.transfer(evil).unwrap().bank_reference;
    for path in [
        "/dev/bank/money".to_owned(),
        "/dev/bank/money/accounts/014/5".to_owned(),
        format!("/dev/bank/money/transfers/{transfer}"),
    ] {
        let page = desk.get(&path).await;
        assert!(!page.contains("<script"), "{page}");
        contains(&page, &["&#60;script&#62;"]);
    }
}
