package index

import (
	"cmp"
	"math"
	"sort"

	"wayside/internal/geo"
)

// bandHeight is a cell's height in degrees, about 2.2 km: measured best for radii of 1 to 5 km in towns.
const bandHeight = 0.02

const bandCount = int(180 / bandHeight)

// cell names one cell of the grid.
type cell struct{ band, col int32 }

// compare orders cells by band, then by column.
func (c cell) compare(o cell) int {
	return cmp.Or(cmp.Compare(c.band, o.band), cmp.Compare(c.col, o.col))
}

// columns is how many cells lie side by side in a band: as many as are about as wide as high at its middle.
func columns(band int32) int32 {
	middle := (float64(band)+0.5)*bandHeight - 90
	return max(1, int32(360/bandHeight*math.Cos(middle*(math.Pi/180))))
}

// bandOf gives the band of a latitude.
func bandOf(lat float64) int32 {
	return min(max(int32((lat+90)/bandHeight), 0), int32(bandCount-1))
}

// columnOf gives the column of a longitude among n; it wraps, so that 180 and -180 are one place.
func columnOf(lng float64, n int32) int32 {
	col := int32(math.Floor((lng + 180) / 360 * float64(n)))
	return ((col % n) + n) % n
}

// cellOf gives the cell in which a point lies.
func cellOf(p geo.Point) cell {
	band := bandOf(p.Lat)
	return cell{band, columnOf(p.Lng, columns(band))}
}

// northOf gives the first of a cell's entries, which are in this order, that lies farther north than z, the height above the
// equator's plane. Dense cells hold thousands, of which a search wants a strip. It looks first where the strip would begin if
// all lay evenly, and goes on from there in growing steps: in a large index each look is a wait for memory.
func northOf(entries []entry, z float64) int {
	n := len(entries)
	if n == 0 || entries[0].at.Z > z {
		return 0
	}
	south, north := entries[0].at.Z, entries[n-1].at.Z
	if north <= z {
		return n
	}
	at, step := int((z-south)/(north-south)*float64(n-1)), firstStep
	low, high := at, at
	if entries[at].at.Z > z {
		for low > 0 && entries[low].at.Z > z {
			low, high, step = max(0, low-step), low, 2*step
		}
	} else {
		for high < n-1 && entries[high].at.Z <= z {
			low, high, step = high, min(n-1, high+step), 2*step
		}
	}
	return low + sort.Search(high-low, func(i int) bool { return entries[low+i].at.Z > z })
}

// firstStep is how many entries northOf goes at first: some lines of memory.
const firstStep = 8

// reach is the part of the grid that a circle may touch.
type reach struct {
	first, last int32   // bands
	center      float64 // longitude in degrees
	halfWidth   float64 // in degrees of longitude; 180: all around
}

// slack widens a reach by a hair, in degrees, so that rounding never loses a point on an edge.
const slack = 1e-7

// reachOf bounds the circle of radius metres around p.
func reachOf(p geo.Point, radius float64) reach {
	angle := math.Min(radius/geo.EarthRadius, math.Pi)
	degrees := angle*(180/math.Pi) + slack
	r := reach{first: bandOf(p.Lat - degrees), last: bandOf(p.Lat + degrees), center: p.Lng, halfWidth: 180}
	if p.Lat+degrees >= 90 || p.Lat-degrees <= -90 {
		return r // a pole lies inside: every longitude is near
	}
	if s := math.Sin(angle) / math.Cos(p.Lat*(math.Pi/180)); s < 1 {
		r.halfWidth = math.Min(180, math.Asin(s)*(180/math.Pi)+slack)
	}
	return r
}

// columnsIn gives the columns of a band within the reach: from first on, count of them, wrapping at n.
func (r reach) columnsIn(n int32) (first, count int32) {
	if r.halfWidth >= 180 {
		return 0, n
	}
	width := 360 / float64(n)
	west := int32(math.Floor((r.center - r.halfWidth + 180) / width))
	east := int32(math.Floor((r.center + r.halfWidth + 180) / width))
	if east-west+1 >= n {
		return 0, n
	}
	return ((west % n) + n) % n, east - west + 1
}
