-- Attempts to pay a link: their order, who made them, and how many there are, without reading all of them.

-- The link's version when it was cancelled or claimed. Links that an earlier release closed have none.
ALTER TABLE links ADD COLUMN cancelled_version BIGINT;
ALTER TABLE links ADD COLUMN claimed_version BIGINT;

-- One row for each payment that was started through a link; those of earlier releases have none. Every attempt raises the
-- version of its link, so `link_version` is the order in which attempts, a claim and a cancellation were committed, whatever
-- the clocks said. `visitor` is a hash of what the customer's browser was given, `network` the address that limits count by.
CREATE TABLE link_attempts (
    payment_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES payments (id),
    project_id TEXT COLLATE "C" NOT NULL,
    link_id TEXT COLLATE "C" NOT NULL REFERENCES links (id),
    link_version BIGINT NOT NULL,
    visitor TEXT COLLATE "C",
    network TEXT COLLATE "C",
    at BIGINT NOT NULL
);

-- No index orders a link's attempts by themselves: one that did would be read from its end in search of a visitor.
CREATE INDEX link_attempts_of_visitor ON link_attempts (link_id, visitor, link_version) WHERE visitor IS NOT NULL;
CREATE INDEX link_attempts_of_network ON link_attempts (link_id, network, at) WHERE network IS NOT NULL;

-- The payments of a link that can still be paid. Without it, opening a link's page would read all of its payments.
CREATE INDEX payments_open_of_link ON payments (link_id, state, expires_at)
    WHERE link_id IS NOT NULL AND (state = 'pending' OR state = 'processing');
