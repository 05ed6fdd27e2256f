-- Times are milliseconds since 1970 in UTC; NULL: never. The view at the end shows them as people read them.

-- Who may not make extensions has somebody else make this one before.
CREATE EXTENSION IF NOT EXISTS postgis;

CREATE TABLE state (
    id       integer PRIMARY KEY CHECK (id = 1),
    epoch    text    NOT NULL,
    revision bigint  NOT NULL, -- of the newest change; raised inside every transaction that followers must see
    floor    bigint  NOT NULL  -- the newest change that was pruned
) WITH (fillfactor = 50);

INSERT INTO state (id, epoch, revision, floor) VALUES (1, replace(gen_random_uuid()::text, '-', ''), 0, 0);

CREATE TABLE accounts (
    id         uuid   NOT NULL PRIMARY KEY,
    email      text   NOT NULL UNIQUE,
    role       text   NOT NULL,
    tier       text   NOT NULL,
    created_at bigint NOT NULL
);

-- Sign-ins that were used stay until they count towards no limit.
CREATE TABLE sign_ins (
    id         bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_hash bytea   NOT NULL UNIQUE,
    email      text    NOT NULL,
    code_hash  bytea   NOT NULL,
    created_at bigint  NOT NULL,
    expires_at bigint  NOT NULL,
    tries      integer NOT NULL DEFAULT 0,
    used       boolean NOT NULL DEFAULT false
);

CREATE INDEX sign_ins_by_email ON sign_ins (email, created_at);

CREATE TABLE sessions (
    id         text   NOT NULL PRIMARY KEY,
    token_hash bytea  NOT NULL UNIQUE,
    account    uuid   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    agent      text   NOT NULL
);

CREATE INDEX sessions_by_account ON sessions (account);

CREATE TABLE api_tokens (
    id         text   NOT NULL PRIMARY KEY,
    account    uuid   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name       text   NOT NULL,
    token_hash bytea  NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    used_at    bigint
);

CREATE INDEX api_tokens_by_account ON api_tokens (account);

CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      bigint NOT NULL,
    actor   uuid, -- NULL: the operator, at the command line
    action  text   NOT NULL,
    subject text   NOT NULL,
    note    text   NOT NULL
);

CREATE TABLE outbox (
    id      bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account uuid    REFERENCES accounts (id) ON DELETE CASCADE,
    address text, -- NULL: the account's, as it is when the letter leaves
    kind    text    NOT NULL,
    data    text    NOT NULL, -- a JSON object of strings
    at      bigint  NOT NULL,
    tries   integer NOT NULL,
    due     bigint  NOT NULL,
    CHECK (account IS NOT NULL OR address IS NOT NULL)
);

CREATE INDEX outbox_by_due ON outbox (due);
CREATE INDEX outbox_by_account ON outbox (account) WHERE account IS NOT NULL;

CREATE TABLE feeds (
    seq                  bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- divides the feeds among those who load side by side
    id                   uuid    NOT NULL UNIQUE,
    owner                uuid    NOT NULL REFERENCES accounts (id),
    layer_id             text    NOT NULL,
    layer_slug           text    NOT NULL UNIQUE,
    layer_name           text    NOT NULL,
    name                 text    NOT NULL,
    description          text    NOT NULL,
    attribution          text    NOT NULL,
    spec_url             text    NOT NULL,
    direction            text    NOT NULL,
    visibility           text    NOT NULL,
    active               boolean NOT NULL,
    review_state         text    NOT NULL,
    review_note          text    NOT NULL,
    created_at           bigint  NOT NULL,
    updated_at           bigint  NOT NULL,
    push_token_hash      bytea   UNIQUE,
    pull_url             text    NOT NULL,
    pull_auth_sealed     bytea,
    pull_interval_ms     bigint  NOT NULL,
    next_fetch_at        bigint,
    last_fetched_at      bigint,
    last_outcome         text    NOT NULL,
    last_error           text    NOT NULL,
    last_rows            integer NOT NULL,
    last_rejected        integer NOT NULL,
    consecutive_failures integer NOT NULL,
    shrank               boolean NOT NULL,
    body_hash            bytea,
    last_push_at         bigint,
    snapshot_at          bigint, -- what entities without a seen_at of their own were last seen at
    snapshot             bigint  NOT NULL,
    snapshot_rows        integer NOT NULL, -- rows of the last good snapshot; last_rows is of the last poll
    entities_revision    bigint  NOT NULL,
    lease_owner          text,
    lease_until          bigint
) WITH (fillfactor = 70);

