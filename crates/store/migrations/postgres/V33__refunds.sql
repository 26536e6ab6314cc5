-- Refunds: money that goes back to customers.
--
-- A refund is what a merchant wants to give back of a payment, or of money that was held. Its money is in the account `refunding`
-- until the bank has it (`refunded`), or goes back where it came from: `from_pending`, `from_available` (of which `from_fee` stands
-- for the payment's fee) and `from_unapplied` add up to the amount. `fee_returned` is what the merchant got back of
-- the payment's fee when it succeeded. Every change of a refund needs the version that was read.
-- `claim_hash` is what the link for the customer is looked up by; the link itself is in `claim_token`, encrypted, as the number of
-- the destination is in `destination_number`.
CREATE TABLE refunds (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    -- That which was paid, or that which the held money was sent for.
    payment_id TEXT COLLATE "C" NOT NULL REFERENCES payments (id),
    -- The held money that is given back.
    receipt_id TEXT COLLATE "C",
    amount BIGINT NOT NULL CHECK (amount > 0),
    from_pending BIGINT NOT NULL CHECK (from_pending >= 0),
    from_available BIGINT NOT NULL CHECK (from_available >= 0),
    from_fee BIGINT NOT NULL CHECK (from_fee >= 0 AND from_fee <= from_available),
    fee_returned BIGINT NOT NULL CHECK (fee_returned >= 0),
    from_unapplied BIGINT NOT NULL CHECK ((from_unapplied = amount) = (receipt_id IS NOT NULL)),
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('requires_action', 'pending', 'succeeded', 'failed', 'cancelled', 'returned')),
    pending_reason TEXT COLLATE "C" CHECK ((pending_reason IS NOT NULL) = (status = 'pending')),
    road TEXT COLLATE "C" NOT NULL CHECK (road IN ('qris', 'transfer')),
    reason TEXT COLLATE "C" NOT NULL,
    metadata TEXT COLLATE "C",
    destination_bank TEXT COLLATE "C",
    destination_number BYTEA CHECK ((destination_number IS NOT NULL) = (destination_bank IS NOT NULL)),
    destination_digits TEXT COLLATE "C" CHECK ((destination_digits IS NOT NULL) = (destination_bank IS NOT NULL)),
    destination_holder TEXT COLLATE "C",
    destination_checked BIGINT NOT NULL CHECK (destination_checked IN (0, 1)),
    destination_by TEXT COLLATE "C",
    claim_hash BYTEA,
    claim_token BYTEA CHECK ((claim_token IS NOT NULL) = (claim_hash IS NOT NULL)),
    claim_expires_at BIGINT CHECK ((claim_expires_at IS NOT NULL) = (claim_hash IS NOT NULL)),
    claim_tries BIGINT NOT NULL,
    made_by TEXT COLLATE "C" NOT NULL,
    approved_by TEXT COLLATE "C",
    failing_by TEXT COLLATE "C",
    bank_reference TEXT COLLATE "C",
    failure_reason TEXT COLLATE "C",
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
    refund_id TEXT COLLATE "C" NOT NULL REFERENCES refunds (id),
    number BIGINT NOT NULL CHECK (number > 0),
    account_id TEXT COLLATE "C" NOT NULL REFERENCES bank_accounts (id),
    reference TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    rail TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('sent', 'unknown', 'refused', 'done')),
    bank_reference TEXT COLLATE "C",
    answer TEXT COLLATE "C",
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
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    number BIGINT NOT NULL CHECK (number > 0),
    made_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, number)
);

-- How many refunds of a project stand how, and what they add up to: lists and the home page do not count them.
CREATE TABLE refund_counts (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    standing TEXT COLLATE "C" NOT NULL,
    refunds BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (project_id, standing)
);

-- What a project gives back out of what is available is decided one after another: each such commit changes its row here.
CREATE TABLE refund_turns (
    project_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES projects (id),
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
ALTER TABLE receipts ADD COLUMN decided_refund_id TEXT COLLATE "C" CHECK (decided_refund_id IS NULL OR decision = 'returned');

-- Settling moves what refunds have left. A node of an earlier version that still runs would move all of it, and does not raise the
-- payment's version: it is kept from settling a payment whose refunds have taken some.
CREATE FUNCTION refuse_to_settle_refunds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = OLD.id) THEN
        RAISE EXCEPTION 'a payment with refunds is settled by a node of this version';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER settled_after_refunds BEFORE UPDATE OF settles_at ON payments FOR EACH ROW
    WHEN (NEW.settles_at IS NULL AND OLD.settles_at IS NOT NULL AND NEW.version = OLD.version)
    EXECUTE FUNCTION refuse_to_settle_refunds();

-- More kinds of postings, more accounts, more events, and Idempotency-Keys of refunds.
ALTER TABLE postings DROP CONSTRAINT postings_kind_check;
ALTER TABLE postings ADD CONSTRAINT postings_kind_check
    CHECK (kind IN ('paid', 'settled', 'unapplied', 'accepted', 'returned', 'refund_started', 'refund_succeeded',
        'refund_released', 'refund_returned'));
ALTER TABLE entries DROP CONSTRAINT entries_account_check;
ALTER TABLE entries ADD CONSTRAINT entries_account_check
    CHECK (account IN ('pending', 'available', 'unapplied', 'refunding', 'refunded', 'clearing', 'fees'));
ALTER TABLE idempotency DROP CONSTRAINT idempotency_endpoint_check;
ALTER TABLE idempotency ADD CONSTRAINT idempotency_endpoint_check
    CHECK (endpoint IN ('payments', 'payment-links', 'refunds'));
ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check
    CHECK (kind IN ('payment.paid', 'payment.failed', 'apikey.deleted', 'payment.expired', 'payment.cancelled', 'payment.held', 'refund.requires_action',
        'refund.succeeded', 'refund.failed', 'refund.cancelled', 'refund.returned'));
ALTER TABLE extra_events DROP CONSTRAINT extra_events_kind_check;
ALTER TABLE extra_events ADD CONSTRAINT extra_events_kind_check
    CHECK (kind IN ('payment.expired', 'payment.cancelled', 'payment.held', 'refund.requires_action',
        'refund.succeeded', 'refund.failed', 'refund.cancelled', 'refund.returned'));

-- The list of an earlier version keeps this version's events.
CREATE OR REPLACE FUNCTION read_extra_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM extra_events WHERE project_id = NEW.id;
    INSERT INTO extra_events (project_id, kind, position)
        SELECT NEW.id, k.kind, strpos(',' || NEW.extra_events || ',', ',' || k.kind || ',')
        FROM (VALUES ('payment.expired'), ('payment.cancelled'), ('payment.held'), ('refund.requires_action'),
            ('refund.succeeded'), ('refund.failed'), ('refund.cancelled'), ('refund.returned')) k (kind)
        WHERE strpos(',' || NEW.extra_events || ',', ',' || k.kind || ',') > 0;
    RETURN NULL;
END
$$;
