//! What banks are answered, and what is on the books afterwards, on SQLite. The doors that banks call are tested over
//! HTTP.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use domain::{
    bank::Bank,
    bank_account::{CredentialKind, Stage},
    bank_request::Verdict,
    id::{BankAccountId, StrayId},
    method::Method,
    money::Rupiah,
    payment::{Payment, PaymentTerms, State},
    project::{Environment, Project},
    stray::StrayDecision,
    time::{DAY, Timestamp},
};
use futures_util::future::join_all;
use gateway::snap::{PrivateKey, sign_client_timestamp};
use store::{Change, PaymentWrite, Store, Window};
use tempfile::TempDir;

use super::{Inquiry, InquiryAnswer, NewBankAccount, OpenAccount, PaymentAsked, TOKEN_LIFETIME, Taken};
use crate::{
    BankError, Clock, Engine, Error, Missing, NewProject, SecretKey, Settings,
    samples::{self, NOW},
};

const BCA: Method = Method::VirtualAccount(Bank::Bca);
const AMOUNT: Rupiah = Rupiah::new(10_000);
const LIFETIME: Duration = Duration::from_mins(15);
const EVERYTHING: Window = Window { offset: 0, limit: 100 };

struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// An installation with one bank account, by which one production project takes payments.
struct Site {
    engine: Engine,
    clock: Arc<SetClock>,
    account: BankAccountId,
    project: Project,
    bank_key: PrivateKey,
    /// Deleted with this value, and the database with it.
    _directory: TempDir,
}

impl Site {
    async fn new() -> Site {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open_sqlite(&directory.path().join("lunas.db")).await.unwrap();
        let key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        let clock = Arc::new(SetClock(AtomicI64::new(NOW.as_millis())));
        let engine = Engine::new(store, clock.clone(), Settings::default(), key);
        let bank_key = PrivateKey::generate().unwrap();
        let settings = settings(&[("partner_service_id", "12345")]);
        let new = NewBankAccount { name: "BCA".to_owned(), profile: "bca".to_owned(), settings };
        let account = engine.create_bank_account(new).await.unwrap().id;
        engine.import_bank_key(account, &bank_key.public_key_pem()).await.unwrap();
        engine.set_bank_inbound(account, None, None).await.unwrap();
        engine.enable_bank_account(account, true).await.unwrap();
        let new = NewProject { name: "Toko".to_owned(), environment: Environment::Production, merchant_name: None };
        let project = engine.create_project(new).await.unwrap().0;
        let project = engine.assign_bank_account(account, project.id, BCA).await.unwrap();
        Site { engine, clock, account, project, bank_key, _directory: directory }
    }

