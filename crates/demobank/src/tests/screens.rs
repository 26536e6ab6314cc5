//! The bank's screens, through HTTP and without a browser.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response, StatusCode},
};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::door::{Kit, NUMBER, bill, paid};
use crate::{Style, screens};

struct Screens {
    kit: Kit,
    router: Router,
}

impl Screens {
    async fn open() -> Screens {
        let kit = Kit::open().await;
        kit.bank.register(kit.contract(Style::BCA));
        let router = screens(Arc::clone(&kit.bank), "/dev/bank", "/dev/bank");
        Screens { kit, router }
    }

    async fn ask(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        text(self.ask(Request::get(path).body(Body::empty()).unwrap()).await).await
    }

    async fn post(&self, path: &str, form: &str) -> Response<Body> {
        let request = Request::post(path).header("host", "localhost").header("sec-fetch-site", "same-origin");
        self.ask(request.body(Body::from(form.to_owned())).unwrap()).await
    }

    /// Types a number, and follows the redirect.
    async fn begin(&self) -> (String, String) {
        let response = self.post("/dev/bank/visits", &format!("contract=Demo+BCA&number={NUMBER}")).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let path = response.headers()["location"].to_str().unwrap().to_owned();
        let (status, page) = self.get(&path).await;
        assert_eq!(status, StatusCode::OK);
        (path, page)
    }

    /// Presses a button, and follows the redirect.
    async fn press(&self, path: &str, form: &str) -> String {
        let response = self.post(path, form).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{form}");
        assert_eq!(response.headers()["location"].to_str().unwrap(), format!("{path}#result"));
        self.get(path).await.1
    }
}

