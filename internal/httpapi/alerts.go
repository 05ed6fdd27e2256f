package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"

	"wayside/internal/alerts"
	"wayside/internal/mapdata"
	"wayside/internal/nearby"
	"wayside/internal/response"
	"wayside/internal/wire"
)

// Bounds of the parameters of alerts.
const (
	maxSpeed = 100 // m/s
	maxSeen  = 200 // keys
)

// alertsQuery is who drives where, and what is asked for.
type alertsQuery struct {
	nearby nearby.Query
	car    alerts.Car
	seen   alerts.Seen
}

// alertsScratch is what one answer is made in, kept for the next.
type alertsScratch struct {
	answer nearby.Answer
	pins   []alerts.Pin
	body   []byte
}

// alertsScratches keeps the memory of answers; it holds nothing of the service.
var alertsScratches = sync.Pool{New: func() any { return new(alertsScratch) }}

// getAlerts answers GET /v2/alerts: what lies ahead, and what of it is to be announced now.
func (a *api) getAlerts(w http.ResponseWriter, r *http.Request, c *caller) error {
	q, err := a.parseAlerts(r, c)
	if err != nil {
		return err
	}
	scratch, ok := alertsScratches.Get().(*alertsScratch)
	if !ok {
		scratch = new(alertsScratch)
	}
	defer func() {
		scratch.answer.Forget()
		alertsScratches.Put(scratch)
	}()
	answer := &scratch.answer
	if err := a.Nearby.Near(r.Context(), &q.nearby, answer); err != nil {
		return sourcesProblem(err)
	}
	scratch.pins = q.pins(answer.Hits, scratch.pins[:0])
	sights := q.car.Look(scratch.pins)
	first := alerts.First(sights, func(i int) bool { return a.votedOn(r.Context(), c, &answer.Hits[sights[i].Pin]) })
	body := append(scratch.body[:0], `{"alerts":[`...)
	var days [3]wire.Calendar
	for i := range sights {
		body = wire.AppendComma(body, i > 0)
		body = append(body, `{"entity":`...)
		body = wire.AppendHit(body, &answer.Hits[sights[i].Pin], &days)
		body = appendSight(body, &q.car, &sights[i], i == first)
	}
	body = append(body, `],`...)
	body = a.appendSources(body, answer)
	body = append(body, `,"networks_applied":[`...)
	for i, n := range answer.Networks {
		body = wire.AppendComma(body, i > 0)
		body = wire.AppendString(body, n)
	}
	body = append(body, `],"next_announce_after_seconds":`...)
	body = strconv.AppendInt(body, alerts.Pause, 10)
	body = append(body, `,"fetched_at_utc":`...)
	body = wire.AppendTime(body, answer.At.UnixMilli())
	scratch.body = append(body, "}\n"...)
	w.Header()["Vary"] = []string{a.vary()}
	w.Header()["Cache-Control"] = []string{cacheNever}
	response.Write(w, r, http.StatusOK, "application/json", scratch.body)
	return nil
}

// parseAlerts reads the parameters of alerts.
func (a *api) parseAlerts(r *http.Request, c *caller) (*alertsQuery, error) {
	p, err := readParams(r)
	if err != nil {
		return nil, err
	}
	q := &alertsQuery{car: alerts.Car{At: p.point()}}
	q.car.Speed = p.number("speed", 0, maxSpeed, true)
	// Who stands has no heading, and none is asked of them.
	if p.values.Has("heading") || q.car.Speed >= alerts.SlowestSpeed {
		q.car.Heading, q.car.Directed = p.number("heading", 0, 360, true), true
	}
	if text, given := p.single("seen"); given {
		keys := list(text)
		if len(keys) > maxSeen {
			p.bad("seen", "too_many", "seen takes at most "+strconv.Itoa(maxSeen)+" keys: leave out those of what is long behind.")
		}
		q.seen = alerts.ReadSeen(keys)
	}
	q.nearby = *a.selection(p, c)
	if !p.values.Has("kinds") {
		q.nearby.Kinds &^= mapdata.ChargerKinds() // nobody wants to be told of each; who does names them
	}
	q.nearby.Center = q.car.At
	// A zone counts from its edge, and is found by its middle.
	q.nearby.Radius = alerts.Range + a.Nearby.Law.Widest()/2
	q.nearby.Limit = nearby.MaxLimit
	q.nearby.Driving = true
	return q, a.wrong(p, &q.nearby)
}

// pins turns hits into what may lie ahead.
func (q *alertsQuery) pins(hits []mapdata.Hit, into []alerts.Pin) []alerts.Pin {
	for i := range hits {
		h := &hits[i]
		pin := alerts.Pin{At: h.Point, Kind: h.Kind, Zone: float64(h.Zone)}
		if len(q.seen) > 0 {
			pin.Told = q.seen.Of(idsOf(h)...)
		}
		into = append(into, pin)
	}
	return into
}

// idsOf gives the ids of all that a pin stands for, its own first: which of them is shown may change on the way.
func idsOf(h *mapdata.Hit) []string {
	ids := []string{mapdata.EntityID(h.Source, string(h.ExternalID))}
	for i := range h.Merged {
		ids = append(ids, mapdata.EntityID(h.Merged[i].Source, string(h.Merged[i].ExternalID)))
	}
	return ids
}

// votedOn says whether the caller has a standing vote on a pin: who knows what is there needs no announcement. Votes that
// cannot be read keep nobody from being warned.
func (a *api) votedOn(ctx context.Context, c *caller, h *mapdata.Hit) bool {
	if c.account == nil {
		return false
	}
	for _, id := range idsOf(h) {
		v, err := a.Votes.Standing(ctx, id, c.id())
		if err != nil {
			a.Log.Warn("cannot read a vote; the pin is announced", "error", err)
			return false
		}
		if v != mapdata.NoVote {
			return true
		}
	}
	return false
}

// appendSight appends what an alert says beside its entity, and its end.
func appendSight(dst []byte, car *alerts.Car, s *alerts.Sight, announce bool) []byte {
	dst = append(dst, `,"distance_m":`...)
	dst = appendTenths(dst, s.Distance)
	dst = append(dst, `,"seconds":`...)
	if seconds, told := alerts.Seconds(s.Distance, car.Speed); told {
		dst = appendTenths(dst, seconds)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"bearing":`...)
	dst = appendTenths(dst, math.Mod(math.Round(s.Bearing*10)/10, 360))
	dst = append(dst, `,"lead_m":`...)
	dst = appendTenths(dst, alerts.Lead(car.Speed))
	dst = append(dst, `,"stage":"`...)
	dst = append(dst, s.Stage...)
	dst = append(dst, `","announce":`...)
	dst = strconv.AppendBool(dst, announce)
	return append(dst, '}')
}

func appendTenths(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, math.Round(v*10)/10, 'f', -1, 64)
}
