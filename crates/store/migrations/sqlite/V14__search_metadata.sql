-- Metadata that is changed leaves the search index in the same transaction.
CREATE TRIGGER payments_metadata_changed AFTER UPDATE OF metadata_text ON payments BEGIN
    DELETE FROM payment_search WHERE rowid = NEW.number;
    INSERT INTO payment_search_again (number, project_id, payment_id) VALUES (random(), NEW.project_id, NEW.id);
END;
