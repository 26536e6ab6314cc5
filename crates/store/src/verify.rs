//! The invariants that `lunas verify` checks. Each statement finds the rows that break one.

use std::borrow::Cow;

use crate::{plan::Dialect, verify_refunds::REFUND_INVARIANTS};

/// A row that breaks no invariant, but looks as if it did. A sound database may have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub note: &'static str,
    pub row: String,
}

/// Earlier releases did not store the order of commits, so the times of their rows are all there is, and clocks err.
pub(crate) const NOTES: [(&str, &str); 1] = [(
    "I15 an earlier release stamped this payment after its link was cancelled or expired; clocks may have differed",
    "SELECT p.id FROM payments p JOIN links l ON l.id = p.link_id LEFT JOIN link_attempts a ON a.payment_id = p.id \
     WHERE a.payment_id IS NULL AND p.closes_after_query = 0 AND (p.created_at > l.cancelled_at OR p.created_at > l.expires_at)",
)];

/// A row that breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    pub invariant: &'static str,
    pub row: String,
}

/// A statement with `legs`, which are the entries with an index of their postings. SQLite would otherwise go through all entries for
/// each posting.
macro_rules! with_legs {
    ($statement:literal) => {
        concat!("WITH legs AS MATERIALIZED (SELECT posting_id, account, amount FROM entries) ", $statement)
    };
}

/// Checked line by line, since a statement cannot hash on SQLite: see `read/verify.rs`.
pub(crate) const AUDIT_CHAIN: &str = "I25 no sealed line of the audit log was removed, changed, inserted or put elsewhere, and each chain has all of its lines";

