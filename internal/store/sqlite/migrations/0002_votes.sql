-- An entity that was voted on: what its votes add up to, and the service's own record of it at the first vote (D9.2). It
-- outlives the entity: histories are kept. The text of the record stands last: who reads tallies does not pass it.
CREATE TABLE voted (
    source          TEXT    NOT NULL, -- "incidents", or "feed:" and the feed's id
    external_id     TEXT    NOT NULL,
    confirms        INTEGER NOT NULL,
    disputes        INTEGER NOT NULL,
    last_dispute_at INTEGER, -- of the disputes that stand
    kept_until      INTEGER, -- a confirm keeps the entity at least so long
    changed_at      INTEGER NOT NULL,
    life_at         INTEGER NOT NULL, -- first_seen_at of the life that the tally is of; 0 for live incidents, which have one
    kind            TEXT    NOT NULL,
    lat             REAL    NOT NULL,
    lng             REAL    NOT NULL,
    first_seen_at   INTEGER NOT NULL,
    last_seen_at    INTEGER NOT NULL,
    properties      TEXT    NOT NULL,
    PRIMARY KEY (source, external_id)
) STRICT;

-- Every snapshot and every push asks for the few that are kept.
CREATE INDEX voted_by_kept ON voted (source, kept_until) WHERE kept_until IS NOT NULL;

-- Votes that stand, and those on earlier lives.
CREATE TABLE votes (
    id          INTEGER PRIMARY KEY,
    source      TEXT    NOT NULL,
    external_id TEXT    NOT NULL,
    life_at     INTEGER NOT NULL,
    account     BLOB REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: severed
    vote        INTEGER NOT NULL CHECK (vote IN (-1, 1)),
    at          INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX votes_by_entity ON votes (source, external_id, life_at, account);
CREATE INDEX votes_by_account ON votes (account) WHERE account IS NOT NULL;
CREATE INDEX votes_by_age ON votes (at) WHERE account IS NOT NULL;

-- 1: the ids are of entities whose votes changed, and nothing else did. The feed's id is zero for live incidents.
ALTER TABLE changes ADD COLUMN votes INTEGER NOT NULL DEFAULT 0;
