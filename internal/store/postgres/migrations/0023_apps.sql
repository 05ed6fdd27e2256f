-- Apps: a panel beside the map (D16). What a developer submitted is one JSON document a version: nothing looks into it here.
CREATE TABLE apps (
    id             uuid    NOT NULL PRIMARY KEY,
    slug           text    NOT NULL UNIQUE,
    owner          uuid    REFERENCES accounts (id) ON DELETE SET NULL,
    created_at     bigint  NOT NULL,
    updated_at     bigint  NOT NULL,
    suspended_at   bigint, -- NULL: it is not suspended
    revision       bigint  NOT NULL DEFAULT 1, -- grows with each change; nodes compare the sum with that of their catalogue
    suspended_note text    NOT NULL DEFAULT ''
);

CREATE INDEX apps_by_owner ON apps (owner);

CREATE TABLE app_versions (
    app          uuid    NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    number       bigint  NOT NULL,
    state        text    NOT NULL,
    fields       text    NOT NULL,
    report       text    NOT NULL DEFAULT '', -- what the app bench saw, as JSON
    note         text    NOT NULL DEFAULT '',
    submitted_at bigint  NOT NULL,
    decided_at   bigint, -- NULL: not yet
    PRIMARY KEY (app, number)
);

CREATE INDEX app_versions_pending ON app_versions (submitted_at) WHERE state = 'pending';

CREATE TABLE app_installs (
    account      uuid    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    app          uuid    NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    config       bytea   NOT NULL, -- sealed: it may hold secrets
    hidden       boolean NOT NULL DEFAULT false,
    installed_at bigint  NOT NULL,
    PRIMARY KEY (account, app)
);

CREATE INDEX app_installs_by_app ON app_installs (app);

-- Icons as they are served, under the names that versions have in their fields.
CREATE TABLE app_icons (
    app  uuid  NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    name text  NOT NULL, -- a hash of the image
    png  bytea NOT NULL,
    PRIMARY KEY (app, name)
);

ALTER TABLE accounts ADD COLUMN public_name text NOT NULL DEFAULT ''; -- of a developer of apps, in the catalogue
