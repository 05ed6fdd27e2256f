-- A curator hides an entity: bound to source and external id, so that it outlives snapshots and lives of the entity. Without
-- a vote, its row counts none.
ALTER TABLE voted ADD COLUMN hidden_until INTEGER; -- NULL: never hidden; the end of the year 9999: for good
ALTER TABLE voted ADD COLUMN hidden_at INTEGER; -- when that was decided
ALTER TABLE voted ADD COLUMN hidden_reason TEXT NOT NULL DEFAULT '';

CREATE INDEX voted_by_hidden ON voted (hidden_until) WHERE hidden_until IS NOT NULL;

-- A curator or an operator pauses a feed, or the suspension of its owner does; active is the owner's own switch.
ALTER TABLE feeds ADD COLUMN paused_by TEXT NOT NULL DEFAULT ''; -- curator, operator, suspension; empty: not paused
ALTER TABLE feeds ADD COLUMN pause_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN paused_at INTEGER;

ALTER TABLE accounts ADD COLUMN suspended_at INTEGER; -- NULL: not suspended
ALTER TABLE accounts ADD COLUMN suspend_reason TEXT NOT NULL DEFAULT '';

-- Drivers' complaints about sources. Closed ones stay until they count towards no limit and are pruned.
CREATE TABLE complaints (
    id          TEXT    NOT NULL PRIMARY KEY,
    source      TEXT    NOT NULL,
    external_id TEXT    NOT NULL, -- of the pin on whose card the driver complained
    account     BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    text        TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    closed_at   INTEGER -- NULL: it waits for a curator
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX complaints_open ON complaints (account, source) WHERE closed_at IS NULL;
CREATE INDEX complaints_by_account ON complaints (account, at);
CREATE INDEX complaints_by_source ON complaints (source);
CREATE INDEX complaints_by_age ON complaints (at);
