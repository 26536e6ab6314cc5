-- Searching by everything that a payment is known by. The index has tokens, which are numbers made of a project and of three
-- letters that follow each other in a text; see `search_tokens.rs`. Maintenance fills it anew. The extension pg_trgm is not used
-- any more.

-- The customer's name, e-mail address and phone number in the form in which they are searched; maintenance fills it where it is
-- missing.
ALTER TABLE checkouts ADD COLUMN search_text TEXT COLLATE "C";
CREATE INDEX checkouts_unfolded ON checkouts (payment_id) WHERE search_text IS NULL;

DROP TABLE payment_search;
CREATE TABLE payment_search (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tokens INTEGER[] NOT NULL
);
-- Additions are merged in portions. A search reads what is not merged yet, so the portions are small.
CREATE INDEX payment_search_tokens ON payment_search USING gin (tokens) WITH (fastupdate = on, gin_pending_list_limit = 128);

-- All payments up to and including `upto` are in the index, or wait in `payment_search_again`; what came later is searched by
-- reading it.
DROP TABLE payment_searchable;
CREATE TABLE payment_searchable (
    single BIGINT NOT NULL PRIMARY KEY CHECK (single = 1),
    upto TEXT COLLATE "C" NOT NULL
);
INSERT INTO payment_searchable (single, upto) VALUES (1, '');

-- Payments that the index has passed, or whose texts have changed since they were added to it. They are searched by reading them
-- until maintenance adds them again.
CREATE TABLE payment_search_again (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL
);
CREATE INDEX payment_search_again_of_project ON payment_search_again (project_id, payment_id);

-- What is known of a customer leaves the index in the transaction that deletes or changes it.
CREATE FUNCTION search_without_customer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM payment_search WHERE id = OLD.payment_id;
    INSERT INTO payment_search_again (project_id, payment_id) VALUES (OLD.project_id, OLD.payment_id);
    IF TG_OP = 'UPDATE' THEN
        UPDATE checkouts SET search_text = NULL WHERE payment_id = NEW.payment_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER checkouts_changed AFTER DELETE OR UPDATE OF customer_name, customer_email, customer_phone ON checkouts
    FOR EACH ROW EXECUTE FUNCTION search_without_customer();
CREATE FUNCTION search_without_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM payment_search WHERE id IN (SELECT id FROM payments WHERE link_id = NEW.id);
    INSERT INTO payment_search_again (project_id, payment_id) SELECT project_id, id FROM payments WHERE link_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER links_retitled AFTER UPDATE OF search_text ON links
    FOR EACH ROW EXECUTE FUNCTION search_without_title();
