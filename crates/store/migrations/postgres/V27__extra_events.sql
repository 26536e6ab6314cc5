-- The events that a project gets besides those that every project gets, in the order in which it has named them. They were a list
-- with commas in `projects.extra_events`.
CREATE TABLE extra_events (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind = 'payment.expired' OR kind = 'payment.cancelled' OR kind = 'payment.held'),
    position BIGINT NOT NULL,
    PRIMARY KEY (project_id, kind)
);

-- No node changes a list between here and the end of the migration: from then on the triggers follow it.
LOCK TABLE projects IN SHARE ROW EXCLUSIVE MODE;

-- The place of a kind in the list is its position.
INSERT INTO extra_events (project_id, kind, position)
    SELECT p.id, k.kind, strpos(',' || p.extra_events || ',', ',' || k.kind || ',')
    FROM projects p CROSS JOIN (VALUES ('payment.expired'), ('payment.cancelled'), ('payment.held')) k (kind)
    WHERE strpos(',' || p.extra_events || ',', ',' || k.kind || ',') > 0;

-- A node of an earlier version that still runs reads and writes the list, and this version the rows. Each of the two follows the
-- other, until a later migration drops these triggers and the column. What a trigger writes starts neither of them.
CREATE FUNCTION list_extra_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed TEXT := CASE TG_OP WHEN 'DELETE' THEN OLD.project_id ELSE NEW.project_id END;
BEGIN
    UPDATE projects SET extra_events = COALESCE((SELECT string_agg(e.kind, ',' ORDER BY e.position)
        FROM extra_events e WHERE e.project_id = changed), '') WHERE id = changed;
    RETURN NULL;
END
$$;
CREATE TRIGGER extra_events_changed AFTER INSERT OR DELETE ON extra_events FOR EACH ROW
    WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION list_extra_events();

CREATE FUNCTION read_extra_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM extra_events WHERE project_id = NEW.id;
    INSERT INTO extra_events (project_id, kind, position)
        SELECT NEW.id, k.kind, strpos(',' || NEW.extra_events || ',', ',' || k.kind || ',')
        FROM (VALUES ('payment.expired'), ('payment.cancelled'), ('payment.held')) k (kind)
        WHERE strpos(',' || NEW.extra_events || ',', ',' || k.kind || ',') > 0;
    RETURN NULL;
END
$$;
CREATE TRIGGER extra_events_listed AFTER UPDATE OF extra_events ON projects FOR EACH ROW
    WHEN (pg_trigger_depth() = 0 AND NEW.extra_events <> OLD.extra_events) EXECUTE FUNCTION read_extra_events();
