-- Columns are TEXT, BIGINT or BLOB only: times are milliseconds since 1970, truth values 0 or 1, states words.
-- Three words or more are checked by OR, since SQLite would make a small table for an IN at every insert.
-- Every table carries project_id, so that a distributed engine can keep a project's rows together.

CREATE TABLE installation (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE projects (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
    merchant_name TEXT NOT NULL,
    merchant_city TEXT NOT NULL,
    merchant_postal_code TEXT NOT NULL,
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    approved BIGINT NOT NULL CHECK (approved IN (0, 1)),
    success_word TEXT NOT NULL CHECK (success_word IN ('paid', 'succeeded')),
    webhook_url TEXT,
    webhook_secret BLOB NOT NULL,
    -- Signed with as well for a while after `rotated_at`, so that receivers can change over.
    previous_webhook_secret BLOB,
    webhook_secret_rotated_at BIGINT,
    fee_qris_basis_points BIGINT,
    fee_virtual_account BIGINT,
    banks TEXT NOT NULL,
    default_methods TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

-- Origin first: a preflight asks whether anyone lists an origin.
CREATE TABLE allowed_origins (
    origin TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES projects (id),
    PRIMARY KEY (origin, project_id)
) WITHOUT ROWID;

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    last_four TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- A revoked key gives its name free.
CREATE UNIQUE INDEX api_keys_name ON api_keys (project_id, name) WHERE revoked_at IS NULL;

CREATE TABLE links (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    reference TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    methods TEXT NOT NULL,
    allow_multiple_payments BIGINT NOT NULL CHECK (allow_multiple_payments IN (0, 1)),
    customer_fields TEXT NOT NULL,
    expires_at BIGINT,
    cancelled_at BIGINT,
    claimed_by TEXT,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

CREATE INDEX links_of_project ON links (project_id, id);

-- `number` counts payments in the order in which they were committed.
CREATE TABLE payments (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL REFERENCES projects (id),
    link_id TEXT REFERENCES links (id),
    reference TEXT NOT NULL,
    search_text TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    fee BIGINT NOT NULL CHECK (fee >= 0 AND fee <= amount),
    method TEXT NOT NULL,
    code TEXT NOT NULL,
    state TEXT NOT NULL
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
    project_id TEXT NOT NULL REFERENCES projects (id),
    id TEXT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (project_id, id)
) WITHOUT ROWID;

CREATE INDEX payment_marks_by_position ON payment_marks (project_id, position);

-- The trigrams of every reference up to payment number `upto`; what came later is searched by reading it.
CREATE VIRTUAL TABLE payment_search USING fts5 (
    search_text, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1'
);
CREATE TABLE payment_searchable (
    upto BIGINT NOT NULL
);
INSERT INTO payment_searchable (upto) VALUES (0);

-- Who paid through the hosted checkout, and from where.
CREATE TABLE checkouts (
    payment_id TEXT NOT NULL PRIMARY KEY REFERENCES payments (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    customer_name TEXT NOT NULL,
    customer_email TEXT NOT NULL,
    customer_phone TEXT NOT NULL,
    customer_address TEXT NOT NULL,
    ip TEXT,
    country TEXT,
    device_kind TEXT,
    device_os TEXT,
    device_browser TEXT,
    user_agent TEXT
);

-- `request` is the fingerprint of the body that a key is bound to. Keys stand as they were sent, not hashed: a shop that
-- counts or dates its keys adds each beside the last one, where hashes would each touch a page of their own.
CREATE TABLE idempotency (
    project_id TEXT NOT NULL,
    endpoint TEXT NOT NULL CHECK (endpoint IN ('payments', 'payment-links')),
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, endpoint, key)
) WITHOUT ROWID;

-- Every provider notification that was taken, once. Money has an amount; refusals and progress have none.
CREATE TABLE receipts (
    provider TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'money' OR kind = 'refusal' OR kind = 'progress'),
    project_id TEXT NOT NULL REFERENCES projects (id),
    payment_id TEXT NOT NULL REFERENCES payments (id),
    amount BIGINT CHECK ((amount IS NOT NULL) = (kind = 'money')),
    paid_at BIGINT,
    received_at BIGINT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('applied', 'unapplied')),
    reason TEXT CHECK ((reason IS NOT NULL) = (outcome = 'unapplied')),
    PRIMARY KEY (provider, id)
);

CREATE INDEX receipts_of_payment ON receipts (payment_id);

CREATE TABLE postings (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    payment_id TEXT NOT NULL REFERENCES payments (id),
    kind TEXT NOT NULL CHECK (kind = 'paid' OR kind = 'settled' OR kind = 'unapplied'),
    at BIGINT NOT NULL
);

CREATE TABLE entries (
    project_id TEXT NOT NULL REFERENCES projects (id),
    account TEXT NOT NULL
        CHECK (account = 'pending' OR account = 'available' OR account = 'unapplied' OR account = 'clearing'
            OR account = 'fees'),
    at BIGINT NOT NULL,
    posting_id TEXT NOT NULL REFERENCES postings (id),
    amount BIGINT NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (project_id, account, at, posting_id)
) WITHOUT ROWID;

CREATE TRIGGER postings_stay BEFORE UPDATE ON postings BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;
CREATE TRIGGER postings_remain BEFORE DELETE ON postings BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;

CREATE TABLE events (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind = 'payment.paid' OR kind = 'payment.failed' OR kind = 'apikey.deleted'),
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    paid_at BIGINT CHECK ((paid_at IS NOT NULL) = (kind = 'payment.paid')),
    success_word TEXT CHECK ((success_word IS NOT NULL) = (kind = 'payment.paid'))
);

CREATE INDEX events_of_project ON events (project_id, id);

-- What is to be sent to a project's webhook URL. A lease is a `due_at` that lies ahead: whoever sends moves it there first, and
-- when nothing is heard of them by then, it is due again.
CREATE TABLE deliveries (
    event_id TEXT NOT NULL PRIMARY KEY REFERENCES events (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    state TEXT NOT NULL CHECK (state = 'pending' OR state = 'delivered' OR state = 'exhausted'),
    due_at BIGINT CHECK ((due_at IS NOT NULL) = (state = 'pending')),
    attempts BIGINT NOT NULL,
    resent_after BIGINT NOT NULL CHECK (resent_after >= 0 AND resent_after <= attempts)
);

CREATE INDEX deliveries_due ON deliveries (project_id, due_at) WHERE state = 'pending';
-- What is not delivered though it was tried, for whoever asks for it to be sent again.
CREATE INDEX deliveries_failed ON deliveries (project_id, event_id) WHERE state <> 'delivered' AND attempts > resent_after;

CREATE TABLE attempts (
    event_id TEXT NOT NULL REFERENCES deliveries (event_id),
    number BIGINT NOT NULL,
    project_id TEXT NOT NULL REFERENCES projects (id),
    at BIGINT NOT NULL,
    latency BIGINT NOT NULL,
    status BIGINT,
    answer TEXT NOT NULL,
    failure TEXT,
    detail TEXT CHECK ((detail IS NOT NULL) = (failure IS NOT NULL)),
    PRIMARY KEY (event_id, number)
) WITHOUT ROWID;
