-- The live cache, where incidents.mode is database (D8.9). Nothing in it says where a driver is. Unlogged: what a crash
-- takes is asked for again within seconds, nobody waits for a disk, and it gets into no archive of the log.
CREATE UNLOGGED TABLE live (
    key   text   NOT NULL PRIMARY KEY,
    value bytea  NOT NULL,
    until bigint NOT NULL -- it counts before this time
);

CREATE INDEX live_by_until ON live (until);
