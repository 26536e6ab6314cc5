-- Links are searched by an index of tokens as payments are. Each link waits in `link_search_again` from its commit on, and is
-- searched by reading it until maintenance has added it to the index.
CREATE VIRTUAL TABLE link_search USING fts5 (
    tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
-- The numbers that the index knows links by.
CREATE TABLE link_search_numbers (
    number INTEGER PRIMARY KEY,
    link_id TEXT NOT NULL UNIQUE
);
CREATE TABLE link_search_again (
    number BIGINT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL,
    link_id TEXT NOT NULL
);
CREATE INDEX link_search_again_of_project ON link_search_again (project_id, link_id);
INSERT INTO link_search_numbers (link_id) SELECT id FROM links ORDER BY id;
INSERT INTO link_search_again (number, project_id, link_id) SELECT random(), project_id, id FROM links;

CREATE TRIGGER links_search_created AFTER INSERT ON links BEGIN
    INSERT INTO link_search_numbers (link_id) VALUES (NEW.id);
    INSERT INTO link_search_again (number, project_id, link_id) VALUES (random(), NEW.project_id, NEW.id);
END;
-- Texts leave the index in the transaction that changes or deletes them.
CREATE TRIGGER links_search_changed AFTER UPDATE OF search_text ON links BEGIN
    DELETE FROM link_search WHERE rowid = (SELECT number FROM link_search_numbers WHERE link_id = NEW.id);
    INSERT INTO link_search_again (number, project_id, link_id) VALUES (random(), NEW.project_id, NEW.id);
END;
CREATE TRIGGER links_search_deleted AFTER DELETE ON links BEGIN
    DELETE FROM link_search WHERE rowid = (SELECT number FROM link_search_numbers WHERE link_id = OLD.id);
    DELETE FROM link_search_numbers WHERE link_id = OLD.id;
    DELETE FROM link_search_again WHERE project_id = OLD.project_id AND link_id = OLD.id;
END;

-- A link is also found by its whole reference.
CREATE INDEX links_by_reference ON links (project_id, reference, id);
