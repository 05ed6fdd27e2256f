-- What a bridge gives beside a row: when the entity ends, and its line as well-known binary. NULL: none.
ALTER TABLE entities ADD COLUMN ends_at bigint;
ALTER TABLE entities ADD COLUMN line bytea;

-- For GIS tools that ask for the lines of an area. Only entities with a line are in it.
CREATE INDEX entities_by_line ON entities USING gist (ST_GeomFromWKB(line, 4326)) WHERE line IS NOT NULL;

-- As it was, without what has ended, and with the line of what has one.
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
       to_timestamp(LEAST(
           CASE WHEN e.lifetime_ms > 0 THEN COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms END, e.ends_at) / 1000.0) AS expires_at,
       e.geom,
       f.licence,
       ST_GeomFromWKB(e.line, 4326)                                                      AS geom_line
FROM entities AS e
JOIN feeds AS f ON f.id = e.feed_id
WHERE f.visibility = 'public' AND f.review_state = 'approved'
  AND (f.active OR f.consecutive_failures >= 20)
  AND (e.lifetime_ms > 0 OR f.active OR f.snapshot_at + 604800000 > extract(epoch FROM now()) * 1000)
  AND (e.lifetime_ms = 0 OR COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms > extract(epoch FROM now()) * 1000)
  AND (e.ends_at IS NULL OR e.ends_at > extract(epoch FROM now()) * 1000);
