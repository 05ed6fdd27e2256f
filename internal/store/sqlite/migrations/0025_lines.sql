-- What a bridge gives beside a row: when the entity ends, and its line as well-known binary. NULL: none.
ALTER TABLE entities ADD COLUMN ends_at INTEGER;
ALTER TABLE entities ADD COLUMN line BLOB; -- last: what is behind a long value is slow to read
