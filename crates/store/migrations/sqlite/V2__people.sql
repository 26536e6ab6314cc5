-- People who sign in, what they decide about, and what their pages show without reading everything each time.

-- Addresses are in lower case; `password` is what the password was hashed to, with how.
CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    is_operator BIGINT NOT NULL CHECK (is_operator IN (0, 1)),
    created_at BIGINT NOT NULL
);

CREATE TABLE members (
    project_id TEXT NOT NULL REFERENCES projects (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL CHECK (role = 'owner' OR role = 'developer' OR role = 'viewer'),
    joined_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id)
) WITHOUT ROWID;

CREATE INDEX members_of_user ON members (user_id);

-- Only the browser knows what `hash` is of.
CREATE TABLE sessions (
    hash BLOB NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    address TEXT NOT NULL,
    browser TEXT NOT NULL
);

CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_by_age ON sessions (created_at);

-- An invitation that was withdrawn is gone; one that was used stays.
CREATE TABLE invites (
    hash BLOB NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL REFERENCES projects (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role = 'owner' OR role = 'developer' OR role = 'viewer'),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by TEXT REFERENCES users (id) CHECK ((used_by IS NOT NULL) = (used_at IS NOT NULL))
);

CREATE INDEX invites_open ON invites (project_id, id) WHERE used_at IS NULL;

-- Who failed to sign in, how often in a row, and until when they must wait. A subject is an account or an address.
CREATE TABLE sign_ins (
    subject TEXT NOT NULL PRIMARY KEY,
    tries BIGINT NOT NULL,
    delay BIGINT NOT NULL,
    blocked_until BIGINT NOT NULL,
    at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX sign_ins_by_age ON sign_ins (at);

-- Who did what. It refers to nothing, since it outlives what it tells of.
CREATE TABLE audit (
    id TEXT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    address TEXT,
    project_id TEXT,
    deed TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
);

CREATE INDEX audit_of_project ON audit (project_id, id);

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit lines are append-only'); END;
CREATE TRIGGER audit_remains BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit lines are append-only'); END;

-- When a customer's browser first showed the payment's page.
CREATE TABLE views (
    payment_id TEXT NOT NULL PRIMARY KEY REFERENCES payments (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    at BIGINT NOT NULL
) WITHOUT ROWID;

-- What was paid in an hour that is over, counted from 1970. What is posted stays, so these stay true. All hours up to a project's
-- latest one are here; those that are not had nothing to add up.
CREATE TABLE volumes (
    project_id TEXT NOT NULL REFERENCES projects (id),
    hour BIGINT NOT NULL,
    payments BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (project_id, hour)
) WITHOUT ROWID;

-- When a key was last used. Apart from the keys, whose rows are looked up with every request and stay as they are.
CREATE TABLE key_uses (
    key_id TEXT NOT NULL PRIMARY KEY REFERENCES api_keys (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX key_uses_of_project ON key_uses (project_id);

-- What somebody has decided about money that pays nothing.
ALTER TABLE receipts ADD COLUMN decision TEXT
    CHECK (decision IN ('accepted', 'returned') AND outcome = 'unapplied' OR decision IS NULL);
ALTER TABLE receipts ADD COLUMN decided_at BIGINT CHECK ((decided_at IS NOT NULL) = (decision IS NOT NULL));
ALTER TABLE receipts ADD COLUMN decision_note TEXT CHECK ((decision_note IS NOT NULL) = (decision IS NOT NULL));

CREATE INDEX receipts_undecided ON receipts (project_id, received_at) WHERE outcome = 'unapplied' AND decision IS NULL;
CREATE INDEX receipts_decided ON receipts (project_id, decided_at) WHERE decision IS NOT NULL;

-- Two more kinds of postings. SQLite changes no check of a table that is there, so the table is made anew; the connection that
-- does this watches no references meanwhile, as dropping the old table would leave entries without theirs for a moment.
CREATE TABLE postings_anew (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    payment_id TEXT NOT NULL REFERENCES payments (id),
    kind TEXT NOT NULL
        CHECK (kind = 'paid' OR kind = 'settled' OR kind = 'unapplied' OR kind = 'accepted' OR kind = 'returned'),
    at BIGINT NOT NULL
);
INSERT INTO postings_anew (id, project_id, payment_id, kind, at)
    SELECT id, project_id, payment_id, kind, at FROM postings ORDER BY rowid;
DROP TABLE postings;
ALTER TABLE postings_anew RENAME TO postings;
CREATE TRIGGER postings_stay BEFORE UPDATE ON postings BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;
CREATE TRIGGER postings_remain BEFORE DELETE ON postings BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;

-- Marks know what the payments up to theirs add up to as well. Those that did not are made again when somebody opens the list.
DROP TABLE payment_marks;
CREATE TABLE payment_marks (
    project_id TEXT NOT NULL REFERENCES projects (id),
    id TEXT NOT NULL,
    position BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (project_id, id)
) WITHOUT ROWID;

CREATE INDEX payment_marks_by_position ON payment_marks (project_id, position);
