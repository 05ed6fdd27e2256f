-- Drivers' own reports are entities of a built-in feed, each with a row here from the start (D17.35).
ALTER TABLE voted ADD COLUMN author uuid; -- NULL: no report, or no longer linked to its author (D17.38)
ALTER TABLE voted ADD COLUMN author_trusted boolean NOT NULL DEFAULT false; -- the author's account counted when it reported
ALTER TABLE voted ADD COLUMN needs_two boolean NOT NULL DEFAULT false; -- read by its author alone until two accounts stand behind it

CREATE INDEX voted_by_author ON voted (author) WHERE author IS NOT NULL;
CREATE INDEX voted_by_report_age ON voted (first_seen_at) WHERE author IS NOT NULL;

-- What an account's next report is compared with: when it reported in the last day, and where it did so last.
CREATE TABLE reporters (
    account uuid NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    times   text NOT NULL, -- a JSON array of milliseconds, the oldest first
    last_at bigint NOT NULL,
    lat     double precision NOT NULL,
    lng     double precision NOT NULL
);

CREATE INDEX reporters_by_age ON reporters (last_at);
