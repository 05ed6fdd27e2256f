package demo

import (
	"wayside/internal/ground/geo"
	"wayside/internal/roads/osmpbf"
)

// The map's south and north edges, in metres from the town's corner.
const mapSouth, mapNorth = -1500.0, 9500.0

// MapAttribution is the attribution of the map.
const MapAttribution = "Demo town: not a real place"

// mapBounds returns the edges of the map.
func mapBounds() *geo.Box {
	south, west := place(spot{riverWest, mapSouth})
	north, east := place(spot{riverEast, mapNorth})
	return &geo.Box{South: south, West: west, North: north, East: east}
}

// areaTags returns the tags of the plan's areas.
func areaTags(kind string) []osmpbf.Tag {
	switch kind {
	case "river", "lake":
		return pairs("natural", "water", "water", kind)
	case "park":
		return pairs("leisure", "park")
	}
	return pairs("landuse", kind)
}

// areas adds water and land use, and the middle of the river.
func (x *extract) areas() {
	for _, list := range [][]area{x.plan.ground, x.plan.water} {
		for _, a := range list {
			tags := areaTags(a.kind)
			if a.kind == "lake" {
				tags = append(tags, pairs("name", lakeName)...)
			}
			if a.island == nil {
				x.line(a.outline, true, tags...)
				continue
			}
			x.relations = append(x.relations, osmpbf.Relation{
				ID: int64(len(x.relations) + 1), Tags: append(tags, pairs("type", "multipolygon")...),
				Members: []osmpbf.Member{
					{Ref: x.line(a.outline, true), Role: "outer", Type: osmpbf.Ways}, {Ref: x.line(a.island, true), Role: "inner", Type: osmpbf.Ways},
				},
			})
		}
	}
	x.line(riverLine(), false, pairs("waterway", "river", "name", riverName)...)
}

// line adds a way of new nodes, closed or not, and returns its id.
func (x *extract) line(spots []spot, closed bool, tags ...osmpbf.Tag) int64 {
	way := osmpbf.Way{ID: int64(len(x.ways) + 1), Tags: tags}
	for _, s := range spots {
		way.Refs = append(way.Refs, x.node(s))
	}
	if closed {
		way.Refs = append(way.Refs, way.Refs[0])
	}
	x.ways = append(x.ways, way)
	return way.ID
}
