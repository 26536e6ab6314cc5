-- Short ids. Nearly every row names a project and most name a payment, and each name was a text of 30 letters. A payment is now
-- named by the 16 bytes behind those letters, and a project by a few bytes that are made from its number; the functions
-- `payment_short` and `project_short` are ours. Other ids stay texts. A virtual account's method is the code of its bank alone.
CREATE TABLE project_numbers (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    short BLOB NOT NULL UNIQUE
);
INSERT INTO project_numbers (number, id, short)
    SELECT n.number, n.id, project_short(n.number)
    FROM (SELECT ROW_NUMBER() OVER (ORDER BY id) AS number, id FROM projects) n;

-- What is append-only changes its form here, and nothing else.
DROP TRIGGER postings_stay;
DROP TRIGGER entries_stay;
DROP TRIGGER audit_stays;
-- Made anew below, which takes less time than changing each of their rows.
DROP INDEX payments_of_project;
DROP INDEX payments_by_state;

UPDATE projects SET
    id = (SELECT n.short FROM project_numbers n WHERE n.id = projects.id);
UPDATE allowed_origins SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = allowed_origins.project_id), project_id);
UPDATE api_keys SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = api_keys.project_id), project_id);
UPDATE links SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = links.project_id), project_id),
    claimed_by = payment_short(claimed_by);
UPDATE payments SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = payments.project_id), project_id),
    id = payment_short(id),
    method = replace(method, 'virtual_account:', '');
UPDATE checkouts SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = checkouts.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE idempotency SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = idempotency.project_id), project_id),
    resource = payment_short(resource);
UPDATE receipts SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = receipts.project_id), project_id),
    payment_id = payment_short(payment_id),
    decided_payment_id = payment_short(decided_payment_id);
UPDATE entries SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = entries.project_id), project_id);
UPDATE deliveries SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = deliveries.project_id), project_id);
UPDATE attempts SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = attempts.project_id), project_id);
UPDATE audit SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = audit.project_id), project_id);
UPDATE views SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = views.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE volumes SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = volumes.project_id), project_id);
UPDATE key_uses SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = key_uses.project_id), project_id);
UPDATE postings SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = postings.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE payment_marks SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = payment_marks.project_id), project_id),
    id = payment_short(id),
    previous = payment_short(previous);
UPDATE link_attempts SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = link_attempts.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE notices SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = notices.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE balance_checkpoints SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = balance_checkpoints.project_id), project_id);
UPDATE bank_assignments SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = bank_assignments.project_id), project_id),
    method = replace(method, 'virtual_account:', '');
UPDATE bank_numbers SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = bank_numbers.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE bank_requests SET
    payment_id = payment_short(payment_id);
UPDATE strays SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = strays.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE openings SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = openings.project_id), project_id),
    payment_id = payment_short(payment_id),
    method = replace(method, 'virtual_account:', '');
UPDATE bank_differences SET
    payment_id = payment_short(payment_id);
UPDATE payment_search_again SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = payment_search_again.project_id), project_id),
    payment_id = payment_short(payment_id);
UPDATE events SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = events.project_id), project_id),
    subject = payment_short(subject);
UPDATE payment_sums SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = payment_sums.project_id), project_id),
    id = payment_short(id),
    method = replace(method, 'virtual_account:', '');
UPDATE link_search_again SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = link_search_again.project_id), project_id);
UPDATE logos SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = logos.project_id), project_id);
UPDATE members SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = members.project_id), project_id);
UPDATE invites SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = invites.project_id), project_id);
UPDATE sales SET
    project_id = COALESCE((SELECT n.short FROM project_numbers n WHERE n.id = sales.project_id), project_id),
    resource = payment_short(resource);

CREATE INDEX payments_of_project ON payments (project_id, id);
CREATE INDEX payments_by_state ON payments (project_id, state, method, id);
CREATE TRIGGER postings_stay BEFORE UPDATE ON postings BEGIN SELECT RAISE(ABORT, 'postings are append-only'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit lines are append-only'); END;
-- A server of an earlier version that still runs would make ids for such events from what it takes for a text.
CREATE TRIGGER events_have_ids BEFORE INSERT ON events WHEN typeof(NEW.subject) = 'blob' AND length(NEW.id) <> 30
    BEGIN SELECT RAISE(ABORT, 'an event has an id of 30 characters'); END;
