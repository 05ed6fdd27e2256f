package mapdata

import "wayside/internal/geo"

// Overview is what an area contains, by the tiles of one level.
type Overview struct {
	Level    int // of the tiles: the one asked for, or a coarser one
	Clusters []Cluster
	Count    int      // of entities, in all clusters
	Feeds    []FeedID // the feeds that they come from, MaxOverviewFeeds at most
}

// MaxOverviewFeeds bounds the feeds that an overview names.
const MaxOverviewFeeds = 100

// Cluster is the entities that are shown in one tile.
type Cluster struct {
	X, Y  uint32 // of the tile
	Count int
	Kind  Kind      // the one of the highest gravity
	Point geo.Point // their centroid, to a 256th of the tile
}
