-- Drivers' own reports are entities of a built-in feed, each with a row here from the start (D17.35).
ALTER TABLE voted ADD COLUMN author BLOB; -- NULL: no report, or no longer linked to its author (D17.38)
ALTER TABLE voted ADD COLUMN author_trusted INTEGER NOT NULL DEFAULT 0; -- the author's account counted when it reported
ALTER TABLE voted ADD COLUMN needs_two INTEGER NOT NULL DEFAULT 0; -- read by its author alone until two accounts stand behind it

CREATE INDEX voted_by_author ON voted (author) WHERE author IS NOT NULL;
CREATE INDEX voted_by_report_age ON voted (first_seen_at) WHERE author IS NOT NULL;

-- What an account's next report is compared with: when it reported in the last day, and where it did so last.
CREATE TABLE reporters (
    account BLOB NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    times   TEXT NOT NULL, -- a JSON array of milliseconds, the oldest first
    last_at INTEGER NOT NULL,
    lat     REAL NOT NULL,
    lng     REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX reporters_by_age ON reporters (last_at);
