-- Second factors of users, and when a session last proved that its user is there. The same tables as on SQLite, and the same rules.

CREATE TABLE second_factors (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id),
    sealed BYTEA NOT NULL,
    added_at BIGINT NOT NULL,
    last_step BIGINT NOT NULL,
    lift_at BIGINT
);

CREATE INDEX second_factors_to_lift ON second_factors (lift_at) WHERE lift_at IS NOT NULL;

CREATE TABLE recovery_codes (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    hash BYTEA NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, hash)
);

ALTER TABLE sessions ADD COLUMN proved_at BIGINT;
ALTER TABLE sessions ADD COLUMN by_factor BIGINT NOT NULL DEFAULT 0 CHECK (by_factor IN (0, 1));

ALTER TABLE projects ADD COLUMN factor_required BIGINT NOT NULL DEFAULT 0 CHECK (factor_required IN (0, 1));

-- A node of an earlier version asks for no second factor, so it may not begin sessions of users who have one.
CREATE FUNCTION refuse_session_without_factor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = NEW.user_id
        AND (f.lift_at IS NULL OR f.lift_at > NEW.created_at)) THEN
        RAISE EXCEPTION 'this user has a second factor, which was not asked for';
    END IF;
    RETURN NEW;
END;
$$;

CREATE TRIGGER sessions_by_factor BEFORE INSERT ON sessions FOR EACH ROW
    WHEN (NEW.by_factor = 0) EXECUTE FUNCTION refuse_session_without_factor();
