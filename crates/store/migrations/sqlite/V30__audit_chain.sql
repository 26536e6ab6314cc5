-- Lines of the audit log are sealed after they were committed: each has a position in the chain of its project, or in that of the
-- installation, and a hash over itself and the line before it. `audit_heads` has how long each chain is and the hash of its last
-- line. The hash names the subject by a salted digest, so that an address can be taken out of the log when its user is removed.
ALTER TABLE audit ADD COLUMN position BIGINT;
ALTER TABLE audit ADD COLUMN seal_version BIGINT CHECK ((seal_version IS NOT NULL) = (position IS NOT NULL));
ALTER TABLE audit ADD COLUMN hash BLOB CHECK ((hash IS NOT NULL) = (position IS NOT NULL));
ALTER TABLE audit ADD COLUMN subject_digest BLOB CHECK ((subject_digest IS NOT NULL) = (position IS NOT NULL));
ALTER TABLE audit ADD COLUMN salt BLOB;

CREATE INDEX audit_unsealed ON audit (id) WHERE position IS NULL;
CREATE UNIQUE INDEX audit_positions ON audit (project_id, position) WHERE position IS NOT NULL;
CREATE INDEX audit_of_addresses ON audit (subject) WHERE instr(subject, '@') > 0;

CREATE TABLE audit_heads (
    chain TEXT NOT NULL PRIMARY KEY,
    length BIGINT NOT NULL,
    hash BLOB NOT NULL
) WITHOUT ROWID;

-- A user who is deactivated cannot sign in. One who was removed has no address and no password any more; the id stays.
ALTER TABLE users ADD COLUMN deactivated_at BIGINT;
ALTER TABLE users ADD COLUMN removed_at BIGINT CHECK (removed_at IS NULL OR deactivated_at IS NOT NULL);

-- A server of an earlier version that still runs knows nothing of that, and is kept from signing such a user in.
CREATE TRIGGER sessions_of_active_users BEFORE INSERT ON sessions
    WHEN EXISTS (SELECT 1 FROM users u WHERE u.id = NEW.user_id AND u.deactivated_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'the user is deactivated'); END;

-- A line is sealed once, and its subject changes only to the id of a removed user, in place of their address.
DROP TRIGGER audit_stays;
CREATE TRIGGER audit_stays BEFORE UPDATE OF id, at, actor, address, project_id, deed, detail ON audit
BEGIN SELECT RAISE(ABORT, 'audit lines are append-only'); END;
CREATE TRIGGER audit_seals_stay BEFORE UPDATE OF position, seal_version, hash, subject_digest ON audit
    WHEN OLD.position IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'audit lines are sealed once'); END;
CREATE TRIGGER audit_subjects_stay BEFORE UPDATE OF subject, salt ON audit
    WHEN (NEW.subject <> OLD.subject OR OLD.position IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = NEW.subject AND u.removed_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'audit lines are append-only'); END;

-- When a key that was replaced stops by itself. Until then its name is that of the new key too.
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;
DROP INDEX api_keys_name;
CREATE UNIQUE INDEX api_keys_name ON api_keys (project_id, name) WHERE revoked_at IS NULL AND expires_at IS NULL;
