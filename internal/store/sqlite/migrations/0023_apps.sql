-- Apps: a panel beside the map (D16). What a developer submitted is one JSON document a version: nothing looks into it here.
CREATE TABLE apps (
    id             BLOB    NOT NULL PRIMARY KEY,
    slug           TEXT    NOT NULL UNIQUE,
    owner          BLOB    REFERENCES accounts (id) ON DELETE SET NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    suspended_at   INTEGER, -- NULL: it is not suspended
    revision       INTEGER NOT NULL DEFAULT 1, -- grows with each change; nodes compare the sum with that of their catalogue
    suspended_note TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX apps_by_owner ON apps (owner);

CREATE TABLE app_versions (
    app          BLOB    NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    number       INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    fields       TEXT    NOT NULL,
    report       TEXT    NOT NULL DEFAULT '', -- what the app bench saw, as JSON
    note         TEXT    NOT NULL DEFAULT '',
    submitted_at INTEGER NOT NULL,
    decided_at   INTEGER, -- NULL: not yet
    PRIMARY KEY (app, number)
) STRICT;

CREATE INDEX app_versions_pending ON app_versions (submitted_at) WHERE state = 'pending';

CREATE TABLE app_installs (
    account      BLOB    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    app          BLOB    NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    config       BLOB    NOT NULL, -- sealed: it may hold secrets
    hidden       INTEGER NOT NULL DEFAULT 0,
    installed_at INTEGER NOT NULL,
    PRIMARY KEY (account, app)
) STRICT;

CREATE INDEX app_installs_by_app ON app_installs (app);

-- Icons as they are served, under the names that versions have in their fields.
CREATE TABLE app_icons (
    app  BLOB NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    name TEXT NOT NULL, -- a hash of the image
    png  BLOB NOT NULL,
    PRIMARY KEY (app, name)
) STRICT;

ALTER TABLE accounts ADD COLUMN public_name TEXT NOT NULL DEFAULT ''; -- of a developer of apps, in the catalogue