/// In braces: a project's id as text. A provider that names a payment ends with a slash and the 30 characters of its id.
pub(crate) const INVARIANTS: [(&str, &str); 52] = [
    (
        "I1 every posting has two legs or more that sum to zero",
        with_legs!(
            "SELECT p.id FROM postings p LEFT JOIN legs e ON e.posting_id = p.id \
             GROUP BY p.id HAVING COUNT(e.amount) < 2 OR COALESCE(SUM(e.amount), 0) <> 0"
        ),
    ),
    (
        "I1 every entry belongs to a posting of its project and instant",
        "SELECT e.posting_id FROM entries e LEFT JOIN postings p ON p.id = e.posting_id \
         AND p.project_id = e.project_id AND p.at = e.at WHERE p.id IS NULL",
    ),
    (
        "I1 the whole ledger sums to zero",
        "SELECT 'the ledger' FROM (SELECT SUM(amount) AS total FROM entries) sums WHERE total <> 0",
    ),
    (
        "I2 a list checkpoint has its position, and the checkpoint before it",
        "SELECT m.id FROM (SELECT project_id, id, position, previous, COALESCE(LAG(id) OVER \
         (PARTITION BY project_id ORDER BY id), '') AS before FROM payment_marks) m \
         LEFT JOIN (SELECT project_id, id, ROW_NUMBER() OVER (PARTITION BY project_id ORDER BY id) AS position \
         FROM payments) p ON p.id = m.id AND p.project_id = m.project_id \
         WHERE p.id IS NULL OR p.position <> m.position OR m.previous <> m.before",
    ),
    (
        "I2 the sums of a list checkpoint are those of the payments since the one before",
        "SELECT t.id FROM (SELECT project_id, id, state, method, payments, amount, fee FROM payment_sums \
         UNION ALL SELECT m.project_id, m.id, p.state, p.method, -1, -p.amount, -p.fee FROM payment_marks m \
         JOIN payments p ON p.project_id = m.project_id AND p.id > m.previous AND p.id <= m.id WHERE m.is_summed = 1) t \
         GROUP BY t.project_id, t.id, t.state, t.method \
         HAVING SUM(t.payments) <> 0 OR SUM(t.amount) <> 0 OR SUM(t.fee) <> 0",
    ),
    (
        "I2 a balance checkpoint has the number and the sum of the entries up to it",
        "SELECT {c.project_id} || ':' || c.account || ':' || c.posting_id FROM balance_checkpoints c LEFT JOIN \
         (SELECT project_id, account, at, posting_id, ROW_NUMBER() OVER up_to AS lines, SUM(amount) OVER up_to AS balance \
         FROM entries WINDOW up_to AS (PARTITION BY project_id, account ORDER BY at, posting_id)) e \
         ON e.project_id = c.project_id AND e.account = c.account AND e.at = c.at AND e.posting_id = c.posting_id \
         WHERE e.posting_id IS NULL OR e.lines <> c.lines OR e.balance <> c.balance",
    ),
    (
        "I2 a closed hour has what was posted in it, and no hour before it was left out",
        "SELECT {h.project_id} || ':' || h.hour FROM (SELECT project_id, hour, payments, amount FROM volumes \
         UNION ALL SELECT o.project_id, o.at / 3600000, -1, -p.amount FROM postings o \
         JOIN payments p ON p.id = o.payment_id \
         JOIN (SELECT project_id, MAX(hour) AS hour FROM volumes GROUP BY project_id) c \
         ON c.project_id = o.project_id AND o.at / 3600000 <= c.hour WHERE o.kind IN ('paid', 'accepted')) h \
         GROUP BY h.project_id, h.hour HAVING SUM(h.payments) <> 0 OR SUM(h.amount) <> 0",
    ),
    (
        "I3 a payment is paid exactly when one receipt was applied to it or accepted for it",
        "SELECT p.id FROM payments p LEFT JOIN (SELECT payment_id, amount FROM receipts \
         WHERE kind = 'money' AND outcome = 'applied' UNION ALL SELECT decided_payment_id, amount - difference \
         FROM receipts WHERE kind = 'money' AND decision = 'accepted') r ON r.payment_id = p.id \
         GROUP BY p.id, p.state, p.amount HAVING COUNT(r.payment_id) <> CASE p.state WHEN 'paid' THEN 1 ELSE 0 END \
         OR SUM(r.amount) <> p.amount",
    ),
    (
        "I3 a payment is paid exactly when it was posted once",
        "SELECT p.id FROM payments p LEFT JOIN postings o ON o.payment_id = p.id \
         AND o.kind IN ('paid', 'accepted') GROUP BY p.id, p.state HAVING COUNT(o.id) <> CASE p.state WHEN 'paid' THEN 1 ELSE 0 END",
    ),
    (
        "I3 what was posted for a payment is the money that paid it, its fee and what is left",
        with_legs!(
            "SELECT p.id FROM payments p JOIN postings o ON o.payment_id = p.id AND o.kind IN ('paid', 'accepted') \
             LEFT JOIN receipts r ON r.decided_payment_id = p.id AND o.kind = 'accepted' \
             LEFT JOIN legs e ON e.posting_id = o.id GROUP BY p.id, o.id, o.kind, p.amount, p.fee, r.difference HAVING \
             COALESCE(SUM(CASE WHEN e.account = CASE o.kind WHEN 'paid' THEN 'clearing' ELSE 'unapplied' END \
             THEN -e.amount END), 0) <> p.amount + COALESCE(r.difference, 0) OR \
             COALESCE(SUM(CASE e.account WHEN 'fees' THEN e.amount END), 0) <> p.fee OR \
             COALESCE(SUM(CASE e.account WHEN 'pending' THEN e.amount END), 0) \
             <> p.amount + COALESCE(r.difference, 0) - p.fee"
        ),
    ),
    (
        "I3 a payment settles once at most, when it is paid, and not while it is still due to settle",
        "SELECT p.id FROM payments p JOIN postings o ON o.payment_id = p.id AND o.kind = 'settled' \
         GROUP BY p.id, p.state, p.settles_at \
         HAVING COUNT(o.id) > CASE WHEN p.state = 'paid' AND p.settles_at IS NULL THEN 1 ELSE 0 END",
    ),
    (
        "I3 what is pending for a payment is its net without what refunds have taken, and nothing once it has settled",
        with_legs!(
            "SELECT p.id FROM payments p LEFT JOIN postings o ON o.payment_id = p.id \
             LEFT JOIN legs e ON e.posting_id = o.id AND e.account = 'pending' \
             LEFT JOIN receipts r ON r.decided_payment_id = p.id \
             GROUP BY p.id, p.settles_at, p.amount, p.fee, r.difference \
             HAVING COALESCE(SUM(e.amount), 0) <> CASE WHEN p.settles_at IS NULL THEN 0 \
             ELSE p.amount + COALESCE(r.difference, 0) - p.fee - COALESCE((SELECT SUM(COALESCE(f.found_from_pending, f.from_pending)) \
             FROM refunds f WHERE f.payment_id = p.id AND f.status IN ('requires_action', 'pending', 'succeeded')), 0) END"
        ),
    ),
    (
        "I4 paid_at is set exactly when the payment is paid",
        "SELECT id FROM payments WHERE (paid_at IS NOT NULL) <> (state = 'paid')",
    ),
    (
        "I5 an idempotency key leads to something of its own project",
        "SELECT i.resource FROM idempotency i LEFT JOIN payments p ON p.id = i.resource \
         LEFT JOIN links l ON l.id = i.resource LEFT JOIN openings o ON o.id = i.resource \
         LEFT JOIN refunds f ON f.id = i.resource \
         WHERE COALESCE(p.project_id, l.project_id, o.project_id, f.project_id, '') <> i.project_id",
    ),
    (
        "I5 one idempotency key at most leads to a resource",
        "SELECT resource FROM idempotency GROUP BY resource HAVING COUNT(*) > 1",
    ),
    (
        "I6 a single-use link has at most one paid payment, the one that claims it",
        "SELECT l.id FROM links l JOIN payments p ON p.link_id = l.id AND p.state = 'paid' \
         WHERE l.allow_multiple_payments = 0 AND COALESCE(l.claimed_by, '') <> p.id",
    ),
    (
        "I6 money that was not applied is posted as unapplied, once and in full",
        with_legs!(
            "SELECT r.provider || ':' || r.id FROM receipts r \
             LEFT JOIN postings o ON o.id = 'unapplied:' || r.provider || ':' || r.id AND o.kind = 'unapplied' \
             LEFT JOIN legs e ON e.posting_id = o.id AND e.account = 'unapplied' \
             WHERE r.kind = 'money' AND (r.outcome = 'unapplied') <> (COALESCE(e.amount, 0) = r.amount)"
        ),
    ),
    (
        "I6 what is posted as unapplied is a receipt that was not applied",
        "SELECT o.id FROM postings o LEFT JOIN receipts r ON r.payment_id = o.payment_id AND r.kind = 'money' \
         AND r.outcome = 'unapplied' AND o.id = 'unapplied:' || r.provider || ':' || r.id \
         WHERE o.kind = 'unapplied' AND r.id IS NULL",
    ),
    (
        "I6 a decision about money is posted once and in full, and nothing else is posted for it",
        with_legs!(
            "SELECT r.provider || ':' || r.id FROM receipts r LEFT JOIN postings o \
             ON o.id IN ('accepted:' || r.provider || ':' || r.id, 'returned:' || r.provider || ':' || r.id, \
             'refund_started:' || COALESCE(r.decided_refund_id, '')) \
             LEFT JOIN legs e ON e.posting_id = o.id AND e.account = 'unapplied' WHERE r.outcome = 'unapplied' \
             GROUP BY r.provider, r.id, r.decision, r.amount, r.decided_refund_id \
             HAVING COUNT(o.id) <> CASE WHEN r.decision IS NULL THEN 0 ELSE 1 END \
             OR COALESCE(MIN(o.kind), '') <> CASE WHEN r.decided_refund_id IS NULL THEN COALESCE(r.decision, '') \
             ELSE 'refund_started' END \
             OR COALESCE(SUM(e.amount), 0) <> CASE WHEN r.decision IS NULL THEN 0 ELSE -r.amount END"
        ),
    ),
    (
        "I6 what is posted as decided is a receipt that somebody decided about, for the payment of the decision",
        "SELECT o.id FROM postings o LEFT JOIN receipts r ON r.decided_payment_id = o.payment_id \
         AND r.decision = 'accepted' AND o.id = 'accepted:' || r.provider || ':' || r.id \
         WHERE o.kind = 'accepted' AND r.id IS NULL UNION ALL \
         SELECT o.id FROM postings o LEFT JOIN receipts r ON r.payment_id = o.payment_id \
         AND r.decision = 'returned' AND o.id = 'returned:' || r.provider || ':' || r.id \
         WHERE o.kind = 'returned' AND r.id IS NULL",
    ),
    (
        "I6 held money has an id of its own, and what was accepted names a payment of its project and the difference",
        "SELECT r.provider || ':' || r.id FROM receipts r LEFT JOIN payments p ON p.id = r.decided_payment_id \
         AND p.project_id = r.project_id WHERE (r.outcome = 'unapplied') <> (r.public_id IS NOT NULL) \
         OR (COALESCE(r.decision, '') = 'accepted') <> (p.id IS NOT NULL) \
         OR (r.decided_payment_id IS NOT NULL AND p.id IS NULL) \
         OR (r.decided_payment_id IS NOT NULL) <> (r.difference IS NOT NULL)",
    ),
    (
        "I7 every paid payment has exactly one event that says so",
        "WITH told AS MATERIALIZED (SELECT id, subject FROM events WHERE kind = 'payment.paid') \
         SELECT p.id FROM payments p LEFT JOIN told e ON e.subject = p.id \
         GROUP BY p.id, p.state HAVING COUNT(e.id) <> CASE p.state WHEN 'paid' THEN 1 ELSE 0 END",
    ),
    (
        "I7 every failed payment and every revoked key has exactly one event that says so",
        "WITH told AS MATERIALIZED (SELECT id, subject, kind FROM events \
         WHERE kind IN ('payment.failed', 'apikey.deleted')) SELECT p.id FROM payments p LEFT JOIN told e ON e.subject = p.id AND e.kind = 'payment.failed' \
         WHERE p.state = 'failed' GROUP BY p.id HAVING COUNT(e.id) <> 1 \
         UNION ALL SELECT k.id FROM api_keys k LEFT JOIN told e ON e.subject = k.id AND e.kind = 'apikey.deleted' \
         GROUP BY k.id, k.revoked_at HAVING COUNT(e.id) <> CASE WHEN k.revoked_at IS NULL THEN 0 ELSE 1 END",
    ),
    (
        "I7 no payment is told twice to have expired or to be cancelled, and each of these events is about its project's payment",
        "SELECT e.subject FROM events e LEFT JOIN payments p ON p.id = e.subject AND p.project_id = e.project_id \
         WHERE e.kind IN ('payment.expired', 'payment.cancelled') GROUP BY e.subject, p.id \
         HAVING COUNT(*) > 1 OR p.id IS NULL",
    ),
    (
        "I7 a delivery belongs to an event of its project",
        "SELECT d.event_id FROM deliveries d LEFT JOIN events e ON e.id = d.event_id AND e.project_id = d.project_id \
         WHERE e.id IS NULL",
    ),
    (
        "I7 a delivery has as many attempts as it says, and is delivered when the last one succeeded",
        "SELECT d.event_id FROM deliveries d LEFT JOIN attempts a ON a.event_id = d.event_id \
         GROUP BY d.event_id, d.state, d.attempts, d.resent_after HAVING COUNT(a.number) <> d.attempts \
         OR COALESCE(MAX(CASE WHEN a.failure IS NULL AND a.number > d.resent_after THEN a.number END), -1) \
         <> CASE d.state WHEN 'delivered' THEN d.attempts ELSE -1 END",
    ),
    (
        "I15 a link gains no payment once it is cancelled, claimed or past its expiry",
        "SELECT a.payment_id FROM link_attempts a JOIN links l ON l.id = a.link_id \
         WHERE a.link_version > l.cancelled_version OR a.at > l.expires_at \
         OR (a.link_version > l.claimed_version AND l.allow_multiple_payments = 0)",
    ),
    (
        "I15 an attempt is a payment of its link, made at its time",
        "SELECT a.payment_id FROM link_attempts a LEFT JOIN payments p ON p.id = a.payment_id \
         AND p.link_id = a.link_id AND p.project_id = a.project_id AND p.created_at = a.at WHERE p.id IS NULL",
    ),
    (
        "I8 a report is of a payment of its project, and money under another payment's receipt id is held",
        "SELECT r.provider || ':' || r.id FROM receipts r LEFT JOIN payments p ON p.id = r.payment_id \
         AND p.project_id = r.project_id WHERE p.id IS NULL OR r.kind <> 'money' \
         OR (r.provider LIKE '%/%' AND (r.outcome <> 'unapplied' OR NOT EXISTS (SELECT 1 FROM receipts o \
         WHERE o.provider = substr(r.provider, 1, length(r.provider) - 31) AND o.id = r.id \
         AND o.payment_id <> r.payment_id))) \
         UNION ALL SELECT n.provider || ':' || n.id FROM notices n LEFT JOIN payments p ON p.id = n.payment_id \
         AND p.project_id = n.project_id WHERE p.id IS NULL",
    ),
    (
        "I13 every payment, event and posting belongs to an existing project",
        "SELECT o.id FROM (SELECT id, project_id FROM payments UNION ALL SELECT id, project_id FROM events \
         UNION ALL SELECT id, project_id FROM postings) o LEFT JOIN projects p ON p.id = o.project_id \
         WHERE p.id IS NULL",
    ),
    (
        "I13 every member and invitation belongs to an existing project and user",
        "SELECT {m.project_id} || ':' || m.user_id FROM members m LEFT JOIN projects p ON p.id = m.project_id \
         LEFT JOIN users u ON u.id = m.user_id WHERE p.id IS NULL OR u.id IS NULL UNION ALL \
         SELECT i.id FROM invites i LEFT JOIN projects p ON p.id = i.project_id LEFT JOIN users u ON u.id = i.used_by \
         WHERE p.id IS NULL OR (u.id IS NULL AND i.used_by IS NOT NULL)",
    ),
    (
        "I13 every session belongs to an existing user",
        "SELECT s.id FROM sessions s LEFT JOIN users u ON u.id = s.user_id WHERE u.id IS NULL",
    ),
    (
        "I13 a project that has members has an owner",
        "SELECT project_id FROM members GROUP BY project_id HAVING SUM(CASE role WHEN 'owner' THEN 1 ELSE 0 END) = 0",
    ),
    (
        "I13 a view and the use of a key belong to a payment and a key of their project",
        "SELECT v.payment_id FROM views v LEFT JOIN payments p ON p.id = v.payment_id AND p.project_id = v.project_id \
         WHERE p.id IS NULL UNION ALL SELECT u.key_id FROM key_uses u LEFT JOIN api_keys k ON k.id = u.key_id \
         AND k.project_id = u.project_id WHERE k.id IS NULL",
    ),
    (
        "I14 live account numbers and payloads are unique",
        "SELECT code FROM payments WHERE state IN ('pending', 'processing') GROUP BY code HAVING COUNT(*) > 1",
    ),
    (
        "I17 a number of a bank account belongs to the payment that has it, and rests for 30 days after its expiry",
        "SELECT n.account_id || ':' || n.number FROM bank_numbers n LEFT JOIN payments p ON p.id = n.payment_id \
         AND p.project_id = n.project_id AND p.code = n.number AND n.free_at >= p.expires_at + 2592000000 \
         LEFT JOIN bank_accounts a ON a.id = n.account_id WHERE p.id IS NULL OR a.id IS NULL",
    ),
    (
        "I18 money that we told a bank to book is one receipt or one stray of its account, id and number, in full",
        "SELECT q.account_id || ':' || q.request_id FROM bank_requests q LEFT JOIN receipts r \
         ON r.provider = q.account_id AND r.id = q.receipt_id AND r.kind = 'money' AND r.amount = q.amount \
         AND r.payment_id = q.payment_id LEFT JOIN strays s ON s.account_id = q.account_id AND s.receipt_id = q.receipt_id \
         AND s.amount = q.amount AND s.number = q.number LEFT JOIN bank_accounts a ON a.id = q.account_id \
         WHERE a.id IS NULL OR (q.service = 25 AND (q.verdict = 'accepted') <> (r.id IS NOT NULL OR s.id IS NOT NULL))",
    ),
    (
        "I18 every receipt and every stray of a bank account stems from what the bank asked us to take or told us of",
        "SELECT r.provider || ':' || r.id FROM receipts r JOIN bank_accounts a ON a.id = r.provider \
         LEFT JOIN bank_requests q ON q.account_id = r.provider AND q.receipt_id = r.id AND q.is_first = 1 \
         AND q.amount = r.amount AND q.verdict = 'accepted' LEFT JOIN bank_money m ON m.account_id = r.provider \
         AND m.receipt_id = r.id AND m.amount = r.amount WHERE q.request_id IS NULL AND m.receipt_id IS NULL \
         UNION ALL SELECT s.id FROM strays s LEFT JOIN bank_requests q ON q.account_id = s.account_id \
         AND q.receipt_id = s.receipt_id AND q.is_first = 1 AND q.amount = s.amount AND q.verdict = 'accepted' \
         LEFT JOIN bank_money m ON m.account_id = s.account_id AND m.receipt_id = s.receipt_id \
         AND m.amount = s.amount WHERE q.request_id IS NULL AND m.receipt_id IS NULL \
         AND (s.amount IS NOT NULL OR s.body IS NULL)",
    ),
    (
        "I18 a request that is not the first about its money has the request id, number, amount and verdict of the first",
        "SELECT q.account_id || ':' || q.external_id FROM bank_requests q LEFT JOIN bank_requests f \
         ON f.account_id = q.account_id AND f.receipt_id = q.receipt_id AND f.is_first = 1 \
         WHERE q.service = 25 AND (f.request_id IS NULL OR f.verdict <> q.verdict OR f.request_id <> q.request_id \
         OR f.number <> q.number OR f.amount <> q.amount)",
    ),
    // A booking that another node's clock dates shortly after the word may have a difference (`UndecidedWord::booked_until`), but
    // needs none: it may have been made after the word.
    (
        "I18 money that was booked though its bank was told that nothing is decided has a difference",
        "SELECT u.account_id || ':' || u.request_id FROM bank_undecided u LEFT JOIN bank_requests q \
         ON q.account_id = u.account_id AND q.request_id = u.request_id AND q.number = u.number \
         AND q.amount = u.amount AND q.is_first = 1 AND q.verdict = 'accepted' AND q.at <= u.said_at + 5000 \
         LEFT JOIN bank_differences d ON d.account_id = u.account_id AND d.kind = 'undecided' \
         AND d.subject = COALESCE(q.receipt_id, u.request_id) \
         GROUP BY u.account_id, u.external_id, u.request_id, u.said_at, u.finding, u.due_at \
         HAVING COUNT(d.subject) = 0 \
         AND (COALESCE(u.finding, '') = 'booked' \
         OR (u.due_at IS NULL AND COUNT(CASE WHEN q.at <= u.said_at THEN 1 END) > 0))",
    ),
    (
        "I19 a stray is on the installation's books in full until somebody has decided about it, and its legs sum to zero",
        "SELECT s.id FROM strays s LEFT JOIN stray_entries e ON e.stray_id = s.id \
         GROUP BY s.id, s.amount, s.decision HAVING COALESCE(SUM(e.amount), 0) <> 0 \
         OR COALESCE(SUM(CASE e.account WHEN 'strays' THEN e.amount END), 0) \
         <> CASE WHEN s.decision IS NULL THEN COALESCE(s.amount, 0) ELSE 0 END \
         OR COALESCE(SUM(CASE WHEN e.account = 'strays' AND e.movement = 'received' THEN e.amount END), 0) \
         <> COALESCE(s.amount, 0) OR COALESCE(MAX(CASE WHEN e.movement <> 'received' THEN e.movement END), '') \
         <> CASE WHEN s.amount IS NULL THEN '' ELSE COALESCE(s.decision, '') END \
         OR COUNT(e.amount) <> CASE WHEN s.amount IS NULL THEN 0 WHEN s.decision IS NULL THEN 2 ELSE 4 END",
    ),
    (
        "I19 an assigned stray is one receipt of its payment with its amount, and no other stray is a receipt",
        "SELECT s.id FROM strays s LEFT JOIN receipts r ON r.provider = s.account_id AND r.id = s.receipt_id \
         WHERE (COALESCE(s.decision, '') = 'assigned') <> (r.id IS NOT NULL) OR (r.id IS NOT NULL \
         AND (r.payment_id <> s.payment_id OR r.project_id <> s.project_id OR r.amount <> COALESCE(s.amount, 0)))",
    ),
    (
        "I20 money that a bank told us of is one receipt or one stray of its account and id, in full",
        "SELECT m.account_id || ':' || m.receipt_id FROM bank_money m LEFT JOIN receipts r \
         ON r.provider = m.account_id AND r.id = m.receipt_id AND r.kind = 'money' AND r.amount = m.amount \
         LEFT JOIN strays s ON s.account_id = m.account_id AND s.receipt_id = m.receipt_id AND s.amount = m.amount \
         WHERE r.id IS NULL AND s.id IS NULL",
    ),
    (
        "I20 an opening leads to a payment with its project, link, method, amount and fee",
        "SELECT o.id FROM openings o LEFT JOIN payments p ON p.id = o.payment_id AND p.project_id = o.project_id \
         AND COALESCE(p.link_id, '') = COALESCE(o.link_id, '') AND p.method = o.method AND p.amount = o.amount \
         AND p.fee = o.fee AND COALESCE(p.quantity, 0) = COALESCE(o.quantity, 0) AND p.closes_after_query = 1 WHERE (o.state = 'issued') <> (p.id IS NOT NULL)",
    ),
    (
        "I20 a payment whose expiry waits for a bank came from an opening, and has a code while it can be paid",
        "SELECT p.id FROM payments p LEFT JOIN openings o ON o.payment_id = p.id WHERE p.closes_after_query = 1 \
         AND (o.id IS NULL OR (p.code = '' AND p.state IN ('pending', 'processing')))",
    ),
    (
        "I21 an opening has as many codes as it says, and while it is open a bank is still to be asked for the last",
        "SELECT o.id FROM openings o LEFT JOIN bank_codes c ON c.opening_id = o.id \
         GROUP BY o.id, o.generation HAVING COUNT(c.reference) <> o.generation OR MAX(c.generation) <> o.generation \
         UNION ALL SELECT o.id FROM openings o LEFT JOIN bank_jobs j ON j.opening_id = o.id AND j.kind = 'issue' \
         AND j.generation = o.generation AND j.due_at IS NOT NULL WHERE o.state = 'open' AND j.opening_id IS NULL",
    ),
    (
        "I21 a bank is told to void the code of a cancelled payment and of an abandoned opening",
        "SELECT o.id FROM openings o LEFT JOIN payments p ON p.id = o.payment_id LEFT JOIN bank_jobs j \
         ON j.opening_id = o.id AND j.kind = 'void' AND j.generation = o.generation \
         WHERE j.opening_id IS NULL AND (o.state = 'abandoned' OR (p.state = 'cancelled' AND p.code <> ''))",
    ),
    (
        "I21 a bank has said that an expired payment was not paid, or a person is told that it could not be asked",
        "SELECT p.id FROM payments p JOIN openings o ON o.payment_id = p.id LEFT JOIN bank_jobs j \
         ON j.opening_id = o.id AND j.kind = 'query' AND j.generation = o.generation AND j.tries > 0 \
         WHERE p.state = 'expired' AND j.opening_id IS NULL",
    ),
    (
        "I22 a job and a call are about a code that a bank was asked for, a report, a number of ours, or a refund, and a transfer is an attempt",
        "SELECT j.opening_id || ':' || j.kind FROM bank_jobs j LEFT JOIN bank_codes c ON c.opening_id = j.opening_id \
         AND c.generation = j.generation AND c.account_id = j.account_id WHERE c.reference IS NULL \
         UNION ALL SELECT s.account_id || ':' || s.external_id FROM bank_sends s LEFT JOIN bank_codes c \
         ON c.opening_id = s.opening_id AND c.generation = s.generation AND c.account_id = s.account_id \
         WHERE c.reference IS NULL AND (s.opening_id IS NOT NULL OR s.service NOT IN (0, 11, 14, 15, 16, 17, 18, 22, 23, \
         26, 35, 36, 42, 43, 51, 55, 58, 78)) \
         UNION ALL SELECT s.account_id || ':' || s.external_id FROM bank_sends s WHERE s.service IN (17, 18, 22, 23, 43) \
         AND NOT EXISTS (SELECT 1 FROM refund_attempts a WHERE a.account_id = s.account_id AND a.external_id = s.external_id)",
    ),
    (
        "I23 a day is compared with its bank when it is over in Jakarta, and a difference is found after its day began",
        "SELECT account_id || ':' || day FROM bank_reconciliations \
         WHERE first_at < (day + 1) * 86400000 - 25200000 OR first_at > at \
         UNION ALL SELECT account_id || ':' || subject FROM bank_differences WHERE found_at < day * 86400000 - 25200000",
    ),
    (
        "I24 a payment for several pieces is of a link, and each piece costs the same",
        "SELECT id FROM payments WHERE quantity IS NOT NULL AND (link_id IS NULL OR amount % quantity <> 0)",
    ),
    (
        "I13 a project names the logo that is stored for it",
        "SELECT p.id FROM projects p LEFT JOIN logos l ON l.project_id = p.id \
         WHERE COALESCE(p.logo_hash, '') <> COALESCE(l.hash, '')",
    ),
];

/// The invariants with their statements.
pub(crate) fn invariants(dialect: Dialect) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    INVARIANTS.iter().chain(&REFUND_INVARIANTS).map(move |(name, sql)| (*name, spelled(sql, dialect)))
}

fn spelled(sql: &'static str, dialect: Dialect) -> Cow<'static, str> {
    let Some((before, rest)) = sql.split_once('{') else { return sql.into() };
    let Some((project, after)) = rest.split_once('}') else { return sql.into() };
    match dialect {
        Dialect::Sqlite => {
            let found = format!("SELECT n.id FROM project_numbers n WHERE n.short = {project}");
            let unknown = format!("CASE typeof({project}) WHEN 'text' THEN {project} ELSE hex({project}) END");
            format!("{before}COALESCE(({found}), {unknown}){after}").into()
        }
        Dialect::Postgres => format!("{before}{project}{after}").into(),
    }
}
