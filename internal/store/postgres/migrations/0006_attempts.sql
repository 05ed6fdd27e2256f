-- What an owner learns of an attempt, beside what health counts.
ALTER TABLE attempts ADD COLUMN unchanged integer NOT NULL DEFAULT 0; -- accepted rows that changed nothing
ALTER TABLE attempts ADD COLUMN retired integer NOT NULL DEFAULT 0; -- entities that it ended
ALTER TABLE attempts ADD COLUMN status integer NOT NULL DEFAULT 0; -- HTTP status of the provider; 0: not to be told
ALTER TABLE attempts ADD COLUMN detail text NOT NULL DEFAULT ''; -- what was wrong and what to do

-- Why rows of a feed were rejected of late: one line for each code, however many rows.
CREATE TABLE rejections (
    feed_id  uuid   NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
    code     text NOT NULL,
    at       bigint NOT NULL, -- of the newest attempt that had such rows
    rows     integer NOT NULL, -- such rows in it
    examples text NOT NULL, -- a JSON array of few
    PRIMARY KEY (feed_id, code)
);
