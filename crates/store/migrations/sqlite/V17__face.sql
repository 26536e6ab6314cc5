-- What customers see of a merchant besides its name: a colour as `#rrggbb`, ways to reach it, and which logo it has.
ALTER TABLE projects ADD COLUMN face_colour TEXT;
ALTER TABLE projects ADD COLUMN contact_whatsapp TEXT;
ALTER TABLE projects ADD COLUMN contact_phone TEXT;
ALTER TABLE projects ADD COLUMN contact_email TEXT;
ALTER TABLE projects ADD COLUMN contact_site TEXT;
ALTER TABLE projects ADD COLUMN logo_hash TEXT;
ALTER TABLE projects ADD COLUMN logo_width BIGINT;
ALTER TABLE projects ADD COLUMN logo_height BIGINT;

-- The logo itself, as the PNG file that we made of it. It is apart from the project, which is read for every request.
CREATE TABLE logos (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id),
    hash TEXT NOT NULL,
    png BLOB NOT NULL
);
CREATE INDEX logos_by_hash ON logos (hash);
