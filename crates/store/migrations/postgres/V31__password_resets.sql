-- Lost passwords: who asks for a new one, and links that set one.

-- Each address once. A background step takes it, looks up whether there is such a user, and deletes it; so what a visitor is answered,
-- and when, does not depend on that.
CREATE TABLE reset_requests (
    email TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    browser TEXT COLLATE "C" NOT NULL,
    language TEXT COLLATE "C" NOT NULL
);

CREATE INDEX reset_requests_by_age ON reset_requests (at);

-- Only the link itself knows what `hash` is of. `mark` is a hash of what was stored of the password when the link was made.
CREATE TABLE password_resets (
    hash BYTEA NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    mark BYTEA NOT NULL,
    made_by TEXT COLLATE "C" NOT NULL CHECK (made_by = 'letter' OR made_by = 'operator'),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- When it set a password, or when a newer link took its place.
    ended_at BIGINT
);

CREATE INDEX password_resets_of_user ON password_resets (user_id, created_at);
CREATE INDEX password_resets_by_age ON password_resets (created_at);
