//! Refunds of which no bank says what became of them: two people end one as failed, after the bank's time and not against its
//! statement; and what turns out done after that is booked, with a difference.

use std::{sync::Arc, time::Duration};

use demobank::{Fate, Fault, MoneyRules, Service};
use domain::{
    access::Role,
    audit::{Actor, Deed},
    destination::DestinationRequest,
    event::EventKind,
    refund::{PendingReason, Refund, RefundState, RefundStatus, doubt::StatementFinding, transfer::AttemptState},
};
use engine::{ProjectUpdate, Window};
use serde_json::Value;
use store::UnappliedFilter;
use testkit::{Kit, Ran, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::AMOUNT,
    customer::is_page,
    dashboard::{audited, leads},
    held::{contains_all, lacks_all},
    json::text,
    people::{Person, desk},
    refund_bank::{CUSTOMER, OTHER_BANK, OWN_BANK, RefundBank},
    refund_nodes::{RefundNodes, Road},
    rows::run_by_hand,
    wait::until,
    webhooks::events,
};

on_every_database![
    a_lost_refund_is_ended_by_two_people_and_succeeds_when_the_bank_says_late_that_it_is_done,
    money_that_was_given_back_twice_is_in_the_books_and_a_difference,
    what_the_statement_holds_is_recorded_as_transferred_and_not_as_failed,
];

on_sqlite_alone![
    a_person_records_with_the_banks_reference_that_it_was_made_after_all,
    held_money_that_was_sent_after_all_is_returned_by_the_refund_that_was_given_up,
    a_statement_that_cannot_be_read_keeps_a_refund_from_being_ended,
    what_the_bank_is_carrying_out_is_not_ended_as_failed,
    an_order_for_the_clearing_is_not_ended_as_failed_before_the_clearing_has_worked,
    without_a_statement_each_person_confirms_that_they_looked_at_the_banks,
    where_the_statement_leaves_a_doubt_each_person_confirms_that_they_looked_at_the_banks,
    an_operator_is_the_second_person_of_a_project_with_one_owner,
    a_bank_that_says_nothing_more_leaves_the_refund_to_people,
    a_refund_that_the_bank_refuses_after_people_ended_it_stays_failed,
];

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
/// A round, and no other.
const ONCE: (Duration, usize) = (MINUTE, 0);
/// Until the bank's time is over, which is an hour.
const PAST: (Duration, usize) = (Duration::from_mins(10), 7);
/// What people write.
const WHY: &[(&str, &str)] = &[("text", "tidak ada di mutasi")];

/// A bank, a payment that was paid, and two owners of its project.
struct Shop {
    bank: RefundBank,
    payment: Value,
    owners: [Person; 2],
}

impl Shop {
    async fn open(kit: &Kit, settings: &[(&str, &str)]) -> Shop {
        let (bank, payment) = RefundBank::with_payment(kit, "generic", settings).await;
        let project = bank.project.id;
        let owners = [
            Person::member(kit, project, Role::Owner, "one@example.com").await,
            Person::member(kit, project, Role::Owner, "two@example.com").await,
        ];
        Shop { bank, payment, owners }
    }

    fn page(&self, refund: &Refund) -> String {
        format!("{}/refunds/{}", desk(self.bank.project.id), refund.id)
    }

    /// What an owner who signs in now is answered: they have to prove that they are there.
    async fn post(&self, kit: &Kit, owner: usize, refund: &Refund, form: &str, fields: &[(&str, &str)]) -> Reply {
        self.signed_in(kit, owner).await.post(&format!("{}/{form}", self.page(refund)), fields).await
    }

    async fn signed_in(&self, kit: &Kit, owner: usize) -> Person {
        Person::signed_in(kit, self.owners[owner].user.clone()).await
    }

    async fn shown(&self, kit: &Kit, refund: &Refund) -> Reply {
        self.signed_in(kit, 0).await.open(&self.page(refund)).await
    }

    async fn now(&self, refund: &Refund) -> Refund {
        self.bank.engine.refund(self.bank.project.id, refund.id).await.unwrap()
    }

