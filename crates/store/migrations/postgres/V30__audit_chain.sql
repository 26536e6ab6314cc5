-- Lines of the audit log are sealed after they were committed: each has a position in the chain of its project, or in that of the
-- installation, and a hash over itself and the line before it. `audit_heads` has how long each chain is and the hash of its last
-- line. The hash names the subject by a salted digest, so that an address can be taken out of the log when its user is removed.
ALTER TABLE audit ADD COLUMN position BIGINT;
ALTER TABLE audit ADD COLUMN seal_version BIGINT CHECK ((seal_version IS NOT NULL) = (position IS NOT NULL));
ALTER TABLE audit ADD COLUMN hash BYTEA CHECK ((hash IS NOT NULL) = (position IS NOT NULL));
ALTER TABLE audit ADD COLUMN subject_digest BYTEA CHECK ((subject_digest IS NOT NULL) = (position IS NOT NULL));
ALTER TABLE audit ADD COLUMN salt BYTEA;

CREATE INDEX audit_unsealed ON audit (id) WHERE position IS NULL;
CREATE UNIQUE INDEX audit_positions ON audit (project_id, position) WHERE position IS NOT NULL;
CREATE INDEX audit_of_addresses ON audit (subject) WHERE strpos(subject, '@') > 0;

CREATE TABLE audit_heads (
    chain TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    length BIGINT NOT NULL,
    hash BYTEA NOT NULL
);

-- A user who is deactivated cannot sign in. One who was removed has no address and no password any more; the id stays.
ALTER TABLE users ADD COLUMN deactivated_at BIGINT;
ALTER TABLE users ADD COLUMN removed_at BIGINT CHECK (removed_at IS NULL OR deactivated_at IS NOT NULL);

-- A node of an earlier version that still runs knows nothing of that, and is kept from signing such a user in.
CREATE FUNCTION refuse_sessions_of_deactivated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM users u WHERE u.id = NEW.user_id AND u.deactivated_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the user is deactivated';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER sessions_of_active_users BEFORE INSERT ON sessions FOR EACH ROW
    EXECUTE FUNCTION refuse_sessions_of_deactivated();

-- A line is sealed once, and its subject changes only to the id of a removed user, in place of their address.
CREATE FUNCTION keep_audit_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.id, NEW.at, NEW.actor, NEW.address, NEW.project_id, NEW.deed, NEW.detail)
        IS DISTINCT FROM (OLD.id, OLD.at, OLD.actor, OLD.address, OLD.project_id, OLD.deed, OLD.detail) THEN
        RAISE EXCEPTION 'audit lines are append-only';
    END IF;
    IF OLD.position IS NOT NULL AND (NEW.position, NEW.seal_version, NEW.hash, NEW.subject_digest)
        IS DISTINCT FROM (OLD.position, OLD.seal_version, OLD.hash, OLD.subject_digest) THEN
        RAISE EXCEPTION 'audit lines are sealed once';
    END IF;
    IF (NEW.subject <> OLD.subject OR (OLD.position IS NOT NULL AND NEW.salt IS DISTINCT FROM OLD.salt))
        AND NOT EXISTS (SELECT FROM users u WHERE u.id = NEW.subject AND u.removed_at IS NOT NULL) THEN
        RAISE EXCEPTION 'audit lines are append-only';
    END IF;
    RETURN NEW;
END
$$;
DROP TRIGGER audit_stays ON audit;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit_line();
CREATE TRIGGER audit_remains BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- When a key that was replaced stops by itself. Until then its name is that of the new key too.
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;
DROP INDEX api_keys_name;
CREATE UNIQUE INDEX api_keys_name ON api_keys (project_id, name) WHERE revoked_at IS NULL AND expires_at IS NULL;
