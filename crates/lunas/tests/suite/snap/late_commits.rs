//! A commit that cannot be made in time: what a bank is told and what is booked never contradict each other.

use std::{sync::Arc, time::Duration};

use demobank::{Answer, BankServices, Conclusion, Doors, Habits, Knobs, Merchant, Payment, Service, Style};
use domain::{
    bank_difference::{Difference, DifferenceKind},
    money::Rupiah,
    time::Timestamp,
    undecided::UndecidedWord,
};
use engine::{Clock, Reconcilers, Window};
use gateway::SendLimits;
use store::BankWrite;
use testkit::{Cluster, Database, Kit, on_every_database, on_postgres};

use super::{
    acts::{payment_id, said},
    crashes::Installation,
};
use crate::support::{
    banks::{AMOUNT, Contracted, contracted_with, number},
    held_writes::HeldWrites,
    payments::{fresh_key, status},
    people::Person,
    wait::until,
};

on_every_database![
    what_is_not_committed_in_time_is_never_committed on 2 threads,
    an_account_chooses_what_its_bank_is_told_while_nothing_is_known on 2 threads,
    money_that_was_booked_after_all_stays_paid_and_a_person_is_told,
    a_word_about_money_that_an_earlier_request_has_booked_is_told_to_a_person,
    a_word_about_money_that_was_not_booked_raises_nothing,
    a_resend_that_meets_a_database_that_is_away_is_looked_after_if_the_first_was_booked on 2 threads,
    a_resend_that_waits_for_a_lock_in_vain_is_looked_after_if_the_first_was_booked on 2 threads,
    a_booking_by_a_node_whose_clock_is_ahead_is_found_for_a_word on 2 threads,
    a_call_over_midnight_is_looked_for_on_both_days,
];

/// The shortest time that an account can give us.
const DEADLINE: (&str, &str) = ("deadline", "1");

pub(super) async fn open_differences(kit: &Kit) -> Vec<Difference> {
    kit.engine.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items
}

/// Regression: while `payments` or `postings` were locked, the bank was told 5002500 or 5042500, which makes BCA give the money
/// back, and the payment was paid when the lock was gone.
async fn what_is_not_committed_in_time_is_never_committed(kit: Arc<Kit>) {
    for (style, table, word) in [
        (Style::BCA, "payments", "2022500"),
        (Style::BRIVA_ONLINE, "postings", "5002500"),
        (Style::BSI, "bank_requests", "2022500"),
    ] {
        let contracted = contracted_with(&kit, style, &[DEADLINE]).await;
        let (payment, other) = (contracted.payment().await, contracted.payment().await);
        let number = number(&payment);
        contracted.bank.token(&contracted.contract).await.unwrap();
        let held = HeldWrites::of(&kit.database, table).await;
        let answer = contracted.pay(&number, Knobs::default()).await;
        assert_eq!((said(&answer), answer.conclusion), ((word, "02"), Some(Conclusion::Suspended)), "{table}");
        held.end();
        // Commits of such payments wait in one queue, so what had waited before this one would be there now.
        let later = contracted.pay(&self::number(&other), Knobs::default()).await;
        assert_eq!(said(&later), ("2002500", "00"));
        assert_eq!(status(&contracted.project, &payment).await, "pending", "{table}");
        let resent = contracted.pay(&number, Knobs::resend_of(&answer.sent)).await;
        assert_eq!((said(&resent), resent.conclusion), (("2002500", "00"), Some(Conclusion::Booked)), "{table}");
        contracted.is_paid_once(&payment, &number).await;
        kit.engine.look_after_undecided().await.unwrap();
        assert_eq!(open_differences(&kit).await, []);
    }
}

async fn an_account_chooses_what_its_bank_is_told_while_nothing_is_known(kit: Arc<Kit>) {
    for (word, code) in [("2022500", "2022500"), ("5xx", "5002500"), ("silence", "")] {
        let contracted = contracted_with(&kit, Style::BRIVA_ONLINE, &[DEADLINE, ("undecided", word)]).await;
        let payment = contracted.payment().await;
        let number = number(&payment);
        contracted.bank.token(&contracted.contract).await.unwrap();
        let held = HeldWrites::of(&kit.database, "payments").await;
        let answer = contracted.bank.pay(&contracted.contract, Payment::of(&number, AMOUNT), Knobs::default()).await;
        held.end();
        assert_eq!((answer.code(), answer.is_silence()), (code, word == "silence"), "{}", answer.text);
        assert_eq!(answer.conclusion, Some(Conclusion::Suspended), "{}", answer.text);
        if word == "2022500" {
            let echoed = &answer.body["virtualAccountData"];
            assert_eq!((&echoed["paymentRequestId"], answer.flag()), (&answer.sent.request_id.clone().into(), "02"));
        }
        let resent = contracted.pay(&number, Knobs::resend_of(&answer.sent)).await;
        assert_eq!(said(&resent), ("2002500", "00"));
        contracted.is_paid_once(&payment, &number).await;
    }
}

