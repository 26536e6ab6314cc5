-- What a merchant notes about a payment or a link: names and texts, ended by control characters; NULL where nothing was given.
-- `metadata_text` is what a search finds in it.
ALTER TABLE payments ADD COLUMN metadata TEXT COLLATE "C";
ALTER TABLE payments ADD COLUMN metadata_text TEXT COLLATE "C";
ALTER TABLE links ADD COLUMN metadata TEXT COLLATE "C";
ALTER TABLE openings ADD COLUMN metadata TEXT COLLATE "C";

-- The events that a project gets besides those that every project gets: any of payment.expired, payment.cancelled, payment.held.
ALTER TABLE projects ADD COLUMN extra_events TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Three more kinds of events. One about held money has the receipt and the payment's state of its moment.
ALTER TABLE events
    DROP CONSTRAINT events_kind_check,
    ADD CONSTRAINT events_kind_check
        CHECK (kind = 'payment.paid' OR kind = 'payment.failed' OR kind = 'apikey.deleted'
            OR kind = 'payment.expired' OR kind = 'payment.cancelled' OR kind = 'payment.held'),
    -- The check of `success_word`, which the first version did not name.
    DROP CONSTRAINT events_check1,
    ADD CONSTRAINT events_success_word_check
        CHECK ((success_word IS NOT NULL) = (kind IN ('payment.paid', 'payment.held'))),
    ADD COLUMN receipt_id TEXT COLLATE "C" CHECK ((receipt_id IS NOT NULL) = (kind = 'payment.held')),
    ADD COLUMN receipt_amount BIGINT CHECK ((receipt_amount IS NOT NULL) = (kind = 'payment.held')),
    ADD COLUMN receipt_reason TEXT COLLATE "C" CHECK ((receipt_reason IS NOT NULL) = (kind = 'payment.held')),
    ADD COLUMN receipt_paid_at BIGINT CHECK ((receipt_paid_at IS NOT NULL) = (kind = 'payment.held')),
    ADD COLUMN payment_state TEXT COLLATE "C" CHECK ((payment_state IS NOT NULL) = (kind = 'payment.held')),
    ADD COLUMN payment_state_at BIGINT CHECK (payment_state_at IS NULL OR kind = 'payment.held'),
    ADD COLUMN payment_expires_at BIGINT CHECK ((payment_expires_at IS NOT NULL) = (kind = 'payment.held'));
CREATE INDEX events_extra ON events (subject) WHERE kind IN ('payment.expired', 'payment.cancelled', 'payment.held');
