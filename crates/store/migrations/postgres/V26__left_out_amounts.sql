-- Some banks say that a number is paid, and not how much. Then the money is booked in the amount of its bill, and `lacks_amount`
-- marks it: an amount that the bank tells later is about the same money.
ALTER TABLE bank_money ADD COLUMN lacks_amount BIGINT NOT NULL DEFAULT 0 CHECK (lacks_amount IN (0, 1));
