-- What banks were told while it was not known whether the money that they asked us to take was booked. Each is looked after
-- until that is known, and where it was booked, until the bank was asked too.
CREATE TABLE bank_undecided (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    external_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    number TEXT NOT NULL,
    amount BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    said TEXT NOT NULL,
    said_at BIGINT NOT NULL CHECK (said_at >= asked_at),
    finding TEXT CHECK (finding = 'booked' OR finding = 'not_booked'),
    due_at BIGINT CHECK (due_at IS NOT NULL OR finding IS NOT NULL),
    tries BIGINT NOT NULL,
    PRIMARY KEY (account_id, external_id, asked_at)
) WITHOUT ROWID;

CREATE INDEX bank_undecided_due ON bank_undecided (due_at) WHERE due_at IS NOT NULL;

-- Booked money about which the bank was told that nothing is decided is for a person, too. SQLite cannot change a check, so
-- the table is built anew.
CREATE TABLE bank_differences_anew (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    subject TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'missing_there' OR kind = 'amount' OR kind = 'fee' OR kind = 'refunded'
        OR kind = 'unanswered' OR kind = 'undecided'),
    day BIGINT NOT NULL,
    payment_id TEXT REFERENCES payments (id),
    ours BIGINT,
    theirs BIGINT,
    found_at BIGINT NOT NULL,
    settled_at BIGINT CHECK ((settled_at IS NOT NULL) = (note IS NOT NULL)),
    note TEXT,
    PRIMARY KEY (account_id, subject, kind)
) WITHOUT ROWID;

INSERT INTO bank_differences_anew (account_id, subject, kind, day, payment_id, ours, theirs, found_at, settled_at, note)
    SELECT account_id, subject, kind, day, payment_id, ours, theirs, found_at, settled_at, note FROM bank_differences;
DROP TABLE bank_differences;
ALTER TABLE bank_differences_anew RENAME TO bank_differences;
CREATE INDEX bank_differences_open ON bank_differences (found_at) WHERE settled_at IS NULL;