    /// The bank takes an order, answers nothing and ends it after so many hours. Until an hour later it does not find it.
    fn delay_next(&self, fate: Fate, hours: i64) {
        let hour_ms = 60 * 60 * 1_000;
        let rules = MoneyRules { hidden_ms: (hours + 1) * hour_ms, ..MoneyRules::default() };
        self.bank.acquired.asked.set_money_rules(&self.bank.acquired.client_id, rules);
        self.bank.acquired.asked.fate_of_next(Fate { takes_ms: hours * hour_ms, ..fate });
        self.bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostAfter);
    }

    /// A refund whose order never got to the bank.
    async fn lost(&self, kit: &Kit) -> Refund {
        let refund = self.bank.refund_to(&self.payment, 10_000, OTHER_BANK).await;
        self.bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostBefore);
        self.bank.follow(kit, &refund, ONCE).await.0
    }

    /// A refund that the bank will make after so many hours, and that two people have ended as failed before.
    async fn given_up(&self, kit: &Kit, amount: i64, hours: i64) -> Refund {
        self.delay_next(Fate::default(), hours);
        let refund = self.bank.refund_to(&self.payment, amount, OTHER_BANK).await;
        let _ = self.bank.follow(kit, &refund, PAST).await;
        leads(&self.post(kit, 0, &refund, "failed", WHY).await, "refund-doubted");
        leads(&self.post(kit, 1, &refund, "failed", WHY).await, "refund-failed");
        self.now(&refund).await
    }

    /// Available, pending, refunding and refunded.
    async fn balance(&self, kit: &Kit) -> [i64; 4] {
        let now = kit.store.balance(self.bank.project.id, None).await.unwrap();
        [now.available, now.pending, now.refunding, now.refunded].map(|amount| amount.get())
    }
}

const PROCESSING: RefundState = RefundState::Pending(PendingReason::Processing);

/// The kinds of what a person must look at.
async fn differences(kit: &Kit) -> Vec<&'static str> {
    let open = kit.store.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
    open.iter().map(|one| one.key.kind.word()).collect()
}

/// The kinds of events about refunds, newest first.
async fn read_refund_events(shop: &Shop) -> Vec<String> {
    let events = events(&shop.bank.acquired.project).await;
    let kinds = events.iter().map(|event| text(event, "type").to_owned());
    kinds.filter(|kind| kind.starts_with("refund.")).collect()
}

/// The first person doubts; then the same person, and the second one before the bank's time is over, are refused.
async fn doubted_too_early(kit: &Kit, shop: &Shop, refund: &Refund) {
    leads(&shop.post(kit, 0, refund, "failed", WHY).await, "refund-doubted");
    let page = shop.shown(kit, refund).await;
    contains_all(
        &page,
        &["one@example.com mencatat pada ", "Kami terus bertanya ke bank.", "Ini bisa dicatat gagal setelah "],
    );
    let again = shop.post(kit, 0, refund, "failed", WHY).await;
    is_page("the same person", &again, 409);
    contains_all(&again, &["Anda sudah mencatatnya gagal."]);
    let early = shop.post(kit, 1, refund, "failed", WHY).await;
    is_page("too early", &early, 409);
    contains_all(&early, &["Belum bisa: sampai "]);
    assert_eq!(shop.now(refund).await.state, PROCESSING);
}

/// The second person ends it once the bank's time is over, and the audit log names both.
async fn ended_by_both(kit: &Kit, shop: &Shop, refund: &Refund) {
    let (_, attempts) = shop.bank.follow(kit, refund, PAST).await;
    assert_eq!(attempts[0].statement.map(|reading| reading.found), Some(StatementFinding::Absent), "it was read");
    leads(&shop.post(kit, 1, refund, "failed", WHY).await, "refund-failed");
    let failed = shop.now(refund).await;
    assert_eq!((failed.state, failed.failure_reason.as_deref()), (RefundState::Failed, Some("tidak ada di mutasi")));
    let page = shop.shown(kit, refund).await;
    contains_all(&page, &["Ternyata terlaksana", "Mutasi rekening yang membayar tidak memuatnya."]);
    // It has ended: it waits for nobody.
    lacks_all(&page, &["Satu orang lagi harus mencatat", "Ini bisa dicatat gagal setelah", "orang yang memutuskan"]);
    for (deed, owner) in [(Deed::RefundDoubted, 0), (Deed::RefundMarkedFailed, 1)] {
        let lines = audited(kit, deed).await;
        let person = shop.owners[owner].user.id;
        let is_theirs = |actor: &Actor| matches!(actor, Actor::User { id, .. } if *id == person);
        assert!(lines.len() == 1 && is_theirs(&lines[0].0), "{lines:?}");
    }
}