/// A contract with a bank that can be asked about the numbers that we host.
async fn askable(kit: &Kit) -> (Contracted, Arc<BankServices>, Doors) {
    kit.engine.mark_development().await.unwrap();
    let clock = Arc::clone(&kit.clock);
    let asked = BankServices::new(Arc::new(move || clock.now().as_millis()));
    let doors = asked.open().await.unwrap();
    let settings = [DEADLINE, ("channel_id", Style::GENERIC.channel_id)];
    let contracted = contracted_with(kit, Style::GENERIC, &settings).await;
    let public_key_pem = kit.engine.make_bank_key(contracted.account).await.unwrap();
    let (client_id, client_secret) = ("client-of-toko".to_owned(), format!("{}-{}-secret", fresh_key(), fresh_key()));
    let secret = client_secret.clone().into();
    kit.engine.set_bank_outbound(contracted.account, client_id.clone(), secret).await.unwrap();
    let merchant = Merchant { client_id, client_secret, public_key_pem, partner_id: None, name: "Toko".to_owned() };
    asked.register_with(merchant, Habits::of("generic").unwrap());
    // An account that calls its bank needs what it shows there, so this comes last.
    contracted.set(kit, "base_url", &doors.url()).await;
    (contracted, asked, doors)
}

/// As if what the bank asked for had been committed after it was told that nothing is decided.
async fn told_undecided(kit: &Kit, contracted: &Contracted, answer: &Answer) {
    let now = kit.engine.now();
    let word = UndecidedWord {
        account_id: contracted.account,
        external_id: answer.sent.external_id.clone(),
        request_id: answer.sent.request_id.clone(),
        number: answer.sent.number.clone(),
        amount: Rupiah::new(AMOUNT),
        asked_at: now,
        said: "2022500".to_owned(),
        said_at: now,
    };
    kit.store.commit(BankWrite::UndecidedSaid(word).into()).await.unwrap();
}

async fn money_that_was_booked_after_all_stays_paid_and_a_person_is_told(kit: Arc<Kit>) {
    let (contracted, asked, _doors) = askable(&kit).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    let paid = contracted.pay(&number, Knobs::default()).await;
    assert_eq!(said(&paid), ("2002500", "00"));
    told_undecided(&kit, &contracted, &paid).await;
    kit.engine.look_after_undecided().await.unwrap();
    let found = open_differences(&kit).await;
    let [difference] = found.as_slice() else { panic!("{found:?}") };
    let (kind, subject) = (difference.key.kind, difference.key.subject.as_str());
    assert_eq!((kind, subject), (DifferenceKind::Undecided, paid.sent.request_id.as_str()));
    assert_eq!((difference.ours, difference.theirs), (Some(Rupiah::new(AMOUNT)), None));
    assert_eq!(difference.payment_id, Some(payment_id(&payment)));
    contracted.is_paid_once(&payment, &number).await;
    // The bank is asked, and says that it has no such money.
    kit.engine.look_after_undecided().await.unwrap();
    assert_eq!(asked.calls_of(Service::Status).len(), 1);
    assert_eq!(open_differences(&kit).await[0].theirs, Some(Rupiah::ZERO));
    kit.clock.advance(Duration::from_hours(1));
    kit.engine.look_after_undecided().await.unwrap();
    assert_eq!((asked.calls_of(Service::Status).len(), open_differences(&kit).await.len()), (1, 1));
    let operator = Person::operator(&kit, "operator@example.com").await;
    let page = operator.open("/dashboard/operator/differences?lang=en").await;
    assert!(page.text.contains("Booked after the bank was told that nothing is decided"), "{}", page.text);
}

