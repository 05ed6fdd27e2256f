-- Times are milliseconds since 1970 in UTC; NULL: never. Ids are UUIDs of 16 bytes.

CREATE TABLE state (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    epoch    TEXT    NOT NULL, -- another one after a restore
    revision INTEGER NOT NULL, -- of the newest change; raised inside every transaction that followers must see
    floor    INTEGER NOT NULL  -- the newest change that was pruned
) STRICT;

INSERT INTO state (id, epoch, revision, floor) VALUES (1, lower(hex(randomblob(16))), 0, 0);

CREATE TABLE accounts (
    id         BLOB    NOT NULL PRIMARY KEY,
    email      TEXT    NOT NULL UNIQUE,
    role       TEXT    NOT NULL,
    tier       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sign-ins that were used stay until they count towards no limit.
CREATE TABLE sign_ins (
    id         INTEGER PRIMARY KEY,
    token_hash BLOB    NOT NULL UNIQUE,
    email      TEXT    NOT NULL,
    code_hash  BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    tries      INTEGER NOT NULL DEFAULT 0,
    used       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX sign_ins_by_email ON sign_ins (email, created_at);

CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    token_hash BLOB    NOT NULL UNIQUE,
    account    BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    agent      TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_account ON sessions (account);

CREATE TABLE api_tokens (
    id         TEXT    NOT NULL PRIMARY KEY,
    account    BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    token_hash BLOB    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_tokens_by_account ON api_tokens (account);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    actor   BLOB, -- NULL: the operator, at the command line
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    note    TEXT    NOT NULL
) STRICT;

CREATE TABLE outbox (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    account BLOB REFERENCES accounts (id) ON DELETE CASCADE,
    address TEXT, -- NULL: the account's, as it is when the letter leaves
    kind    TEXT    NOT NULL,
    data    TEXT    NOT NULL, -- a JSON object of strings
    at      INTEGER NOT NULL,
    tries   INTEGER NOT NULL,
    due     INTEGER NOT NULL,
    CHECK (account IS NOT NULL OR address IS NOT NULL)
) STRICT;

CREATE INDEX outbox_by_due ON outbox (due);

CREATE TABLE feeds (
    seq                  INTEGER PRIMARY KEY AUTOINCREMENT, -- divides the feeds among those who load side by side
    id                   BLOB    NOT NULL UNIQUE,
    owner                BLOB    NOT NULL REFERENCES accounts (id),
    layer_id             TEXT    NOT NULL,
    layer_slug           TEXT    NOT NULL UNIQUE,
    layer_name           TEXT    NOT NULL,
    name                 TEXT    NOT NULL,
    description          TEXT    NOT NULL,
    attribution          TEXT    NOT NULL,
    spec_url             TEXT    NOT NULL,
    direction            TEXT    NOT NULL,
    visibility           TEXT    NOT NULL,
    active               INTEGER NOT NULL,
    review_state         TEXT    NOT NULL,
    review_note          TEXT    NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    push_token_hash      BLOB UNIQUE,
    pull_url             TEXT    NOT NULL,
    pull_auth_sealed     BLOB,
    pull_interval_ms     INTEGER NOT NULL,
    next_fetch_at        INTEGER,
    last_fetched_at      INTEGER,
    last_outcome         TEXT    NOT NULL,
    last_error           TEXT    NOT NULL,
    last_rows            INTEGER NOT NULL,
    last_rejected        INTEGER NOT NULL,
    consecutive_failures INTEGER NOT NULL,
    shrank               INTEGER NOT NULL,
    body_hash            BLOB,
    last_push_at         INTEGER,
    snapshot_at          INTEGER, -- what entities without a seen_at of their own were last seen at
    snapshot             INTEGER NOT NULL,
    snapshot_rows        INTEGER NOT NULL, -- rows of the last good snapshot; last_rows is of the last poll
    entities_revision    INTEGER NOT NULL,
    lease_owner          TEXT,
    lease_until          INTEGER
) STRICT;

CREATE INDEX feeds_by_owner ON feeds (owner);
CREATE INDEX feeds_by_due ON feeds (next_fetch_at) WHERE active = 1 AND direction = 'pull';

-- Feeds that are gone and whose entities are still being removed.
CREATE TABLE deleted_feeds (
    id BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- No second index and no foreign key: each would cost every row of every push.
CREATE TABLE entities (
    feed_id       BLOB    NOT NULL,
    external_id   TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    lat           REAL    NOT NULL,
    lng           REAL    NOT NULL,
    properties    TEXT    NOT NULL,
    network       TEXT    NOT NULL,
    digest        INTEGER NOT NULL,
    lifetime_ms   INTEGER NOT NULL, -- 0: persistent
    first_seen_at INTEGER NOT NULL,
    seen_at       INTEGER, -- NULL: at the feed's snapshot_at
    changed_at    INTEGER NOT NULL,
    absent_since  INTEGER, -- number of a snapshot; NULL: not absent
    PRIMARY KEY (feed_id, external_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    feed_id     BLOB    NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
    at          INTEGER NOT NULL,
    revision    INTEGER NOT NULL, -- of the transaction: two attempts may fall into one millisecond
    duration_us INTEGER NOT NULL,
    ok          INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,
    rows        INTEGER NOT NULL,
    rejected    INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    PRIMARY KEY (feed_id, at DESC, revision DESC)
) STRICT, WITHOUT ROWID;

-- One row for each transaction that followers must see: which feed, and which of its entities.
CREATE TABLE changes (
    revision     INTEGER PRIMARY KEY,
    feed_id      BLOB    NOT NULL,
    at           INTEGER NOT NULL,
    entities     INTEGER NOT NULL, -- how many ids follow
    external_ids TEXT    NOT NULL  -- a JSON array
) STRICT;
