package demo

import (
	"io"
	"math"
	"slices"

	"wayside/internal/basemap"
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
		x0, y0 := mercator(z, north, west)
		x1, y1 := mercator(z, south, east)
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

// mercator returns the fractional tile coordinates of a point at a zoom.
func mercator(z int, lat, lng float64) (x, y float64) {
	side := float64(int(1) << z)
	phi := lat * math.Pi / 180
	return (lng + 180) / 360 * side, (1 - math.Log(math.Tan(phi)+1/math.Cos(phi))/math.Pi) / 2 * side
}

// lowestFor returns the lowest zoom whose tiles contain roads of a class.
func lowestFor(c class) int {
	switch c {
	case highway, primary:
		return lowestZoom
	case second:
		return lowestZoom + 1
	default:
		return lowestZoom + 2
	}
}

// tile encodes one tile; nil if it is empty.
func (p *plan) tile(z, x, y int) []byte {
	onTile := func(line []spot) []pixel {
		out := make([]pixel, len(line))
		for i, s := range line {
			lat, lng := place(s)
			mx, my := mercator(z, lat, lng)
			out[i] = pixel{(mx - float64(x)) * tileExtent, (my - float64(y)) * tileExtent}
		}
		return out
	}
	var tile []byte
	fill := func(layer *tileLayer, areas []area) {
		for _, a := range areas {
			var tool pen
			tool.draw(clockwise(clipRing(onTile(a.outline))), true)
			layer.add(polygonGeometry, tool.commands, tag{"kind", a.kind})
		}
	}
	write := func(layer *tileLayer, l label, member string) {
		var tool pen
		tool.dot(onTile([]spot{l.at})[0])
		layer.add(pointGeometry, tool.commands, tag{"kind", l.kind}, tag{"kind_detail", l.detail}, tag{member, l.name})
	}
	trace := func(layer *tileLayer, line []spot, tags ...tag) {
		var tool pen
		for _, part := range clipLine(onTile(line)) {
			tool.draw(part, false)
		}
		layer.add(lineGeometry, tool.commands, tags...)
	}
	earth, ground, water := newTileLayer("earth"), newTileLayer("landuse"), newTileLayer("water")
	roads, named, buildings := newTileLayer("roads"), newTileLayer("places"), newTileLayer("buildings")
	fill(earth, []area{{"earth", mapEdge()}})
	fill(ground, p.ground)
	fill(water, p.water)
	trace(water, riverLine(), tag{"kind", "river"}, tag{"name", riverName})
	write(water, lake, "name")
	for i := range p.roads {
		r := &p.roads[i]
		if z >= lowestFor(r.class) {
			trace(roads, r.line, tag{"kind", r.class.kind}, tag{"kind_detail", r.class.detail}, tag{"name", r.name}, tag{"ref", roadNumbers[r.name]})
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
	for _, layer := range []*tileLayer{earth, ground, water, roads, named, buildings} {
		tile = layer.appendTo(tile)
	}
	return tile
}

// mapEdge is the outline of the map.
func mapEdge() []spot {
	return []spot{{riverWest, mapSouth}, {riverEast, mapSouth}, {riverEast, mapNorth}, {riverWest, mapNorth}}
}

// clockwise orients a ring as the format requires for outer rings: clockwise, with y pointing down.
func clockwise(ring []pixel) []pixel {
	sum := 0.0
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += a.x*b.y - b.x*a.y
	}
	if sum < 0 {
		slices.Reverse(ring)
	}
	return ring
}
