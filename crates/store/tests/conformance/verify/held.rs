//! Money that fits no payment, and what was decided about it.

use domain::{money::Rupiah, payment::Payment, project::Project, receipt::Unapplied};
use store::Store;

use super::{AMOUNTS, PENDING, POSTED, RECEIPT, Row, SETTLED};
use crate::{
    database::keep,
    samples::{self, AMOUNT, FEE, after, kept_payment},
};

const DECIDED: &str = "I6 a decision about money is posted once and in full, and nothing else is posted for it";
const DECIDED_RECEIPT: &str =
    "I6 what is posted as decided is a receipt that somebody decided about, for the payment of the decision";
const NAMED: &str =
    "I6 held money has an id of its own, and what was accepted names a payment of its project and the difference";

/// Payments that held money has paid.
pub(super) struct HeldHistory {
    accepted: Payment,
    /// Paid by money that was sent for `sender`.
    assigned: Payment,
    sender: Payment,
    /// Paid by less than its amount, and settled.
    short: Payment,
    /// Paid by no more than its fee, so that nothing is left to settle.
    eaten: Payment,
}

pub(super) async fn held_history(store: &Store, project: &Project) -> HeldHistory {
    let kept = async || kept_payment(store, samples::payment(project)).await;
    let history = HeldHistory {
        accepted: kept().await,
        assigned: kept().await,
        sender: kept().await,
        short: kept().await,
        eaten: kept().await,
    };
    let less = Rupiah::new(9_000);
    let HeldHistory { accepted, assigned, sender, short, eaten } = &history;
    for change in [
        samples::surplus(accepted, "accepted", AMOUNT, Unapplied::TooLate),
        samples::acceptance(accepted, "accepted", after(20)),
        samples::surplus(sender, "assigned", AMOUNT + AMOUNT, Unapplied::WrongAmount),
        samples::acceptance_of(assigned, "assigned", AMOUNT + AMOUNT, after(20)),
        samples::surplus(short, "short", less, Unapplied::WrongAmount),
        samples::acceptance_of(short, "short", less, after(20)),
        samples::settlement_of(short, less - FEE, after(60_020)),
        samples::surplus(eaten, "eaten whole", FEE, Unapplied::WrongAmount),
        samples::acceptance_of(eaten, "eaten whole", FEE, after(20)),
    ] {
        keep(store, change).await;
    }
    history
}

pub(super) fn decided_rows(history: &HeldHistory, other: &Project) -> Vec<Row> {
    [posted_rows(history), receipt_rows(), paying_rows(history, other)].concat()
}

fn posted_rows(history: &HeldHistory) -> Vec<Row> {
    let accepted = history.accepted.id.to_string();
    let short = history.short.id.to_string();
    let row = |invariant: &'static str, sql: &str, row: &str| (invariant, sql.to_owned(), row.to_owned());
    vec![
        row(RECEIPT, "UPDATE receipts SET decision = NULL, decided_at = NULL WHERE id = 'accepted'", &accepted),
        row(RECEIPT, "UPDATE receipts SET decision = 'returned' WHERE id = 'accepted'", &accepted),
        row(POSTED, "DELETE FROM postings WHERE kind = 'accepted'", &accepted),
        row(
            AMOUNTS,
            "UPDATE entries SET account = 'clearing' WHERE account = 'unapplied' AND posting_id LIKE 'accepted:%'",
            &accepted,
        ),
        // Money of another amount is posted as what it is, with the whole fee, and settles as what is left of it.
        row(RECEIPT, "UPDATE receipts SET difference = 0 WHERE id = 'short'", &short),
        row(AMOUNTS, "UPDATE receipts SET difference = 0 WHERE id = 'short'", &short),
        row(RECEIPT, "UPDATE receipts SET amount = amount + 1 WHERE id = 'short'", &short),
        row(
            AMOUNTS,
            "UPDATE entries SET account = 'available' WHERE account = 'fees' AND posting_id = 'accepted:sandbox:short'",
            &short,
        ),
        row(
            PENDING,
            &format!("UPDATE entries SET amount = -9930 WHERE account = 'pending' AND posting_id = 'settled:{short}'"),
            &short,
        ),
        row(SETTLED, &format!("UPDATE payments SET settles_at = 1 WHERE id = '{short}'"), &short),
    ]
}

fn receipt_rows() -> Vec<Row> {
    let own = |sql: &str, receipt: &str| (DECIDED, sql.to_owned(), format!("sandbox:{receipt}"));
    let posted = |sql: &str, posting: &str| (DECIDED_RECEIPT, sql.to_owned(), posting.to_owned());
    vec![
        own("UPDATE receipts SET decision = NULL WHERE id = 'returned'", "returned"),
        own("UPDATE receipts SET decision = 'accepted' WHERE id = 'returned'", "returned"),
        own("UPDATE receipts SET decision = 'returned' WHERE id = 'again'", "again"),
        own("DELETE FROM postings WHERE kind = 'returned'", "returned"),
        own("UPDATE entries SET amount = amount + 1 WHERE posting_id LIKE 'returned:%'", "returned"),
        own("DELETE FROM entries WHERE posting_id LIKE 'returned:%'", "returned"),
        own("UPDATE entries SET amount = amount + 1000 WHERE posting_id = 'accepted:sandbox:assigned'", "assigned"),
        posted("DELETE FROM receipts WHERE id = 'returned'", "returned:sandbox:returned"),
        posted("UPDATE receipts SET decision = NULL WHERE id = 'accepted'", "accepted:sandbox:accepted"),
        posted(
            "UPDATE receipts SET decided_payment_id = payment_id WHERE id = 'assigned'",
            "accepted:sandbox:assigned",
        ),
    ]
}

fn paying_rows(history: &HeldHistory, other: &Project) -> Vec<Row> {
    let (assigned, sender) = (history.assigned.id.to_string(), history.sender.id.to_string());
    let named = |sql: &str, receipt: &str| (NAMED, sql.to_owned(), format!("sandbox:{receipt}"));
    let elsewhere = format!("UPDATE payments SET project_id = '{}' WHERE id = '{assigned}'", other.id);
    let taken_back = "UPDATE receipts SET decided_payment_id = payment_id WHERE id = 'assigned'";
    vec![
        // Assigned money has paid the payment of the decision, and not the one that it was sent for.
        (RECEIPT, taken_back.to_owned(), assigned.clone()),
        (RECEIPT, taken_back.to_owned(), sender.clone()),
        (
            RECEIPT,
            format!("UPDATE receipts SET decided_payment_id = '{assigned}' WHERE id = 'accepted'"),
            assigned.clone(),
        ),
        (POSTED, format!("UPDATE postings SET payment_id = '{sender}' WHERE id = 'accepted:sandbox:assigned'"), sender),
        named(&elsewhere, "assigned"),
        named("UPDATE receipts SET decided_payment_id = 'pay_none' WHERE id = 'assigned'", "assigned"),
        named("UPDATE receipts SET decided_payment_id = NULL, difference = NULL WHERE id = 'accepted'", "accepted"),
        named("UPDATE receipts SET difference = NULL WHERE id = 'accepted'", "accepted"),
        named("UPDATE receipts SET decided_payment_id = payment_id, difference = 0 WHERE id = 'returned'", "returned"),
        named("UPDATE receipts SET public_id = NULL WHERE id = 'again'", "again"),
        named("UPDATE receipts SET public_id = 'rcp_more' WHERE id = 'due'", "due"),
    ]
}
