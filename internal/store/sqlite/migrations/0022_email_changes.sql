-- Changes of accounts' e-mail addresses, each of which the old and the new address confirm. Those that ended stay until they
-- count towards no limit.
CREATE TABLE email_changes (
    old_hash      BLOB    NOT NULL PRIMARY KEY, -- of the link that was sent to the account's address
    new_hash      BLOB    NOT NULL UNIQUE,      -- of the link that was sent to the new one
    account       BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    email         TEXT    NOT NULL, -- the new address
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    old_confirmed INTEGER NOT NULL DEFAULT 0,
    new_confirmed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX email_changes_by_account ON email_changes (account, created_at);
CREATE INDEX email_changes_by_email ON email_changes (email, created_at);
CREATE INDEX email_changes_by_age ON email_changes (created_at);
