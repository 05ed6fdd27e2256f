package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// viewScratch is reusable memory for one view.
type viewScratch struct {
	answer  nearby.ViewAnswer
	encoder wire.Encoder
}

// viewPool reuses memory between requests; it holds no state of the service.
var viewPool = sync.Pool{New: func() any { return new(viewScratch) }}

// getOverlayView answers GET /v2/overlay/view with the entities of a part of the map that the page for cars draws.
func (a *API) getOverlayView(w http.ResponseWriter, r *http.Request, c *Caller) error {
	p, err := ParseParams(r)
	if err != nil {
		return err
	}
	view := nearby.View{Box: boxIn(p), Zoom: int(p.Number("zoom", 0, nearby.MaxZoom, true))}
	view.Query = *a.parseSelection(p, c)
	view.Kinds &^= kindsOff(p)
	if err := a.parameterErrors(p, &view.Query); err != nil {
		return err
	}
	view.Turn = a.Turn(w, c, nearby.MaxLimit)
	if err := a.Hold(w, r, a.Memory.Reads, c, nearby.MaxLimit*HitBytes); err != nil {
		return err
	}
	body, facts, err := a.findView(r.Context(), &view)
	if err != nil {
		return SourcesProblem(err)
	}
	giveBackBody(a.writeRead(w, r, c, representation{mediaJSON, a.Vary()}, body, facts))
	return nil
}

// findView answers a view. The body lacks its end.
func (a *API) findView(ctx context.Context, view *nearby.View) (body []byte, facts readFacts, err error) {
	scratch, ok := viewPool.Get().(*viewScratch)
	if !ok {
		scratch = new(viewScratch)
	}
	defer func() {
		scratch.answer.Forget()
		viewPool.Put(scratch)
	}()
	if err := a.Nearby.View(ctx, view, &scratch.answer); err != nil {
		return nil, facts, err
	}
	body = a.appendAnswer(takeBody(), &scratch.encoder, &scratch.answer.Answer)
	body = append(body, `,"clusters":`...)
	if scratch.answer.Clustered {
		body = appendClusters(body, &scratch.answer.Overview)
	} else {
		body = append(body, "null"...)
	}
	return body, factsOf(&scratch.answer.Answer), nil
}

// appendClusters appends the clusters of a view.
func appendClusters(dst []byte, o *mapdata.Overview) []byte {
	dst = append(dst, '[')
	for i := range o.Clusters {
		c := &o.Clusters[i]
		dst = append(wire.AppendComma(dst, i > 0), `{"id":"tile/`...)
		dst = append(strconv.AppendInt(dst, int64(o.Level), 10), '/')
		dst = append(strconv.AppendUint(dst, uint64(c.X), 10), '/')
		dst = strconv.AppendUint(dst, uint64(c.Y), 10)
		dst = append(dst, `","lat":`...)
		dst = strconv.AppendFloat(dst, c.Point.Lat, 'f', clusterDecimals, 64)
		dst = append(dst, `,"lng":`...)
		dst = strconv.AppendFloat(dst, c.Point.Lng, 'f', clusterDecimals, 64)
		dst = append(dst, `,"count":`...)
		dst = strconv.AppendInt(dst, int64(c.Count), 10)
		dst = append(dst, `,"kind_id":"`...)
		dst = append(dst, c.Kind.ID()...)
		dst = append(dst, `"}`...)
	}
	return append(dst, ']')
}

// clusterDecimals is how many decimals of a degree a cluster's place has: about a metre.
const clusterDecimals = 5

// boxIn reads bbox: west, south, east and north in degrees, as in GeoJSON. A box with its west east of its east lies over the
// antimeridian.
func boxIn(p *Params) geo.Box {
	text, given := p.Value("bbox")
	if !given {
		p.AddError("bbox", "missing", "bbox is required.")
		return geo.Box{}
	}
	edges := strings.Split(text, ",")
	var v [4]float64
	wrong := len(edges) != len(v)
	for i := range v {
		if wrong {
			break
		}
		var err error
		v[i], err = strconv.ParseFloat(strings.TrimSpace(edges[i]), 64)
		wrong = err != nil
	}
	b := geo.Box{West: v[0], South: v[1], East: v[2], North: v[3]}
	lower, upper := geo.Point{Lat: b.South, Lng: b.West}, geo.Point{Lat: b.North, Lng: b.East}
	if wrong || !lower.Valid() || !upper.Valid() || b.South > b.North {
		p.AddError("bbox", "invalid", "bbox must be west,south,east,north in degrees, such as 4.7,52.3,5.1,52.5.")
		return geo.Box{}
	}
	if b.West > b.East {
		b.East += 360
	}
	return b
}

// kindsOff reads kinds_off, the kinds that the driver hides. An unknown kind hides nothing: the page may have stored it under
// another release.
func kindsOff(p *Params) mapdata.KindSet {
	var off mapdata.KindSet
	if text, given := p.Value("kinds_off"); given {
		ids, _ := p.List("kinds_off", text)
		for _, id := range ids {
			off |= mapdata.SelectKinds(id)
		}
	}
	return off
}

// getOverlayNearest answers GET /v2/overlay/nearest with the entity that is nearest to a place, however far away.
func (a *API) getOverlayNearest(w http.ResponseWriter, r *http.Request, c *Caller) error {
	p, err := ReadParams(r)
	if err != nil {
		return err
	}
	center := p.Point()
	q := a.parseSelection(p, c)
	q.Kinds &^= kindsOff(p)
	q.Center = center
	if err := a.parameterErrors(p, q); err != nil {
		return err
	}
	var answer nearby.Answer
	if err := a.Nearby.Nearest(r.Context(), q, &answer); err != nil {
		return SourcesProblem(err)
	}
	body := []byte(`{"nearest":null`)
	if len(answer.Hits) > 0 {
		var encoder wire.Encoder
		body = append(body[:0], `{"nearest":{"distance_m":`...)
		body = strconv.AppendFloat(body, geo.MetresOf(answer.Hits[0].Chord), 'f', 0, 64)
		body = append(body, `,"entity":`...)
		body = append(encoder.AppendHit(body, &answer.Hits[0]), `,"place":`...)
		body = append(a.appendPlaceNear(body, answer.Hits[0].Point), '}')
	}
	a.writeRead(w, r, c, representation{mediaJSON, a.Vary()}, body, factsOf(&answer))
	return nil
}

// placeReach is how far a large place may be from an entity that it describes, in metres.
const placeReach = 50_000

// appendPlaceNear appends the large place that is nearest to a point; null: none is near.
func (a *API) appendPlaceNear(dst []byte, p geo.Point) []byte {
	if a.Places == nil {
		return append(dst, "null"...)
	}
	place, ok := a.Places.NearestPlace(p)
	distance := geo.Distance(p, place.At)
	if !ok || distance > placeReach {
		return append(dst, "null"...)
	}
	dst = wire.AppendString(append(dst, `{"name":`...), place.Name)
	dst = strconv.AppendFloat(append(dst, `,"distance_m":`...), distance, 'f', 0, 64)
	return append(dst, '}')
}
