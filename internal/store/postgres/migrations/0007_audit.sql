-- Through which door something was done, whose it was, and what a feed said when it was decided on.
ALTER TABLE audit ADD COLUMN via text NOT NULL DEFAULT ''; -- page, api, command_line, service; empty: before this was kept
ALTER TABLE audit ADD COLUMN owner uuid; -- NULL: the actor's, or not known
ALTER TABLE audit ADD COLUMN reviewed text NOT NULL DEFAULT ''; -- a JSON object while the feed is there; empty: none

CREATE INDEX audit_by_subject ON audit (subject, id);
CREATE INDEX audit_by_actor ON audit (actor, id);
CREATE INDEX audit_by_owner ON audit (owner, id);
CREATE INDEX audit_by_action ON audit (action, id);
CREATE INDEX audit_by_age ON audit (at) WHERE reviewed = '';
CREATE INDEX feeds_pending ON feeds (created_at) WHERE review_state = 'pending';
