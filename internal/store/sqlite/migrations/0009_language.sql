-- What pages and letters are written in: en, de, fr; empty: not known. A letter's counts where its account has none.
ALTER TABLE accounts ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN language TEXT NOT NULL DEFAULT '';
