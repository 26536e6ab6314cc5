-- Codes that banks issue when we ask them: the attempts, what is still to be asked, and what was sent.

-- Readers see an expiry at its instant; for payments whose code a bank has issued it is written only after the bank was asked.
ALTER TABLE payments ADD COLUMN closes_after_query BIGINT NOT NULL DEFAULT 0 CHECK (closes_after_query IN (0, 1));

DROP INDEX payments_to_expire;
CREATE INDEX payments_to_expire ON payments (expires_at) WHERE state = 'pending' AND closes_after_query = 0;

-- An attempt to have a bank issue a code, committed before the bank is asked.
CREATE TABLE openings (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    link_id TEXT REFERENCES links (id),
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    reference TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    fee BIGINT NOT NULL CHECK (fee >= 0 AND fee <= amount),
    method TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'open' OR state = 'issued' OR state = 'refused' OR state = 'abandoned'),
    payment_id TEXT UNIQUE REFERENCES payments (id) CHECK ((payment_id IS NOT NULL) = (state = 'issued')),
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    resolved_at BIGINT CHECK ((resolved_at IS NOT NULL) = (state IN ('refused', 'abandoned'))),
    version BIGINT NOT NULL
) WITHOUT ROWID;

-- What the checkout learnt about a customer whose code is not there yet. The payment takes it over; where none comes of
-- it, it is forgotten after a while.
CREATE TABLE opening_attempts (
    opening_id TEXT NOT NULL PRIMARY KEY REFERENCES openings (id),
    customer_name TEXT NOT NULL,
    customer_email TEXT NOT NULL,
    customer_phone TEXT NOT NULL,
    customer_address TEXT NOT NULL,
    ip TEXT,
    country TEXT,
    device_kind TEXT,
    device_os TEXT,
    device_browser TEXT,
    user_agent TEXT,
    visitor TEXT,
    network TEXT,
    replaces TEXT NOT NULL
);

-- Every code that a bank was asked for. Numbers are never given out twice.
CREATE TABLE bank_codes (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    reference TEXT NOT NULL,
    opening_id TEXT NOT NULL REFERENCES openings (id),
    generation BIGINT NOT NULL,
    bank_reference TEXT,
    number TEXT,
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, reference)
) WITHOUT ROWID;

CREATE UNIQUE INDEX bank_codes_of_opening ON bank_codes (opening_id, generation);
CREATE UNIQUE INDEX bank_codes_by_number ON bank_codes (account_id, number) WHERE number IS NOT NULL;
CREATE INDEX bank_codes_by_time ON bank_codes (account_id, asked_at, reference);
CREATE INDEX bank_codes_by_bank_reference ON bank_codes (account_id, bank_reference) WHERE bank_reference IS NOT NULL;

-- What is to be asked of a bank about a code. `due_at` is moved ahead by the node that does it; it is empty once it is done.
CREATE TABLE bank_jobs (
    opening_id TEXT NOT NULL REFERENCES openings (id),
    kind TEXT NOT NULL CHECK (kind = 'issue' OR kind = 'query' OR kind = 'void'),
    generation BIGINT NOT NULL,
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    due_at BIGINT,
    tries BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (opening_id, kind, generation)
) WITHOUT ROWID;

CREATE INDEX bank_jobs_due ON bank_jobs (account_id, due_at) WHERE due_at IS NOT NULL;

-- Calls to banks, each stored before it is sent. Reports are about no single code.
CREATE TABLE bank_sends (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    day BIGINT NOT NULL,
    external_id TEXT NOT NULL,
    service BIGINT NOT NULL,
    opening_id TEXT REFERENCES openings (id),
    generation BIGINT CHECK ((generation IS NOT NULL) = (opening_id IS NOT NULL)),
    sent_at BIGINT NOT NULL,
    code TEXT,
    answered_at BIGINT CHECK ((answered_at IS NOT NULL) = (code IS NOT NULL)),
    PRIMARY KEY (account_id, day, external_id)
) WITHOUT ROWID;

CREATE INDEX bank_sends_of_opening ON bank_sends (opening_id, sent_at);
CREATE INDEX bank_sends_by_day ON bank_sends (day);

-- Money that a bank told us it had taken for a code, once, and how it was told first.
CREATE TABLE bank_money (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    receipt_id TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source = 'notification' OR source = 'query' OR source = 'report'),
    amount BIGINT NOT NULL CHECK (amount > 0),
    paid_at BIGINT NOT NULL,
    told_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, receipt_id)
) WITHOUT ROWID;

CREATE INDEX bank_money_by_time ON bank_money (account_id, paid_at, receipt_id);

-- The counter for banks whose external ids are short numbers.
CREATE TABLE bank_serials (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    day BIGINT NOT NULL,
    upto BIGINT NOT NULL,
    PRIMARY KEY (account_id, day)
) WITHOUT ROWID;

-- Calls that we made are in the log of calls too.
ALTER TABLE bank_calls ADD COLUMN outbound BIGINT NOT NULL DEFAULT 0 CHECK (outbound IN (0, 1));

-- Days of an account that were compared with what the bank says about them.
CREATE TABLE bank_reconciliations (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    day BIGINT NOT NULL,
    compared_by TEXT NOT NULL
        CHECK (compared_by = 'report' OR compared_by = 'query' OR compared_by = 'report_and_query'),
    first_at BIGINT NOT NULL,
    at BIGINT NOT NULL,
    matched BIGINT NOT NULL,
    matched_amount BIGINT NOT NULL,
    missing_here BIGINT NOT NULL,
    missing_here_amount BIGINT NOT NULL,
    missing_there BIGINT NOT NULL,
    missing_there_amount BIGINT NOT NULL,
    differing BIGINT NOT NULL,
    differing_amount BIGINT NOT NULL,
    bank_fees BIGINT NOT NULL,
    bank_fees_amount BIGINT NOT NULL,
    PRIMARY KEY (account_id, day)
) WITHOUT ROWID;

-- Which node compares a day of an account, until when, and not before when one that failed is tried again.
CREATE TABLE bank_comparisons (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES bank_accounts (id),
    leased_until BIGINT NOT NULL,
    retry_at BIGINT NOT NULL
) WITHOUT ROWID;

-- What a person must look at: money that the bank does not know of, knows in another amount or keeps too much of, and codes
-- that it refunded or could not be asked about for a day.
CREATE TABLE bank_differences (
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    subject TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'missing_there' OR kind = 'amount' OR kind = 'fee' OR kind = 'refunded'
        OR kind = 'unanswered'),
    day BIGINT NOT NULL,
    payment_id TEXT REFERENCES payments (id),
    ours BIGINT,
    theirs BIGINT,
    found_at BIGINT NOT NULL,
    settled_at BIGINT CHECK ((settled_at IS NOT NULL) = (note IS NOT NULL)),
    note TEXT,
    PRIMARY KEY (account_id, subject, kind)
) WITHOUT ROWID;

CREATE INDEX bank_differences_open ON bank_differences (found_at) WHERE settled_at IS NULL;
