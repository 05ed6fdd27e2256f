-- How documents of another format become rows; format is empty where a feed publishes v1 rows, the others where they were not given.
ALTER TABLE feeds ADD COLUMN format text NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN mapping text NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN status_url text NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN time_zone text NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN charger_network text NOT NULL DEFAULT '';
-- Items of the last good document that became no row, and why, as JSON.
ALTER TABLE feeds ADD COLUMN last_skipped integer NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN last_skips text NOT NULL DEFAULT '';
-- What the last good poll learned for conditional requests, as JSON.
ALTER TABLE feeds ADD COLUMN validators text NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN skipped integer NOT NULL DEFAULT 0;
