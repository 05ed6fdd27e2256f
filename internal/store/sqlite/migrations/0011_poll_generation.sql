-- Raised by each edit of what a poll depends on: the outcome of a poll that began before the edit is not recorded.
ALTER TABLE feeds ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;

-- Pruning runs every minute under the write lock: no statement of it may scan a table.
CREATE INDEX sessions_by_use ON sessions (seen_at);
CREATE INDEX sessions_by_age ON sessions (created_at);
CREATE INDEX sign_ins_by_age ON sign_ins (created_at);
CREATE INDEX pairings_by_end ON pairings (expires_at);
CREATE INDEX rejections_by_age ON rejections (at);

-- A node that has read all tallies asks for those that changed since.
CREATE INDEX voted_by_change ON voted (changed_at);
