-- Events about security are sent ahead of the project's other deliveries, however many of those are due or under way.
ALTER TABLE deliveries ADD COLUMN urgent BIGINT NOT NULL DEFAULT 0 CHECK (urgent IN (0, 1));
UPDATE deliveries SET urgent = 1 WHERE event_id IN (SELECT id FROM events WHERE kind = 'apikey.deleted');

DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (project_id, urgent, due_at) WHERE state = 'pending';
