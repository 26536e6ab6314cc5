-- Sales at a shop's counter with a role for those who make them, and the origins that may show a project's checkout in a frame.

-- One more role.
ALTER TABLE members DROP CONSTRAINT members_role_check;
ALTER TABLE members ADD CONSTRAINT members_role_check
    CHECK (role = 'owner' OR role = 'developer' OR role = 'viewer' OR role = 'cashier');
ALTER TABLE invites DROP CONSTRAINT invites_role_check;
ALTER TABLE invites ADD CONSTRAINT invites_role_check
    CHECK (role = 'owner' OR role = 'developer' OR role = 'viewer' OR role = 'cashier');

-- Who made a payment at the counter. `resource` is the payment, or the opening that leads to it where a bank issues the code.
CREATE TABLE sales (
    resource TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    at BIGINT NOT NULL
);

CREATE INDEX sales_of_user ON sales (project_id, user_id, at);

-- The origins whose pages may show the project's checkout in a frame, separated by commas.
ALTER TABLE projects ADD COLUMN frame_origins TEXT COLLATE "C" NOT NULL DEFAULT '';
