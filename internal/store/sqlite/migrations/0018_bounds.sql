-- What feeds and accounts store, so that its bounds cost no count. Maintained with the entities.
ALTER TABLE feeds ADD COLUMN stored_entities INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0; -- of external ids and properties
ALTER TABLE feeds ADD COLUMN approved_once INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0; -- of all its feeds

UPDATE feeds SET (stored_entities, stored_bytes) =
    (SELECT COUNT(*), COALESCE(SUM(octet_length(external_id) + octet_length(properties)), 0) FROM entities WHERE feed_id = feeds.id);
UPDATE feeds SET approved_once = 1 WHERE review_state = 'approved'
    OR lower(hex(id)) IN (SELECT replace(subject, '-', '') FROM audit WHERE action = 'feed.approve');
UPDATE accounts SET stored_bytes = (SELECT COALESCE(SUM(f.stored_bytes), 0) FROM feeds AS f WHERE f.owner = accounts.id);