/// What the books, the differences and the merchant's program know of a refund of 10,000 that was found done.
async fn check_found_done(kit: &Kit, shop: &Shop, found: &Refund, before: [i64; 4]) {
    assert_eq!(found.status(), RefundStatus::Succeeded);
    assert_eq!(found.found.as_ref().map(|found| found.failure.as_str()), Some("tidak ada di mutasi"));
    let [available, pending, refunding, refunded] = before;
    assert_eq!(shop.balance(kit).await, [available, pending - 10_000, refunding, refunded + 10_000]);
    let mut kinds = differences(kit).await;
    kinds.sort_unstable();
    assert_eq!(kinds, ["refunded", "unanswered"]);
    assert_eq!(
        (read_refund_events(shop).await, shop.bank.done().len()),
        (vec!["refund.succeeded".to_owned(), "refund.failed".to_owned()], 1)
    );
    assert_eq!(kit.store.breaches().await.unwrap(), []);
}

async fn a_lost_refund_is_ended_by_two_people_and_succeeds_when_the_bank_says_late_that_it_is_done(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let kinds = EventKind::EXTRA.to_vec();
    kit.update(shop.bank.project.id, ProjectUpdate { extra_events: Some(kinds), ..Default::default() }).await;
    let before = shop.balance(&kit).await;
    shop.delay_next(Fate::default(), 3);
    let refund = shop.bank.refund_to(&shop.payment, 10_000, OTHER_BANK).await;
    let (uncertain, attempts) = shop.bank.follow(&kit, &refund, ONCE).await;
    assert_eq!((uncertain.state, attempts[0].state), (PROCESSING, AttemptState::Unknown));
    doubted_too_early(&kit, &shop, &refund).await;
    ended_by_both(&kit, &shop, &refund).await;
    assert_eq!(shop.balance(&kit).await, before, "the money is back");

    let (found, attempts) = shop.bank.follow(&kit, &refund, (HOUR, 5)).await;
    assert_eq!((attempts[0].state, attempts.len()), (AttemptState::Done, 1));
    check_found_done(&kit, &shop, &found, before).await;
    contains_all(&shop.shown(&kit, &refund).await, &["Bank ternyata melaksanakannya", "Dicatat tidak terlaksana"]);

    // The same once more.
    run_by_hand(&kit.database, "UPDATE refund_attempts SET state = 'unknown', ask_at = 1");
    let (again, attempts) = shop.bank.follow(&kit, &refund, (HOUR, 2)).await;
    assert_eq!((&again, attempts[0].state), (&found, AttemptState::Done));
    check_found_done(&kit, &shop, &again, before).await;
}

