-- Contracts with banks, what banks ask us under them, and money that fits no payment. The same tables as on SQLite.

-- A contract with one bank. `version` rises with every change of its settings and credentials, so that all nodes notice.
CREATE TABLE bank_accounts (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    profile TEXT COLLATE "C" NOT NULL,
    enabled BIGINT NOT NULL CHECK (enabled IN (0, 1)),
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

-- What differs from the profile.
CREATE TABLE bank_settings (
    account_id TEXT COLLATE "C" NOT NULL REFERENCES bank_accounts (id),
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, name)
);

-- `sealed` is bound to the row by `id`, so a credential keeps its row when it moves from `next` to `current`.
CREATE TABLE bank_credentials (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES bank_accounts (id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind = 'our_key' OR kind = 'bank_key' OR kind = 'outbound' OR kind = 'inbound'),
    stage TEXT COLLATE "C" NOT NULL CHECK (stage IN ('current', 'next')),
    client_id TEXT COLLATE "C" CHECK ((client_id IS NOT NULL) = (kind IN ('outbound', 'inbound'))),
    public_key TEXT COLLATE "C" CHECK ((public_key IS NOT NULL) = (kind IN ('our_key', 'bank_key'))),
    sealed BYTEA CHECK ((sealed IS NULL) = (kind = 'bank_key')),
    set_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX bank_credentials_of_account ON bank_credentials (account_id, kind, stage);

-- By which account a project takes payments of a method.
CREATE TABLE bank_assignments (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    method TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES bank_accounts (id),
    PRIMARY KEY (project_id, method)
);

CREATE INDEX bank_assignments_of_account ON bank_assignments (account_id);

-- The payment that each number was given to last. It is given to another only after `free_at`.
CREATE TABLE bank_numbers (
    account_id TEXT COLLATE "C" NOT NULL,
    number TEXT COLLATE "C" NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL REFERENCES payments (id),
    taken_at BIGINT NOT NULL,
    free_at BIGINT NOT NULL CHECK (free_at > taken_at),
    PRIMARY KEY (account_id, number)
);

CREATE UNIQUE INDEX bank_numbers_of_payment ON bank_numbers (payment_id);

-- What banks asked and how we answered, once for each external id and day in Jakarta. A request to take money is judged once:
-- `is_first` marks the one that was, and later ones with its request id repeat its verdict.
CREATE TABLE bank_requests (
    account_id TEXT COLLATE "C" NOT NULL,
    service BIGINT NOT NULL CHECK (service IN (24, 25)),
    day BIGINT NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    is_first BIGINT NOT NULL CHECK (is_first = 0 OR (is_first = 1 AND service = 25)),
    number TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" REFERENCES payments (id),
    amount BIGINT CHECK ((amount IS NOT NULL) = (service = 25)),
    verdict TEXT COLLATE "C" NOT NULL
        CHECK (verdict = 'accepted' OR verdict = 'unknown' OR verdict = 'expired' OR verdict = 'already_paid'
            OR verdict = 'wrong_amount'),
    at BIGINT NOT NULL,
    PRIMARY KEY (account_id, service, day, external_id)
);

CREATE UNIQUE INDEX bank_requests_first ON bank_requests (account_id, request_id) WHERE is_first = 1;
-- Inquiries are forgotten after some days.
CREATE INDEX bank_requests_inquiries ON bank_requests (at) WHERE service = 24;

-- The latest calls of each bank, whether they were answered or turned away. A log: no names, no secrets, no money.
CREATE TABLE bank_calls (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    service BIGINT NOT NULL,
    code TEXT COLLATE "C" NOT NULL,
    latency BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- Money that a bank took and that fits no payment of any project.
CREATE TABLE strays (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES bank_accounts (id),
    receipt_id TEXT COLLATE "C" NOT NULL,
    number TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    paid_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    decision TEXT COLLATE "C" CHECK (decision IN ('assigned', 'returned') OR decision IS NULL),
    decided_at BIGINT CHECK ((decided_at IS NOT NULL) = (decision IS NOT NULL)),
    decision_note TEXT COLLATE "C" CHECK ((decision_note IS NOT NULL) = (decision IS NOT NULL)),
    project_id TEXT COLLATE "C" REFERENCES projects (id),
    payment_id TEXT COLLATE "C" REFERENCES payments (id)
        CHECK ((payment_id IS NOT NULL) = (COALESCE(decision, '') = 'assigned')
            AND (payment_id IS NOT NULL) = (project_id IS NOT NULL))
);

CREATE UNIQUE INDEX strays_by_receipt ON strays (account_id, receipt_id);
CREATE INDEX strays_open ON strays (received_at) WHERE decision IS NULL;

-- The installation's own books, which only strays move. Two legs for each movement, which sum to zero.
CREATE TABLE stray_entries (
    stray_id TEXT COLLATE "C" NOT NULL REFERENCES strays (id),
    movement TEXT COLLATE "C" NOT NULL CHECK (movement = 'received' OR movement = 'assigned' OR movement = 'returned'),
    account TEXT COLLATE "C" NOT NULL CHECK (account IN ('strays', 'clearing')),
    at BIGINT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (stray_id, movement, account)
);

CREATE TRIGGER stray_entries_stay BEFORE UPDATE OR DELETE ON stray_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
