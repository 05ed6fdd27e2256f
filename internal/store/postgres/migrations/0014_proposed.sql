-- Words of a published feed that wait for a review, as JSON; empty: none.
ALTER TABLE feeds ADD COLUMN proposed text NOT NULL DEFAULT '';

-- As it was, without the feeds that somebody deactivated, and without the persistent entities of those that 20 failures
-- deactivated once seven days have passed since the last success.
CREATE OR REPLACE VIEW wayside_entities AS
SELECT 'feed:' || e.feed_id || ':v1:'
           || translate(encode(convert_to(e.external_id, 'UTF8'), 'base64'), E'+/=\n', '-_') AS id, -- as the API's
       e.feed_id,
       e.external_id,
       f.layer_slug                                                                      AS layer,
       f.name                                                                            AS feed_name,
       f.attribution,
       e.kind,
       e.network,
       e.properties::json                                                                AS properties,
       to_timestamp(e.first_seen_at / 1000.0)                                            AS first_seen_at,
       to_timestamp(COALESCE(e.seen_at, f.snapshot_at) / 1000.0)                         AS last_seen_at,
       to_timestamp(e.changed_at / 1000.0)                                               AS changed_at,
       CASE WHEN e.lifetime_ms > 0
            THEN to_timestamp((COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms) / 1000.0) END AS expires_at,
       e.geom,
       f.licence
FROM entities AS e
JOIN feeds AS f ON f.id = e.feed_id
WHERE f.visibility = 'public' AND f.review_state = 'approved'
  AND (f.active OR f.consecutive_failures >= 20)
  AND (e.lifetime_ms > 0 OR f.active OR f.snapshot_at + 604800000 > extract(epoch FROM now()) * 1000)
  AND (e.lifetime_ms = 0 OR COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms > extract(epoch FROM now()) * 1000);