async fn money_that_was_given_back_twice_is_in_the_books_and_a_difference(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let [available, pending, ..] = shop.balance(&kit).await;
    let first = shop.given_up(&kit, AMOUNT - 1_000, 5).await;
    shop.bank.acquired.asked.set_money_rules(&shop.bank.acquired.client_id, MoneyRules::default());
    let second = shop.bank.refund_to(&shop.payment, AMOUNT, OTHER_BANK).await;
    let (second, _) = shop.bank.follow(&kit, &second, (MINUTE, 3)).await;
    assert_eq!(second.status(), RefundStatus::Succeeded);
    let (first, _) = shop.bank.follow(&kit, &first, (HOUR, 8)).await;
    assert_eq!(first.status(), RefundStatus::Succeeded);
    assert_eq!(shop.bank.arrived(OTHER_BANK), 2 * AMOUNT - 1_000, "the customer has more than they paid");
    let sum = available + pending - (2 * AMOUNT - 1_000);
    let [available, pending, refunding, refunded] = shop.balance(&kit).await;
    assert_eq!((available + pending, refunding, refunded), (sum, 0, 2 * AMOUNT - 1_000));
    assert!(available < 0, "the merchant owes it: {available}");
    let kinds = differences(&kit).await;
    assert!(kinds.contains(&"refunded"), "{kinds:?}");
    assert_eq!(kit.store.breaches().await.unwrap(), []);
    // And nothing more is given back.
    let refund = format!("{}/payments/{}/refund", desk(shop.bank.project.id), text(&shop.payment, "id"));
    let more = Person::signed_in(&kit, shop.owners[0].user.clone()).await;
    let fields = [("amount", "1000"), ("road", "usual"), ("sure", "yes")];
    let refused = more.post(&refund, &fields).await;
    assert!([409, 422].contains(&refused.status.as_u16()), "{}", refused.text);
    // One of both comes back: the sums follow.
    let fields = [("text", "rekening ditutup")];
    leads(&shop.post(&kit, 0, &second, "returned", &fields).await, "refund-returned");
    assert_eq!(kit.store.breaches().await.unwrap(), []);
}

async fn what_the_statement_holds_is_recorded_as_transferred_and_not_as_failed(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let rules = MoneyRules { hidden_ms: 48 * 60 * 60 * 1_000, ..MoneyRules::default() };
    shop.bank.acquired.asked.set_money_rules(&shop.bank.acquired.client_id, rules);
    let refund = shop.bank.refund_to(&shop.payment, 10_000, OTHER_BANK).await;
    shop.bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostAfter);
    let _ = shop.bank.follow(&kit, &refund, ONCE).await;
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    // No round meanwhile: the statement is read when the second person says so.
    kit.clock.advance(2 * HOUR);
    let refused = shop.post(&kit, 1, &refund, "failed", WHY).await;
    is_page("it is on the statement", &refused, 409);
    contains_all(&refused, &["membayar memuatnya.", "Catat sebagai sudah ditransfer, bukan gagal."]);
    assert_eq!(shop.now(&refund).await.state, PROCESSING);
    leads(&shop.post(&kit, 1, &refund, "done", &[("text", "FT-1")]).await, "refund-transferred");
    assert_eq!(shop.now(&refund).await.status(), RefundStatus::Succeeded);
    assert!(shop.now(&refund).await.found.is_none(), "nobody had ended it as failed");
}

async fn a_person_records_with_the_banks_reference_that_it_was_made_after_all(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let refund = shop.given_up(&kit, 10_000, 48).await;
    leads(&shop.post(&kit, 0, &refund, "done", &[("text", "FT-2026")]).await, "refund-transferred");
    let found = shop.now(&refund).await;
    assert_eq!((found.status(), found.bank_reference.as_deref()), (RefundStatus::Succeeded, Some("FT-2026")));
    assert!(found.found.is_some());
    let operator = Person::operator(&kit, "operator@example.com").await;
    let page = operator.open(&format!("/dashboard/operator/refunds/{}", refund.id)).await;
    contains_all(&page, &["Bank ternyata melaksanakannya, padahal sudah dicatat gagal."]);
    assert!(differences(&kit).await.contains(&"refunded"));
    is_page("again", &shop.post(&kit, 1, &refund, "done", &[("text", "FT-2027")]).await, 409);
    let (later, _) = shop.bank.follow(&kit, &refund, (HOUR, 3)).await;
    assert_eq!(later, found, "nobody asks any more");
    assert_eq!(kit.store.breaches().await.unwrap(), []);
}

