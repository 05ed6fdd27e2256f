-- What feeds and accounts store, so that its bounds cost no count. Maintained with the entities.
ALTER TABLE feeds ADD COLUMN stored_entities bigint NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0; -- of external ids and properties
ALTER TABLE feeds ADD COLUMN approved_once boolean NOT NULL DEFAULT false;
ALTER TABLE accounts ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0; -- of all its feeds

UPDATE feeds SET stored_entities = held.entities, stored_bytes = held.bytes
FROM (SELECT feed_id, COUNT(*) AS entities, SUM(octet_length(external_id) + octet_length(properties)) AS bytes FROM entities GROUP BY feed_id) AS held
WHERE held.feed_id = feeds.id;
UPDATE feeds SET approved_once = true WHERE review_state = 'approved'
    OR id::text IN (SELECT subject FROM audit WHERE action = 'feed.approve');
UPDATE accounts SET stored_bytes = (SELECT COALESCE(SUM(f.stored_bytes), 0) FROM feeds AS f WHERE f.owner = accounts.id);
