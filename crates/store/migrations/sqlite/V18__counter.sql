-- Sales at a shop's counter with a role for those who make them, and the origins that may show a project's checkout in a frame.

-- One more role. SQLite changes no check of a table that is there, so the tables are made anew; the connection that does this
-- watches no references meanwhile.
CREATE TABLE members_anew (
    project_id TEXT NOT NULL REFERENCES projects (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL CHECK (role = 'owner' OR role = 'developer' OR role = 'viewer' OR role = 'cashier'),
    joined_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id)
) WITHOUT ROWID;
INSERT INTO members_anew (project_id, user_id, role, joined_at)
    SELECT project_id, user_id, role, joined_at FROM members;
DROP TABLE members;
ALTER TABLE members_anew RENAME TO members;
CREATE INDEX members_of_user ON members (user_id);

CREATE TABLE invites_anew (
    hash BLOB NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL REFERENCES projects (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role = 'owner' OR role = 'developer' OR role = 'viewer' OR role = 'cashier'),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by TEXT REFERENCES users (id) CHECK ((used_by IS NOT NULL) = (used_at IS NOT NULL)),
    created_by TEXT REFERENCES users (id)
);
INSERT INTO invites_anew (hash, id, project_id, email, role, created_at, expires_at, used_at, used_by, created_by)
    SELECT hash, id, project_id, email, role, created_at, expires_at, used_at, used_by, created_by
    FROM invites ORDER BY rowid;
DROP TABLE invites;
ALTER TABLE invites_anew RENAME TO invites;
CREATE INDEX invites_open ON invites (project_id, id) WHERE used_at IS NULL;

-- Who made a payment at the counter. `resource` is the payment, or the opening that leads to it where a bank issues the code.
CREATE TABLE sales (
    resource TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX sales_of_user ON sales (project_id, user_id, at);

-- The origins whose pages may show the project's checkout in a frame, separated by commas.
ALTER TABLE projects ADD COLUMN frame_origins TEXT NOT NULL DEFAULT '';
