-- What a key may do besides reading, and the networks from which it may be used; both separated by commas. A key without
-- networks may be used from everywhere.
ALTER TABLE api_keys ADD COLUMN rights TEXT NOT NULL DEFAULT 'payments';
ALTER TABLE api_keys ADD COLUMN networks TEXT NOT NULL DEFAULT '';

-- Keys could decide about held money before there were rights.
UPDATE api_keys SET rights = 'payments,held-money';
