package navigation

import (
	"context"
	"strconv"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/http/httpapi"
	"wayside/internal/roads/geocode"
)

// Bounds of distances by road in place search.
const (
	maxRoadResults  = 5                      // results with a distance by road, the first ones
	maxRoadReach    = 100 * kilometre        // metres by air; farther results have none
	maxRoadDuration = 500 * time.Millisecond // after which results are answered without
)

// byRoad is the way to one result.
type byRoad struct {
	ok             bool
	metres, millis float64
}

// roadsTo returns the ways by road from a position to the first results. They count as one route, like a table of as many
// pairs. Where the caller has no route left, or the node no time, results have no distance by road: a search is not refused
// for it.
func (a *api) roadsTo(ctx context.Context, c *httpapi.Caller, from geo.Point, results []geocode.Result) (ways [maxRoadResults]byRoad) {
	if a.Navigation == nil || len(results) == 0 {
		return ways
	}
	q := nav.TableRequest{Places: nav.Places{Coordinates: []geo.Point{from}}, Sources: []int{0}, Scale: 1}
	var column [maxRoadResults]int // from 1 on; 0: the result is too far
	for i := range min(len(results), maxRoadResults) {
		if at := results[i].At.Point(); geo.Distance(from, at) <= maxRoadReach {
			q.Coordinates = append(q.Coordinates, at)
			column[i] = len(q.Coordinates) - 1
			q.Destinations = append(q.Destinations, column[i])
		}
	}
	if limit, key := a.RouteLimit(c); len(q.Destinations) == 0 || limit.Count > 0 && !a.Buckets.Allow(key, limit, 1, a.Now()).OK {
		return ways
	}
	ctx, cancel := context.WithTimeout(ctx, maxRoadDuration)
	defer cancel()
	leave, err := a.searchTurn(ctx, c, 1)
	if err != nil {
		return ways
	}
	defer leave()
	var table nav.TableAnswer
	if err := a.Navigation.Table(ctx, &q, &table); err != nil { // no region, no road near, or no time
		return ways
	}
	for i, k := range column {
		if k > 0 && table.Entries[k-1].Found {
			e := &table.Entries[k-1]
			ways[i] = byRoad{true, e.Distance, e.Duration}
		}
	}
	return ways
}

// append appends the members of a result that tell the way to it.
func (w byRoad) append(dst []byte) []byte {
	if !w.ok {
		return dst
	}
	dst = strconv.AppendFloat(append(dst, `,"road_m":`...), w.metres, 'f', 0, 64)
	return strconv.AppendFloat(append(dst, `,"road_s":`...), w.millis/1000, 'f', 0, 64)
}
