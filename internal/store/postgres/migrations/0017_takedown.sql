-- A curator hides an entity: bound to source and external id, so that it outlives snapshots and lives of the entity. Without
-- a vote, its row counts none.
ALTER TABLE voted ADD COLUMN hidden_until bigint; -- NULL: never hidden; the end of the year 9999: for good
ALTER TABLE voted ADD COLUMN hidden_at bigint; -- when that was decided
ALTER TABLE voted ADD COLUMN hidden_reason text NOT NULL DEFAULT '';

CREATE INDEX voted_by_hidden ON voted (hidden_until) WHERE hidden_until IS NOT NULL;

-- A curator or an operator pauses a feed, or the suspension of its owner does; active is the owner's own switch.
ALTER TABLE feeds ADD COLUMN paused_by text NOT NULL DEFAULT ''; -- curator, operator, suspension; empty: not paused
ALTER TABLE feeds ADD COLUMN pause_reason text NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN paused_at bigint;

ALTER TABLE accounts ADD COLUMN suspended_at bigint; -- NULL: not suspended
ALTER TABLE accounts ADD COLUMN suspend_reason text NOT NULL DEFAULT '';

-- Drivers' complaints about sources. Closed ones stay until they count towards no limit and are pruned.
CREATE TABLE complaints (
    id          text   NOT NULL PRIMARY KEY,
    source      text   NOT NULL,
    external_id text   NOT NULL COLLATE "C", -- of the pin on whose card the driver complained
    account     uuid   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    text        text   NOT NULL,
    at          bigint NOT NULL,
    closed_at   bigint -- NULL: it waits for a curator
);

CREATE UNIQUE INDEX complaints_open ON complaints (account, source) WHERE closed_at IS NULL;
CREATE INDEX complaints_by_account ON complaints (account, at);
CREATE INDEX complaints_by_source ON complaints (source);
CREATE INDEX complaints_by_age ON complaints (at);
