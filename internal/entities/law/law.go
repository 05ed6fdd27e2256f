package law

import (
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Law is a set of areas. It does not change, and may be used from many goroutines. A nil Law has no areas.
type Law struct {
	areas  []area
	shapes []shape
	cells  map[geo.Cell][]int32 // shapes by the cells that their bounds touch
	large  []int32              // shapes whose bounds touch too many cells
	widest float64              // metres
	kinds  mapdata.KindSet
}

// area holds the rules of one feature.
type area struct {
	name string
	hide mapdata.KindSet
	zone float64 // metres: the width of cameras' zones; 0: cameras are shown at their exact position
}

// Areas returns the number of areas.
func (l *Law) Areas() int {
	if l == nil {
		return 0
	}
	return len(l.areas)
}

// Kinds returns the kinds that any area hides or shows as zones.
func (l *Law) Kinds() mapdata.KindSet {
	if l == nil {
		return 0
	}
	return l.kinds
}

// Widest returns the width of the widest zones in metres, or 0 if there are none.
func (l *Law) Widest() float64 {
	if l == nil {
		return 0
	}
	return l.widest
}

// Drift returns the largest distance, in metres, from its position at which a camera may be shown anywhere. A circle
// that is watched for changes must grow by it. It is 0 if there are no zones.
func (l *Law) Drift() float64 { return maxDrift * l.Widest() }

// View is the part of a law that concerns a circle. The zero value concerns nothing.
type View struct {
	law    *Law
	shapes []int32
	kinds  mapdata.KindSet
	hidden mapdata.KindSet // of these
	widest float64
}

// Near sets v to the rules that may affect what is shown in a circle; the radius is in metres. v reuses its memory.
func (l *Law) Near(center geo.Point, radius float64, v *View) {
	v.law, v.shapes, v.kinds, v.hidden, v.widest = l, v.shapes[:0], 0, 0, 0
	if l == nil {
		return
	}
	// A camera outside the circle may be shown inside, as a zone.
	b := geo.Circle{Center: center, Radius: radius + maxDrift*l.widest}.Box()
	v.shapes = l.touching(b, v.shapes)
	for _, i := range v.shapes {
		a := &l.areas[l.shapes[i].area]
		v.hidden |= a.hide
		if a.zone > 0 {
			v.widest = math.Max(v.widest, a.zone)
		}
	}
	v.kinds = v.hidden
	if v.widest > 0 {
		v.kinds |= mapdata.CameraKinds()
	}
}

// Kinds returns the kinds that the view may hide or show as zones.
func (v *View) Kinds() mapdata.KindSet { return v.kinds }

// Hidden returns the kinds that the view may hide.
func (v *View) Hidden() mapdata.KindSet { return v.hidden }

// HiddenAt returns the kinds that are hidden at a point.
func (v *View) HiddenAt(p geo.Point) mapdata.KindSet {
	var hidden mapdata.KindSet
	for _, i := range v.shapes {
		s := &v.law.shapes[i]
		if a := &v.law.areas[s.area]; a.hide&^hidden != 0 && s.contains(p) {
			hidden |= a.hide
		}
	}
	return hidden
}

// Drift returns the maximum distance from its position at which a camera may be shown, in metres; 0: there are no
// zones.
func (v *View) Drift() float64 { return maxDrift * v.widest }

// Verdict is how an entity is shown.
type Verdict struct {
	Hidden bool
	Zone   float64 // metres: the width of the zone that is shown; 0: the exact position
}

// Judge decides how an entity of a kind at a point is shown. It is hidden if any area that contains the point hides its
// kind. Of several areas that show cameras as zones, the one with the narrowest zones applies, such as a city's in a country.
func (v *View) Judge(p geo.Point, k mapdata.Kind) Verdict {
	var verdict Verdict
	if !v.kinds.Has(k) {
		return verdict
	}
	camera := k.Camera()
	for _, i := range v.shapes {
		s := &v.law.shapes[i]
		a := &v.law.areas[s.area]
		zone := camera && a.zone > 0 && (verdict.Zone == 0 || a.zone < verdict.Zone)
		if !zone && !a.hide.Has(k) || !s.contains(p) {
			continue
		}
		if a.hide.Has(k) {
			return Verdict{Hidden: true}
		}
		verdict.Zone = a.zone
	}
	return verdict
}

// Judge decides how an entity of a kind at a point is shown; see View.Judge.
func (l *Law) Judge(p geo.Point, k mapdata.Kind) Verdict {
	var v View
	l.Near(p, 0, &v)
	return v.Judge(p, k)
}

// grid is the spatial index of the shapes.
var grid = geo.Grid{Height: 1}

// maxCells is the maximum number of cells of an indexed shape (France is indexed); larger shapes are checked in every read.
const maxCells = 1024

// buildIndex indexes the shapes by the cells that they intersect.
func (l *Law) buildIndex() {
	l.cells = make(map[geo.Cell][]int32)
	for i := range l.shapes {
		b := &l.shapes[i].bounds
		if (b.North-b.South+2)*(b.East-b.West+2) > maxCells {
			l.large = append(l.large, int32(i))
			continue
		}
		for c := range grid.Cells(*b) {
			l.cells[c] = append(l.cells[c], int32(i))
		}
	}
}

// touching appends the shapes whose bounds intersect b, each once.
func (l *Law) touching(b geo.Box, dst []int32) []int32 {
	for _, i := range l.large {
		if l.shapes[i].bounds.Meets(b) {
			dst = append(dst, i)
		}
	}
	from := len(dst)
	for c := range grid.Cells(b) {
		for _, i := range l.cells[c] {
			if l.shapes[i].bounds.Meets(b) {
				dst = append(dst, i)
			}
		}
	}
	slices.Sort(dst[from:])
	return append(dst[:from], slices.Compact(dst[from:])...)
}
