-- Refunds: money that goes back to customers.
--
-- A refund is what a merchant wants to give back of a payment, or of money that was held. Its money is in the account `refunding`
-- until the bank has it (`refunded`), or goes back where it came from: `from_pending`, `from_available` (of which `from_fee` stands
-- for the payment's fee) and `from_unapplied` add up to the amount. `fee_returned` is what the merchant got back of
-- the payment's fee when it succeeded. Every change of a refund needs the version that was read.
-- `claim_hash` is what the link for the customer is looked up by; the link itself is in `claim_token`, encrypted, as the number of
-- the destination is in `destination_number`.
CREATE TABLE refunds (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    -- That which was paid, or that which the held money was sent for.
    payment_id TEXT NOT NULL REFERENCES payments (id),
    -- The held money that is given back.
    receipt_id TEXT,
    amount BIGINT NOT NULL CHECK (amount > 0),
    from_pending BIGINT NOT NULL CHECK (from_pending >= 0),
    from_available BIGINT NOT NULL CHECK (from_available >= 0),
    from_fee BIGINT NOT NULL CHECK (from_fee >= 0 AND from_fee <= from_available),
    fee_returned BIGINT NOT NULL CHECK (fee_returned >= 0),
    from_unapplied BIGINT NOT NULL CHECK ((from_unapplied = amount) = (receipt_id IS NOT NULL)),
    status TEXT NOT NULL
        CHECK (status IN ('requires_action', 'pending', 'succeeded', 'failed', 'cancelled', 'returned')),
    pending_reason TEXT CHECK ((pending_reason IS NOT NULL) = (status = 'pending')),
    road TEXT NOT NULL CHECK (road IN ('qris', 'transfer')),
    reason TEXT NOT NULL,
    metadata TEXT,
    destination_bank TEXT,
    destination_number BLOB CHECK ((destination_number IS NOT NULL) = (destination_bank IS NOT NULL)),
    destination_digits TEXT CHECK ((destination_digits IS NOT NULL) = (destination_bank IS NOT NULL)),
    destination_holder TEXT,
    destination_checked BIGINT NOT NULL CHECK (destination_checked IN (0, 1)),
    destination_by TEXT,
    claim_hash BLOB,
    claim_token BLOB CHECK ((claim_token IS NOT NULL) = (claim_hash IS NOT NULL)),
    claim_expires_at BIGINT CHECK ((claim_expires_at IS NOT NULL) = (claim_hash IS NOT NULL)),
    claim_tries BIGINT NOT NULL,
    made_by TEXT NOT NULL,
    approved_by TEXT,
    failing_by TEXT,
    bank_reference TEXT,
    failure_reason TEXT,
    batch BIGINT,
    simulated_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    succeeded_at BIGINT CHECK ((succeeded_at IS NOT NULL) = (status IN ('succeeded', 'returned'))),
    version BIGINT NOT NULL,
    CHECK (from_pending + from_available + from_unapplied = amount)
);

CREATE INDEX refunds_of_project ON refunds (project_id, id);
CREATE INDEX refunds_by_status ON refunds (project_id, status, id);
CREATE INDEX refunds_of_payment ON refunds (payment_id, id);
CREATE UNIQUE INDEX refunds_by_claim ON refunds (claim_hash) WHERE claim_hash IS NOT NULL;
CREATE INDEX refunds_of_batch ON refunds (project_id, batch) WHERE batch IS NOT NULL;
CREATE INDEX refunds_simulated ON refunds (simulated_at) WHERE simulated_at IS NOT NULL;
-- What is on its way; few at a time.
CREATE INDEX refunds_on_their_way ON refunds (id) WHERE status = 'pending';
-- One live refund gives back a receipt.
CREATE UNIQUE INDEX refunds_of_receipt ON refunds (receipt_id)
    WHERE receipt_id IS NOT NULL AND status IN ('requires_action', 'pending', 'succeeded');

-- Attempts to send a refund by a bank. An attempt is committed as sent before the bank is called, and then it is only asked about:
-- the next one needs the final refusal of the one before.
CREATE TABLE refund_attempts (
    refund_id TEXT NOT NULL REFERENCES refunds (id),
    number BIGINT NOT NULL CHECK (number > 0),
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    reference TEXT NOT NULL,
    external_id TEXT NOT NULL,
    rail TEXT,
    state TEXT NOT NULL CHECK (state IN ('sent', 'unknown', 'refused', 'done')),
    bank_reference TEXT,
    answer TEXT,
    sent_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ask_at BIGINT CHECK (ask_at IS NULL OR state IN ('sent', 'unknown')),
    asked BIGINT NOT NULL,
    PRIMARY KEY (refund_id, number)
);

CREATE UNIQUE INDEX refund_attempts_by_reference ON refund_attempts (reference);
CREATE UNIQUE INDEX refund_attempts_live ON refund_attempts (refund_id) WHERE state <> 'refused';
CREATE INDEX refund_attempts_to_ask ON refund_attempts (account_id, ask_at) WHERE ask_at IS NOT NULL;

-- Batches of transfers that a person takes to the bank.
CREATE TABLE refund_batches (
    project_id TEXT NOT NULL REFERENCES projects (id),
    number BIGINT NOT NULL CHECK (number > 0),
    made_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, number)
);

