-- Refunds of which no bank says what became of them: two people end one as failed, and it may be found done after that.

-- When the first person has said that a transfer was not made, of which attempt, and whether they have looked at the bank's own
-- statement; NULL where they said so before this was asked.
ALTER TABLE refunds ADD COLUMN failing_at BIGINT;
ALTER TABLE refunds ADD COLUMN failing_attempt BIGINT;
ALTER TABLE refunds ADD COLUMN failing_confirmed BIGINT;
UPDATE refunds SET failing_at = updated_at,
    failing_attempt = (SELECT MAX(a.number) FROM refund_attempts a WHERE a.refund_id = refunds.id)
    WHERE failing_by IS NOT NULL;

-- That a refund which people had ended as failed was made all the same. Its money, which was back where it was taken from, is taken
-- again: from what is still pending for the payment, from held money, and the rest from what is available. `found_failure` is why
-- it was ended as failed.
ALTER TABLE refunds ADD COLUMN found_done_at BIGINT;
ALTER TABLE refunds ADD COLUMN found_from_pending BIGINT
    CHECK ((found_from_pending IS NOT NULL) = (found_done_at IS NOT NULL) AND found_from_pending BETWEEN 0 AND amount);
ALTER TABLE refunds ADD COLUMN found_from_unapplied BIGINT
    CHECK ((found_from_unapplied IS NOT NULL) = (found_done_at IS NOT NULL) AND found_from_unapplied BETWEEN 0 AND amount);
ALTER TABLE refunds ADD COLUMN found_failure TEXT COLLATE "C"
    CHECK ((found_failure IS NOT NULL) = (found_done_at IS NOT NULL));

-- One live refund gives back a receipt, but for one that was found done when something else was done with the money.
DROP INDEX refunds_of_receipt;
CREATE UNIQUE INDEX refunds_of_receipt ON refunds (receipt_id)
    WHERE receipt_id IS NOT NULL AND status IN ('requires_action', 'pending', 'succeeded')
    AND (found_from_unapplied IS NULL OR found_from_unapplied > 0);

-- What the statement of the account that pays said about an attempt when it was read last.
ALTER TABLE refund_attempts ADD COLUMN statement_at BIGINT;
ALTER TABLE refund_attempts ADD COLUMN statement_found TEXT COLLATE "C"
    CHECK ((statement_found IS NOT NULL) = (statement_at IS NOT NULL)
    AND statement_found IN ('absent', 'debited', 'returned', 'other_amount', 'unclear'));
