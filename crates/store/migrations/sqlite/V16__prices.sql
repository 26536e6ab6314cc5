-- Links whose customers choose how many they pay for: `amount` is for one.
-- Links whose customers type the amount: `amount` is then the least that they may type, and `amount_max` the most.
ALTER TABLE links ADD COLUMN amount_max BIGINT CHECK (amount_max >= amount);
ALTER TABLE links ADD COLUMN quantity_max BIGINT CHECK (quantity_max IS NULL OR (quantity_max BETWEEN 2 AND 99 AND amount_max IS NULL));
ALTER TABLE payments ADD COLUMN quantity BIGINT CHECK (quantity BETWEEN 1 AND 99);
ALTER TABLE openings ADD COLUMN quantity BIGINT CHECK (quantity BETWEEN 1 AND 99);

-- Where the pages of a payment lead back to.
ALTER TABLE links ADD COLUMN return_url TEXT;
ALTER TABLE payments ADD COLUMN return_url TEXT;
ALTER TABLE openings ADD COLUMN return_url TEXT;
