-- Money that fits no payment has an id of its own, by which merchants' programs decide about it.
ALTER TABLE receipts ADD COLUMN public_id TEXT COLLATE "C";
-- Who decided about it; the payment that it pays, if it was accepted; and by how much it is more than that payment's amount.
ALTER TABLE receipts ADD COLUMN decided_by TEXT COLLATE "C" CHECK (decided_by IS NULL OR decision IS NOT NULL);
ALTER TABLE receipts ADD COLUMN decided_payment_id TEXT COLLATE "C" REFERENCES payments (id)
    CHECK (decided_payment_id IS NULL OR decision = 'accepted');
ALTER TABLE receipts ADD COLUMN difference BIGINT CHECK ((difference IS NOT NULL) = (decided_payment_id IS NOT NULL));

UPDATE receipts SET public_id = 'rcp_0' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 25) WHERE outcome = 'unapplied';
UPDATE receipts SET decided_payment_id = payment_id, difference = 0 WHERE decision = 'accepted';
-- The log names who decided. Its line was stamped a moment after the decision, and ends with the decision's note.
UPDATE receipts SET decided_by = a.actor FROM audit a
    WHERE a.deed IN ('receipt.accepted', 'receipt.returned') AND a.subject = receipts.payment_id
    AND a.project_id = receipts.project_id AND a.deed = 'receipt.' || receipts.decision
    AND a.at BETWEEN receipts.decided_at AND receipts.decided_at + 1000
    AND right(a.detail, length(receipts.decision_note)) = receipts.decision_note
    AND substr(a.actor, 1, 4) IN ('usr_', 'key_');

CREATE UNIQUE INDEX receipts_by_public_id ON receipts (public_id) WHERE public_id IS NOT NULL;
CREATE INDEX receipts_paying ON receipts (decided_payment_id) WHERE decided_payment_id IS NOT NULL;
CREATE INDEX receipts_unapplied ON receipts (project_id, received_at) WHERE outcome = 'unapplied';
