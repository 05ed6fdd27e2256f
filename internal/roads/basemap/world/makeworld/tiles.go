package main

import (
	"io"
	"math/bits"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/mvt"
)

// highestZoom is the highest zoom of the tiles; browsers draw them larger beyond it.
const highestZoom = 4

// smallestPlace is the minimum population of a place that is not a capital.
const smallestPlace = 200_000

// placesFrom is the minimum population of a place, by zoom.
var placesFrom = [highestZoom + 1]int{1 << 40, 1 << 40, 6_000_000, 2_000_000, smallestPlace}

// pixels is the number of units of a tile in a pixel on the screen.
const pixels = mvt.Extent / 512

// rounding returns the unit to which positions are rounded, in units of a tile: half of a pixel, or less at the zoom
// whose tiles are drawn larger.
func rounding(z int) int {
	if z == highestZoom {
		return pixels / 4
	}
	return pixels / 2
}

// languages are the languages of the page for cars, for the names of countries.
var languages = []language.Tag{language.German, language.French, language.Dutch, language.Spanish, language.Italian}

// named is the name of a country or place on the map.
type named struct {
	at      mvt.Pixel // in shares of the world's width
	lowest  int       // zoom
	country bool
	tags    []mvt.Tag
}

// write writes the archive.
func write(w io.Writer, a *atlas, places []place) error {
	names := append(countryNames(a), placeNames(places)...)
	var tiles []basemap.Tile
	for z := 0; z <= highestZoom; z++ {
		tiles = append(tiles, a.tiles(z, names)...)
	}
	none, named := map[string]string{}, map[string]string{"name": "String", "rank": "Number"}
	return basemap.Write(w, basemap.Plan{
		Type: basemap.MVT, Name: "World", Attribution: "Natural Earth · GeoNames (CC BY 4.0)",
		Bounds: basemap.Bounds{West: -180, South: -85.05, East: 180, North: 85.05}, Center: [3]float64{10, 30, 1},
		Layers: []basemap.VectorLayer{
			{ID: "earth", Fields: none, MaxZoom: highestZoom},
			{ID: "borders", Fields: none, MaxZoom: highestZoom},
			{ID: "countries", Fields: named, MaxZoom: highestZoom},
			{ID: "places", Fields: named, MaxZoom: highestZoom},
		},
	}, tiles)
}

// countryNames returns the names of countries; large countries are named from lower zooms on.
func countryNames(a *atlas) []named {
	var out []named
	for _, c := range a.countries {
		at, area := c.middle(a.arcs)
		lowest := 1
		for limit := 0.002; area < limit && lowest < highestZoom; lowest++ {
			limit /= 5
		}
		n := named{at: at, lowest: lowest, country: true, tags: []mvt.Tag{{Name: "name", Text: c.name}, {Name: "rank", Number: lowest}}}
		for _, l := range languages {
			if translated := translate(c, l); translated != "" && translated != c.name {
				n.tags = append(n.tags, mvt.Tag{Name: "name:" + l.String(), Text: translated})
			}
		}
		out = append(out, n)
	}
	return out
}

// translate returns the name of a country in a language, or "" if it is unknown.
func translate(c country, l language.Tag) string {
	number := 0
	for _, digit := range c.number {
		number = number*10 + int(digit-'0')
	}
	region, err := language.EncodeM49(number)
	if c.number == "" || err != nil {
		return ""
	}
	return display.Regions(l).Name(region)
}

// placeNames returns the names of places; large places are named from lower zooms on.
func placeNames(places []place) []named {
	const capitalsFrom, largest = 3, 24
	var out []named
	for _, p := range places {
		lowest := highestZoom
		for lowest > 0 && p.population >= placesFrom[lowest-1] {
			lowest--
		}
		if p.capital {
			lowest = min(lowest, capitalsFrom)
		}
		out = append(out, named{at: project(p.lat, p.lng), lowest: lowest, tags: []mvt.Tag{
			{Name: "name", Text: p.name}, {Name: "rank", Number: largest - bits.Len(uint(p.population/1000))},
		}})
	}
	return out
}

