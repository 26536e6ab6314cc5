//! The invariants of refunds.

/// The refunds whose money is not back where it was taken from.
macro_rules! live {
    () => {
        "('requires_action', 'pending', 'succeeded')"
    };
}

/// In braces: a project's id as text.
pub(crate) const REFUND_INVARIANTS: [(&str, &str); 15] = [
    (
        "I2 refunds are counted as they stand",
        "SELECT {t.project_id} || ':' || t.standing FROM (SELECT project_id, standing, refunds, amount FROM refund_counts \
         UNION ALL SELECT project_id, COALESCE(pending_reason, status), -1, -amount FROM refunds) t \
         GROUP BY t.project_id, t.standing HAVING SUM(t.refunds) <> 0 OR SUM(t.amount) <> 0",
    ),
    (
        "I26 refunds of a paid payment that were not failed, cancelled or returned do not exceed the money received for it, but for those found done",
        concat!(
            "SELECT p.id FROM payments p JOIN (SELECT payment_id, \
             SUM(CASE WHEN found_done_at IS NULL THEN amount ELSE 0 END) AS amount FROM refunds \
             WHERE receipt_id IS NULL AND status IN ",
            live!(),
            " GROUP BY payment_id) t ON t.payment_id = p.id LEFT JOIN receipts r ON r.decided_payment_id = p.id \
             WHERE p.state <> 'paid' OR t.amount > p.amount + COALESCE(r.difference, 0)"
        ),
    ),
    (
        "I26 a payment keeps what was refunded of it, and what is being refunded",
        "SELECT p.id FROM payments p LEFT JOIN (SELECT payment_id, \
         SUM(CASE status WHEN 'succeeded' THEN amount ELSE 0 END) AS refunded, \
         SUM(CASE WHEN status IN ('requires_action', 'pending') THEN amount ELSE 0 END) AS refunding FROM refunds \
         WHERE receipt_id IS NULL GROUP BY payment_id) t ON t.payment_id = p.id \
         WHERE p.refunded <> COALESCE(t.refunded, 0) OR p.refunding <> COALESCE(t.refunding, 0)",
    ),
    (
        "I26 with refunds that have succeeded, no more of a fee goes back than was taken, and it is posted",
        "WITH legs AS MATERIALIZED (SELECT posting_id, amount FROM entries WHERE account = 'fees') \
         SELECT p.id FROM payments p LEFT JOIN (SELECT payment_id, SUM(fee_returned) AS fee, \
         SUM(CASE status WHEN 'succeeded' THEN 0 ELSE fee_returned END) AS stale FROM refunds GROUP BY payment_id) t \
         ON t.payment_id = p.id LEFT JOIN (SELECT o.payment_id, SUM(e.amount) AS amount FROM postings o \
         JOIN legs e ON e.posting_id = o.id WHERE o.kind IN ('refund_succeeded', 'refund_returned') \
         GROUP BY o.payment_id) x ON x.payment_id = p.id \
         WHERE t.fee > p.fee OR t.stale <> 0 OR COALESCE(t.fee, 0) <> -COALESCE(x.amount, 0)",
    ),
    (
        "I27 what is on its way back is the sum of the refunds that are unfinished",
        "SELECT {t.project_id} FROM (SELECT project_id, amount FROM entries WHERE account = 'refunding' \
         UNION ALL SELECT project_id, -amount FROM refunds WHERE status IN ('requires_action', 'pending')) t \
         GROUP BY t.project_id HAVING SUM(t.amount) <> 0",
    ),
    (
        "I27 what was given back is the sum of the refunds that have succeeded",
        "SELECT {t.project_id} FROM (SELECT project_id, amount FROM entries WHERE account = 'refunded' \
         UNION ALL SELECT project_id, -amount FROM refunds WHERE status = 'succeeded') t \
         GROUP BY t.project_id HAVING SUM(t.amount) <> 0",
    ),
    (
        "I28 the money that came for a project is on its accounts, but for what was returned elsewhere",
        "SELECT {t.project_id} FROM (SELECT project_id, amount FROM entries WHERE account <> 'clearing' \
         UNION ALL SELECT project_id, -amount FROM receipts WHERE kind = 'money' \
         AND (decision IS NULL OR decision <> 'returned' OR decided_refund_id IS NOT NULL)) t \
         GROUP BY t.project_id HAVING SUM(t.amount) <> 0",
    ),
    (
        "I29 a refund is posted once when it is made and once for each end that it has come to",
        "SELECT f.id FROM refunds f LEFT JOIN postings o ON o.payment_id = f.payment_id AND o.project_id = f.project_id \
         AND o.id = o.kind || ':' || f.id GROUP BY f.id, f.status, f.found_done_at \
         HAVING COUNT(CASE o.kind WHEN 'refund_started' THEN 1 END) <> 1 \
         OR COUNT(CASE o.kind WHEN 'refund_succeeded' THEN 1 END) \
         <> CASE WHEN f.status IN ('succeeded', 'returned') THEN 1 ELSE 0 END \
         OR COUNT(CASE o.kind WHEN 'refund_released' THEN 1 END) \
         <> CASE WHEN f.status IN ('failed', 'cancelled') OR f.found_done_at IS NOT NULL THEN 1 ELSE 0 END \
         OR COUNT(CASE o.kind WHEN 'refund_returned' THEN 1 END) <> CASE f.status WHEN 'returned' THEN 1 ELSE 0 END",
    ),
    (
        "I29 what is posted of refunds is of a refund",
        "SELECT o.id FROM postings o LEFT JOIN refunds f ON f.id = substr(o.id, length(o.kind) + 2) \
         AND f.payment_id = o.payment_id AND f.project_id = o.project_id \
         WHERE o.kind IN ('refund_started', 'refund_succeeded', 'refund_released', 'refund_returned') AND f.id IS NULL",
    ),
    (
        "I29 a refund was taken from the accounts that it says",
        "SELECT f.id FROM refunds f JOIN entries e ON e.posting_id = 'refund_started:' || f.id \
         AND e.project_id = f.project_id AND e.at = f.created_at \
         GROUP BY f.id, f.amount, f.from_pending, f.from_available, f.from_unapplied \
         HAVING COALESCE(SUM(CASE e.account WHEN 'pending' THEN -e.amount END), 0) <> f.from_pending \
         OR COALESCE(SUM(CASE e.account WHEN 'available' THEN -e.amount END), 0) <> f.from_available \
         OR COALESCE(SUM(CASE e.account WHEN 'unapplied' THEN -e.amount END), 0) <> f.from_unapplied \
         OR COALESCE(SUM(CASE e.account WHEN 'refunding' THEN e.amount END), 0) <> f.amount",
    ),
    (
        "I29 a refund that was found done was taken again from the accounts that it says",
        "SELECT f.id FROM refunds f LEFT JOIN entries e ON e.posting_id = 'refund_succeeded:' || f.id \
         AND e.project_id = f.project_id AND e.at = f.found_done_at WHERE f.found_done_at IS NOT NULL \
         GROUP BY f.id, f.amount, f.found_from_pending, f.found_from_unapplied \
         HAVING COALESCE(SUM(CASE e.account WHEN 'pending' THEN -e.amount END), 0) <> f.found_from_pending \
         OR COALESCE(SUM(CASE WHEN e.account IN ('available', 'fees') THEN -e.amount END), 0) \
         <> f.amount - f.found_from_pending - f.found_from_unapplied \
         OR COALESCE(SUM(CASE e.account WHEN 'unapplied' THEN -e.amount END), 0) <> f.found_from_unapplied \
         OR COALESCE(SUM(CASE e.account WHEN 'refunded' THEN e.amount END), 0) <> f.amount",
    ),
    (
        "I26 a refund that was found done after people had ended it as failed has succeeded, and has a difference",
        "SELECT f.id FROM refunds f LEFT JOIN refund_attempts a ON a.refund_id = f.id AND a.state <> 'refused' \
         WHERE f.found_done_at IS NOT NULL AND (f.status NOT IN ('succeeded', 'returned') OR NOT EXISTS \
         (SELECT 1 FROM bank_differences d WHERE d.kind = 'refunded' AND d.subject = COALESCE(a.reference, f.id) \
         AND d.account_id = COALESCE(a.account_id, d.account_id)))",
    ),
    (
        "I29 held money is returned by a refund exactly while the refund stands",
        concat!(
            "SELECT f.id FROM refunds f LEFT JOIN receipts r ON r.public_id = f.receipt_id AND r.decided_refund_id = f.id \
             AND r.project_id = f.project_id AND r.payment_id = f.payment_id AND r.amount = f.amount \
             WHERE f.receipt_id IS NOT NULL AND (r.id IS NOT NULL) <> (COALESCE(f.found_from_unapplied, f.amount) > 0 AND f.status IN ",
            live!(),
            ") UNION ALL SELECT r.decided_refund_id FROM receipts r LEFT JOIN refunds f ON f.id = r.decided_refund_id \
             WHERE r.decided_refund_id IS NOT NULL AND f.id IS NULL"
        ),
    ),
    (
        "I30 attempts to send a refund follow each other, each after the final refusal of the one before",
        "SELECT f.id FROM refunds f JOIN refund_attempts a ON a.refund_id = f.id GROUP BY f.id \
         HAVING MAX(a.number) <> COUNT(*) OR COUNT(CASE a.state WHEN 'refused' THEN 1 END) < COUNT(*) - 1 \
         OR MAX(CASE a.state WHEN 'refused' THEN 0 ELSE a.number END) NOT IN (0, COUNT(*))",
    ),
    (
        "I30 a refund that a bank may have carried out is neither cancelled nor waiting for an account, and one that it has has succeeded",
        "SELECT f.id FROM refunds f JOIN refund_attempts a ON a.refund_id = f.id AND a.state <> 'refused' \
         WHERE f.status IN ('requires_action', 'cancelled') OR COALESCE(f.pending_reason, '') = 'awaiting_approval' \
         OR (a.state = 'done' AND f.status NOT IN ('succeeded', 'returned'))",
    ),
];
