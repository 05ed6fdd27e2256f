package live

import (
	"fmt"
	"iter"
	"math"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// tileHeight is in degrees, about 11 km: a town is one value or four, and the widest circle of readers some hundred.
const tileHeight = 0.1

const bandCount = 1800

// tileID names a tile: a band of latitude, counted from the south pole, and a column in it, counted from the antimeridian.
type tileID struct{ band, column int32 }

// columns is how many tiles lie side by side in a band: as many as are about as wide as high at its middle.
func columns(band int32) int32 {
	middle := (float64(band)+0.5)*tileHeight - 90
	return max(1, int32(360/tileHeight*math.Cos(middle*(math.Pi/180))))
}

func bandOf(lat float64) int32 {
	return min(max(int32((lat+90)/tileHeight), 0), bandCount-1)
}

// tileOf gives the tile in which a valid point lies. Columns wrap, so that 180 and -180 are one place.
func tileOf(p geo.Point) tileID {
	band := bandOf(p.Lat)
	n := columns(band)
	return tileID{band, wrap(int32(math.Floor((p.Lng+180)/360*float64(n))), n)}
}

func wrap(column, n int32) int32 { return (column%n + n) % n }

// circle is an area, and the part of the grid that it may touch.
type circle struct {
	center      geo.Vector
	chord       float64 // the radius as a squared chord
	first, last int32   // bands
	lng         float64 // of the centre, in degrees
	half        float64 // width to either side in degrees of longitude; 180: all around
}

// slack widens the reach by a hair, in degrees, so that rounding never loses a pin on an edge.
const slack = 1e-7

// circleOf fails when there is no such circle, or it is larger than MaxRadius.
func circleOf(center geo.Point, radius float64) (circle, error) {
	if !center.Valid() || !(radius > 0 && radius <= MaxRadius) {
		return circle{}, fmt.Errorf("live: area: %w", mapdata.ErrMalformed)
	}
	angle := radius / geo.EarthRadius
	degrees := angle*(180/math.Pi) + slack
	c := circle{
		center: center.Vector(), chord: geo.ChordSquaredOf(radius),
		first: bandOf(center.Lat - degrees), last: bandOf(center.Lat + degrees),
		lng: center.Lng, half: 180,
	}
	if center.Lat+degrees >= 90 || center.Lat-degrees <= -90 {
		return c, nil // a pole lies inside: every longitude is near
	}
	if s := math.Sin(angle) / math.Cos(center.Lat*(math.Pi/180)); s < 1 {
		c.half = min(180, math.Asin(s)*(180/math.Pi)+slack)
	}
	return c, nil
}

func (c *circle) holds(v geo.Vector) bool { return c.center.ChordSquared(v) <= c.chord }

// tiles gives the tiles that the circle may touch, each once.
func (c *circle) tiles() iter.Seq[tileID] {
	return func(yield func(tileID) bool) {
		for band := c.first; band <= c.last; band++ {
			n := columns(band)
			first, count := c.columnsIn(n)
			for i := range count {
				if !yield(tileID{band, wrap(first+i, n)}) {
					return
				}
			}
		}
	}
}

// columnsIn gives the columns of a band of n within the circle: count of them from first on, wrapping at n.
func (c *circle) columnsIn(n int32) (first, count int32) {
	if c.half >= 180 {
		return 0, n
	}
	width := 360 / float64(n)
	west := int32(math.Floor((c.lng - c.half + 180) / width))
	east := int32(math.Floor((c.lng + c.half + 180) / width))
	if east-west+1 >= n {
		return 0, n
	}
	return wrap(west, n), east - west + 1
}