/// Regression: only the very request that was answered so was looked for. But the answer to an earlier one may have been lost.
async fn a_word_about_money_that_an_earlier_request_has_booked_is_told_to_a_person(kit: Arc<Kit>) {
    for is_same_external_id in [false, true] {
        let contracted = contracted_with(&kit, Style::BCA, &[]).await;
        let mut paid = contracted.pay(&number(&contracted.payment().await), Knobs::default()).await;
        assert_eq!(said(&paid), ("2002500", "00"));
        kit.clock.advance(Duration::from_mins(1));
        if !is_same_external_id {
            paid.sent.external_id = "1".to_owned();
        }
        told_undecided(&kit, &contracted, &paid).await;
        kit.engine.look_after_undecided().await.unwrap();
        let found = open_differences(&kit).await;
        let of_account = found.iter().filter(|difference| difference.key.account_id == contracted.account);
        let kinds: Vec<DifferenceKind> = of_account.map(|difference| difference.key.kind).collect();
        assert_eq!(kinds, [DifferenceKind::Undecided], "{is_same_external_id}");
    }
}

async fn a_word_about_money_that_was_not_booked_raises_nothing(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[]).await;
    let (payment, other) = (contracted.payment().await, contracted.payment().await);
    let refused = contracted.pay_as(Payment::of(number(&other), AMOUNT + 1), Knobs::default()).await;
    assert_eq!(said(&refused), ("4042513", "01"));
    told_undecided(&kit, &contracted, &refused).await;
    let mut paid = contracted.pay(&number(&payment), Knobs::default()).await;
    // What was not committed, and what the bank has asked again about and was told the truth.
    let asked_again = paid.sent.clone();
    (paid.sent.external_id, paid.sent.request_id) = ("1".to_owned(), "not-committed".to_owned());
    told_undecided(&kit, &contracted, &paid).await;
    kit.clock.set(kit.engine.now().minus(Duration::from_secs(10)));
    paid.sent = asked_again;
    told_undecided(&kit, &contracted, &paid).await;
    for _ in 0..3 {
        kit.clock.advance(Duration::from_hours(13));
        kit.engine.look_after_undecided().await.unwrap();
    }
    assert_eq!(open_differences(&kit).await, []);
    let due = kit.store.due_undecided(kit.engine.now().plus(Duration::from_hours(1_000)), 10).await.unwrap();
    assert_eq!(due, []);
}

/// A database that takes no commits for a while.
enum Outage {
    /// It lets nobody in.
    Away(Database),
    Locked(HeldWrites),
}

impl Outage {
    /// The file of SQLite cannot be taken from a server that has opened it, so it is locked.
    async fn away(database: &Database) -> Outage {
        match database {
            Database::Postgres { .. } => {
                database.take_away();
                Outage::Away(database.clone())
            }
            Database::Sqlite(_) => Outage::locked(database).await,
        }
    }

    async fn locked(database: &Database) -> Outage {
        Outage::Locked(HeldWrites::of(database, "bank_requests").await)
    }

    fn end(self) {
        match self {
            Outage::Away(database) => database.bring_back(),
            Outage::Locked(held) => held.end(),
        }
    }
}

/// Under an external id of its own a resend is a request to be stored; under the first one's it is answered by a read.
fn resend_under_new_id(first: &Answer) -> Knobs {
    Knobs { external_id: None, ..Knobs::resend_of(&first.sent) }
}

/// The money of one request is booked and its answer is lost. During the outage the bank asks again, and about new money.
async fn resends_during(kit: &Kit, contracted: &Contracted, outage: impl AsyncFnOnce() -> Outage) {
    let (booked, new) = (contracted.payment().await, contracted.payment().await);
    let paid = contracted.pay(&number(&booked), Knobs::default()).await;
    assert_eq!(said(&paid), ("2002500", "00"));
    let outage = outage().await;
    let resent = contracted.pay(&number(&booked), resend_under_new_id(&paid)).await;
    let other = contracted.pay(&number(&new), Knobs::default()).await;
    for answer in [resent, other] {
        assert_eq!((said(&answer), answer.conclusion), (("2022500", "02"), Some(Conclusion::Suspended)));
    }
    outage.end();
    until(async || {
        // Connections that the outage has broken may still be tried.
        let _ = kit.engine.look_after_undecided().await;
        !open_differences(kit).await.is_empty()
    })
    .await;
    let found = open_differences(kit).await;
    let [difference] = found.as_slice() else { panic!("{found:?}") };
    let (kind, subject) = (difference.key.kind, difference.key.subject.as_str());
    assert_eq!((kind, subject), (DifferenceKind::Undecided, paid.sent.request_id.as_str()));
    assert_eq!(difference.payment_id, Some(payment_id(&booked)));
    // Of the other money nothing is left, neither now nor after the second look.
    kit.clock.advance(Duration::from_mins(1));
    kit.engine.look_after_undecided().await.unwrap();
    assert_eq!(open_differences(kit).await.len(), 1);
    let due = kit.store.due_undecided(kit.engine.now().plus(Duration::from_hours(1_000)), 10).await.unwrap();
    assert!(due.iter().all(|open| open.word.request_id == paid.sent.request_id), "{due:?}");
    assert_eq!(status(&contracted.project, &booked).await, "paid");
    assert_eq!(status(&contracted.project, &new).await, "pending");
}

