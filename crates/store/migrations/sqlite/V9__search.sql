-- Searching by everything that a payment is known by. The index has tokens, which are numbers made of a project and of three
-- letters that follow each other in a text; see `search_tokens.rs`. Maintenance fills it anew.

-- The customer's name, e-mail address and phone number in the form in which they are searched; maintenance fills it where it is
-- missing.
ALTER TABLE checkouts ADD COLUMN search_text TEXT;
CREATE INDEX checkouts_unfolded ON checkouts (payment_id) WHERE search_text IS NULL;

DROP TABLE payment_search;
CREATE VIRTUAL TABLE payment_search USING fts5 (
    tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

-- All payments up to number `upto` are in the index; what came later is searched by reading it.
DROP TABLE payment_searchable;
CREATE TABLE payment_searchable (
    single BIGINT NOT NULL PRIMARY KEY CHECK (single = 1),
    upto BIGINT NOT NULL
);
INSERT INTO payment_searchable (single, upto) VALUES (1, 0);

-- Payments whose texts have changed since they were added to the index. They are searched by reading them until maintenance adds
-- them again.
CREATE TABLE payment_search_again (
    number BIGINT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL,
    payment_id TEXT NOT NULL
);
CREATE INDEX payment_search_again_of_project ON payment_search_again (project_id, payment_id);

-- What is known of a customer leaves the index in the transaction that deletes or changes it.
CREATE TRIGGER checkouts_deleted AFTER DELETE ON checkouts BEGIN
    DELETE FROM payment_search WHERE rowid = (SELECT number FROM payments WHERE id = OLD.payment_id);
    INSERT INTO payment_search_again (number, project_id, payment_id) VALUES (random(), OLD.project_id, OLD.payment_id);
END;
CREATE TRIGGER checkouts_changed AFTER UPDATE OF customer_name, customer_email, customer_phone ON checkouts BEGIN
    UPDATE checkouts SET search_text = NULL WHERE payment_id = NEW.payment_id;
    DELETE FROM payment_search WHERE rowid = (SELECT number FROM payments WHERE id = NEW.payment_id);
    INSERT INTO payment_search_again (number, project_id, payment_id) VALUES (random(), NEW.project_id, NEW.payment_id);
END;
CREATE TRIGGER links_retitled AFTER UPDATE OF search_text ON links BEGIN
    DELETE FROM payment_search WHERE rowid IN (SELECT number FROM payments WHERE link_id = NEW.id);
    INSERT INTO payment_search_again (number, project_id, payment_id)
        SELECT random(), project_id, id FROM payments WHERE link_id = NEW.id;
END;
