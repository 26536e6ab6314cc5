//! Rows for a copy that no command makes quickly.

/// Logos of projects, as their pages show them.
pub(super) const LOGOS: &str = "INSERT INTO logos SELECT id, 'ab12', x'89504e47' FROM projects; UPDATE projects SET logo_hash = 'ab12', \
    logo_width = 1, logo_height = 1, face_colour = '#0b57d0', contact_whatsapp = '62812'";

/// What people have chosen about letters.
pub(super) const LETTERS: &str = "INSERT INTO letter_choices SELECT id, 'en', 'daily' FROM users; \
    INSERT INTO letter_refusals SELECT id, 'money_held' FROM users; \
    INSERT INTO receipt_letters SELECT id FROM projects; \
    INSERT INTO letter_alerts VALUES ('bank é', 1)";

/// A refund of the paid payment that a bank refused and somebody cancelled then, with its postings.
pub(super) fn refunds(account: &str) -> String {
    format!(
        "INSERT INTO refunds (id, project_id, payment_id, amount, from_pending, from_available, from_fee, fee_returned, \
         from_unapplied, status, road, reason, metadata, destination_checked, claim_tries, made_by, failure_reason, \
         created_at, updated_at, version) SELECT 'rfd_1', project_id, id, 1000, 1000, 0, 0, 0, 0, 'cancelled', 'transfer', \
         'é', NULL, 0, 0, 'command-line', 'tutup', 1, 2, 3 FROM payments WHERE state = 'paid' LIMIT 1; \
         INSERT INTO postings SELECT k.kind || ':' || f.id, f.project_id, f.payment_id, k.kind, 1 FROM refunds f \
         CROSS JOIN (SELECT 'refund_started' AS kind UNION ALL SELECT 'refund_released') k; \
         INSERT INTO entries SELECT o.project_id, a.account, o.at, o.id, \
         CASE WHEN (a.account = 'refunding') = (o.kind = 'refund_started') THEN 1000 ELSE -1000 END FROM postings o \
         CROSS JOIN (SELECT 'pending' AS account UNION ALL SELECT 'refunding') a WHERE o.kind LIKE 'refund_%'; \
         INSERT INTO refund_attempts (refund_id, number, account_id, reference, state, answer, sent_at, updated_at, asked, \
         external_id) SELECT id, 1, '{account}', 'T1', 'refused', 'é', 1, 2, 1, '7' FROM refunds; \
         INSERT INTO refund_batches SELECT project_id, 1, 'command-line', 1 FROM refunds; \
         INSERT INTO refund_turns SELECT project_id, 1 FROM refunds; \
         INSERT INTO refund_counts SELECT project_id, 'cancelled', 1, 1000 FROM refunds"
    )
}
