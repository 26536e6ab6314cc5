//! Invariants about numbers of bank accounts, what banks asked, strays, and days compared with banks.

use domain::{
    bank_account::BankAccount,
    bank_difference::{ComparedBy, Difference, DifferenceKey, DifferenceKind, Reconciliation, Tally},
    bank_request::{BankRequest, Verdict, jakarta_day, jakarta_day_begin},
    payment::Payment,
    project::Project,
    receipt::{ReceiptKey, Unapplied},
    stray::Stray,
    undecided::{OpenWord, UndecidedFinding, UndecidedWord},
};
use store::{BankWrite, Change, LedgerWrite, Noted, OpeningWrite, ReceiptNote, Store};

use super::Row;
use crate::{
    bank_samples::{self, kept_account, kept_stray, taken},
    database::keep,
    samples::{self, AMOUNT, NOW, after, kept_payment},
};

const NUMBERS: &str =
    "I17 a number of a bank account belongs to the payment that has it, and rests for 30 days after its expiry";
const BOOKED: &str =
    "I18 money that we told a bank to book is one receipt or one stray of its account, id and number, in full";
const ASKED: &str =
    "I18 every receipt and every stray of a bank account stems from what the bank asked us to take or told us of";
const REPEATED: &str =
    "I18 a request that is not the first about its money has the request id, number, amount and verdict of the first";
const UNDECIDED: &str = "I18 money that was booked though its bank was told that nothing is decided has a difference";
const STRAY_BOOKS: &str =
    "I19 a stray is on the installation's books in full until somebody has decided about it, and its legs sum to zero";
const STRAY_RECEIPT: &str =
    "I19 an assigned stray is one receipt of its payment with its amount, and no other stray is a receipt";
const COMPARED: &str =
    "I23 a day is compared with its bank when it is over in Jakarta, and a difference is found after its day began";

/// One of everything that banks can ask, with the ids of requests as named here.
pub(super) struct BankHistory {
    account: BankAccount,
    /// Has a number, and is paid by the request `paid`.
    billed: Payment,
    open: Stray,
    returned: Stray,
    /// Has paid a payment.
    assigned: Stray,
}

pub(super) async fn bank_history(store: &Store, project: &Project) -> BankHistory {
    let account = kept_account(store).await;
    let history = BankHistory {
        billed: kept_payment(store, samples::account_payment(project, "1234500001")).await,
        open: kept_stray(store, &account, "open").await,
        returned: kept_stray(store, &account, "returned").await,
        assigned: kept_stray(store, &account, "assigned").await,
        account,
    };
    let BankHistory { account, billed, .. } = &history;
    let found = kept_payment(store, samples::account_payment(project, "1234500002")).await;
    let again = BankRequest { is_first: false, ..bank_samples::refused(account, "refused again", "refused") };
    let paid_again = BankRequest {
        number: billed.code.clone(),
        payment_id: Some(billed.id),
        verdict: Verdict::Accepted,
        is_first: false,
        ..bank_samples::refused(account, "paid again", "paid")
    };
    for change in [
        taken(account, billed, NOW).into(),
        taken(account, &found, NOW).into(),
        BankWrite::Requested(bank_samples::inquiry(account, "asked")).into(),
        bank_samples::accepted(account, "paid", "paid", billed),
        BankWrite::Requested(bank_samples::refused(account, "refused", "refused")).into(),
        BankWrite::Requested(again).into(),
        BankWrite::Requested(paid_again).into(),
        held(account, billed),
        bank_samples::returned(&history.returned).into(),
        bank_samples::assigned_stray(&history.assigned, &found),
        compared(account),
        undecided(account),
    ] {
        keep(store, change).await;
    }
    history
}

/// A day that was compared, and what differed.
fn compared(account: &BankAccount) -> Change {
    let (account_id, day, none) = (account.id, jakarta_day(NOW) - 1, Tally::default());
    let reconciliation = Reconciliation {
        account_id,
        day,
        by: ComparedBy::Report,
        first_at: NOW,
        at: after(10),
        matched: none,
        missing_here: none,
        missing_there: Tally { count: 1, amount: AMOUNT },
        differing: none,
        bank_fees: none,
    };
    let difference = Difference {
        key: DifferenceKey { account_id, subject: "lost".to_owned(), kind: DifferenceKind::MissingThere },
        day,
        payment_id: None,
        ours: Some(AMOUNT),
        theirs: None,
        found_at: NOW,
        settled: None,
    };
    Change::from(OpeningWrite::Reconciled(reconciliation)).with(OpeningWrite::DifferenceFound(difference))
}

