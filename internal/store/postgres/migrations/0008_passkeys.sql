-- Passkeys, which sign in instead of a letter, and the challenges that were answered.
CREATE TABLE passkeys (
    id            text   NOT NULL PRIMARY KEY,
    credential_id bytea  NOT NULL UNIQUE,
    account       uuid   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name          text   NOT NULL,
    blob          bytea  NOT NULL, -- as the library that verifies it wrote it
    created_at    bigint NOT NULL,
    used_at       bigint -- to the day; NULL: never
);

CREATE INDEX passkeys_by_account ON passkeys (account);

-- A challenge says itself what it is for and until when; only those that were answered are kept, until they end.
CREATE TABLE passkey_answers (
    challenge_hash bytea  NOT NULL PRIMARY KEY,
    expires_at     bigint NOT NULL
);

CREATE INDEX passkey_answers_by_end ON passkey_answers (expires_at);

ALTER TABLE sessions ADD COLUMN proved_at bigint; -- when a letter or a passkey last proved who its holder is; NULL: never, a paired screen
ALTER TABLE sessions ADD COLUMN passkey_at bigint; -- when it last used a passkey; NULL: never

-- Those of before this was kept: as good as a letter, long ago.
UPDATE sessions SET proved_at = created_at;