/// Regression: a word was kept only where the commit of the very request was in doubt, and here it was not even tried.
async fn a_resend_that_meets_a_database_that_is_away_is_looked_after_if_the_first_was_booked(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[DEADLINE]).await;
    resends_during(&kit, &contracted, async || Outage::away(&kit.database).await).await;
}

async fn a_resend_that_waits_for_a_lock_in_vain_is_looked_after_if_the_first_was_booked(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[DEADLINE]).await;
    resends_during(&kit, &contracted, async || Outage::locked(&kit.database).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resend_whose_account_cannot_be_read_in_time_is_looked_after_if_the_first_was_booked() {
    on_postgres(unreadable_account).await;
}

/// Regression: the account was read without a time limit, and the bank hung up. On SQLite nothing keeps a server from reading.
async fn unreadable_account(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[DEADLINE]).await;
    let url = kit.database.url();
    resends_during(&kit, &contracted, async || Outage::Locked(HeldWrites::and_reads_of(&url, "bank_accounts").await))
        .await;
}

/// Regression: the times of two nodes were compared, so a booking that was dated later than the word counted as made after it.
async fn a_booking_by_a_node_whose_clock_is_ahead_is_found_for_a_word(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[DEADLINE]).await;
    let right = kit.engine.now();
    contracted.bank.token(&contracted.contract).await.unwrap();
    kit.clock.advance(Duration::from_secs(4));
    resends_during(&kit, &contracted, async || {
        kit.clock.set(right);
        Outage::locked(&kit.database).await
    })
    .await;
}

