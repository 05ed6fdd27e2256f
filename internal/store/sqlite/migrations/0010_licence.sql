-- Under which the data may be used: an SPDX identifier, or any name; empty: not stated.
ALTER TABLE feeds ADD COLUMN licence TEXT NOT NULL DEFAULT '';
