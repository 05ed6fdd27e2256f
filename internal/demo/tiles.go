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

// MapAttribution is the attribution of the map.
const MapAttribution = "Demo town: not a real place"

// WriteMap writes the town's map as a PMTiles archive. It returns the error of w.
func WriteMap(w io.Writer) error {
	p := newPlan()
	south, west := place(spot{riverWest, -1500})
	north, east := place(spot{riverEast, 9500})
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
	fields := map[string]string{"kind": "String"}
	return basemap.Write(w, basemap.Plan{
		Type: basemap.MVT, Name: "Demo town", Attribution: MapAttribution,
		Bounds: basemap.Bounds{West: west, South: south, East: east, North: north}, Center: [3]float64{center.Lng, center.Lat, 14},
		Layers: []basemap.VectorLayer{
			{ID: "landuse", Fields: fields, MaxZoom: highestZoom},
			{ID: "water", Fields: fields, MaxZoom: highestZoom},
			{ID: "roads", Fields: map[string]string{"kind": "String", "kind_detail": "String", "name": "String"}, MaxZoom: highestZoom},
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
	ground, water, roads := newTileLayer("landuse"), newTileLayer("water"), newTileLayer("roads")
	fill := func(layer *tileLayer, areas []area) {
		for _, a := range areas {
			var tool pen
			tool.draw(clockwise(clipRing(onTile(a.outline))), true)
			layer.add(polygonGeometry, tool.commands, tag{"kind", a.kind})
		}
	}
	fill(ground, p.ground)
	fill(water, p.water)
	for i := range p.roads {
		r := &p.roads[i]
		if z < lowestFor(r.class) {
			continue
		}
		var tool pen
		for _, part := range clipLine(onTile(r.line)) {
			tool.draw(part, false)
		}
		roads.add(lineGeometry, tool.commands, tag{"kind", r.class.kind}, tag{"kind_detail", r.class.detail}, tag{"name", r.name})
	}
	return roads.appendTo(water.appendTo(ground.appendTo(nil)))
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
