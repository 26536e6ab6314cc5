-- Calls at a bank's doors that have not proved to be the bank's are kept apart and bounded for themselves: however many
-- somebody sends, they replace none of the bank's calls. Of earlier calls the log tells by their code alone: those that were
-- turned away before their signature was looked at.
ALTER TABLE bank_calls ADD COLUMN proved BIGINT NOT NULL DEFAULT 1 CHECK (proved IN (0, 1));
UPDATE bank_calls SET proved = 0 WHERE outbound = 0 AND (code LIKE '401%' OR code LIKE '405%' OR code LIKE '404__00');
