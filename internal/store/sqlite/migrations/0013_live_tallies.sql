-- Replicas read the votes on live incidents by kind: those on kinds that live for hours are not read for months.
CREATE INDEX voted_incidents_by_kind ON voted (kind, changed_at) WHERE source = 'incidents';
