-- Changes of accounts' e-mail addresses, each of which the old and the new address confirm. Those that ended stay until they
-- count towards no limit.
CREATE TABLE email_changes (
    old_hash      bytea   NOT NULL PRIMARY KEY, -- of the link that was sent to the account's address
    new_hash      bytea   NOT NULL UNIQUE,      -- of the link that was sent to the new one
    account       uuid    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    email         text    NOT NULL, -- the new address
    created_at    bigint  NOT NULL,
    expires_at    bigint  NOT NULL,
    old_confirmed boolean NOT NULL DEFAULT false,
    new_confirmed boolean NOT NULL DEFAULT false
);

CREATE INDEX email_changes_by_account ON email_changes (account, created_at);
CREATE INDEX email_changes_by_email ON email_changes (email, created_at);
CREATE INDEX email_changes_by_age ON email_changes (created_at);
