-- The same tables as on SQLite, and the same rules: columns are TEXT, BIGINT or BYTEA only. What differs:
-- texts compare by their bytes, as everything that sorts by id expects; rows that many changes at once would refer to, the
-- projects, are not referred to by foreign keys from tables that grow, since each such check would lock them.
-- The index that finds parts of references needs the extension pg_trgm, which comes with PostgreSQL.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE installation (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE projects (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    environment TEXT COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
    merchant_name TEXT COLLATE "C" NOT NULL,
    merchant_city TEXT COLLATE "C" NOT NULL,
    merchant_postal_code TEXT COLLATE "C" NOT NULL,
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    approved BIGINT NOT NULL CHECK (approved IN (0, 1)),
    success_word TEXT COLLATE "C" NOT NULL CHECK (success_word IN ('paid', 'succeeded')),
    webhook_url TEXT COLLATE "C",
    webhook_secret BYTEA NOT NULL,
    -- Signed with as well for a while after `rotated_at`, so that receivers can change over.
    previous_webhook_secret BYTEA,
    webhook_secret_rotated_at BIGINT,
    fee_qris_basis_points BIGINT,
    fee_virtual_account BIGINT,
    banks TEXT COLLATE "C" NOT NULL,
    default_methods TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

-- Origin first: a preflight asks whether anyone lists an origin.
CREATE TABLE allowed_origins (
    origin TEXT COLLATE "C" NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    PRIMARY KEY (origin, project_id)
);

CREATE TABLE api_keys (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    name TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    last_four TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- A revoked key gives its name free.
CREATE UNIQUE INDEX api_keys_name ON api_keys (project_id, name) WHERE revoked_at IS NULL;

CREATE TABLE links (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    reference TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    search_text TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    methods TEXT COLLATE "C" NOT NULL,
    allow_multiple_payments BIGINT NOT NULL CHECK (allow_multiple_payments IN (0, 1)),
    customer_fields TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT,
    cancelled_at BIGINT,
    claimed_by TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

CREATE INDEX links_of_project ON links (project_id, id);

CREATE TABLE payments (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    link_id TEXT COLLATE "C" REFERENCES links (id),
    reference TEXT COLLATE "C" NOT NULL,
    search_text TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    fee BIGINT NOT NULL CHECK (fee >= 0 AND fee <= amount),
    method TEXT COLLATE "C" NOT NULL,
    code TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL
        CHECK (state = 'pending' OR state = 'processing' OR state = 'paid' OR state = 'failed' OR state = 'expired'
            OR state = 'cancelled'),
    paid_at BIGINT CHECK ((paid_at IS NOT NULL) = (state = 'paid')),
    ended_at BIGINT CHECK ((ended_at IS NOT NULL) = (state IN ('failed', 'cancelled'))),
    settles_at BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

-- Ids are time-ordered, so these two only ever grow at their ends.
CREATE INDEX payments_of_project ON payments (project_id, id);
CREATE INDEX payments_of_link ON payments (link_id, id) WHERE link_id IS NOT NULL;
-- An account number that can still be paid is never given out twice.
CREATE UNIQUE INDEX payments_live_account ON payments (code)
    WHERE method <> 'qris' AND state IN ('pending', 'processing');
-- What the reconcilers look for.
CREATE INDEX payments_to_expire ON payments (expires_at) WHERE state = 'pending';
CREATE INDEX payments_to_settle ON payments (settles_at) WHERE settles_at IS NOT NULL;

-- Lists are counted and reached from here: `position` is how many payments the project has up to and including `id`.
CREATE TABLE payment_marks (
    project_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (project_id, id)
);

CREATE INDEX payment_marks_by_position ON payment_marks (project_id, position);

-- The references of every payment up to and including `upto`, which may not be the last one: the index costs more than the rest
-- of a payment, so it is filled behind it, many at a time.
CREATE TABLE payment_search (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    search_text TEXT COLLATE "C" NOT NULL
);
CREATE INDEX payment_search_trigrams ON payment_search USING gin (search_text gin_trgm_ops);
CREATE TABLE payment_searchable (
    upto TEXT COLLATE "C" NOT NULL
);
INSERT INTO payment_searchable (upto) VALUES ('');

-- Who paid through the hosted checkout, and from where.
CREATE TABLE checkouts (
    payment_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES payments (id),
    project_id TEXT COLLATE "C" NOT NULL,
    customer_name TEXT COLLATE "C" NOT NULL,
    customer_email TEXT COLLATE "C" NOT NULL,
    customer_phone TEXT COLLATE "C" NOT NULL,
    customer_address TEXT COLLATE "C" NOT NULL,
    ip TEXT COLLATE "C",
    country TEXT COLLATE "C",
    device_kind TEXT COLLATE "C",
    device_os TEXT COLLATE "C",
    device_browser TEXT COLLATE "C",
    user_agent TEXT COLLATE "C"
);

-- `request` is the fingerprint of the body that a key is bound to. Keys stand as they were sent, not hashed: a shop that
-- counts or dates its keys adds each beside the last one, where hashes would each touch a page of their own.
CREATE TABLE idempotency (
    project_id TEXT COLLATE "C" NOT NULL,
    endpoint TEXT COLLATE "C" NOT NULL CHECK (endpoint IN ('payments', 'payment-links')),
    key TEXT COLLATE "C" NOT NULL,
    request BYTEA NOT NULL,
    resource TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, endpoint, key)
);

-- Every provider notification that was taken, once. Money has an amount; refusals and progress have none.
CREATE TABLE receipts (
    provider TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind = 'money' OR kind = 'refusal' OR kind = 'progress'),
    project_id TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL REFERENCES payments (id),
    amount BIGINT CHECK ((amount IS NOT NULL) = (kind = 'money')),
    paid_at BIGINT,
    received_at BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('applied', 'unapplied')),
    reason TEXT COLLATE "C" CHECK ((reason IS NOT NULL) = (outcome = 'unapplied')),
    PRIMARY KEY (provider, id)
);

CREATE INDEX receipts_of_payment ON receipts (payment_id);

CREATE TABLE postings (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL REFERENCES payments (id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind = 'paid' OR kind = 'settled' OR kind = 'unapplied'),
    at BIGINT NOT NULL
);

CREATE TABLE entries (
    project_id TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL
        CHECK (account = 'pending' OR account = 'available' OR account = 'unapplied' OR account = 'clearing'
            OR account = 'fees'),
    at BIGINT NOT NULL,
    posting_id TEXT COLLATE "C" NOT NULL REFERENCES postings (id),
    amount BIGINT NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (project_id, account, at, posting_id) INCLUDE (amount)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER postings_stay BEFORE UPDATE OR DELETE ON postings FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE ON entries FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE events (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind = 'payment.paid' OR kind = 'payment.failed' OR kind = 'apikey.deleted'),
    subject TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    paid_at BIGINT CHECK ((paid_at IS NOT NULL) = (kind = 'payment.paid')),
    success_word TEXT COLLATE "C" CHECK ((success_word IS NOT NULL) = (kind = 'payment.paid'))
);

CREATE INDEX events_of_project ON events (project_id, id);

-- What is to be sent to a project's webhook URL. A lease is a `due_at` that lies ahead: whoever sends moves it there first, and
-- when nothing is heard of them by then, it is due again.
CREATE TABLE deliveries (
    event_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES events (id),
    project_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state = 'pending' OR state = 'delivered' OR state = 'exhausted'),
    due_at BIGINT CHECK ((due_at IS NOT NULL) = (state = 'pending')),
    attempts BIGINT NOT NULL,
    resent_after BIGINT NOT NULL CHECK (resent_after >= 0 AND resent_after <= attempts)
);

-- Every delivery is changed twice within a moment, and what is due is looked for ten times a second among what is left of that.
ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.01);

CREATE INDEX deliveries_due ON deliveries (project_id, due_at) WHERE state = 'pending';
-- What is not delivered though it was tried, for whoever asks for it to be sent again.
CREATE INDEX deliveries_failed ON deliveries (project_id, event_id) WHERE state <> 'delivered' AND attempts > resent_after;

CREATE TABLE attempts (
    event_id TEXT COLLATE "C" NOT NULL REFERENCES deliveries (event_id),
    number BIGINT NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    latency BIGINT NOT NULL,
    status BIGINT,
    answer TEXT COLLATE "C" NOT NULL,
    failure TEXT COLLATE "C",
    detail TEXT COLLATE "C" CHECK ((detail IS NOT NULL) = (failure IS NOT NULL)),
    PRIMARY KEY (event_id, number)
);
