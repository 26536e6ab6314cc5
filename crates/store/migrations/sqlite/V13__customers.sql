-- The page of a customer finds their payments by an email address or a phone number as they gave it.
CREATE INDEX checkouts_by_email ON checkouts (project_id, customer_email) WHERE customer_email <> '';
CREATE INDEX checkouts_by_phone ON checkouts (project_id, customer_phone) WHERE customer_phone <> '';
