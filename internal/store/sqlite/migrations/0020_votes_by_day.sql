-- The owner's page counts the votes on a feed by days: without this index, each count reads all votes on the feed.
CREATE INDEX votes_by_day ON votes (source, at, vote);