-- How many refunds of a project stand how, and what they add up to: lists and the home page do not count them.
CREATE TABLE refund_counts (
    project_id TEXT NOT NULL REFERENCES projects (id),
    standing TEXT NOT NULL,
    refunds BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (project_id, standing)
);

-- What a project gives back out of what is available is decided one after another: each such commit changes its row here.
CREATE TABLE refund_turns (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id),
    turns BIGINT NOT NULL
);

-- What was given back of a payment: what the customer has, and what is on its way or waits for something.
ALTER TABLE payments ADD COLUMN refunded BIGINT NOT NULL DEFAULT 0 CHECK (refunded >= 0);
ALTER TABLE payments ADD COLUMN refunding BIGINT NOT NULL DEFAULT 0 CHECK (refunding >= 0);

-- What a project has set: the amount above which refunds wait for an approval, whether destinations typed with a key do, and
-- whether fees are given back.
ALTER TABLE projects ADD COLUMN refund_approval_above BIGINT CHECK (refund_approval_above >= 0);
ALTER TABLE projects ADD COLUMN refund_key_destination_approval BIGINT
    CHECK (refund_key_destination_approval IN (0, 1));
ALTER TABLE projects ADD COLUMN refunds_return_fee BIGINT NOT NULL DEFAULT 0 CHECK (refunds_return_fee IN (0, 1));

-- The refund by which held money is returned; none where somebody returned it elsewhere.
ALTER TABLE receipts ADD COLUMN decided_refund_id TEXT CHECK (decided_refund_id IS NULL OR decision = 'returned');

-- Settling moves what refunds have left. A server of an earlier version that still runs would move all of it, and does not raise
-- the payment's version: it is kept from settling a payment whose refunds have taken some.
CREATE TRIGGER settled_after_refunds BEFORE UPDATE OF settles_at ON payments
    WHEN NEW.settles_at IS NULL AND OLD.settles_at IS NOT NULL AND NEW.version = OLD.version
    AND EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a payment with refunds is settled by a server of this version'); END;

-- More kinds of postings, more accounts, more events, and Idempotency-Keys of refunds. SQLite changes no check of a table that is
-- there, so the tables are made anew; the connection that does this watches no references meanwhile.
DROP TRIGGER postings_stay;
DROP TRIGGER postings_remain;
CREATE TABLE postings_anew (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    payment_id TEXT NOT NULL REFERENCES payments (id),
    kind TEXT NOT NULL CHECK (kind IN ('paid', 'settled', 'unapplied', 'accepted', 'returned', 'refund_started', 'refund_succeeded',
        'refund_released', 'refund_returned')),
    at BIGINT NOT NULL
);
INSERT INTO postings_anew (id, project_id, payment_id, kind, at)
    SELECT id, project_id, payment_id, kind, at FROM postings ORDER BY rowid;
DROP TABLE postings;
ALTER TABLE postings_anew RENAME TO postings;
CREATE TRIGGER postings_stay BEFORE UPDATE ON postings BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;
CREATE TRIGGER postings_remain BEFORE DELETE ON postings BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;

DROP TRIGGER entries_stay;
DROP TRIGGER entries_remain;
CREATE TABLE entries_anew (
    project_id TEXT NOT NULL REFERENCES projects (id),
    account TEXT NOT NULL
        CHECK (account IN ('pending', 'available', 'unapplied', 'refunding', 'refunded', 'clearing', 'fees')),
    at BIGINT NOT NULL,
    posting_id TEXT NOT NULL REFERENCES postings (id),
    amount BIGINT NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (project_id, account, at, posting_id)
) WITHOUT ROWID;
INSERT INTO entries_anew (project_id, account, at, posting_id, amount)
    SELECT project_id, account, at, posting_id, amount FROM entries ORDER BY project_id, account, at, posting_id;
DROP TABLE entries;
ALTER TABLE entries_anew RENAME TO entries;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;

CREATE TABLE idempotency_anew (
    project_id TEXT NOT NULL,
    endpoint TEXT NOT NULL CHECK (endpoint IN ('payments', 'payment-links', 'refunds')),
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, endpoint, key)
) WITHOUT ROWID;
INSERT INTO idempotency_anew (project_id, endpoint, key, request, resource)
    SELECT project_id, endpoint, key, request, resource FROM idempotency ORDER BY project_id, endpoint, key;
DROP TABLE idempotency;
ALTER TABLE idempotency_anew RENAME TO idempotency;

