-- Screens that ask to be signed in by a phone (D11.3). Nothing in it says where a screen is.
CREATE TABLE pairings (
    id          bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device_hash bytea   NOT NULL UNIQUE,
    name        text    NOT NULL, -- the first letters of the code
    code_hash   bytea   NOT NULL UNIQUE,
    agent       text    NOT NULL,
    created_at  bigint  NOT NULL,
    expires_at  bigint  NOT NULL,
    state       text    NOT NULL,
    account     uuid    REFERENCES accounts (id) ON DELETE CASCADE, -- who answered; NULL: nobody yet
    tries       integer NOT NULL
);

CREATE INDEX pairings_by_name ON pairings (name);
CREATE INDEX pairings_by_account ON pairings (account) WHERE account IS NOT NULL;