/// The bank that asked for `paid` was told that nothing is decided.
fn undecided(account: &BankAccount) -> Change {
    let word = UndecidedWord {
        account_id: account.id,
        external_id: "paid".to_owned(),
        request_id: "paid".to_owned(),
        number: "1234500001".to_owned(),
        amount: AMOUNT,
        asked_at: NOW,
        said: "2022500".to_owned(),
        said_at: after(10),
    };
    let key = DifferenceKey { account_id: account.id, subject: "paid".to_owned(), kind: DifferenceKind::Undecided };
    let difference = Difference {
        key,
        day: jakarta_day(NOW),
        payment_id: None,
        ours: Some(AMOUNT),
        theirs: None,
        found_at: after(10),
        settled: None,
    };
    let open = OpenWord { word: word.clone(), finding: None, due_at: word.said_at, tries: 0 };
    let finding = Some(UndecidedFinding::Booked);
    Change::from(BankWrite::UndecidedSaid(word))
        .with(BankWrite::UndecidedLookedAfter { open, finding, due_at: None })
        .with(OpeningWrite::DifferenceFound(difference))
}

/// Money for a bill that is paid already, at a bank that would not give it back.
fn held(account: &BankAccount, payment: &Payment) -> Change {
    let key = ReceiptKey { provider: account.id.to_string(), id: "held".to_owned() };
    let (project_id, payment_id, at) = (payment.terms.project_id, payment.id, after(10));
    let noted = Noted::Money { amount: AMOUNT, paid_at: NOW, held: Some(samples::held(Unapplied::AlreadyPaid)) };
    let note = ReceiptNote { key: key.clone(), project_id, payment_id, received_at: at, noted };
    let posting = domain::ledger::Posting::unapplied(project_id, payment_id, key, AMOUNT, at);
    let request = bank_samples::refused(account, "held", "held");
    Change::from(LedgerWrite::Receipt(note))
        .with(LedgerWrite::Posting(posting))
        .with(BankWrite::Requested(BankRequest { verdict: Verdict::Accepted, payment_id: Some(payment_id), ..request }))
}

pub(super) fn bank_rows(history: &BankHistory) -> Vec<Row> {
    [number_rows(history), request_rows(history), stray_rows(history), compared_rows(history)].concat()
}

fn compared_rows(history: &BankHistory) -> Vec<Row> {
    let (account, day) = (history.account.id, jakarta_day(NOW) - 1);
    let end = jakarta_day_begin(day + 1).as_millis();
    let row = |sql: String, day: i64| (COMPARED, sql, format!("{account}:{day}"));
    let lost = |sql: &str| (COMPARED, sql.to_owned(), format!("{account}:lost"));
    vec![
        row(format!("UPDATE bank_reconciliations SET first_at = {end} - 1"), day),
        row("UPDATE bank_reconciliations SET day = day + 1".to_owned(), day + 1),
        row("UPDATE bank_reconciliations SET first_at = at + 1".to_owned(), day),
        lost("UPDATE bank_differences SET day = day + 2 WHERE subject = 'lost'"),
    ]
}

fn number_rows(history: &BankHistory) -> Vec<Row> {
    let (account, number) = (history.account.id, &history.billed.code);
    let broken = |sql: String| (NUMBERS, sql, format!("{account}:{number}"));
    let updated = |set: &str| broken(format!("UPDATE bank_numbers SET {set} WHERE number = '{number}'"));
    vec![
        updated("project_id = 'prj_none'"),
        updated("payment_id = 'pay_none'"),
        updated("free_at = free_at - 1"),
        broken(format!("UPDATE payments SET code = '{number}0' WHERE code = '{number}'")),
        broken(format!("UPDATE payments SET expires_at = expires_at + 1 WHERE code = '{number}'")),
        broken(format!("DELETE FROM bank_accounts WHERE id = '{account}'")),
        (NUMBERS, format!("UPDATE bank_numbers SET number = '1' WHERE number = '{number}'"), format!("{account}:1")),
    ]
}

