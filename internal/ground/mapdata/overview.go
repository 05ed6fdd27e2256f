package mapdata

import "wayside/internal/ground/geo"

// Overview summarises the entities of an area by the tiles of one level.
type Overview struct {
	Level    int // of the tiles: the requested one, or a coarser one
	Clusters []Cluster
	Count    int      // of entities, in all clusters
	Feeds    []FeedID // the feeds of these entities, at most MaxOverviewFeeds
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
