-- Letters to people, queued by the commit of what causes them. What a letter says and its address are sealed.
CREATE TABLE letters (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    -- Letters about security go ahead of all others.
    urgent BIGINT NOT NULL CHECK (urgent IN (0, 1)),
    project_id TEXT,
    user_id TEXT,
    address BLOB NOT NULL,
    -- A keyed hash of the address, by which letters to it are counted.
    recipient TEXT NOT NULL,
    language TEXT NOT NULL,
    -- None once a letter has ended whose link grants access.
    content BLOB,
    -- What a letter is queued for at most once; none where that is nothing.
    cause TEXT,
    queued_at BIGINT NOT NULL,
    due_at BIGINT CHECK ((due_at IS NOT NULL) = (state = 'waiting')),
    expires_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'waiting' OR state = 'sent' OR state = 'given_up' OR state = 'dropped'),
    ended_at BIGINT CHECK ((ended_at IS NULL) = (state = 'waiting')),
    answer TEXT,
    -- The node that sends it now. That holds for as long as the node lives, whatever the clocks say.
    leased_by BIGINT CHECK (leased_by IS NULL OR state = 'waiting')
);

CREATE UNIQUE INDEX letters_cause ON letters (cause) WHERE cause IS NOT NULL;
CREATE INDEX letters_urgent ON letters (due_at) WHERE state = 'waiting' AND urgent = 1;
CREATE INDEX letters_due ON letters (project_id, due_at) WHERE state = 'waiting' AND urgent = 0;
CREATE INDEX letters_leased ON letters (leased_by) WHERE leased_by IS NOT NULL;
CREATE INDEX letters_to ON letters (recipient, ended_at);
CREATE INDEX letters_of ON letters (project_id, ended_at) WHERE urgent = 0;
CREATE INDEX letters_ended ON letters (ended_at) WHERE ended_at IS NOT NULL;

-- What a user has chosen about their letters. Who has no row here has chosen nothing.
CREATE TABLE letter_choices (
    user_id TEXT NOT NULL PRIMARY KEY,
    language TEXT NOT NULL,
    -- How often a summary comes; none if it does not.
    summary TEXT
);

-- The kinds of letters that a user does not want.
CREATE TABLE letter_refusals (
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (user_id, kind)
);

-- The projects whose customers get a receipt where they have left an address.
CREATE TABLE receipt_letters (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id)
);

-- What is amiss since some time, of which people were told by a letter. A row goes when it is well again.
CREATE TABLE letter_alerts (
    subject TEXT NOT NULL PRIMARY KEY,
    raised_at BIGINT NOT NULL
);
