-- What an owner learns of an attempt, beside what health counts.
ALTER TABLE attempts ADD COLUMN unchanged INTEGER NOT NULL DEFAULT 0; -- accepted rows that changed nothing
ALTER TABLE attempts ADD COLUMN retired INTEGER NOT NULL DEFAULT 0; -- entities that it ended
ALTER TABLE attempts ADD COLUMN status INTEGER NOT NULL DEFAULT 0; -- HTTP status of the provider; 0: not to be told
ALTER TABLE attempts ADD COLUMN detail TEXT NOT NULL DEFAULT ''; -- what was wrong and what to do

-- Why rows of a feed were rejected of late: one line for each code, however many rows.
CREATE TABLE rejections (
    feed_id  BLOB    NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
    code     TEXT NOT NULL,
    at       INTEGER NOT NULL, -- of the newest attempt that had such rows
    rows     INTEGER NOT NULL, -- such rows in it
    examples TEXT NOT NULL, -- a JSON array of few
    PRIMARY KEY (feed_id, code)
) STRICT, WITHOUT ROWID;
