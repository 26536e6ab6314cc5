-- Ids of banks are unique for an account, a service and a day at best. So the same id may come again for other money. The same as on
-- SQLite.
LOCK TABLE bank_requests, bank_money, strays IN ACCESS EXCLUSIVE MODE;

ALTER TABLE bank_requests ADD COLUMN receipt_id TEXT COLLATE "C";
UPDATE bank_requests SET receipt_id = request_id WHERE service = 25;
DROP INDEX bank_requests_first;
CREATE UNIQUE INDEX bank_requests_first ON bank_requests (account_id, receipt_id) WHERE is_first = 1;
CREATE INDEX bank_requests_of_money ON bank_requests (account_id, request_id, number, amount) WHERE is_first = 1;
-- A node of an earlier version would judge money again which a newer one has judged: it can store no such request any more.
ALTER TABLE bank_requests ADD CHECK ((receipt_id IS NOT NULL) = (service = 25));

ALTER TABLE bank_money ADD COLUMN bank_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE bank_money ADD COLUMN reference TEXT COLLATE "C";
ALTER TABLE bank_money ADD COLUMN bank_reference TEXT COLLATE "C";
ALTER TABLE bank_money ADD COLUMN number TEXT COLLATE "C";
ALTER TABLE bank_money ADD COLUMN rrn TEXT COLLATE "C";
ALTER TABLE bank_money ADD COLUMN payment_reference TEXT COLLATE "C";
ALTER TABLE bank_money ADD COLUMN stated_at BIGINT;
UPDATE bank_money SET bank_id = CASE WHEN left(right(receipt_id, 26), 1) = '/' AND EXISTS (SELECT 1 FROM bank_money o
        WHERE o.account_id = bank_money.account_id AND o.receipt_id = left(bank_money.receipt_id, -26))
    THEN left(receipt_id, -26) ELSE receipt_id END;
CREATE INDEX bank_money_by_bank_id ON bank_money (account_id, bank_id);

ALTER TABLE strays ADD COLUMN body TEXT COLLATE "C";
ALTER TABLE strays ALTER COLUMN amount DROP NOT NULL;
ALTER TABLE strays ADD CHECK (amount IS NOT NULL OR body IS NOT NULL);