// tiles makes the tiles of a zoom that are not empty.
func (a *atlas) tiles(z int, names []named) []basemap.Tile {
	side := 1 << z
	scale := float64(side) * mvt.Extent
	detail, islands := 1.4, 4.0 // in pixels and in square pixels
	if z == highestZoom {
		detail, islands = 0.5, 0.25 // because browsers draw these tiles larger
	}
	arcs, smallest := a.simplified(detail*pixels/scale), islands*pixels*pixels/(scale*scale)
	var land [][][]mvt.Pixel
	for _, p := range a.land {
		var rings [][]mvt.Pixel
		for i, list := range p {
			if r := ring(arcs, list); i == 0 || area(r) > smallest {
				rings = append(rings, r)
			}
		}
		if area(rings[0]) > smallest {
			land = append(land, around(rings)...)
		}
	}
	var borders [][]mvt.Pixel
	for i, arc := range arcs {
		if a.shared[i] {
			for _, lines := range around([][]mvt.Pixel{arc}) {
				borders = append(borders, lines...)
			}
		}
	}
	var out []basemap.Tile
	for x := range side {
		for y := range side {
			if data := tile(z, x, y, land, borders, names); len(data) > 0 {
				out = append(out, basemap.Tile{Z: uint8(z), X: uint32(x), Y: uint32(y), Data: data})
			}
		}
	}
	return out
}

// around returns lines that cross the antimeridian on both sides of the map, and others unchanged.
func around(lines [][]mvt.Pixel) [][][]mvt.Pixel {
	out := [][][]mvt.Pixel{lines}
	for _, shift := range []float64{-1, 1} {
		var moved [][]mvt.Pixel
		meets := false
		for _, line := range lines {
			var other []mvt.Pixel
			for _, p := range line {
				p.X += shift
				meets = meets || p.X > 0 && p.X < 1
				other = append(other, p)
			}
			moved = append(moved, other)
		}
		if meets {
			out = append(out, moved)
		}
	}
	return out
}

// tile encodes one tile, or returns nil if it is empty.
func tile(z, x, y int, land [][][]mvt.Pixel, borders [][]mvt.Pixel, names []named) []byte {
	scale := float64(int(1)<<z) * mvt.Extent
	here := func(p mvt.Pixel) mvt.Pixel {
		return mvt.Pixel{X: p.X*scale - float64(x*mvt.Extent), Y: p.Y*scale - float64(y*mvt.Extent)}
	}
	onTile := func(line []mvt.Pixel) []mvt.Pixel {
		out := make([]mvt.Pixel, len(line))
		for i, p := range line {
			out[i] = here(p)
		}
		return out
	}
	rounded := rounding(z)
	earth, border := mvt.NewCoarseLayer("earth", rounded), mvt.NewCoarseLayer("borders", rounded)
	countries, places := mvt.NewCoarseLayer("countries", rounded), mvt.NewCoarseLayer("places", rounded)
	var areas [][][]mvt.Pixel
	for _, rings := range land {
		var area [][]mvt.Pixel
		for _, r := range rings {
			area = append(area, onTile(r))
		}
		areas = append(areas, area)
	}
	earth.Polygons(areas)
	var lines [][]mvt.Pixel
	for _, line := range borders {
		lines = append(lines, onTile(line))
	}
	border.Lines(lines)
	for _, n := range names {
		switch {
		case z < n.lowest:
		case n.country:
			countries.Point(here(n.at), n.tags...)
		default:
			places.Point(here(n.at), n.tags...)
		}
	}
	var out []byte
	for _, layer := range []*mvt.Layer{earth, border, countries, places} {
		out = layer.AppendTo(out)
	}
	return out
}