async fn held_money_that_was_sent_after_all_is_returned_by_the_refund_that_was_given_up(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let (engine, project) = (&shop.bank.engine, &shop.bank.project);
    kit.clock.advance(2 * MINUTE);
    shop.bank.acquired.pays(&shop.payment).await;
    let window = Window { offset: 0, limit: 1 };
    let held = kit.store.unapplied_receipts(project.id, UnappliedFilter::Undecided, None, window).await.unwrap();
    let held = held.items[0].id;
    shop.delay_next(Fate::default(), 5);
    let to = DestinationRequest {
        bank: Some(OTHER_BANK.to_owned()),
        account_number: Some(CUSTOMER.to_owned()),
        account_name: None,
    };
    let decided = async || engine.receipt(project.id, held).await.unwrap().decided;
    let returned = engine.return_receipt(project, held, to, "kembali".to_owned()).await.unwrap();
    let refund = engine.refund(project.id, returned.decided.unwrap().refund.unwrap()).await.unwrap();
    let _ = shop.bank.follow(&kit, &refund, PAST).await;
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    leads(&shop.post(&kit, 1, &refund, "failed", WHY).await, "refund-failed");
    assert!(decided().await.is_none(), "it is held again");
    let (found, _) = shop.bank.follow(&kit, &refund, (HOUR, 7)).await;
    assert_eq!((found.status(), decided().await.unwrap().refund), (RefundStatus::Succeeded, Some(refund.id)));
    let balance = kit.store.balance(project.id, None).await.unwrap();
    assert_eq!((balance.unapplied.get(), balance.refunded.get()), (0, AMOUNT));
    assert_eq!(kit.store.breaches().await.unwrap(), []);
}

async fn a_statement_that_cannot_be_read_keeps_a_refund_from_being_ended(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let refund = shop.lost(&kit).await;
    shop.bank.acquired.asked.fail_every(Service::Statement, Some(Fault::Status(500)));
    let _ = shop.bank.follow(&kit, &refund, PAST).await;
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    let unread = shop.post(&kit, 1, &refund, "failed", WHY).await;
    is_page("unread", &unread, 409);
    contains_all(&unread, &["tidak bisa dibaca. Coba lagi nanti."]);
    // The word of a person is no reading of ours.
    let fields = [("text", "tidak ada"), ("statement_checked", "on")];
    is_page("checked", &shop.post(&kit, 1, &refund, "failed", &fields).await, 409);
    shop.bank.acquired.asked.fail_every(Service::Statement, None);
    kit.clock.advance(HOUR);
    leads(&shop.post(&kit, 1, &refund, "failed", WHY).await, "refund-failed");
}

async fn what_the_bank_is_carrying_out_is_not_ended_as_failed(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    shop.bank.acquired.asked.fate_of_next(Fate { takes_ms: 48 * 60 * 60 * 1_000, ..Fate::default() });
    let refund = shop.bank.refund_to(&shop.payment, 10_000, OTHER_BANK).await;
    shop.bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostAfter);
    let _ = shop.bank.follow(&kit, &refund, PAST).await;
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    let refused = shop.post(&kit, 1, &refund, "failed", WHY).await;
    is_page("on its way", &refused, 409);
    contains_all(&refused, &["Menurut jawaban terakhir bank, pengembalian ini sedang diproses."]);
    // What it said still counts when it does not answer.
    shop.bank.acquired.asked.fail_every(Service::TransferStatus, Some(Fault::Status(500)));
    let _ = shop.bank.follow(&kit, &refund, (HOUR, 3)).await;
    is_page("no answer", &shop.post(&kit, 1, &refund, "failed", WHY).await, 409);
    shop.bank.acquired.asked.fail_every(Service::TransferStatus, None);
    let (now, _) = shop.bank.follow(&kit, &refund, (HOUR, 48)).await;
    assert_eq!(now.status(), RefundStatus::Succeeded);
    assert!(now.found.is_none(), "nobody had ended it");
}

async fn an_order_for_the_clearing_is_not_ended_as_failed_before_the_clearing_has_worked(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[("transfer", "skn,rtgs")]).await;
    let refund = shop.bank.refund_to(&shop.payment, 60_000, OTHER_BANK).await;
    shop.bank.acquired.asked.fail_next_of(Service::Skn, Fault::LostBefore);
    let _ = shop.bank.follow(&kit, &refund, (12 * HOUR, 7)).await;
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    let early = shop.post(&kit, 1, &refund, "failed", WHY).await;
    is_page("the clearing", &early, 409);
    contains_all(&early, &["Belum bisa: sampai "]);
    kit.clock.advance(12 * HOUR + MINUTE);
    leads(&shop.post(&kit, 1, &refund, "failed", WHY).await, "refund-failed");
}