/// Regression: a row of other money under the external id, on the day before, closed the word. But on the day on which the request
/// was judged at last its commit could still land.
async fn a_call_over_midnight_is_looked_for_on_both_days(kit: Arc<Kit>) {
    // 23:59:58 in Jakarta.
    kit.clock.set(Timestamp::parse("2026-11-15T16:59:58Z").unwrap());
    let contracted = contracted_with(&kit, Style::BCA, &[]).await;
    let (payment, other) = (contracted.payment().await, contracted.payment().await);
    let of_other = contracted.pay(&number(&other), Knobs::default()).await;
    assert_eq!(said(&of_other), ("2002500", "00"));
    let (asked_at, external_id) = (kit.engine.now(), of_other.sent.external_id.clone());
    let (request_id, number) = ("over-midnight".to_owned(), number(&payment));
    kit.clock.advance(Duration::from_secs(3));
    let word = UndecidedWord {
        account_id: contracted.account,
        external_id: external_id.clone(),
        request_id: request_id.clone(),
        number: number.clone(),
        amount: Rupiah::new(AMOUNT),
        asked_at,
        said: "2022500".to_owned(),
        said_at: kit.engine.now(),
    };
    kit.store.commit(BankWrite::UndecidedSaid(word).into()).await.unwrap();
    kit.engine.look_after_undecided().await.unwrap();
    assert_eq!(open_differences(&kit).await, []);
    // The commit lands.
    let knobs = Knobs { external_id: Some(external_id), request_id: Some(request_id.clone()), ..Knobs::default() };
    assert_eq!(said(&contracted.pay(&number, knobs).await), ("2002500", "00"));
    kit.clock.advance(Duration::from_secs(10));
    kit.engine.look_after_undecided().await.unwrap();
    let found = open_differences(&kit).await;
    let subjects: Vec<&str> = found.iter().map(|difference| difference.key.subject.as_str()).collect();
    assert_eq!(subjects, [request_id.as_str()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_said_is_in_the_log_before_a_stop_that_cannot_store_it_on_sqlite() {
    is_logged_before_a_stop(Installation::on_sqlite(&[DEADLINE]).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_said_is_in_the_log_before_a_stop_that_cannot_store_it_on_postgres() {
    is_logged_before_a_stop(Installation::on_postgres(&[DEADLINE]).await).await;
}

/// Regression: the log got the whole word only after the last try to store it, and a process that is killed before makes none.
async fn is_logged_before_a_stop(mut installation: Installation) {
    let mut running = installation.start();
    let contracted = &installation.contracted;
    let payment = contracted.payment().await;
    let paid = contracted.pay(&number(&payment), Knobs::default()).await;
    assert_eq!(said(&paid), ("2002500", "00"));
    let outage = Outage::away(&installation.database).await;
    let resent = contracted.pay(&number(&payment), resend_under_new_id(&paid)).await;
    assert_eq!(said(&resent), ("2022500", "02"));
    let words_in = |log: &str, ending: &str| {
        let ids = [&resent.sent.external_id, &paid.sent.request_id, &paid.sent.number];
        let is_whole = |line: &&str| ids.iter().all(|id| line.contains(id.as_str())) && line.contains("said_at");
        let about = log.lines().filter(|line| line.contains(ending) && line.contains(&AMOUNT.to_string()));
        about.filter(is_whole).count()
    };
    let log = running.log();
    assert_eq!(words_in(&log, "it is not known whether a bank's money is booked"), 1, "{log}");
    running.signal("TERM");
    assert_eq!(tokio::task::block_in_place(|| running.ended()), Some(0));
    let log = running.log();
    assert_eq!(words_in(&log, "nobody will look for it"), 1, "{log}");
    outage.end();
    installation.is_sound();
}

/// Makes commits of payments by banks wait for the table `gate`, when their statements are done.
const GATE: &str = "CREATE TABLE gate (passed BIGINT); \
    CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS \
    'BEGIN INSERT INTO gate VALUES (1); RETURN NULL; END'; \
    CREATE CONSTRAINT TRIGGER gated AFTER INSERT ON bank_requests DEFERRABLE INITIALLY DEFERRED \
    FOR EACH ROW WHEN (NEW.service = 25) EXECUTE FUNCTION pass_gate()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_hangs_is_undecided_and_found_when_it_has_landed() {
    on_postgres(hanging_commit).await;
}

/// No time limit of the server holds for the commit itself, so here nobody can know how it ends.
async fn hanging_commit(kit: Arc<Kit>) {
    let Database::Postgres { url } = &kit.database else { unreachable!("it runs on PostgreSQL") };
    let contracted = contracted_with(&kit, Style::BCA, &[DEADLINE]).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    contracted.bank.token(&contracted.contract).await.unwrap();
    tokio::task::block_in_place(|| Cluster::shared().run(url, GATE)).unwrap();
    let held = HeldWrites::of(&kit.database, "gate").await;
    let answer = contracted.pay(&number, Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("2022500", "02"), Some(Conclusion::Suspended)));
    // A repeat cannot know more, and must not be told what makes the bank give the money back.
    let repeated = contracted.pay(&number, Knobs::resend_of(&answer.sent)).await;
    assert_eq!((said(&repeated), repeated.conclusion), (("2022500", "02"), Some(Conclusion::Suspended)));
    // What was said is stored before the process ends.
    Reconcilers::start(&kit.engine, kit.courier(SendLimits::default())).stop().await;
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(kit.store.due_undecided(kit.engine.now(), 10).await.unwrap().len(), 1);
    kit.engine.look_after_undecided().await.unwrap();
    assert_eq!(open_differences(&kit).await, []);
    held.end();
    until(async || status(&contracted.project, &payment).await == "paid").await;
    kit.clock.advance(Duration::from_secs(10));
    kit.engine.look_after_undecided().await.unwrap();
    let kinds: Vec<DifferenceKind> = open_differences(&kit).await.iter().map(|found| found.key.kind).collect();
    assert_eq!(kinds, [DifferenceKind::Undecided]);
    let resent = contracted.pay(&number, Knobs::resend_of(&answer.sent)).await;
    assert_eq!((said(&resent), resent.conclusion), (("4042518", "00"), Some(Conclusion::Booked)));
    contracted.is_paid_once(&payment, &number).await;
}
