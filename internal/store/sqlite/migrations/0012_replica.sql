-- Replicas read the attempts of all feeds that were recorded after a revision.
CREATE INDEX attempts_by_revision ON attempts (revision);
