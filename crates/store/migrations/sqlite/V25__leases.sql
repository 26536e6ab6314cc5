-- Which node has leased a delivery, so that the leases of one that is gone can be given back before they run out.
ALTER TABLE deliveries ADD COLUMN leased_by BIGINT;

-- The nodes that send webhooks. Each counts up its own row every second; one that stands still is gone. Where there is one server
-- only, as on SQLite, it stays empty.
CREATE TABLE nodes (
    id BIGINT NOT NULL PRIMARY KEY,
    beat BIGINT NOT NULL
);
