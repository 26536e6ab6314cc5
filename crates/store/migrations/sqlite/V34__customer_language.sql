-- The language of letters to customers, and refunds of a batch in their order.
--
-- `language` is the language in which a customer used the pages of the checkout when they began to pay. It is not known of customers
-- who began earlier, or at a node of an earlier version.
ALTER TABLE checkouts ADD COLUMN language TEXT CHECK (language IN ('id', 'en'));
ALTER TABLE opening_attempts ADD COLUMN language TEXT CHECK (language IN ('id', 'en'));

-- A batch is listed newest first: without the id in the index, SQLite reads all refunds of the project for that.
DROP INDEX refunds_of_batch;
CREATE INDEX refunds_of_batch ON refunds (project_id, batch, id) WHERE batch IS NOT NULL;
