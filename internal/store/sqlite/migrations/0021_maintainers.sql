-- Accounts that look after a feed beside its owner; a copy in the feed's row is what followers read.
ALTER TABLE feeds ADD COLUMN maintainers TEXT NOT NULL DEFAULT ''; -- ids, divided by commas

CREATE TABLE feed_maintainers (
    feed_id BLOB    NOT NULL,
    account BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    since   INTEGER NOT NULL,
    PRIMARY KEY (feed_id, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_maintainers_by_account ON feed_maintainers (account);

-- Invitations to maintain a feed, or to take it over. Closed ones stay until they count towards no limit and are pruned.
CREATE TABLE feed_invitations (
    id         TEXT    NOT NULL PRIMARY KEY,
    feed_id    BLOB    NOT NULL,
    what       TEXT    NOT NULL, -- maintain, transfer
    email      TEXT    NOT NULL, -- whoever proves this address may accept
    invited_by BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    at         INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_at  INTEGER -- NULL: not answered
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX feed_invitations_open ON feed_invitations (feed_id, what, email) WHERE closed_at IS NULL;
CREATE INDEX feed_invitations_by_email ON feed_invitations (email, at);
CREATE INDEX feed_invitations_by_account ON feed_invitations (invited_by, at);
CREATE INDEX feed_invitations_by_age ON feed_invitations (at);
