-- What a session is for (D11.3): '' is everything that its account may do, 'screen' a paired screen.
ALTER TABLE sessions ADD COLUMN scope text NOT NULL DEFAULT '';

UPDATE sessions SET scope = 'screen' WHERE proved_at IS NULL;

-- A code works only in the browser that asked for it (D11.10); NULL: in none, only the link works.
ALTER TABLE sign_ins ADD COLUMN browser_hash bytea;

-- The account whose sessions ended or whose rights changed, in a row that names no feed.
ALTER TABLE changes ADD COLUMN account uuid;