fn request_rows(history: &BankHistory) -> Vec<Row> {
    let (account, open) = (history.account.id, history.open.id.to_string());
    let booked = |sql: &str, request: &str| (BOOKED, sql.to_owned(), format!("{account}:{request}"));
    let asked = |sql: &str, request: &str| (ASKED, sql.to_owned(), format!("{account}:{request}"));
    let repeated = |sql: &str, external: &str| (REPEATED, sql.to_owned(), format!("{account}:{external}"));
    let own = format!("provider = '{account}'");
    let undecided = |sql: &str| (UNDECIDED, sql.to_owned(), format!("{account}:paid"));
    vec![
        booked(&format!("DELETE FROM receipts WHERE id = 'paid' AND {own}"), "paid"),
        booked(&format!("UPDATE receipts SET amount = amount - 1 WHERE id = 'held' AND {own}"), "held"),
        booked("DELETE FROM strays WHERE receipt_id = 'open'", "open"),
        booked("UPDATE strays SET amount = amount + 1 WHERE receipt_id = 'open'", "open"),
        booked("UPDATE bank_requests SET verdict = 'expired' WHERE external_id = 'paid'", "paid"),
        booked("UPDATE bank_requests SET payment_id = NULL WHERE external_id = 'held'", "held"),
        booked("UPDATE bank_requests SET receipt_id = 'elsewhere' WHERE external_id = 'held'", "held"),
        booked("UPDATE bank_requests SET number = '1234500002' WHERE external_id = 'open'", "open"),
        // Other money was taken for money that was judged before: the bank books it, and nobody else does.
        booked("UPDATE bank_requests SET amount = amount + 1 WHERE external_id = 'paid again'", "paid"),
        booked("UPDATE bank_requests SET payment_id = NULL WHERE external_id = 'paid again'", "paid"),
        repeated("UPDATE bank_requests SET amount = amount + 1 WHERE external_id = 'paid again'", "paid again"),
        repeated("UPDATE bank_requests SET number = '1234500002' WHERE external_id = 'paid again'", "paid again"),
        repeated("UPDATE bank_requests SET request_id = 'other' WHERE external_id = 'paid again'", "paid again"),
        booked("UPDATE bank_requests SET verdict = 'unknown' WHERE external_id = 'open'", "open"),
        booked("UPDATE bank_requests SET verdict = 'accepted' WHERE external_id = 'refused'", "refused"),
        booked(&format!("DELETE FROM bank_accounts WHERE id = '{account}'"), "of asked"),
        asked("DELETE FROM bank_requests WHERE request_id = 'paid'", "paid"),
        asked("UPDATE bank_requests SET is_first = 0 WHERE external_id = 'held'", "held"),
        asked("UPDATE bank_requests SET verdict = 'expired', amount = amount + 1 WHERE external_id = 'paid'", "paid"),
        (ASKED, "DELETE FROM bank_requests WHERE request_id = 'open'".to_owned(), open.clone()),
        (ASKED, "UPDATE bank_requests SET verdict = 'unknown' WHERE request_id = 'open'".to_owned(), open),
        repeated("UPDATE bank_requests SET verdict = 'accepted' WHERE external_id = 'refused'", "refused again"),
        repeated("DELETE FROM bank_requests WHERE external_id = 'refused'", "refused again"),
        repeated("UPDATE bank_requests SET is_first = 0 WHERE external_id = 'refused'", "refused"),
        undecided("DELETE FROM bank_differences WHERE kind = 'undecided'"),
        undecided("UPDATE bank_differences SET subject = 'other' WHERE kind = 'undecided'"),
    ]
}

fn stray_rows(history: &BankHistory) -> Vec<Row> {
    let (open, returned, assigned) =
        (history.open.id.to_string(), history.returned.id.to_string(), history.assigned.id.to_string());
    let of = |stray: &str, sql: &str| sql.replace("{}", &format!("'{stray}'"));
    let books = |stray: &str, sql: &str| (STRAY_BOOKS, of(stray, sql), stray.to_owned());
    let receipt = |stray: &str, sql: &str| (STRAY_RECEIPT, of(stray, sql), stray.to_owned());
    vec![
        books(&open, "DELETE FROM stray_entries WHERE stray_id = {}"),
        books(&open, "UPDATE strays SET amount = NULL, body = '' WHERE id = {}"),
        (ASKED, format!("UPDATE strays SET amount = amount + 1 WHERE id = '{open}'"), open.clone()),
        books(&open, "DELETE FROM stray_entries WHERE stray_id = {} AND account = 'clearing'"),
        books(&open, "UPDATE stray_entries SET amount = amount + 1 WHERE stray_id = {} AND account = 'clearing'"),
        books(&open, "UPDATE stray_entries SET amount = amount * 2 WHERE stray_id = {}"),
        books(&open, "UPDATE stray_entries SET amount = -amount WHERE stray_id = {}"),
        books(&open, "UPDATE strays SET decision = 'returned' WHERE id = {}"),
        books(&returned, "UPDATE strays SET decision = NULL WHERE id = {}"),
        books(&returned, "UPDATE strays SET decision = 'assigned' WHERE id = {}"),
        books(&returned, "DELETE FROM stray_entries WHERE stray_id = {} AND movement = 'returned'"),
        books(&returned, "UPDATE stray_entries SET amount = amount * 2 WHERE stray_id = {}"),
        receipt(&returned, "UPDATE strays SET decision = 'assigned' WHERE id = {}"),
        receipt(&assigned, "UPDATE strays SET decision = 'returned' WHERE id = {}"),
        receipt(&assigned, "UPDATE strays SET payment_id = 'pay_none' WHERE id = {}"),
        receipt(&assigned, "UPDATE strays SET project_id = 'prj_none' WHERE id = {}"),
        receipt(&assigned, "UPDATE receipts SET amount = amount + 1 WHERE id = 'assigned'"),
        receipt(&assigned, "DELETE FROM receipts WHERE id = 'assigned'"),
        receipt(&open, "UPDATE receipts SET id = 'open' WHERE id = 'held'"),
    ]
}