    fn later(&self, by: Duration) {
        self.clock.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    async fn open(&self) -> Arc<OpenAccount> {
        self.engine.bank_door(self.account).await.unwrap().unwrap()
    }

    /// A pending payment with a number of the account.
    async fn bill(&self, number: u32) -> Payment {
        let now = self.engine.now();
        let sample = samples::payment(number, State::Pending, 1);
        let (project_id, expires_at) = (self.project.id, now.plus(LIFETIME));
        let terms = PaymentTerms { project_id, method: BCA, expires_at, ..sample.terms };
        let draft = Payment { terms, created_at: now, ..sample };
        let change = |payment: &Payment| Change::from(PaymentWrite::Created { payment: payment.clone() });
        let issuer = self.engine.issuer(&self.project, BCA).await.unwrap();
        self.engine.issue_and_commit(&self.project, &issuer, draft, change).await.unwrap()
    }

    async fn inquire(&self, external_id: &str, number: &str) -> Option<Verdict> {
        let (external_id, number) = (external_id.to_owned(), number.to_owned());
        let inquiry = Inquiry { request_id: format!("of {external_id}"), external_id, number };
        let open = self.open().await;
        match self.engine.answer_inquiry(&open, inquiry).await.unwrap() {
            InquiryAnswer::Answered { verdict, .. } => Some(verdict),
            InquiryAnswer::ExternalIdReused => None,
        }
    }

    async fn money(&self, ids: [&str; 2], number: &str, amount: Rupiah, paid_at: Timestamp) -> Taken {
        let [external_id, request_id] = ids.map(str::to_owned);
        let asked = PaymentAsked { external_id, request_id, number: number.to_owned(), amount, total: None, paid_at };
        let open = self.open().await;
        self.engine.judge_payment(&open, asked).await.unwrap()
    }

    /// The bank asks to take exactly what the bills of these tests are about.
    async fn paid(&self, ids: [&str; 2], number: &str) -> Taken {
        self.money(ids, number, AMOUNT, self.engine.now()).await
    }

    async fn state(&self, payment: &Payment) -> State {
        self.engine.payment(self.project.id, payment.id).await.unwrap().state
    }

    /// Money of the project that pays nothing.
    async fn held(&self) -> Rupiah {
        assert_eq!(self.engine.verify().await.unwrap(), []);
        self.engine.store.balance(self.project.id, None).await.unwrap().unapplied
    }
}

fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn a_bill_is_paid_by_the_first_money_that_fits_and_the_rest_is_refused() {
    let site = Site::new().await;
    let bill = site.bill(1).await;
    assert!(bill.code.starts_with("12345") && bill.code.len() == 16, "{}", bill.code);
    assert_eq!(site.inquire("1", &bill.code).await, Some(Verdict::Accepted));
    let short = site.money(["1", "short"], &bill.code, Rupiah::new(9_999), NOW).await;
    assert_eq!(short, Taken::Judged(Verdict::WrongAmount));
    assert_eq!(site.paid(["2", "money"], &bill.code).await, Taken::Judged(Verdict::Accepted));
    assert_eq!(site.state(&bill).await, State::Paid { at: NOW });
    assert_eq!(site.paid(["2", "money"], &bill.code).await, Taken::Repeated(Verdict::Accepted));
    assert_eq!(site.paid(["2", "other money"], &bill.code).await, Taken::ExternalIdReused);
    assert_eq!(site.paid(["3", "money"], &bill.code).await, Taken::Judged(Verdict::Accepted));
    assert_eq!(site.paid(["4", "other money"], &bill.code).await, Taken::Judged(Verdict::AlreadyPaid));
    assert_eq!(site.inquire("2", &bill.code).await, Some(Verdict::AlreadyPaid));
    // The same inquiry again gets the same answer; another one may not have its external id.
    assert_eq!(site.inquire("1", &bill.code).await, Some(Verdict::Accepted));
    assert_eq!(site.inquire("1", "1234500000000000").await, None);
    assert_eq!(site.held().await, Rupiah::ZERO);
}

#[tokio::test]
async fn tomorrow_external_ids_are_new_and_the_money_is_the_same() {
    let site = Site::new().await;
    let bill = site.bill(1).await;
    assert_eq!(site.inquire("1", &bill.code).await, Some(Verdict::Accepted));
    let short = site.money(["1", "short"], &bill.code, Rupiah::new(9_999), NOW).await;
    assert_eq!(short, Taken::Judged(Verdict::WrongAmount));
    assert_eq!(site.paid(["2", "money"], &bill.code).await, Taken::Judged(Verdict::Accepted));
    site.later(DAY);
    assert_eq!(site.inquire("1", &bill.code).await, Some(Verdict::AlreadyPaid));
    assert_eq!(site.paid(["2", "money"], &bill.code).await, Taken::Judged(Verdict::Accepted));
    let short = site.money(["1", "short"], &bill.code, Rupiah::new(9_999), NOW).await;
    assert_eq!(short, Taken::Judged(Verdict::WrongAmount));
    // The same id with another amount is other money.
    assert_eq!(site.paid(["3", "short"], &bill.code).await, Taken::Judged(Verdict::AlreadyPaid));
    assert_eq!(site.held().await, Rupiah::ZERO);
}

#[tokio::test]
async fn a_bill_that_ended_is_told_apart_from_a_number_that_nobody_has() {
    let site = Site::new().await;
    let (in_time, late) = (site.bill(1).await, site.bill(2).await);
    assert_eq!(site.inquire("1", "1234500000000000").await, Some(Verdict::Unknown));
    assert_eq!(site.paid(["1", "1"], "1234500000000000").await, Taken::Judged(Verdict::Unknown));
    site.later(LIFETIME + Duration::from_millis(1));
    assert_eq!(site.inquire("2", &late.code).await, Some(Verdict::Expired));
    assert_eq!(site.paid(["2", "2"], &late.code).await, Taken::Judged(Verdict::Expired));
    // The bank took this money in time, and asks late. Its clock is behind ours.
    let early = NOW.minus(Duration::from_secs(30));
    let taken = site.money(["3", "3"], &in_time.code, AMOUNT, early).await;
    assert_eq!(taken, Taken::Judged(Verdict::Accepted));
    assert_eq!(site.state(&in_time).await, State::Paid { at: NOW });
    assert_eq!(site.held().await, Rupiah::ZERO);
    assert_eq!(site.engine.open_strays().await.unwrap().count, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_that_is_asked_for_many_times_at_once_is_booked_once() {
    const CALLERS: usize = 24;
    let site = Site::new().await;
    let (same, different) = (site.bill(1).await, site.bill(2).await);
    let external: Vec<String> = (0..CALLERS).map(|index| index.to_string()).collect();
    let identical = join_all((0..CALLERS).map(|_| site.paid(["same", "same"], &same.code))).await;
    let accepted = [Taken::Judged(Verdict::Accepted), Taken::Repeated(Verdict::Accepted)];
    assert!(identical.iter().all(|taken| accepted.contains(taken)), "{identical:?}");
    let others = join_all(external.iter().map(|id| site.paid([id, id], &different.code))).await;
    let of = |verdict| others.iter().filter(|taken| **taken == Taken::Judged(verdict)).count();
    assert_eq!((of(Verdict::Accepted), of(Verdict::AlreadyPaid)), (1, CALLERS - 1));
    assert_eq!(site.held().await, Rupiah::ZERO);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_that_a_bank_would_not_give_back_is_kept_until_somebody_decides() {
    let site = Site::new().await;
    site.engine.set_bank_account(site.account, &settings(&[("refusal_reverses", "no")])).await.unwrap();
    let (first, second) = (site.bill(1).await, site.bill(2).await);
    let nobody = "1234500000000000";
    for id in ["stray", "foreign"] {
        assert_eq!(site.paid([id, id], nobody).await, Taken::Judged(Verdict::Accepted));
        assert_eq!(site.paid([id, id], nobody).await, Taken::Repeated(Verdict::Accepted));
        // The list is in the order of arrival.
        site.later(Duration::from_millis(1));
    }
    let listed = site.engine.strays(true, EVERYTHING).await.unwrap();
    let [foreign, stray] = &listed.items[..] else { panic!("{:?}", listed.items) };
    assert_eq!((stray.receipt_id.as_str(), stray.amount), ("stray", Some(AMOUNT)));
    // Two operators give it to two payments at once.
    let assign = |payment: &Payment| site.engine.assign_stray(stray.id, payment.id, "by phone".to_owned());
    let (one, two) = futures_util::future::join(assign(&first), assign(&second)).await;
    let (winner, loser) = if one.is_ok() { (&first, two) } else { (&second, one) };
    assert!(matches!(loser, Err(Error::AlreadyDecided)), "{loser:?}");
    let decided = site.engine.stray(stray.id).await.unwrap().decided.unwrap();
    let (project_id, payment_id) = (site.project.id, winner.id);
    assert_eq!(decided.decision, StrayDecision::Assigned { project_id, payment_id });
    assert_eq!(site.state(winner).await, State::Paid { at: NOW });
    return_twice(&site, foreign.id).await;
    // Money for a bill that is paid already belongs to its merchant.
    assert_eq!(site.paid(["twice", "twice"], &winner.code).await, Taken::Judged(Verdict::Accepted));
    assert_eq!(site.held().await, AMOUNT);
    assert_eq!(site.engine.open_strays().await.unwrap().count, 0);
}

async fn return_twice(site: &Site, id: StrayId) {
    let returned = site.engine.return_stray(id, "to the bank".to_owned()).await.unwrap();
    assert_eq!(returned.decided.unwrap().decision, StrayDecision::Returned);
    let again = site.engine.return_stray(id, "to the bank".to_owned()).await;
    assert!(matches!(again, Err(Error::AlreadyDecided)), "{again:?}");
}

#[tokio::test]
async fn an_account_that_takes_money_lacks_nothing() {
    let site = Site::new().await;
    let engine = &site.engine;
    let taken_away = settings(&[("partner_service_id", "")]);
    let refused = engine.set_bank_account(site.account, &taken_away).await;
    let missing = vec![Missing::Setting("partner_service_id")];
    assert!(matches!(refused, Err(Error::Bank(BankError::Missing(found))) if found == missing));
    assert_eq!(engine.bank_account(site.account).await.unwrap().settings["partner_service_id"], "12345");
    engine.enable_bank_account(site.account, false).await.unwrap();
    assert!(!site.open().await.account.enabled);
    assert!(engine.project(site.project.id).await.unwrap().accounts.is_empty());
    engine.set_bank_account(site.account, &taken_away).await.unwrap();
    let refused = engine.enable_bank_account(site.account, true).await;
    assert!(matches!(refused, Err(Error::Bank(BankError::Missing(found))) if found == missing));
    assert!(!engine.bank_account(site.account).await.unwrap().enabled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_set_the_first_secret_at_once_one_is_in_use_and_one_is_next() {
    let site = Site::new().await;
    let secret = || secrecy::SecretString::from("a secret of the bank's own");
    let outbound = |client: &str| site.engine.set_bank_outbound(site.account, client.to_owned(), secret());
    let (one, two) = futures_util::future::join(outbound("one"), outbound("two")).await;
    one.unwrap();
    two.unwrap();
    let file = site.engine.bank_account_file(site.account).await.unwrap();
    let clients = [Stage::Current, Stage::Next].map(|stage| {
        let credential = file.credential(CredentialKind::Outbound, stage).unwrap();
        credential.client_id.clone().unwrap()
    });
    assert!(clients == ["one", "two"] || clients == ["two", "one"], "{clients:?}");
    assert_eq!(site.engine.rotate_bank_account(site.account).await.unwrap(), [CredentialKind::Outbound]);
    let file = site.engine.bank_account_file(site.account).await.unwrap();
    let in_use = file.credential(CredentialKind::Outbound, Stage::Current).unwrap();
    assert_eq!(in_use.client_id.as_ref(), Some(&clients[1]));
    assert!(file.credential(CredentialKind::Outbound, Stage::Next).is_none());
    let again = site.engine.rotate_bank_account(site.account).await;
    assert!(matches!(again, Err(Error::Bank(BankError::NothingNext))));
}

impl Site {
    /// A token for one of the account's clients, which the bank has signed for.
    fn token(&self, open: &OpenAccount, client_id: &str) -> String {
        let client = open.inbound.iter().find(|client| client.client_id == client_id).unwrap();
        let signature = sign_client_timestamp(&self.bank_key, client_id, "now");
        self.engine.bank_token(open, client, "now", &signature).unwrap()
    }

    /// The client that a token leads to.
    fn client(&self, open: &OpenAccount, token: &str) -> Option<String> {
        self.engine.bank_client(open, token).map(|client| client.client_id.clone())
    }
}

#[tokio::test]
async fn a_token_is_issued_to_whom_the_bank_has_signed_for_and_ends_in_time() {
    let site = Site::new().await;
    let open = site.open().await;
    let client = &open.inbound[0];
    let token = site.token(&open, &client.client_id);
    assert_eq!(site.client(&open, &token), Some(client.client_id.clone()));
    let stranger = PrivateKey::generate().unwrap();
    let forged = sign_client_timestamp(&stranger, &client.client_id, "now");
    assert_eq!(site.engine.bank_token(&open, client, "now", &forged), None);
    for wrong in ["", "AAAAAAAAAAA", &token[1..], &format!("{token}AAAA")] {
        assert_eq!(site.client(&open, wrong), None, "{wrong}");
    }
    site.later(TOKEN_LIFETIME);
    assert!(site.client(&open, &token).is_some());
    site.later(Duration::from_millis(1));
    assert_eq!(site.client(&open, &token), None);
}

#[tokio::test]
async fn a_token_ends_with_the_secret_that_it_was_issued_for() {
    let site = Site::new().await;
    let open = site.open().await;
    let token = site.token(&open, &open.inbound[0].client_id);
    // The next secret may be used at once; when it has replaced the first, tokens of the first end.
    site.engine.set_bank_inbound(site.account, Some("next".to_owned()), None).await.unwrap();
    let both = site.open().await;
    let newer = site.token(&both, "next");
    assert!(site.client(&both, &token).is_some() && site.client(&both, &newer).is_some());
    site.engine.rotate_bank_account(site.account).await.unwrap();
    let rotated = site.open().await;
    assert_eq!((site.client(&rotated, &token), site.client(&rotated, &newer)), (None, Some("next".to_owned())));
}
