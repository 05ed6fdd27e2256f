-- What drivers chose for the map. NULL: not chosen.
CREATE TABLE preferences (
    account     uuid NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    units       text,
    theme       text,
    language    text,
    density     double precision,
    tones       boolean,
    lead        double precision,
    sources_off text[],
    kinds_off   text[],
    networks    text[]
);