async fn without_a_statement_each_person_confirms_that_they_looked_at_the_banks(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[("resend", "never")]).await;
    // What goes back by the code has no line of its own on the statement.
    let refund = shop.bank.refund(&shop.payment, 10_000).await;
    shop.bank.acquired.asked.fail_next_of(Service::QrRefund, Fault::LostBefore);
    let _ = shop.bank.follow(&kit, &refund, PAST).await;
    contains_all(&shop.shown(&kit, &refund).await, &["Kami tidak bisa membaca mutasi", "name=\"statement_checked\""]);
    ended_by_both_who_confirm(&kit, &shop, &refund).await;
}

async fn where_the_statement_leaves_a_doubt_each_person_confirms_that_they_looked_at_the_banks(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let refund = shop.lost(&kit).await;
    shop.bank.acquired.asked.withdraw(OWN_BANK, RefundBank::source(), 10_000, "TRSF E-BANKING").unwrap();
    let _ = shop.bank.follow(&kit, &refund, PAST).await;
    let page = shop.shown(&kit, &refund).await;
    contains_all(&page, &["dengan jumlah yang sama tanpa nomor kami", "name=\"statement_checked\""]);
    ended_by_both_who_confirm(&kit, &shop, &refund).await;
}

/// Each of the two is refused until they say that they have looked at the bank's own statement.
async fn ended_by_both_who_confirm(kit: &Kit, shop: &Shop, refund: &Refund) {
    let confirmed = [WHY[0], ("statement_checked", "on")];
    for owner in [0, 1] {
        let unconfirmed = shop.post(kit, owner, refund, "failed", WHY).await;
        is_page("not confirmed", &unconfirmed, 409);
        contains_all(&unconfirmed, &["Lihat dulu mutasi rekening langsung di bank"]);
        let done = ["refund-doubted", "refund-failed"][owner];
        leads(&shop.post(kit, owner, refund, "failed", &confirmed).await, done);
    }
    assert_eq!(shop.now(refund).await.state, RefundState::Failed);
}

async fn an_operator_is_the_second_person_of_a_project_with_one_owner(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    let refund = shop.lost(&kit).await;
    let _ = shop.bank.follow(&kit, &refund, PAST).await;
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    let operator = Person::operator(&kit, "operator@example.com").await;
    let list = operator.open("/dashboard/operator/refunds").await;
    contains_all(&list, &[&format!("/dashboard/operator/refunds/{}", refund.id)]);
    let path = format!("/dashboard/operator/refunds/{}", refund.id);
    contains_all(&operator.open(&path).await, &["one@example.com mencatat pada ", "tidak memuatnya"]);
    is_page("no reason", &operator.post(&format!("{path}/failed"), &[("text", "")]).await, 422);
    leads(&operator.post(&format!("{path}/failed"), WHY).await, "refund-failed");
    assert_eq!(shop.now(&refund).await.state, RefundState::Failed);
    assert!(!operator.open("/dashboard/operator/refunds").await.text.contains(&refund.id.to_string()));
}

async fn a_bank_that_says_nothing_more_leaves_the_refund_to_people(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[("status_days", "1")]).await;
    let refund = shop.lost(&kit).await;
    let (_, attempts) = shop.bank.follow(&kit, &refund, (HOUR, 27)).await;
    assert_eq!((attempts[0].state, attempts[0].ask_at), (AttemptState::Unknown, None));
    let calls = shop.bank.calls(Service::TransferStatus);
    let _ = shop.bank.follow(&kit, &refund, (HOUR, 3)).await;
    assert_eq!(shop.bank.calls(Service::TransferStatus), calls, "nobody asks any more");
    let (owner, operator) = (shop.signed_in(&kit, 0).await, Person::operator(&kit, "operator@example.com").await);
    let pages = [(owner, shop.page(&refund)), (operator, format!("/dashboard/operator/refunds/{}", refund.id))];
    for (person, page) in &pages {
        let indonesian = person.open(&format!("{page}?lang=id")).await;
        contains_all(&indonesian, &["tidak ditanya lagi", "bank hanya menjawab selama 1 hari", "Sekarang orang yang"]);
        contains_all(&indonesian, &["Terakhir kali, pada ", "Bank tidak menemukannya, dan mutasi rekening"]);
        lacks_all(&indonesian, &["terus bertanya", "bank berkata", "not found"]);
        let english = person.open(&format!("{page}?lang=en")).await;
        contains_all(&english, &["is not asked any more", "for one day only", "A person decides now"]);
        contains_all(&english, &["The bank does not find it, and the statement"]);
        lacks_all(&english, &["keep asking", "The bank said"]);
    }
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    leads(&shop.post(&kit, 1, &refund, "failed", WHY).await, "refund-failed");
    let page = shop.shown(&kit, &refund).await;
    contains_all(&page, &["Ternyata terlaksana", "bank hanya menjawab selama 1 hari"]);
    lacks_all(&page, &["Satu orang lagi harus mencatat", "orang yang memutuskan"]);
}

