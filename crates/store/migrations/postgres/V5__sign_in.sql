-- What is known of those who sign in, who created what, and which forms were sent. The same tables as on SQLite, and the same rules.

-- Who created a key or an invitation, so that what a member could return by ends with the membership. None where the command line
-- created it, or where the audit log does not tell.
ALTER TABLE api_keys ADD COLUMN created_by TEXT COLLATE "C" REFERENCES users (id);
ALTER TABLE invites ADD COLUMN created_by TEXT COLLATE "C" REFERENCES users (id);

UPDATE api_keys SET created_by = a.actor FROM audit a
    WHERE a.deed = 'key.created' AND a.subject = api_keys.id AND a.actor IN (SELECT id FROM users);
UPDATE invites SET created_by =
    (SELECT a.actor FROM audit a WHERE a.project_id = invites.project_id AND a.deed = 'member.invited'
     AND a.subject = invites.email AND a.at >= invites.created_at AND a.actor IN (SELECT id FROM users)
     ORDER BY a.at, a.id LIMIT 1)
    WHERE used_at IS NULL;
-- Whoever was removed since must not return by an invitation of theirs. Operators invite owners of projects that are not their own.
DELETE FROM invites WHERE used_at IS NULL AND created_by IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = invites.created_by AND u.is_operator = 1)
    AND NOT EXISTS (SELECT 1 FROM members m
        WHERE m.project_id = invites.project_id AND m.user_id = invites.created_by AND m.role = 'owner');

-- Addresses from which a user has signed in, as `sign_ins` names them. Failures elsewhere do not slow these down.
CREATE TABLE known_addresses (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    address TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (user_id, address)
);

-- What a form has created, so that sending it again creates nothing more. A row is needed until the session that could send the form
-- again must have ended.
CREATE TABLE forms (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    form TEXT COLLATE "C" NOT NULL,
    resource TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (user_id, form)
);

CREATE INDEX forms_by_age ON forms (at);

-- Production projects that wait for an approval.
CREATE INDEX projects_waiting ON projects (id) WHERE environment = 'production' AND approved = 0;
