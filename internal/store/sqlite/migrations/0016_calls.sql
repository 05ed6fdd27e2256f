-- When each trouble of a feed was last seen of which its owner has an e-mail; NULL: the feed is well.
ALTER TABLE feeds ADD COLUMN warned_rejections INTEGER;
ALTER TABLE feeds ADD COLUMN warned_failing INTEGER;
ALTER TABLE feeds ADD COLUMN warned_shrank INTEGER;
ALTER TABLE feeds ADD COLUMN usual_rejected REAL NOT NULL DEFAULT 0; -- share of the rows that is rejected while the feed is well

-- When the owner of a push feed is told of its silence, unless it is pushed to before; NULL: was told, or nothing was pushed yet.
ALTER TABLE feeds ADD COLUMN silence_due INTEGER;
UPDATE feeds SET silence_due = last_push_at + 86400000 WHERE direction = 'push' AND active = 1;
CREATE INDEX feeds_by_silence ON feeds (silence_due) WHERE silence_due IS NOT NULL;

-- Snapshots that are pushed in batches: a JSON array of the newest few.
ALTER TABLE feeds ADD COLUMN push_snapshots TEXT NOT NULL DEFAULT '';

-- What a curator was e-mailed about the queue of reviews.
CREATE TABLE review_calls (
    account          BLOB    NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    off              INTEGER NOT NULL DEFAULT 0, -- 1: the account wants no such e-mails
    waiting          INTEGER NOT NULL DEFAULT 0, -- something has waited ever since emailed_at
    emailed_at       INTEGER,
    reminded_at      INTEGER,
    reminded_through INTEGER  -- of the feeds that waited since then or longer
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_reviewing ON accounts (role) WHERE role <> 'driver';

-- Curators who have a review open; pruned after minutes.
CREATE TABLE review_looks (
    feed_id BLOB    NOT NULL,
    account BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL,
    PRIMARY KEY (feed_id, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX review_looks_by_age ON review_looks (at);
CREATE INDEX review_looks_by_account ON review_looks (account);
