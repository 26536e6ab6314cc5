-- Letters that go to a URL, as notices, wait in the same queue as those that go by mail. A program of an earlier version knows mail
-- alone: `due_at` of a notice that waits is the end of time, so that it sends none, and the check keeps it from making one wait.
ALTER TABLE letters ADD COLUMN channel TEXT NOT NULL DEFAULT 'mail' CHECK (channel = 'mail' OR channel = 'notice');
-- When a notice is sent.
ALTER TABLE letters ADD COLUMN notice_due_at BIGINT
    CHECK ((notice_due_at IS NOT NULL) = (channel = 'notice' AND state = 'waiting'));

CREATE INDEX notices_due ON letters (recipient, notice_due_at) WHERE notice_due_at IS NOT NULL;

-- Where a project wants notices to go, and which it wants besides those of what is amiss. URL and secrets are sealed.
CREATE TABLE notice_targets (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id),
    url BLOB NOT NULL,
    secret BLOB NOT NULL,
    -- The secret before it, which signs too for some time.
    previous_secret BLOB,
    rotated_at BIGINT CHECK ((rotated_at IS NULL) = (previous_secret IS NULL)),
    language TEXT NOT NULL,
    sends_receipts BIGINT NOT NULL CHECK (sends_receipts IN (0, 1)),
    -- How often a summary comes; none if it does not.
    summary TEXT
);
