-- What banks were told while it was not known whether the money that they asked us to take was booked. Each is looked after
-- until that is known, and where it was booked, until the bank was asked too.
CREATE TABLE bank_undecided (
    account_id TEXT COLLATE "C" NOT NULL REFERENCES bank_accounts (id),
    external_id TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    number TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    said TEXT COLLATE "C" NOT NULL,
    said_at BIGINT NOT NULL CHECK (said_at >= asked_at),
    finding TEXT COLLATE "C" CHECK (finding = 'booked' OR finding = 'not_booked'),
    due_at BIGINT CHECK (due_at IS NOT NULL OR finding IS NOT NULL),
    tries BIGINT NOT NULL,
    PRIMARY KEY (account_id, external_id, asked_at)
);

CREATE INDEX bank_undecided_due ON bank_undecided (due_at) WHERE due_at IS NOT NULL;

-- Booked money about which the bank was told that nothing is decided is for a person, too.
ALTER TABLE bank_differences DROP CONSTRAINT bank_differences_kind_check;
ALTER TABLE bank_differences ADD CONSTRAINT bank_differences_kind_check CHECK (kind = 'missing_there' OR kind = 'amount'
    OR kind = 'fee' OR kind = 'refunded' OR kind = 'unanswered' OR kind = 'undecided');
