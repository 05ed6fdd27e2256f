-- Votes count towards suppression from a while after their account's first sign-in (D9.8), by the time of the vote.
ALTER TABLE accounts ADD COLUMN first_sign_in_at bigint; -- NULL: it has never signed in
UPDATE accounts SET first_sign_in_at = created_at;

-- What was cast before this rule counted already.
ALTER TABLE votes ADD COLUMN trusted boolean NOT NULL DEFAULT true; -- whether it counts towards suppression
ALTER TABLE voted ADD COLUMN untrusted_confirms integer NOT NULL DEFAULT 0; -- of confirms, those that do not count towards suppression
ALTER TABLE voted ADD COLUMN untrusted_disputes integer NOT NULL DEFAULT 0; -- of disputes, likewise
