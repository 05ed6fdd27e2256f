-- What drivers chose for the map. NULL: not chosen.
CREATE TABLE preferences (
    account     BLOB NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    units       TEXT,
    theme       TEXT,
    language    TEXT,
    density     REAL,
    tones       INTEGER,
    lead        REAL,
    sources_off TEXT, -- this and what follows: JSON arrays of strings
    kinds_off   TEXT,
    networks    TEXT
) STRICT, WITHOUT ROWID;
