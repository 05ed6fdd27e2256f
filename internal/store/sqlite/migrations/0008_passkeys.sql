-- Passkeys, which sign in instead of a letter, and the challenges that were answered.
CREATE TABLE passkeys (
    id            TEXT    NOT NULL PRIMARY KEY,
    credential_id BLOB    NOT NULL UNIQUE,
    account       BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name          TEXT    NOT NULL,
    blob          BLOB    NOT NULL, -- as the library that verifies it wrote it
    created_at    INTEGER NOT NULL,
    used_at       INTEGER -- to the day; NULL: never
) STRICT, WITHOUT ROWID;

CREATE INDEX passkeys_by_account ON passkeys (account);

-- A challenge says itself what it is for and until when; only those that were answered are kept, until they end.
CREATE TABLE passkey_answers (
    challenge_hash BLOB    NOT NULL PRIMARY KEY,
    expires_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX passkey_answers_by_end ON passkey_answers (expires_at);

ALTER TABLE sessions ADD COLUMN proved_at INTEGER; -- when a letter or a passkey last proved who its holder is; NULL: never, a paired screen
ALTER TABLE sessions ADD COLUMN passkey_at INTEGER; -- when it last used a passkey; NULL: never

-- Those of before this was kept: as good as a letter, long ago.
UPDATE sessions SET proved_at = created_at;
