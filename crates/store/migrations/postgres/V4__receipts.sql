-- Receipts are money alone from here on. A notice without money (refusal, progress) is kept apart from them, so that it never uses
-- up the provider's id under which the money comes later.
CREATE TABLE notices (
    payment_id TEXT COLLATE "C" NOT NULL REFERENCES payments (id),
    provider TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('refusal', 'progress')),
    project_id TEXT COLLATE "C" NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (payment_id, provider, id, kind)
);

INSERT INTO notices (payment_id, provider, id, kind, project_id, received_at)
    SELECT payment_id, provider, id, kind, project_id, received_at FROM receipts WHERE kind <> 'money';
DELETE FROM receipts WHERE kind <> 'money';

-- Balances are added up from here: `lines` and `balance` are how many entries the account has up to and including this one, and
-- what they add up to.
CREATE TABLE balance_checkpoints (
    project_id TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    posting_id TEXT COLLATE "C" NOT NULL,
    lines BIGINT NOT NULL,
    balance BIGINT NOT NULL,
    PRIMARY KEY (project_id, account, at, posting_id)
);

CREATE INDEX balance_checkpoints_by_lines ON balance_checkpoints (project_id, account, lines);
CREATE INDEX balance_checkpoints_by_time ON balance_checkpoints (project_id, at);

-- Finds a QRIS payload that can still be paid by its checksum, its last four characters. Whole payloads would make a large index.
CREATE INDEX payments_live_payload ON payments (project_id, substr(code, length(code) - 3))
    WHERE method = 'qris' AND state IN ('pending', 'processing');

-- Texts that are searched were in lower case, in which some letters that are the same in upper case differ, such as the two small
-- sigmas. They are now folded to one letter; these are the letters that change.
CREATE TABLE search_folds (
    letter TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    folded TEXT COLLATE "C" NOT NULL
);
INSERT INTO search_folds (letter, folded) VALUES
    ('µ', 'μ'), ('ß', 'ss'), ('ı', 'i'), ('ŉ', 'ʼn'), ('ſ', 's'), ('ǰ', 'ǰ'), (chr(837), 'ι'), ('ΐ', 'ΐ'),
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

UPDATE payments p SET search_text = r.after FROM (
        SELECT t.id, (SELECT string_agg(COALESCE(f.folded, l.letter), '' ORDER BY l.place)
            FROM unnest(string_to_array(t.search_text, NULL)) WITH ORDINALITY AS l (letter, place)
            LEFT JOIN search_folds f ON f.letter = l.letter) AS after
        FROM payments t WHERE octet_length(t.search_text) > length(t.search_text)
    ) r WHERE r.id = p.id AND r.after <> p.search_text;
UPDATE payment_search s SET search_text = p.search_text FROM payments p
    WHERE p.id = s.id AND octet_length(s.search_text) > length(s.search_text) AND s.search_text <> p.search_text;
UPDATE links p SET search_text = r.after FROM (
        SELECT t.id, (SELECT string_agg(COALESCE(f.folded, l.letter), '' ORDER BY l.place)
            FROM unnest(string_to_array(t.search_text, NULL)) WITH ORDINALITY AS l (letter, place)
            LEFT JOIN search_folds f ON f.letter = l.letter) AS after
        FROM links t WHERE octet_length(t.search_text) > length(t.search_text)
    ) r WHERE r.id = p.id AND r.after <> p.search_text;
DROP TABLE search_folds;
