-- What a merchant notes about a payment or a link: names and texts, ended by control characters; NULL where nothing was given.
-- `metadata_text` is what a search finds in it.
ALTER TABLE payments ADD COLUMN metadata TEXT;
ALTER TABLE payments ADD COLUMN metadata_text TEXT;
ALTER TABLE links ADD COLUMN metadata TEXT;
ALTER TABLE openings ADD COLUMN metadata TEXT;

-- The events that a project gets besides those that every project gets: any of payment.expired, payment.cancelled, payment.held.
ALTER TABLE projects ADD COLUMN extra_events TEXT NOT NULL DEFAULT '';

-- Three more kinds of events. SQLite changes no check of a table that is there, so the table is made anew; the connection that
-- does this watches no references meanwhile. An event about held money has the receipt and the payment's state of its moment.
CREATE TABLE events_anew (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind = 'payment.paid' OR kind = 'payment.failed' OR kind = 'apikey.deleted'
        OR kind = 'payment.expired' OR kind = 'payment.cancelled' OR kind = 'payment.held'),
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
INSERT INTO events_anew (id, project_id, kind, subject, created_at, paid_at, success_word)
    SELECT id, project_id, kind, subject, created_at, paid_at, success_word FROM events ORDER BY rowid;
DROP TABLE events;
ALTER TABLE events_anew RENAME TO events;
CREATE INDEX events_of_project ON events (project_id, id);
CREATE INDEX events_extra ON events (subject) WHERE kind IN ('payment.expired', 'payment.cancelled', 'payment.held');
