-- Whether two accounts that vote alike are two people is told by their newest votes that count: of an account that voted a million
-- times, no more than those are read.
CREATE INDEX votes_by_act ON votes (account, at) WHERE account IS NOT NULL AND trusted;