async fn a_refund_that_the_bank_refuses_after_people_ended_it_stays_failed(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, &[]).await;
    shop.delay_next(Fate { fails: true, ..Fate::default() }, 3);
    let refund = shop.bank.refund_to(&shop.payment, 10_000, OTHER_BANK).await;
    let _ = shop.bank.follow(&kit, &refund, PAST).await;
    leads(&shop.post(&kit, 0, &refund, "failed", WHY).await, "refund-doubted");
    leads(&shop.post(&kit, 1, &refund, "failed", WHY).await, "refund-failed");
    let before = shop.now(&refund).await;
    let (later, attempts) = shop.bank.follow(&kit, &refund, (HOUR, 5)).await;
    assert_eq!((later, attempts[0].state), (before, AttemptState::Refused));
    assert!(!differences(&kit).await.contains(&"refunded"));
}

/// What a command about refunds says.
fn ran(nodes: &RefundNodes, arguments: &[&str]) -> Ran {
    let arguments = [&["refund"][..], arguments].concat();
    tokio::task::block_in_place(|| Ran::from(nodes.command(&arguments).output().unwrap()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_ends_an_uncertain_refund_as_one_of_two_people() {
    let mut nodes = RefundNodes::on_sqlite(Road::Account).await;
    let running = nodes.start();
    nodes.bank.asked.fail_next_of(Service::Interbank, Fault::LostBefore);
    let payment = nodes.paid().await;
    let (_, refund) = nodes.ask(&nodes.wish(&payment, Some(10_000))).await;
    let id = text(&refund, "id");
    let attempts = || ran(&nodes, &["attempts", id, "--json"]).json(0);
    until(async || attempts()["uncertain"]["is_asked"] == true).await;
    let end = ["not-transferred", id, "--reason", "not there"];
    let doubted = ran(&nodes, &[&end[..], &["--json"]].concat()).json(0);
    assert_eq!((text(&doubted, "status"), text(&doubted, "doubted_by")), ("pending", "command-line"));
    let own = ran(&nodes, &end);
    assert!(own.failed(1)[0].contains("you have recorded already that the refund was not made"), "{own:?}");
    let shown = ran(&nodes, &["attempts", id]);
    assert!(shown.code == 0 && shown.stdout.contains("a second person must say so too"), "{shown:?}");
    assert!(shown.stdout.contains("found last") && !shown.stdout.contains("the bank said"), "{shown:?}");
    // Somebody else was the first.
    let another = format!("usr_{}", "0".repeat(26));
    run_by_hand(&nodes.database, &format!("UPDATE refunds SET failing_by = '{another}'"));
    let early = ran(&nodes, &end);
    assert!(early.failed(1)[0].contains("it can be ended as failed after"), "{early:?}");
    run_by_hand(&nodes.database, "UPDATE refund_attempts SET sent_at = sent_at - 172800000");
    let failed = ran(&nodes, &[&end[..], &["--json"]].concat()).json(0);
    assert_eq!((text(&failed, "status"), text(&failed, "failure_reason")), ("failed", "not there"));
    assert_eq!(attempts()["attempts"][0]["statement_found"], "absent", "the command has read the statement");
    drop(running);
    nodes.is_sound();
}
