package geo

import "math"

// Mercator is a place on the square map of the world that tiles are cut from (Web Mercator), in 2^-32 of the map's side: X
// eastward from the antimeridian, Y southward from the top. Places beyond the map's latitudes, 85.05°, are on its edge.
type Mercator struct{ X, Y uint32 }

// MaxTileLevel is the finest level of tiles.
const MaxTileLevel = 24

const mapSide = 1 << 32

// Mercator returns the vector's place on the map. Longitudes 180 and -180 are one place.
func (v Vector) Mercator() Mercator {
	x := (math.Atan2(v.Y, v.X)/(2*math.Pi) + 0.5) * mapSide
	y := (0.5 - math.Atanh(v.Z)/(2*math.Pi)) * mapSide
	return Mercator{X: uint32(uint64(x)), Y: uint32(max(0, min(y, mapSide-1)))}
}

// Tile returns the tile of a level that contains the place.
func (m Mercator) Tile(level int) (x, y uint32) { return m.X >> (32 - level), m.Y >> (32 - level) }

// PointOnMap returns the point at x, y on a map with sides of one.
func PointOnMap(x, y float64) Point {
	return Point{Lat: math.Atan(math.Sinh((0.5-y)*2*math.Pi)) / radian, Lng: 360*(x-math.Floor(x)) - 180}
}

// Tiles are the tiles of one level that a box touches: Columns columns from X on, which wrap at the antimeridian.
type Tiles struct {
	Level       int
	X, Columns  uint32
	Top, Bottom uint32
}

// Tiles returns the tiles that the box touches.
func (b Box) Tiles(level int) Tiles {
	n := int64(1) << level
	t := Tiles{Level: level}
	_, t.Top = Point{Lat: b.North}.Vector().Mercator().Tile(level)
	_, t.Bottom = Point{Lat: b.South}.Vector().Mercator().Tile(level)
	west := int64(math.Floor((b.West + 180) / 360 * float64(n)))
	east := int64(math.Floor((b.East + 180) / 360 * float64(n)))
	t.Columns = uint32(min(east-west+1, n))
	if t.Columns < uint32(n) {
		t.X = uint32((west%n + n) % n)
	}
	return t
}

// Rows returns the number of rows of tiles.
func (t Tiles) Rows() uint32 { return t.Bottom - t.Top + 1 }

// Count returns the number of tiles.
func (t Tiles) Count() int { return int(t.Columns) * int(t.Rows()) }

// Finer returns the tiles of a finer level, 2^by times as narrow, that make up these tiles.
func (t Tiles) Finer(by int) Tiles {
	return Tiles{Level: t.Level + by, X: t.X << by, Columns: t.Columns << by, Top: t.Top << by, Bottom: (t.Bottom+1)<<by - 1}
}

// Box returns the box that the tiles fill. The first and the last row extend to the poles, to include places beyond the
// map.
func (t Tiles) Box() Box {
	side := float64(int(1) << t.Level)
	b := Box{South: -90, North: 90, West: float64(t.X)/side*360 - 180}
	b.East = b.West + float64(t.Columns)/side*360
	if t.Top > 0 {
		b.North = PointOnMap(0, float64(t.Top)/side).Lat
	}
	if t.Bottom+1 < 1<<t.Level {
		b.South = PointOnMap(0, float64(t.Bottom+1)/side).Lat
	}
	return b
}

// Position returns the number of a tile among these, row by row from the top. ok is false if the tile is not one of
// them.
func (t Tiles) Position(x, y uint32) (at int, ok bool) {
	column := (x - t.X) & (1<<t.Level - 1)
	if column >= t.Columns || y < t.Top || y > t.Bottom {
		return 0, false
	}
	return int(y-t.Top)*int(t.Columns) + int(column), true
}

// Grown returns the box with a margin of at least the given metres on each side.
func (b Box) Grown(metres float64) Box {
	b.South = math.Max(b.South-metres/EarthRadius/radian, -90)
	b.North = math.Min(b.North+metres/EarthRadius/radian, 90)
	narrowest := math.Cos(math.Max(math.Abs(b.South), math.Abs(b.North)) * radian)
	width := metres / EarthRadius / radian / math.Max(narrowest, 1e-15)
	if b.East-b.West+2*width >= 360 {
		b.West, b.East = -180, 180
		return b
	}
	b.West, b.East = b.West-width, b.East+width
	return b
}

// Contains reports whether a point lies in the box or on its edge.
func (b Box) Contains(p Point) bool {
	if p.Lat < b.South || p.Lat > b.North {
		return false
	}
	east := math.Mod(p.Lng-b.West, 360)
	if east < 0 {
		east += 360
	}
	return east <= b.East-b.West
}
