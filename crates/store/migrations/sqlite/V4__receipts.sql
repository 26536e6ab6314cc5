-- Receipts are money alone from here on. A notice without money (refusal, progress) is kept apart from them, so that it never uses
-- up the provider's id under which the money comes later.
CREATE TABLE notices (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    provider TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('refusal', 'progress')),
    project_id TEXT NOT NULL REFERENCES projects (id),
    received_at BIGINT NOT NULL,
    PRIMARY KEY (payment_id, provider, id, kind)
) WITHOUT ROWID;

INSERT INTO notices (payment_id, provider, id, kind, project_id, received_at)
    SELECT payment_id, provider, id, kind, project_id, received_at FROM receipts WHERE kind <> 'money';
DELETE FROM receipts WHERE kind <> 'money';

-- Balances are added up from here: `lines` and `balance` are how many entries the account has up to and including this one, and
-- what they add up to.
CREATE TABLE balance_checkpoints (
    project_id TEXT NOT NULL REFERENCES projects (id),
    account TEXT NOT NULL,
    at BIGINT NOT NULL,
    posting_id TEXT NOT NULL,
    lines BIGINT NOT NULL,
    balance BIGINT NOT NULL,
    PRIMARY KEY (project_id, account, at, posting_id)
) WITHOUT ROWID;

CREATE INDEX balance_checkpoints_by_lines ON balance_checkpoints (project_id, account, lines);
CREATE INDEX balance_checkpoints_by_time ON balance_checkpoints (project_id, at);

-- Finds a QRIS payload that can still be paid by its checksum, its last four characters. Whole payloads would make a large index.
CREATE INDEX payments_live_payload ON payments (project_id, substr(code, length(code) - 3))
    WHERE method = 'qris' AND state IN ('pending', 'processing');

-- Texts that are searched were in lower case, in which some letters that are the same in upper case differ, such as the two small
-- sigmas. They are now folded to one letter; these are the letters that change.
CREATE TABLE search_folds (
    letter TEXT NOT NULL PRIMARY KEY,
    folded TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO search_folds (letter, folded) VALUES
    ('µ', 'μ'), ('ß', 'ss'), ('ı', 'i'), ('ŉ', 'ʼn'), ('ſ', 's'), ('ǰ', 'ǰ'), (char(837), 'ι'), ('ΐ', 'ΐ'),
    ('ΰ', 'ΰ'), ('ς', 'σ'), ('ϐ', 'β'), ('ϑ', 'θ'), ('ϕ', 'φ'), ('ϖ', 'π'), ('ϰ', 'κ'), ('ϱ', 'ρ'),
    ('ϵ', 'ε'), ('և', 'եւ'), ('ᲀ', 'в'), ('ᲁ', 'д'), ('ᲂ', 'о'), ('ᲃ', 'с'), ('ᲄ', 'т'), ('ᲅ', 'т'),
    ('ᲆ', 'ъ'), ('ᲇ', 'ѣ'), ('ᲈ', 'ꙋ'), ('ẖ', 'ẖ'), ('ẗ', 'ẗ'), ('ẘ', 'ẘ'), ('ẙ', 'ẙ'), ('ẚ', 'aʾ'),
    ('ẛ', 'ṡ'), ('ὐ', 'ὐ'), ('ὒ', 'ὒ'), ('ὔ', 'ὔ'), ('ὖ', 'ὖ'), ('ᾀ', 'ἀι'), ('ᾁ', 'ἁι'), ('ᾂ', 'ἂι'),
    ('ᾃ', 'ἃι'), ('ᾄ', 'ἄι'), ('ᾅ', 'ἅι'), ('ᾆ', 'ἆι'), ('ᾇ', 'ἇι'), ('ᾐ', 'ἠι'), ('ᾑ', 'ἡι'), ('ᾒ', 'ἢι'),
    ('ᾓ', 'ἣι'), ('ᾔ', 'ἤι'), ('ᾕ', 'ἥι'), ('ᾖ', 'ἦι'), ('ᾗ', 'ἧι'), ('ᾠ', 'ὠι'), ('ᾡ', 'ὡι'), ('ᾢ', 'ὢι'),
    ('ᾣ', 'ὣι'), ('ᾤ', 'ὤι'), ('ᾥ', 'ὥι'), ('ᾦ', 'ὦι'), ('ᾧ', 'ὧι'), ('ᾲ', 'ὰι'), ('ᾳ', 'αι'), ('ᾴ', 'άι'),
    ('ᾶ', 'ᾶ'), ('ᾷ', 'ᾶι'), ('ι', 'ι'), ('ῂ', 'ὴι'), ('ῃ', 'ηι'), ('ῄ', 'ήι'), ('ῆ', 'ῆ'), ('ῇ', 'ῆι'),
    ('ῒ', 'ῒ'), ('ΐ', 'ΐ'), ('ῖ', 'ῖ'), ('ῗ', 'ῗ'), ('ῢ', 'ῢ'), ('ΰ', 'ΰ'), ('ῤ', 'ῤ'),
    ('ῦ', 'ῦ'), ('ῧ', 'ῧ'), ('ῲ', 'ὼι'), ('ῳ', 'ωι'), ('ῴ', 'ώι'), ('ῶ', 'ῶ'), ('ῷ', 'ῶι'), ('ﬀ', 'ff'),
    ('ﬁ', 'fi'), ('ﬂ', 'fl'), ('ﬃ', 'ffi'), ('ﬄ', 'ffl'), ('ﬅ', 'st'), ('ﬆ', 'st'), ('ﬓ', 'մն'), ('ﬔ', 'մե'),
    ('ﬕ', 'մի'), ('ﬖ', 'վն'), ('ﬗ', 'մխ');

CREATE TABLE refolded AS
    SELECT p.number AS number, p.search_text AS before,
        (WITH RECURSIVE folding (place, text) AS (
            SELECT 1, ''
            UNION ALL
            SELECT place + 1, text || COALESCE(
                (SELECT folded FROM search_folds WHERE letter = substr(p.search_text, place, 1)), substr(p.search_text, place, 1))
            FROM folding WHERE place <= length(p.search_text)
        ) SELECT text FROM folding ORDER BY place DESC LIMIT 1) AS after
    FROM payments p WHERE length(CAST(p.search_text AS BLOB)) > length(p.search_text);
DELETE FROM refolded WHERE after = before;
-- The index keeps no texts, so it must be given the one that it forgets.
INSERT INTO payment_search (payment_search, rowid, search_text)
    SELECT 'delete', number, before FROM refolded WHERE number <= (SELECT upto FROM payment_searchable);
INSERT INTO payment_search (rowid, search_text)
    SELECT number, after FROM refolded WHERE number <= (SELECT upto FROM payment_searchable);
UPDATE payments SET search_text = r.after FROM refolded r WHERE r.number = payments.number;
DROP TABLE refolded;

UPDATE links SET search_text =
        (WITH RECURSIVE folding (place, text) AS (
            SELECT 1, ''
            UNION ALL
            SELECT place + 1, text || COALESCE(
                (SELECT folded FROM search_folds WHERE letter = substr(links.search_text, place, 1)),
                substr(links.search_text, place, 1))
            FROM folding WHERE place <= length(links.search_text)
        ) SELECT text FROM folding ORDER BY place DESC LIMIT 1)
    WHERE length(CAST(search_text AS BLOB)) > length(search_text);
DROP TABLE search_folds;
