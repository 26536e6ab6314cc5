-- The method of a payment by virtual account is stored as its bank's code alone. Nodes of an earlier version can write no other
-- word from then on.
LOCK TABLE payments, payment_sums, bank_assignments, openings IN ACCESS EXCLUSIVE MODE;

UPDATE payments SET method = replace(method, 'virtual_account:', '') WHERE method <> 'qris';
UPDATE payment_sums SET method = replace(method, 'virtual_account:', '') WHERE method <> 'qris';
UPDATE bank_assignments SET method = replace(method, 'virtual_account:', '') WHERE method <> 'qris';
UPDATE openings SET method = replace(method, 'virtual_account:', '') WHERE method <> 'qris';

ALTER TABLE payments ADD CHECK (method NOT LIKE '%:%');
ALTER TABLE bank_assignments ADD CHECK (method NOT LIKE '%:%');
ALTER TABLE openings ADD CHECK (method NOT LIKE '%:%');
