-- Second factors of users, and when a session last proved that its user is there.

-- The secret that the user's app has, sealed. `last_step` is that of the last code that was accepted; only later ones are. From
-- `lift_at` on the factor counts no more, as an operator has asked for that.
CREATE TABLE second_factors (
    user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
    sealed BLOB NOT NULL,
    added_at BIGINT NOT NULL,
    last_step BIGINT NOT NULL,
    lift_at BIGINT
) WITHOUT ROWID;

CREATE INDEX second_factors_to_lift ON second_factors (lift_at) WHERE lift_at IS NOT NULL;

-- The hashes of the codes that work in place of the app, each once.
CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL REFERENCES users (id),
    hash BLOB NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, hash)
) WITHOUT ROWID;

-- None: the sign-in is the proof. `by_factor`: whether the second factor was shown in this session.
ALTER TABLE sessions ADD COLUMN proved_at BIGINT;
ALTER TABLE sessions ADD COLUMN by_factor BIGINT NOT NULL DEFAULT 0 CHECK (by_factor IN (0, 1));

-- Whether every member of the project needs a second factor.
ALTER TABLE projects ADD COLUMN factor_required BIGINT NOT NULL DEFAULT 0 CHECK (factor_required IN (0, 1));

-- A server of an earlier version asks for no second factor, so it may not begin sessions of users who have one.
CREATE TRIGGER sessions_by_factor BEFORE INSERT ON sessions
    WHEN NEW.by_factor = 0 AND EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = NEW.user_id
        AND (f.lift_at IS NULL OR f.lift_at > NEW.created_at))
BEGIN
    SELECT RAISE(ABORT, 'this user has a second factor, which was not asked for');
END;