DROP TRIGGER events_have_ids;
CREATE TABLE events_anew (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind IN ('payment.paid', 'payment.failed', 'apikey.deleted', 'payment.expired', 'payment.cancelled', 'payment.held', 'refund.requires_action',
        'refund.succeeded', 'refund.failed', 'refund.cancelled', 'refund.returned')),
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    paid_at BIGINT CHECK ((paid_at IS NOT NULL) = (kind = 'payment.paid')),
    success_word TEXT CHECK ((success_word IS NOT NULL) = (kind IN ('payment.paid', 'payment.held'))),
    receipt_id TEXT CHECK ((receipt_id IS NOT NULL) = (kind = 'payment.held')),
    receipt_amount BIGINT CHECK ((receipt_amount IS NOT NULL) = (kind = 'payment.held')),
    receipt_reason TEXT CHECK ((receipt_reason IS NOT NULL) = (kind = 'payment.held')),
    receipt_paid_at BIGINT CHECK ((receipt_paid_at IS NOT NULL) = (kind = 'payment.held')),
    payment_state TEXT CHECK ((payment_state IS NOT NULL) = (kind = 'payment.held')),
    payment_state_at BIGINT CHECK (payment_state_at IS NULL OR kind = 'payment.held'),
    payment_expires_at BIGINT CHECK ((payment_expires_at IS NOT NULL) = (kind = 'payment.held'))
);
INSERT INTO events_anew (id, project_id, kind, subject, created_at, paid_at, success_word, receipt_id, receipt_amount,
    receipt_reason, receipt_paid_at, payment_state, payment_state_at, payment_expires_at)
    SELECT id, project_id, kind, subject, created_at, paid_at, success_word, receipt_id, receipt_amount,
    receipt_reason, receipt_paid_at, payment_state, payment_state_at, payment_expires_at FROM events ORDER BY rowid;
DROP TABLE events;
ALTER TABLE events_anew RENAME TO events;
CREATE INDEX events_of_project ON events (project_id, id);
CREATE INDEX events_extra ON events (subject) WHERE kind IN ('payment.expired', 'payment.cancelled', 'payment.held');
CREATE TRIGGER events_have_ids BEFORE INSERT ON events WHEN typeof(NEW.subject) = 'blob' AND length(NEW.id) <> 30
    BEGIN SELECT RAISE(ABORT, 'an event has an id of 30 characters'); END;

-- The triggers that keep the list of an earlier version read it as it is, and this version's events stay in it.
DROP TRIGGER extra_events_added;
DROP TRIGGER extra_events_removed;
DROP TRIGGER extra_events_listed;
CREATE TABLE extra_events_anew (
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind IN ('payment.expired', 'payment.cancelled', 'payment.held', 'refund.requires_action',
        'refund.succeeded', 'refund.failed', 'refund.cancelled', 'refund.returned')),
    position BIGINT NOT NULL,
    PRIMARY KEY (project_id, kind)
) WITHOUT ROWID;
INSERT INTO extra_events_anew (project_id, kind, position)
    SELECT project_id, kind, position FROM extra_events ORDER BY project_id, kind;
DROP TABLE extra_events;
ALTER TABLE extra_events_anew RENAME TO extra_events;
CREATE TRIGGER extra_events_added AFTER INSERT ON extra_events BEGIN
    UPDATE projects SET extra_events = (SELECT group_concat(e.kind, ',') FROM
        (SELECT kind FROM extra_events WHERE project_id = NEW.project_id ORDER BY position) e)
        WHERE id = NEW.project_id;
END;
CREATE TRIGGER extra_events_removed AFTER DELETE ON extra_events BEGIN
    UPDATE projects SET extra_events = COALESCE((SELECT group_concat(e.kind, ',') FROM
        (SELECT kind FROM extra_events WHERE project_id = OLD.project_id ORDER BY position) e), '')
        WHERE id = OLD.project_id;
END;
CREATE TRIGGER extra_events_listed AFTER UPDATE OF extra_events ON projects
    WHEN NEW.extra_events <> COALESCE((SELECT group_concat(e.kind, ',') FROM
        (SELECT kind FROM extra_events WHERE project_id = NEW.id ORDER BY position) e), '')
BEGIN
    DELETE FROM extra_events WHERE project_id = NEW.id;
    INSERT INTO extra_events (project_id, kind, position)
        SELECT NEW.id, k.kind, instr(',' || NEW.extra_events || ',', ',' || k.kind || ',')
        FROM (SELECT 'payment.expired' AS kind UNION ALL SELECT 'payment.cancelled' UNION ALL SELECT 'payment.held'
            UNION ALL SELECT 'refund.requires_action' UNION ALL SELECT 'refund.succeeded' UNION ALL SELECT 'refund.failed'
            UNION ALL SELECT 'refund.cancelled' UNION ALL SELECT 'refund.returned') k
        WHERE instr(',' || NEW.extra_events || ',', ',' || k.kind || ',') > 0;
END;
