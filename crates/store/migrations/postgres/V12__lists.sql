-- Lists of payments of one state or method, in the order of their ids.
CREATE INDEX payments_by_state ON payments (project_id, state, method, id);

-- A checkpoint no longer has the sum of all amounts up to it: most of those may never have been paid. It has the id of the
-- checkpoint before it instead, and whether the payments from there on have sums.
ALTER TABLE payment_marks DROP COLUMN amount;
ALTER TABLE payment_marks ADD COLUMN previous TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE payment_marks ADD COLUMN is_summed BIGINT NOT NULL DEFAULT 0 CHECK (is_summed IN (0, 1));
UPDATE payment_marks SET previous = COALESCE((SELECT MAX(b.id) FROM payment_marks b
    WHERE b.project_id = payment_marks.project_id AND b.id < payment_marks.id), '');
CREATE INDEX payment_marks_unsummed ON payment_marks (project_id, id) WHERE is_summed = 0;

-- What the payments after one checkpoint, up to and including the next, add up to. They are stored under the later checkpoint once
-- all of these payments have ended.
CREATE TABLE payment_sums (
    project_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL
        CHECK (state = 'paid' OR state = 'failed' OR state = 'expired' OR state = 'cancelled'),
    method TEXT COLLATE "C" NOT NULL,
    payments BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    fee BIGINT NOT NULL,
    PRIMARY KEY (project_id, id, state, method),
    FOREIGN KEY (project_id, id) REFERENCES payment_marks (project_id, id) ON DELETE CASCADE
);

-- A payment that had ended is paid after all: maintenance adds these sums up again. The job that adds them up locks the checkpoint
-- too, so of two that run at the same time the later one sees what the earlier one has committed. Hence the update also where it
-- changes nothing.
CREATE FUNCTION remove_payment_sums() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    checkpoint TEXT;
BEGIN
    UPDATE payment_marks SET is_summed = 0 WHERE project_id = OLD.project_id AND id =
        (SELECT id FROM payment_marks WHERE project_id = OLD.project_id AND id >= OLD.id ORDER BY id LIMIT 1)
        RETURNING id INTO checkpoint;
    DELETE FROM payment_sums WHERE project_id = OLD.project_id AND id = checkpoint;
    RETURN NULL;
END
$$;
CREATE TRIGGER payment_sums_stale AFTER UPDATE OF state ON payments FOR EACH ROW
    WHEN (OLD.state <> 'pending' AND OLD.state <> 'processing' AND NEW.state <> OLD.state)
    EXECUTE FUNCTION remove_payment_sums();

-- What lists add up to is what came, also where that was another amount than was due.
CREATE INDEX receipts_with_difference ON receipts (project_id) WHERE difference <> 0;
