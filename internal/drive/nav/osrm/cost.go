package osrm

import (
	"math"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
)

// Units for the number of routes that a request counts as against the limits (D15.23). One route is a way between two
// places with everything that the page for cars requests, which takes 0.2 to 1 ms of processor time in Monaco and Milan.
// The others were measured on the same extracts.
const (
	pairsOfRoute  = 100     // of a table: 0.14 to 0.45 ms
	legsOfRoute   = 4       // of a route over many places: 0.4 to 1.6 ms
	placesOfRoute = 20      // of a trace, near each other: 0.2 ms
	bytesOfRoute  = 1 << 17 // of an answer beyond the first ones: 2 ms, most of them to compress it
	// legsUnprepared is what a leg that is searched without preparation counts as, in addition to one for each ten
	// kilometres.
	legsUnprepared = 5
	maxCost        = 1 << 20 // so that no sum overflows
	// countedKilometres is the maximum length of a leg in the estimate of bytes. A country has fewer bytes for each
	// kilometre than a town, and a place outside the region only causes an error. The real size of a long answer is
	// counted once it exists (CostOfBytes).
	countedKilometres = 30
	maxKilometres     = 20_000 // of a leg, in a straight line
)

// Cost returns how many routes a request counts as against the limits, before any work is done on it.
func (r *Request) Cost() int {
	places := min(len(r.Places.Coordinates), nav.MaxTrace+1) // if there are more, nothing is searched
	cost := 1.0
	switch r.Service {
	case Nearest:
		return 1
	case Table:
		rows, columns := r.tableSize()
		return max(1, (min(rows*columns, nav.MaxPairs)+pairsOfRoute-1)/pairsOfRoute) // a larger table is refused
	case Match:
		// Each place is reached from all roads near the previous one, over all roads within the same distance: 1 to 3 ms
		// for a square kilometre.
		cost = float64(places) / placesOfRoute
		r.eachLeg(func(kilometres float64) { cost += kilometres * kilometres })
	case Route:
		cost += float64(max(0, places-2)/legsOfRoute) + float64(max(0, r.Alternatives)/2)
		if r.Unprepared {
			r.eachLeg(func(kilometres float64) { cost += legsUnprepared + kilometres/10 })
		}
	}
	cost += float64(max(0, r.expectedBytes(countedKilometres)-1) / bytesOfRoute)
	return int(max(1, min(math.Ceil(cost), maxCost)))
}

// CostOfBytes returns how many more routes an answer of the given size counts as than the request did.
func (r *Request) CostOfBytes(size int) int { return max(0, size/bytesOfRoute-r.Cost()) }

// eachLeg calls each with the length of each leg in kilometres, in a straight line. If there are more places than
// allowed, it only considers the first ones.
func (r *Request) eachLeg(each func(kilometres float64)) {
	p := r.Places.Coordinates
	for i := 1; i < min(len(p), nav.MaxTrace+1); i++ {
		if metres := geo.Distance(p[i-1], p[i]); metres >= 0 { // false for NaN
			each(metres / 1000)
		}
	}
}

func (r *Request) tableSize() (rows, columns int) {
	rows, columns = len(r.Sources), len(r.Destinations)
	if r.Sources == nil {
		rows = len(r.Places.Coordinates)
	}
	if r.Destinations == nil {
		columns = len(r.Places.Coordinates)
	}
	return rows, columns
}

// AnswerBytes estimates the size of the answer from the request, for reserving memory. It is between half and twice the
// real size for routes within and between towns (measured in Monaco and Milan).
func (r *Request) AnswerBytes() int { return r.expectedBytes(maxKilometres) }

// expectedBytes estimates the size of the answer, counting at most longest kilometres of each leg.
func (r *Request) expectedBytes(longest float64) int {
	const frame, perWaypoint, perPair, perNearest = 600, 130, 9, 150
	places := min(len(r.Places.Coordinates), nav.MaxPairs+1)
	switch r.Service {
	case Nearest:
		return frame + perNearest*min(r.Number, nav.MaxNearest)
	case Table:
		rows, columns := r.tableSize()
		tables := 1
		if r.Annotations&Duration != 0 && r.Annotations&Distance != 0 {
			tables = 2
		}
		return frame + perPair*tables*min(rows*columns, nav.MaxPairs) + perWaypoint*min(rows+columns, 2*nav.MaxPairs)
	case Route, Match:
	}
	fixed, perKilometre := r.legBytes()
	size := 0.0
	r.eachLeg(func(kilometres float64) { size += fixed + perKilometre*min(kilometres, longest) })
	if r.Service == Route && places == 2 {
		size *= 1 + float64(min(r.Alternatives, nav.MaxAlternatives))/2 // there are rarely as many alternatives as requested
	}
	return frame + perWaypoint*places + int(size)
}

// legBytes returns the bytes of a leg, and those of each kilometre of it in a straight line.
func (r *Request) legBytes() (fixed, perKilometre float64) {
	fixed, perKilometre = 250, 20
	add := func(asked bool, bytes, more float64) {
		if asked {
			fixed, perKilometre = fixed+bytes, perKilometre+more
		}
	}
	isLine := r.Overview == Full || r.Overview == ByLegs
	add(isLine, 200, 120)
	add(isLine && r.Geometries == GeoJSON, 1300, 600)
	add(r.Annotations != 0, 4000, 1200)
	add(r.Steps, 5500, 2000)
	add(r.Steps && r.Geometries == GeoJSON, 1200, 500)
	add(r.Steps && r.Banners, 4000, 900)
	add(r.Steps && r.Voice, 4000, 900)
	if r.Service == Match {
		fixed /= 8 // most places of a trace are on one road
	}
	return fixed, perKilometre
}
