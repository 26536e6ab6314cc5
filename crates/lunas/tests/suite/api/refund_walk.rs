//! Random walks through everything that moves a merchant's money: payments, refunds, held money, settlement, time, requests whose
//! answers are lost, and servers that stop or are killed. After each step the balance and the ledger are what ten accounts say that
//! are kept by hand, and at the end every invariant holds.
//!
//! A walk prints its seed and its steps. `LUNAS_TEST_SEED=7` walks with that seed alone.

use std::{sync::Arc, time::Duration};

use domain::refund_settings::RefundSettings;
use engine::ProjectUpdate;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use testkit::{Api, Database, Kit, Reply, on_every_database};

use crate::support::{
    json::{at, id, text},
    payments::fresh_key,
    refunds::destination,
    ten_accounts::{NoRefund, TenAccounts},
    walks::{Draw, Killed, Place, ledger, seeds},
};

on_every_database![
    the_books_agree_with_ten_accounts_kept_by_hand_whatever_happens on 2 threads,
];

/// On a real process every fourth request or so costs a restart.
const STEPS_OF_A_PROCESS: usize = 24;

/// Refunded whole, payments of these amounts succeed, fail, need an account, stay on their way and come back.
const AMOUNTS: [i64; 6] = [50_000, 20_901, 30_902, 40_903, 60_904, 15_000];
/// What is given back of them.
const PARTS: [i64; 8] = [1, 5_000, 2_903, 10_901, 9_902, 12_904, 39_903, 70_903];

/// One walk: what is compared, and what it is compared with.
struct Walk {
    place: Place,
    api: Api,
    project_id: String,
    draw: Draw,
    book: TenAccounts,
    /// The ids of payments, held money and refunds, in the order of the book.
    sales: Vec<String>,
    held: Vec<String>,
    refunds: Vec<String>,
}

async fn the_books_agree_with_ten_accounts_kept_by_hand_whatever_happens(kit: Arc<Kit>) {
    let (walks, steps) = if matches!(kit.database, Database::Sqlite(_)) { (6, 70) } else { (2, 50) };
    for seed in seeds(walks) {
        let project = kit.sandbox().await;
        let returns_fee = seed % 2 == 0;
        let refunds = RefundSettings { returns_fee, ..RefundSettings::default() };
        kit.update(project.id, ProjectUpdate { refunds: Some(refunds), ..ProjectUpdate::default() }).await;
        let place = Place::inside(Arc::clone(&kit), project.key.clone());
        let mut walk = Walk::begin(place, project.id.to_string(), seed);
        walk.book.returns_fee = returns_fee;
        walk.go(steps).await;
        walk.place.close().await;
        assert_eq!(kit.store.breaches().await.unwrap(), [], "seed {seed}");
    }
}

