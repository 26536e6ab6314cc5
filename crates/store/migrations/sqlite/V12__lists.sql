-- Lists of payments of one state or method, in the order of their ids.
CREATE INDEX payments_by_state ON payments (project_id, state, method, id);

-- A checkpoint no longer has the sum of all amounts up to it: most of those may never have been paid. It has the id of the
-- checkpoint before it instead, and whether the payments from there on have sums.
ALTER TABLE payment_marks DROP COLUMN amount;
ALTER TABLE payment_marks ADD COLUMN previous TEXT NOT NULL DEFAULT '';
ALTER TABLE payment_marks ADD COLUMN is_summed BIGINT NOT NULL DEFAULT 0 CHECK (is_summed IN (0, 1));
UPDATE payment_marks SET previous = COALESCE((SELECT MAX(b.id) FROM payment_marks b
    WHERE b.project_id = payment_marks.project_id AND b.id < payment_marks.id), '');
CREATE INDEX payment_marks_unsummed ON payment_marks (project_id, id) WHERE is_summed = 0;

-- What the payments after one checkpoint, up to and including the next, add up to. They are stored under the later checkpoint once
-- all of these payments have ended.
CREATE TABLE payment_sums (
    project_id TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'paid' OR state = 'failed' OR state = 'expired' OR state = 'cancelled'),
    method TEXT NOT NULL,
    payments BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    fee BIGINT NOT NULL,
    PRIMARY KEY (project_id, id, state, method),
    FOREIGN KEY (project_id, id) REFERENCES payment_marks (project_id, id) ON DELETE CASCADE
) WITHOUT ROWID;

-- A payment that had ended is paid after all: maintenance adds these sums up again.
CREATE TRIGGER payment_sums_stale AFTER UPDATE OF state ON payments
WHEN OLD.state <> 'pending' AND OLD.state <> 'processing' AND NEW.state <> OLD.state
BEGIN
    UPDATE payment_marks SET is_summed = 0 WHERE project_id = OLD.project_id AND is_summed = 1 AND id =
        (SELECT id FROM payment_marks WHERE project_id = OLD.project_id AND id >= OLD.id ORDER BY id LIMIT 1);
    DELETE FROM payment_sums WHERE project_id = OLD.project_id AND id =
        (SELECT id FROM payment_marks WHERE project_id = OLD.project_id AND id >= OLD.id ORDER BY id LIMIT 1);
END;

-- What lists add up to is what came, also where that was another amount than was due.
CREATE INDEX receipts_with_difference ON receipts (project_id) WHERE difference <> 0;
