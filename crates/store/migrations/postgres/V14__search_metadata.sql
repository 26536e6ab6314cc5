-- Metadata that is changed leaves the search index in the same transaction.
CREATE FUNCTION search_without_metadata() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM payment_search WHERE id = NEW.id;
    INSERT INTO payment_search_again (project_id, payment_id) VALUES (NEW.project_id, NEW.id);
    RETURN NULL;
END
$$;
CREATE TRIGGER payments_metadata_changed AFTER UPDATE OF metadata_text ON payments
    FOR EACH ROW EXECUTE FUNCTION search_without_metadata();
