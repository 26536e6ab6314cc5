-- The events that a project gets besides those that every project gets, in the order in which it has named them. They were a list
-- with commas in `projects.extra_events`.
CREATE TABLE extra_events (
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind = 'payment.expired' OR kind = 'payment.cancelled' OR kind = 'payment.held'),
    position BIGINT NOT NULL,
    PRIMARY KEY (project_id, kind)
) WITHOUT ROWID;

-- The place of a kind in the list is its position.
INSERT INTO extra_events (project_id, kind, position)
    SELECT p.id, k.kind, instr(',' || p.extra_events || ',', ',' || k.kind || ',')
    FROM projects p
    CROSS JOIN (SELECT 'payment.expired' AS kind UNION ALL SELECT 'payment.cancelled' UNION ALL SELECT 'payment.held') k
    WHERE instr(',' || p.extra_events || ',', ',' || k.kind || ',') > 0;

-- A server of an earlier version that still runs reads and writes the list, and this version the rows. Each of the two follows the
-- other, until a later migration drops these triggers and the column. SQLite starts no trigger from within itself, so neither
-- goes round.
CREATE TRIGGER extra_events_added AFTER INSERT ON extra_events BEGIN
    UPDATE projects SET extra_events = (SELECT group_concat(e.kind, ',') FROM
        (SELECT kind FROM extra_events WHERE project_id = NEW.project_id ORDER BY position) e)
        WHERE id = NEW.project_id;
END;
CREATE TRIGGER extra_events_removed AFTER DELETE ON extra_events BEGIN
    UPDATE projects SET extra_events = COALESCE((SELECT group_concat(e.kind, ',') FROM
        (SELECT kind FROM extra_events WHERE project_id = OLD.project_id ORDER BY position) e), '')
        WHERE id = OLD.project_id;
END;
-- What the triggers above have written is what the rows say, and leaves them as they are.
CREATE TRIGGER extra_events_listed AFTER UPDATE OF extra_events ON projects
    WHEN NEW.extra_events <> COALESCE((SELECT group_concat(e.kind, ',') FROM
        (SELECT kind FROM extra_events WHERE project_id = NEW.id ORDER BY position) e), '')
BEGIN
    DELETE FROM extra_events WHERE project_id = NEW.id;
    INSERT INTO extra_events (project_id, kind, position)
        SELECT NEW.id, k.kind, instr(',' || NEW.extra_events || ',', ',' || k.kind || ',')
        FROM (SELECT 'payment.expired' AS kind UNION ALL SELECT 'payment.cancelled' UNION ALL SELECT 'payment.held') k
        WHERE instr(',' || NEW.extra_events || ',', ',' || k.kind || ',') > 0;
END;