CREATE INDEX feeds_by_owner ON feeds (owner);
CREATE INDEX feeds_by_due ON feeds (next_fetch_at) WHERE active AND direction = 'pull';

-- Feeds that are gone and whose entities are still being removed.
CREATE TABLE deleted_feeds (
    id uuid NOT NULL PRIMARY KEY
);

-- No foreign key: it would cost every row of every push. The key begins with the feed, by which the table can be
-- distributed. Times and digest, which move more often than the rest, are in no index: such an update touches one page,
-- for which there is some room.
CREATE TABLE entities (
    feed_id       uuid             NOT NULL,
    external_id   text             NOT NULL COLLATE "C",
    kind          text             NOT NULL,
    lat           double precision NOT NULL,
    lng           double precision NOT NULL,
    properties    text             NOT NULL,
    network       text             NOT NULL,
    digest        bigint           NOT NULL,
    lifetime_ms   bigint           NOT NULL, -- 0: persistent
    first_seen_at bigint           NOT NULL,
    seen_at       bigint, -- NULL: at the feed's snapshot_at
    changed_at    bigint           NOT NULL,
    absent_since  bigint, -- number of a snapshot; NULL: not absent
    geom          geometry(Point, 4326) GENERATED ALWAYS AS (ST_SetSRID(ST_MakePoint(lng, lat), 4326)) STORED,
    PRIMARY KEY (feed_id, external_id)
) WITH (fillfactor = 85);

-- For GIS tools; the service itself searches in memory.
CREATE INDEX entities_by_geom ON entities USING gist (geom);

CREATE TABLE attempts (
    feed_id     uuid    NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
    at          bigint  NOT NULL,
    revision    bigint  NOT NULL, -- of the transaction: two attempts may fall into one millisecond
    duration_us bigint  NOT NULL,
    ok          boolean NOT NULL,
    outcome     text    NOT NULL,
    rows        integer NOT NULL,
    rejected    integer NOT NULL,
    bytes       bigint  NOT NULL,
    PRIMARY KEY (feed_id, at, revision)
);

-- One row for each transaction that followers must see: which feed, and which of its entities.
CREATE TABLE changes (
    revision     bigint  PRIMARY KEY,
    feed_id      uuid    NOT NULL,
    at           bigint  NOT NULL,
    entities     integer NOT NULL, -- how many ids follow
    external_ids text[]  NOT NULL
);

-- What the public may read now, for QGIS, pg_featureserv, Martin and the like. It knows nothing of votes: what drivers
-- keep or hide shows by the feed's own times. properties are json, not jsonb: a number may be beyond jsonb's bounds.
CREATE VIEW wayside_entities AS
SELECT 'feed:' || e.feed_id || ':v1:'
           || translate(encode(convert_to(e.external_id, 'UTF8'), 'base64'), E'+/=\n', '-_') AS id, -- as the API's
       e.feed_id,
       e.external_id,
       f.layer_slug                                                                      AS layer,
       f.name                                                                            AS feed_name,
       f.attribution,
       e.kind,
       e.network,
       e.properties::json                                                                AS properties,
       to_timestamp(e.first_seen_at / 1000.0)                                            AS first_seen_at,
       to_timestamp(COALESCE(e.seen_at, f.snapshot_at) / 1000.0)                         AS last_seen_at,
       to_timestamp(e.changed_at / 1000.0)                                               AS changed_at,
       CASE WHEN e.lifetime_ms > 0
            THEN to_timestamp((COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms) / 1000.0) END AS expires_at,
       e.geom
FROM entities AS e
JOIN feeds AS f ON f.id = e.feed_id
WHERE f.visibility = 'public' AND f.review_state = 'approved'
  AND (e.lifetime_ms = 0 OR COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms > extract(epoch FROM now()) * 1000);
