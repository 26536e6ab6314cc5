-- Links are searched by an index of tokens as payments are. Each link waits in `link_search_again` from its commit on, and is
-- searched by reading it until maintenance has added it to the index.
CREATE TABLE link_search (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tokens INTEGER[] NOT NULL
);
CREATE INDEX link_search_tokens ON link_search USING gin (tokens) WITH (fastupdate = on, gin_pending_list_limit = 128);
CREATE TABLE link_search_again (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    link_id TEXT COLLATE "C" NOT NULL
);
INSERT INTO link_search_again (project_id, link_id) SELECT project_id, id FROM links ORDER BY id;
CREATE INDEX link_search_again_of_project ON link_search_again (project_id, link_id);

-- Texts leave the index in the transaction that changes or deletes them.
CREATE FUNCTION search_link_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM link_search WHERE id = OLD.id;
    END IF;
    IF TG_OP = 'DELETE' THEN
        DELETE FROM link_search_again WHERE project_id = OLD.project_id AND link_id = OLD.id;
    ELSE
        INSERT INTO link_search_again (project_id, link_id) VALUES (NEW.project_id, NEW.id);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER links_search_again AFTER INSERT OR DELETE OR UPDATE OF search_text ON links
    FOR EACH ROW EXECUTE FUNCTION search_link_again();

-- A link is also found by its whole reference.
CREATE INDEX links_by_reference ON links (project_id, reference, id);
