package demo

import (
	"io"

	"wayside/internal/basemap"
	"wayside/internal/basemap/mvt"
)

// Zoom levels of the map.
const (
	lowestZoom  = 10
	highestZoom = 15
)

// The map's south and north edges, in metres from the town's corner.
const mapSouth, mapNorth = -1500.0, 9500.0

// MapAttribution is the attribution of the map.
const MapAttribution = "Demo town: not a real place"

// WriteMap writes the town's map as a PMTiles archive. It returns the error of w.
func WriteMap(w io.Writer) error {
	p := newPlan()
	p.number()
	south, west := place(spot{riverWest, mapSouth})
	north, east := place(spot{riverEast, mapNorth})
	var tiles []basemap.Tile
	for z := lowestZoom; z <= highestZoom; z++ {
		x0, y0 := mvt.Mercator(z, north, west)
		x1, y1 := mvt.Mercator(z, south, east)
		for x := int(x0); x <= int(x1); x++ {
			for y := int(y0); y <= int(y1); y++ {
				if data := p.tile(z, x, y); len(data) > 0 {
					tiles = append(tiles, basemap.Tile{Z: uint8(z), X: uint32(x), Y: uint32(y), Data: data})
				}
			}
		}
	}
	fields, named := map[string]string{"kind": "String"}, map[string]string{"kind": "String", "name": "String"}
	return basemap.Write(w, basemap.Plan{
		Type: basemap.MVT, Name: "Demo town", Attribution: MapAttribution,
		Bounds: basemap.Bounds{West: west, South: south, East: east, North: north}, Center: [3]float64{center.Lng, center.Lat, 14},
		Layers: []basemap.VectorLayer{
			{ID: "earth", Fields: fields, MaxZoom: highestZoom},
			{ID: "landuse", Fields: fields, MaxZoom: highestZoom},
			{ID: "water", Fields: named, MaxZoom: highestZoom},
			{ID: "roads", Fields: map[string]string{"kind": "String", "kind_detail": "String", "name": "String", "ref": "String"}, MaxZoom: highestZoom},
			{ID: "places", Fields: map[string]string{"kind": "String", "kind_detail": "String", "name": "String"}, MaxZoom: highestZoom},
			{ID: "buildings", Fields: map[string]string{"kind": "String", "addr_housenumber": "String"}, MinZoom: highestZoom, MaxZoom: highestZoom},
		},
	}, tiles)
}

// lowestFor returns the lowest zoom whose tiles contain roads of a class.
func lowestFor(c class) int {
	switch c {
	case highway, trunk, primary:
		return lowestZoom
	case second:
		return lowestZoom + 1
	default:
		return lowestZoom + 2
	}
}

// tile encodes one tile; nil if it is empty.
func (p *plan) tile(z, x, y int) []byte {
	onTile := func(line []spot) []mvt.Pixel {
		out := make([]mvt.Pixel, len(line))
		for i, s := range line {
			lat, lng := place(s)
			mx, my := mvt.Mercator(z, lat, lng)
			out[i] = mvt.Pixel{X: (mx - float64(x)) * mvt.Extent, Y: (my - float64(y)) * mvt.Extent}
		}
		return out
	}
	fill := func(layer *mvt.Layer, areas []area) {
		for _, a := range areas {
			rings := [][]mvt.Pixel{onTile(a.outline)}
			if a.island != nil {
				rings = append(rings, onTile(a.island))
			}
			layer.Polygon(rings, mvt.Tag{Name: "kind", Text: a.kind})
		}
	}
	write := func(layer *mvt.Layer, l label, member string) {
		layer.Point(onTile([]spot{l.at})[0], tags("kind", l.kind, "kind_detail", l.detail, member, l.name)...)
	}
	earth, ground, water := mvt.NewLayer("earth"), mvt.NewLayer("landuse"), mvt.NewLayer("water")
	roads, named, buildings := mvt.NewLayer("roads"), mvt.NewLayer("places"), mvt.NewLayer("buildings")
	fill(earth, []area{{"earth", mapEdge(), nil}})
	fill(ground, p.ground)
	fill(water, p.water)
	water.Line(onTile(riverLine()), tags("kind", "river", "name", riverName)...)
	write(water, lake, "name")
	for i := range p.roads {
		r := &p.roads[i]
		if z >= lowestFor(r.class) {
			roads.Line(onTile(r.line), tags("kind", r.class.kind, "kind_detail", r.class.detail, "name", r.name, "ref", roadNumbers[r.name])...)
		}
	}
	if z == highestZoom {
		for _, house := range p.houses[[2]int{x, y}] {
			write(buildings, house, "addr_housenumber")
		}
	}
	for _, l := range places {
		write(named, l, "name")
	}
	var tile []byte
	for _, layer := range []*mvt.Layer{earth, ground, water, roads, named, buildings} {
		tile = layer.AppendTo(tile)
	}
	return tile
}

// tags makes tags of pairs of a name and a text, without those whose text is empty.
func tags(pairs ...string) []mvt.Tag {
	var out []mvt.Tag
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, mvt.Tag{Name: pairs[i], Text: pairs[i+1]})
		}
	}
	return out
}

// mapEdge is the outline of the map.
func mapEdge() []spot {
	return []spot{{riverWest, mapSouth}, {riverEast, mapSouth}, {riverEast, mapNorth}, {riverWest, mapNorth}}
}
