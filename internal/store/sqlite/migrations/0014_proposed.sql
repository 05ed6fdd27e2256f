-- Words of a published feed that wait for a review, as JSON; empty: none.
ALTER TABLE feeds ADD COLUMN proposed TEXT NOT NULL DEFAULT '';
