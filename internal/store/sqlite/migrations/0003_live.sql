-- The live cache, where incidents.mode is database (D8.9). Nothing in it says where a driver is.
CREATE TABLE live (
    key   TEXT    NOT NULL PRIMARY KEY,
    value BLOB    NOT NULL,
    until INTEGER NOT NULL -- it counts before this time
) STRICT, WITHOUT ROWID;

CREATE INDEX live_by_until ON live (until);
