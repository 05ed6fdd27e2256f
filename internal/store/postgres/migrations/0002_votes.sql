-- An entity that was voted on: what its votes add up to, and the service's own record of it at the first vote (D9.2). It
-- outlives the entity: histories are kept. The key begins with what the entity is of, as the key of entities does.
CREATE TABLE voted (
    source          text             NOT NULL, -- "incidents", or "feed:" and the feed's id
    external_id     text             NOT NULL COLLATE "C",
    confirms        integer          NOT NULL,
    disputes        integer          NOT NULL,
    last_dispute_at bigint, -- of the disputes that stand
    kept_until      bigint, -- a confirm keeps the entity at least so long
    changed_at      bigint           NOT NULL,
    life_at         bigint           NOT NULL, -- first_seen_at of the life that the tally is of; 0 for live incidents, which have one
    kind            text             NOT NULL,
    lat             double precision NOT NULL,
    lng             double precision NOT NULL,
    first_seen_at   bigint           NOT NULL,
    last_seen_at    bigint           NOT NULL,
    properties      text             NOT NULL,
    PRIMARY KEY (source, external_id)
);

-- Every snapshot and every push asks for the few that are kept.
CREATE INDEX voted_by_kept ON voted (source, kept_until) WHERE kept_until IS NOT NULL;

-- Votes that stand, and those on earlier lives.
CREATE TABLE votes (
    id          bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source      text     NOT NULL,
    external_id text     NOT NULL COLLATE "C",
    life_at     bigint   NOT NULL,
    account     uuid     REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: severed
    vote        smallint NOT NULL CHECK (vote IN (-1, 1)),
    at          bigint   NOT NULL
);

CREATE UNIQUE INDEX votes_by_entity ON votes (source, external_id, life_at, account);
CREATE INDEX votes_by_account ON votes (account) WHERE account IS NOT NULL;
CREATE INDEX votes_by_age ON votes (at) WHERE account IS NOT NULL;

-- True: the ids are of entities whose votes changed, and nothing else did. The feed's id is zero for live incidents.
ALTER TABLE changes ADD COLUMN votes boolean NOT NULL DEFAULT false;
