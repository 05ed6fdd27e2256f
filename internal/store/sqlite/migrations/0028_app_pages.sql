-- What an approved version's page was when a curator approved it, since when it is another one, and when it is looked at next.
ALTER TABLE app_versions ADD COLUMN page_digest TEXT NOT NULL DEFAULT ''; -- empty: not known
ALTER TABLE app_versions ADD COLUMN page_changed_at INTEGER; -- NULL: it is as it was
ALTER TABLE app_versions ADD COLUMN page_due_at INTEGER; -- NULL: at any time
-- What is served of apps changed: nodes follow their catalogue by the log too.
ALTER TABLE changes ADD COLUMN apps INTEGER NOT NULL DEFAULT 0;
