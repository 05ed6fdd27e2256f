-- How documents of another format become rows; format is empty where a feed publishes v1 rows, the others where they were not given.
ALTER TABLE feeds ADD COLUMN format TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN mapping TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN status_url TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN time_zone TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN charger_network TEXT NOT NULL DEFAULT '';
-- Items of the last good document that became no row, and why, as JSON.
ALTER TABLE feeds ADD COLUMN last_skipped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN last_skips TEXT NOT NULL DEFAULT '';
-- What the last good poll learned for conditional requests, as JSON.
ALTER TABLE feeds ADD COLUMN validators TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;