async fn text(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

#[track_caller]
fn contains(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
}

#[tokio::test]
async fn the_first_page_offers_the_banks_contracts_and_warns_that_no_money_is_real() {
    let screens = Screens::open().await;
    for path in ["/dev/bank", "/dev/bank/"] {
        let (status, page) = screens.get(path).await;
        assert_eq!(status, StatusCode::OK);
        contains(
            &page,
            &["Rehearsal bank: no real money", "value=\"Demo BCA\"", "begin with 12345", "/dev/bank/bank.css"],
        );
        assert!(!page.contains("<script") && !page.contains("style="));
    }
    let (status, style) = screens.get("/dev/bank/bank.css").await;
    assert!(status.is_success() && style.contains("prefers-color-scheme: dark"));
}

#[tokio::test]
async fn a_number_leads_to_its_bill_and_the_button_pays_it() {
    let screens = Screens::open().await;
    let (path, page) = screens.begin().await;
    contains(&page, &["Rp150.000", "Budi", NUMBER, "Pay Rp150.000", "2002400"]);
    let page = screens.press(&path, "action=pay").await;
    contains(&page, &["booked", "the merchant gets it", "code 2002500", "flag 00", "&#34;paidAmount&#34;"]);
    assert!(!page.contains("token1"), "the access token is not shown");
    // Reloading the page pays nothing.
    screens.get(&path).await;
    let contract = screens.kit.bank.contract("Demo BCA").unwrap();
    assert_eq!(screens.kit.bank.booked(&contract, NUMBER), 150_000);
    contains(&screens.get("/dev/bank").await.1, &["booked, 2002500", "Rp150.000 for 1234500000000017"]);
}

#[tokio::test]
async fn a_number_finds_its_bank_when_none_is_chosen() {
    let screens = Screens::open().await;
    let response = screens.post("/dev/bank/visits", &format!("contract=&number={NUMBER}")).await;
    let path = response.headers()["location"].to_str().unwrap().to_owned();
    contains(&screens.get(&path).await.1, &["<h1>Demo BCA</h1>", "Rp150.000"]);
}

#[tokio::test]
async fn links_and_redirects_keep_the_prefix_that_a_proxy_cuts_off() {
    let mut screens = Screens::open().await;
    screens.router = crate::screens(Arc::clone(&screens.kit.bank), "/dev/bank", "/shop/dev/bank");
    let (status, page) = screens.get("/dev/bank").await;
    assert_eq!(status, StatusCode::OK);
    contains(&page, &["href=\"/shop/dev/bank/bank.css\"", "action=\"/shop/dev/bank/visits\""]);
    let response = screens.post("/dev/bank/visits", &format!("number={NUMBER}")).await;
    assert!(response.headers()["location"].to_str().unwrap().starts_with("/shop/dev/bank/visits/"));
}

#[tokio::test]
async fn the_other_buttons_send_what_they_say() {
    let screens = Screens::open().await;
    let (path, _) = screens.begin().await;
    screens.kit.door.seen();
    let payments =
        |screens: &Screens| -> Vec<Value> { screens.kit.door.seen().iter().map(super::door::Seen::json).collect() };
    screens.press(&path, "action=pay").await;
    let first = payments(&screens).remove(0);
    screens.press(&path, "action=repeat").await;
    let repeated = payments(&screens);
    assert_eq!((repeated.len(), &repeated[0]), (1, &first));
    screens.press(&path, "action=again").await;
    let second = payments(&screens).remove(0);
    assert_ne!(second["paymentRequestId"], first["paymentRequestId"]);
    screens.press(&path, "action=twice").await;
    let [one, two]: [Value; 2] = payments(&screens).try_into().unwrap();
    assert_eq!(one, two);
    screens.press(&path, "action=amount&amount=149.999").await;
    assert_eq!(payments(&screens)[0]["paidAmount"]["value"], "149999.00");
    screens.press(&path, "action=late&minutes=60").await;
    assert_eq!(payments(&screens)[0]["trxDateTime"], "2026-01-15T11:20:30+07:00");
    screens.kit.door.reply(404, paid("4042514", "01"));
    let page = screens.press(&path, "action=again").await;
    contains(&page, &["reversed", "The customer has their money back", "4042514"]);
    payments(&screens);
    let page = screens.press(&path, "action=lose").await;
    contains(&page, &["suspended", "The bank did not read the answer."]);
    let lost = payments(&screens).remove(0);
    screens.kit.door.reply(404, paid("4042518", "00"));
    contains(&screens.press(&path, "action=resend").await, &["flagAdvise Y", "4042518"]);
    let resent = payments(&screens).remove(0);
    assert_eq!((&resent["paymentRequestId"], &resent["flagAdvise"]), (&lost["paymentRequestId"], &json!("Y")));
    assert_eq!(resent["trxDateTime"], lost["trxDateTime"]);
    screens.kit.door.reply(404, json!({ "responseCode": "4042414", "responseMessage": "Paid Bill" }));
    contains(
        &screens.press(&path, "action=inquire").await,
        &["This bill is paid already. (HTTP 404, code 4042414, Paid Bill)"],
    );
}

#[tokio::test]
async fn why_there_is_no_bill_is_said_in_words() {
    let screens = Screens::open().await;
    screens.kit.bank.token(&screens.kit.contract(Style::BCA)).await.unwrap();
    for (status, code, words) in [
        (404, "4042412", "There is no bill with this number."),
        (404, "4042419", "This bill has expired."),
        (401, "4012400", "does not accept this bank"),
        (500, "5002400", "has a problem of its own"),
    ] {
        screens.kit.door.reply(status, json!({ "responseCode": code }));
        let (path, page) = screens.begin().await;
        contains(&page, &[words, code]);
        assert!(!page.contains("value=\"pay\""));
        let response = screens.post(&path, "action=pay").await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }
}

#[tokio::test]
async fn what_comes_from_outside_is_escaped() {
    let screens = Screens::open().await;
    let evil = "<script>alert(1)</script>\"'&";
    let mut contract = screens.kit.contract(Style::BCA);
    contract.name = evil.to_owned();
    screens.kit.bank.register(contract);
    screens.kit.bank.token(&screens.kit.contract(Style::BCA)).await.unwrap();
    screens.kit.door.reply(200, bill(evil, "150000.00"));
    let (path, page) = screens.begin().await;
    let mut refusal = paid("4042512", "01");
    refusal["responseMessage"] = json!(evil);
    screens.kit.door.reply(404, refusal);
    let result = screens.press(&path, "action=pay").await;
    let start = screens.get("/dev/bank").await.1;
    let refused = screens.post("/dev/bank/visits", "contract=Demo+BCA&number=%3Cscript%3E").await;
    let refused = text(refused).await;
    assert_eq!(refused.0, StatusCode::UNPROCESSABLE_ENTITY);
    for page in [page, result, start, refused.1] {
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&#60;script&#62;"), "{page}");
    }
}

#[tokio::test]
async fn wrong_input_is_told_and_sends_nothing() {
    let screens = Screens::open().await;
    for form in ["", "contract=Other&number=123451", "contract=Demo+BCA&number=", "contract=Demo+BCA&number=9998881"] {
        let response = screens.post("/dev/bank/visits", form).await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY, "{form}");
    }
    assert!(screens.kit.door.seen().is_empty());
    let (path, _) = screens.begin().await;
    screens.kit.door.seen();
    for form in
        ["action=amount&amount=ten", "action=late&minutes=", "action=late&minutes=-5", "action=repeat", "action=x"]
    {
        let (status, page) = text(screens.post(&path, form).await).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        contains(&page, &["role=\"alert\""]);
    }
    assert!(screens.kit.door.seen().is_empty());
    let (status, page) = screens.get("/dev/bank/visits/none").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    contains(&page, &["This visit is over."]);
}

#[tokio::test]
async fn forms_of_other_sites_are_refused_and_pages_carry_their_policy() {
    let screens = Screens::open().await;
    let form = format!("contract=Demo+BCA&number={NUMBER}");
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://elsewhere.example")] {
        let request = Request::post("/dev/bank/visits").header("host", "localhost").header(name, value);
        let response = screens.ask(request.body(Body::from(form.clone())).unwrap()).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{name}");
        contains(&text(response).await.1, &["another site"]);
    }
    assert!(screens.kit.door.seen().is_empty());
    let response = screens.ask(Request::get("/dev/bank").body(Body::empty()).unwrap()).await;
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    contains(policy, &["default-src 'none'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'"]);
    assert_eq!(response.headers()["cache-control"], "no-store");
}
