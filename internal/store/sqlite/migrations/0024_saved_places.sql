-- Home, work and the last destinations of drivers who keep them in their account.
CREATE TABLE saved_places (
    account BLOB NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    sealed  BLOB NOT NULL -- nobody reads from the database alone where somebody lives
) STRICT, WITHOUT ROWID;
