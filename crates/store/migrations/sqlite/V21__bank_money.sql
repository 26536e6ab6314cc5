-- Ids of banks are unique for an account, a service and a day at best. So the same id may come again for other money.

-- `receipt_id` is the id under which the money of a request is booked, or would have been: the bank's request id, or one of its
-- own where other money has that. `is_first` marks the request by which the money was judged.
ALTER TABLE bank_requests ADD COLUMN receipt_id TEXT;
UPDATE bank_requests SET receipt_id = request_id WHERE service = 25;
DROP INDEX bank_requests_first;
CREATE UNIQUE INDEX bank_requests_first ON bank_requests (account_id, receipt_id) WHERE is_first = 1;
CREATE INDEX bank_requests_of_money ON bank_requests (account_id, request_id, number, amount) WHERE is_first = 1;
-- A server of an earlier version that still runs would judge money again which a newer one has judged.
CREATE TRIGGER bank_requests_have_receipts BEFORE INSERT ON bank_requests
    WHEN (NEW.receipt_id IS NOT NULL) <> (NEW.service = 25)
    BEGIN SELECT RAISE(ABORT, 'a request has a receipt if it is about money'); END;

-- What tells money with the same id apart: everything that the bank has said of it. `bank_id` is the bank's id, and `receipt_id` the
-- one under which it is booked here; `stated_at` is when it was paid, where the bank has said so.
ALTER TABLE bank_money ADD COLUMN bank_id TEXT NOT NULL DEFAULT '';
ALTER TABLE bank_money ADD COLUMN reference TEXT;
ALTER TABLE bank_money ADD COLUMN bank_reference TEXT;
ALTER TABLE bank_money ADD COLUMN number TEXT;
ALTER TABLE bank_money ADD COLUMN rrn TEXT;
ALTER TABLE bank_money ADD COLUMN payment_reference TEXT;
ALTER TABLE bank_money ADD COLUMN stated_at BIGINT;
-- Money with the id of other money was booked under that id, a slash and our reference of 25 letters.
UPDATE bank_money SET bank_id = CASE WHEN substr(receipt_id, -26, 1) = '/' AND EXISTS (SELECT 1 FROM bank_money o
        WHERE o.account_id = bank_money.account_id
        AND o.receipt_id = substr(bank_money.receipt_id, 1, length(bank_money.receipt_id) - 26))
    THEN substr(receipt_id, 1, length(receipt_id) - 26) ELSE receipt_id END;
CREATE INDEX bank_money_by_bank_id ON bank_money (account_id, bank_id);

-- A notice of money that cannot be read is kept as it came, in `body`; its amount is not known until an operator states it. SQLite
-- changes no check of a table that is there, so the table is made anew.
CREATE TABLE strays_anew (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES bank_accounts (id),
    receipt_id TEXT NOT NULL,
    number TEXT NOT NULL,
    amount BIGINT CHECK (COALESCE(amount, 1) > 0 AND (amount IS NOT NULL OR body IS NOT NULL)),
    paid_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    decision TEXT CHECK (decision IN ('assigned', 'returned') OR decision IS NULL),
    decided_at BIGINT CHECK ((decided_at IS NOT NULL) = (decision IS NOT NULL)),
    decision_note TEXT CHECK ((decision_note IS NOT NULL) = (decision IS NOT NULL)),
    project_id TEXT REFERENCES projects (id),
    payment_id TEXT REFERENCES payments (id)
        CHECK ((payment_id IS NOT NULL) = (COALESCE(decision, '') = 'assigned')
            AND (payment_id IS NOT NULL) = (project_id IS NOT NULL)),
    body TEXT
);
INSERT INTO strays_anew (id, account_id, receipt_id, number, amount, paid_at, received_at, decision, decided_at, decision_note,
        project_id, payment_id)
    SELECT id, account_id, receipt_id, number, amount, paid_at, received_at, decision, decided_at, decision_note, project_id,
        payment_id FROM strays ORDER BY rowid;
DROP TABLE strays;
ALTER TABLE strays_anew RENAME TO strays;
CREATE UNIQUE INDEX strays_by_receipt ON strays (account_id, receipt_id);
CREATE INDEX strays_open ON strays (received_at) WHERE decision IS NULL;
