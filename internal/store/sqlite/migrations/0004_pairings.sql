-- Screens that ask to be signed in by a phone (D11.3). Nothing in it says where a screen is.
CREATE TABLE pairings (
    id          INTEGER PRIMARY KEY,
    device_hash BLOB    NOT NULL UNIQUE,
    name        TEXT    NOT NULL, -- the first letters of the code
    code_hash   BLOB    NOT NULL UNIQUE,
    agent       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    account     BLOB REFERENCES accounts (id) ON DELETE CASCADE, -- who answered; NULL: nobody yet
    tries       INTEGER NOT NULL
) STRICT;

CREATE INDEX pairings_by_name ON pairings (name);
CREATE INDEX pairings_by_account ON pairings (account) WHERE account IS NOT NULL;
