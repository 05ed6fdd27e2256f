-- Accounts that look after a feed beside its owner; a copy in the feed's row is what followers read.
ALTER TABLE feeds ADD COLUMN maintainers text NOT NULL DEFAULT ''; -- ids, divided by commas

CREATE TABLE feed_maintainers (
    feed_id uuid   NOT NULL,
    account uuid   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    since   bigint NOT NULL,
    PRIMARY KEY (feed_id, account)
);
CREATE INDEX feed_maintainers_by_account ON feed_maintainers (account);

-- Invitations to maintain a feed, or to take it over. Closed ones stay until they count towards no limit and are pruned.
CREATE TABLE feed_invitations (
    id         text   NOT NULL PRIMARY KEY,
    feed_id    uuid   NOT NULL,
    what       text   NOT NULL, -- maintain, transfer
    email      text   NOT NULL, -- whoever proves this address may accept
    invited_by uuid   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    at         bigint NOT NULL,
    expires_at bigint NOT NULL,
    closed_at  bigint -- NULL: not answered
);
CREATE UNIQUE INDEX feed_invitations_open ON feed_invitations (feed_id, what, email) WHERE closed_at IS NULL;
CREATE INDEX feed_invitations_by_email ON feed_invitations (email, at);
CREATE INDEX feed_invitations_by_account ON feed_invitations (invited_by, at);
CREATE INDEX feed_invitations_by_age ON feed_invitations (at);