async fn survives_kills(killed: Killed) {
    let (project_id, seed) = (killed.project_id().to_owned(), seeds(1)[0]);
    let mut walk = Walk::begin(Place::Outside(killed), project_id, seed);
    walk.go(STEPS_OF_A_PROCESS).await;
    walk.place.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_books_of_a_server_that_is_killed_agree_with_ten_accounts_kept_by_hand_on_sqlite() {
    survives_kills(Killed::on_sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_books_of_a_server_that_is_killed_agree_with_ten_accounts_kept_by_hand_on_postgres() {
    survives_kills(Killed::on_postgres()).await;
}

impl Walk {
    fn begin(place: Place, project_id: String, seed: u64) -> Walk {
        println!("seed {seed}");
        let api = place.api();
        let (sales, held, refunds) = (Vec::new(), Vec::new(), Vec::new());
        let (draw, book) = (Draw::new(seed), TenAccounts::default());
        Walk { place, api, project_id, draw, book, sales, held, refunds }
    }

    async fn go(&mut self, steps: usize) {
        for step in 0..steps {
            let act = self.step().await;
            println!("step {step}: {act}");
            self.compare().await;
        }
        self.compare_refunds().await;
    }

    /// One step of the walk, by a name for who looks for a fault.
    async fn step(&mut self) -> String {
        self.place.pass(Duration::from_millis(1));
        match self.draw.below(24) {
            0..=2 => self.sell_and_pay().await,
            3 => self.sell().await,
            4 => self.pay_again().await,
            5 | 6 => self.pay_wrongly().await,
            7 | 8 => self.decide("accept").await,
            9 => self.decide("return").await,
            10 | 11 => self.decide("send back").await,
            12..=16 => self.refund().await,
            17..=19 => self.end_refund().await,
            20 => self.cancel().await,
            21 => self.settle().await,
            22 => self.wait().await,
            _ => {
                self.place.restart().await;
                self.api = self.place.api();
                "restart".to_owned()
            }
        }
    }

    /// The balance and every account of the ledger.
    async fn compare(&self) {
        let balance = self.api.get("/v1/balance").await.expect(200);
        for account in ["available", "pending", "unapplied", "refunding"] {
            assert_eq!(balance[account], self.book.holds(account), "{account}: {balance}");
        }
        let mut ledger = ledger(self.place.database(), &self.project_id);
        // An account that was never posted to is not there.
        for account in self.book.all().keys() {
            ledger.entry(account.clone()).or_default();
        }
        assert_eq!(ledger, self.book.all());
    }

    /// Each refund stands as the book says.
    async fn compare_refunds(&self) {
        for (refund, back) in self.refunds.iter().zip(&self.book.refunds) {
            let shown = self.api.get(&format!("/v1/refunds/{refund}")).await.expect(200);
            let expected = (back.standing.word(), &json!(back.amount));
            assert_eq!((text(&shown, "status"), &shown["amount"]), expected, "{shown}");
        }
    }

    /// Sends a request that may be repeated. Now and then nobody hears the first answer, or the server dies.
    async fn send(&mut self, request: impl Fn(&Api) -> RequestBuilder) -> Reply {
        if self.draw.below(5) == 0 {
            let after = Duration::from_micros(self.draw.below(4_000) as u64);
            println!("the answer is lost after {after:?}");
            self.place.lose(request(&self.api), after).await;
            self.api = self.place.api();
        }
        self.api.send(request(&self.api)).await
    }

    async fn sell(&mut self) -> String {
        let amount = self.place.amounts(&AMOUNTS)[self.draw.below(self.place.amounts(&AMOUNTS).len())];
        let (is_qris, key) = (self.draw.below(4) > 0, fresh_key());
        let method =
            if is_qris { json!({ "type": "qris" }) } else { json!({ "type": "virtual_account", "bank": "bca" }) };
        let body = json!({
            "project_id": self.project_id, "reference": "order-1", "amount": amount, "payment_method": method,
        });
        let create = |api: &Api| api.request(Method::POST, "/v1/payments").header("Idempotency-Key", &key).json(&body);
        let payment = made(self.send(create).await);
        self.book.offers((amount, is_qris), at(&payment, "expires_at").as_millis());
        self.sales.push(id(&payment).to_owned());
        format!("sell for {amount}, by QRIS: {is_qris}")
    }

    async fn sell_and_pay(&mut self) -> String {
        let sold = self.sell().await;
        let sale = self.sales.len() - 1;
        self.pay(sale, self.book.sales[sale].amount, None).await;
        format!("{sold} and pay")
    }

    async fn pay_again(&mut self) -> String {
        if self.sales.is_empty() {
            return "nothing is to be paid".to_owned();
        }
        let sale = self.draw.below(self.sales.len());
        self.pay(sale, self.book.sales[sale].amount, None).await;
        format!("pay payment {sale} again, or late")
    }

    /// Too much, too little or too late, for a payment of its own.
    async fn pay_wrongly(&mut self) -> String {
        let sold = self.sell().await;
        let sale = self.sales.len() - 1;
        let (amount, expires_at) = (self.book.sales[sale].amount, self.book.sales[sale].expires_at);
        let (paid, late) = match self.draw.below(3) {
            0 => (amount + 5_000, None),
            1 => (amount - 5_000, None),
            _ => (amount, Some(expires_at + 1)),
        };
        self.pay(sale, paid, late).await;
        format!("{sold} and get {paid}, late: {}", late.is_some())
    }

    async fn pay(&mut self, sale: usize, amount: i64, paid_at: Option<i64>) {
        let shown = paid_at.map(|at| domain::time::Timestamp::from_millis(at).to_string());
        let mut body = json!({ "outcome": "paid", "amount": amount, "receipt_id": fresh_key() });
        if let Some(shown) = shown {
            body["paid_at"] = json!(shown);
        }
        let path = format!("/v1/sandbox/payments/{}/simulate", self.sales[sale]);
        self.send(|api| api.request(Method::POST, &path).json(&body)).await.expect(200);
        let (known, now) = (self.book.held.len(), self.place.now());
        self.book.comes(sale, amount, paid_at.unwrap_or(now));
        if self.book.held.len() > known {
            let path = format!("/v1/receipts?state=held&page_size=100&payment_id={}", self.sales[sale]);
            let listed = self.api.get(&path).await.expect(200);
            let mut new = listed["data"].as_array().unwrap().iter();
            let new = new.find(|held| !self.held.iter().any(|known| known == id(held))).expect("it is held");
            assert_eq!(new["amount"], amount);
            self.held.push(id(new).to_owned());
        }
    }

    async fn decide(&mut self, act: &str) -> String {
        if self.held.is_empty() {
            return "nothing is held".to_owned();
        }
        let (index, now) = (self.draw.below(self.held.len()), self.place.now());
        let (path, body) = match act {
            "accept" => ("accept", json!({ "note": "x", "accept_difference": true })),
            "return" => ("return", json!({ "note": "x" })),
            _ => ("return", json!({ "note": "x", "destination": destination() })),
        };
        let reply = self.api.post(&format!("/v1/receipts/{}/{path}", self.held[index]), &body).await;
        let may = match act {
            "accept" => self.book.accepts(index),
            "return" => self.book.hands_back(index),
            _ => self.book.sends_back(index, now),
        };
        if may {
            let decided = reply.expect(200);
            if act == "send back" {
                self.refunds.push(text(&decided["decision"], "refund_id").to_owned());
            }
        } else {
            assert_eq!(reply.status, StatusCode::CONFLICT, "{}", reply.text);
        }
        format!("{act} held money {index}: {may}")
    }

    async fn refund(&mut self) -> String {
        if self.sales.is_empty() {
            return "nothing is to be refunded".to_owned();
        }
        let (sale, now) = (self.draw.below(self.sales.len()), self.place.now());
        let has_account = self.draw.below(3) == 0;
        let parts = self.place.amounts(&PARTS);
        let part = parts[self.draw.below(parts.len())];
        let is_whole = self.draw.below(3) == 0 && self.place.takes(self.book.left(sale));
        let amount = if is_whole { None } else { Some(part) };
        let to = has_account.then(destination);
        let (body, key) = (json!({ "amount": amount, "destination": to }), fresh_key());
        let path = format!("/v1/payments/{}/refunds", self.sales[sale]);
        let create = |api: &Api| api.request(Method::POST, &path).header("Idempotency-Key", &key).json(&body);
        let reply = self.send(create).await;
        let expected = self.book.gives_back(sale, amount, has_account, now);
        match expected {
            Ok(amount) => {
                let refund = made(reply);
                let standing = self.book.refunds.last().map(|back| back.standing.word());
                assert_eq!((&refund["amount"], refund["status"].as_str()), (&json!(amount), standing), "{refund}");
                self.refunds.push(id(&refund).to_owned());
            }
            Err(NoRefund::AboveReceived) => drop(reply.refused(400, "VALIDATION_ERROR")),
            Err(NoRefund::NoRoom) => drop(reply.refused(409, "CONFLICT")),
        }
        format!("refund {amount:?} of payment {sale}, to an account: {has_account}: {expected:?}")
    }

    async fn end_refund(&mut self) -> String {
        if self.refunds.is_empty() {
            return "no refund is to be ended".to_owned();
        }
        let (index, now) = (self.draw.below(self.refunds.len()), self.place.now());
        let word = ["succeeded", "succeeded", "failed", "returned"][self.draw.below(4)];
        let path = format!("/v1/sandbox/refunds/{}/simulate", self.refunds[index]);
        let body = json!({ "outcome": word });
        let reply = self.send(|api| api.request(Method::POST, &path).json(&body)).await;
        let may = self.book.ends(index, word, now);
        match may {
            true => assert_eq!(text(&reply.expect(200), "status"), word),
            false => drop(reply.refused(409, "CONFLICT")),
        }
        format!("refund {index} has {word}: {may}")
    }

    async fn cancel(&mut self) -> String {
        if self.refunds.is_empty() {
            return "no refund is to be cancelled".to_owned();
        }
        let index = self.draw.below(self.refunds.len());
        let reply = self.api.post(&format!("/v1/refunds/{}/cancel", self.refunds[index]), &json!({})).await;
        let may = self.book.cancels(index);
        match may {
            true => assert_eq!(text(&reply.expect(200), "status"), "cancelled"),
            false => drop(reply.refused(409, "CONFLICT")),
        }
        format!("cancel refund {index}: {may}")
    }

    async fn settle(&mut self) -> String {
        self.book.settles();
        self.place.settle().await;
        "settle".to_owned()
    }

    /// Lets time pass; on a real process it passes by itself.
    async fn wait(&mut self) -> String {
        let waits = [Duration::from_millis(2_500), Duration::from_millis(11_300), Duration::from_mins(16)];
        let wait = waits[self.draw.below(waits.len())];
        if self.place.pass(wait) {
            self.place.simulate_due().await;
            self.book.passes(self.place.now());
        }
        format!("wait {wait:?}")
    }
}

/// What was created, by this request or by the one before whose answer was lost.
fn made(reply: Reply) -> Value {
    assert!([200, 201].contains(&reply.status.as_u16()), "{}", reply.text);
    reply.json
}
