package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"

	"wayside/internal/drive/alerts"
	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
)

// Bounds of the parameters of alerts.
const (
	maxSeenKeys = 200 // keys

)

// alertsQuery is the driver's position and motion, and the requested kinds and sources.
type alertsQuery struct {
	nearby nearby.Query
	car    alerts.Car
	seen   alerts.Announcements

	session string       // id; empty: none
	client  string       // address of the client, for the node that has the session
	state   *ahead.State // of the answer before; nil: none
}

// alertsScratch is reusable memory for one response.
type alertsScratch struct {
	answer  nearby.Answer
	pins    []alerts.Pin
	lines   []geo.Point
	walk    ahead.Walk
	places  []alerts.Ahead
	list    []alerts.Alert
	encoder wire.Encoder
	body    []byte
}

// alertsPool reuses memory between requests; it holds no state of the service.
var alertsPool = sync.Pool{New: func() any { return new(alertsScratch) }}

// getAlerts answers GET /v2/alerts: the entities ahead of the driver, and which of them to announce now.
func (a *API) getAlerts(w http.ResponseWriter, r *http.Request, c *Caller) error {
	q, err := a.parseAlerts(r, c)
	if err != nil {
		return err
	}
	scratch, ok := alertsPool.Get().(*alertsScratch)
	if !ok {
		scratch = new(alertsScratch)
	}
	defer func() {
		scratch.answer.Forget()
		alertsPool.Put(scratch)
	}()
	answer := &scratch.answer
	if err := a.Nearby.Near(r.Context(), &q.nearby, answer); err != nil {
		return SourcesProblem(err)
	}
	a.Votes.Seen(c.ID(), q.car.At)
	scratch.pins, scratch.lines = q.pins(answer.Hits, scratch.pins[:0], scratch.lines[:0])
	looked := a.lookAhead(r.Context(), q, scratch)
	list := q.car.ListAlong(scratch.list[:0], scratch.pins, looked.places, func(i int) alerts.Details { return alertDetails(&answer.Hits[i]).Details })
	scratch.list = list
	first := alerts.First(list, func(i int) bool { return a.hasVoted(r.Context(), c, &answer.Hits[list[i].Pin]) })
	body := append(scratch.body[:0], `{"alerts":[`...)
	for i := range list {
		body = wire.AppendComma(body, i > 0)
		body = append(body, `{"entity":`...)
		body = scratch.encoder.AppendHit(body, &answer.Hits[list[i].Pin])
		body = appendAlert(body, &q.car, &scratch.pins[list[i].Pin], &list[i], i == first)
	}
	body = append(body, `],`...)
	body = a.appendSources(body, answer)
	body = append(body, `,"networks_applied":[`...)
	for i, n := range answer.Networks {
		body = wire.AppendComma(body, i > 0)
		body = wire.AppendString(body, n)
	}
	body = append(body, ']')
	body = looked.append(body)
	body = append(body, `,"next_announce_after_seconds":`...)
	body = strconv.AppendInt(body, alerts.MinPause, 10)
	body = append(body, `,"fetched_at_utc":`...)
	body = wire.AppendTime(body, answer.At.UnixMilli())
	scratch.body = append(body, "}\n"...)
	w.Header()["Vary"] = []string{a.Vary()}
	w.Header()["Cache-Control"] = []string{NoStore}
	response.Write(w, r, http.StatusOK, "application/json", scratch.body)
	return nil
}

// parseAlerts reads the parameters of alerts.
func (a *API) parseAlerts(r *http.Request, c *Caller) (*alertsQuery, error) {
	p, err := ReadParams(r)
	if err != nil {
		return nil, err
	}
	q := &alertsQuery{car: alerts.Car{At: p.Point()}, client: c.Client.String()}
	q.car.Speed = p.Number("speed", 0, MaxSpeed, true)
	// A stationary car has no heading, so the parameter is optional.
	if p.Values.Has("heading") || q.car.Speed >= alerts.MinSpeed {
		q.car.Heading, q.car.Directed = p.Number("heading", 0, 360, true), true
	}
	if text, given := p.Value("seen"); given {
		keys := SplitList(text)
		if len(keys) > maxSeenKeys {
			p.AddError("seen", "too_many", "seen takes at most "+strconv.Itoa(maxSeenKeys)+" keys: leave out those of what is long behind.")
		}
		q.seen = alerts.ParseAnnouncements(keys)
	}
	if text, given := p.Value("session"); given {
		if len(text) > MaxSessionID {
			p.AddError("session", "too_long", "session must be the id of a session.")
		}
		q.session = text
	}
	if text, given := p.Value("state"); given {
		if len(text) > ahead.MaxStateLength {
			p.AddError("state", "too_long", "state must be the token of the answer before: at most "+strconv.Itoa(ahead.MaxStateLength)+" bytes.")
		}
		q.state, _ = ahead.ParseState(text) // a state of an older version counts as none
	}
	q.nearby = *a.parseSelection(p, c)
	if !p.Values.Has("kinds") {
		q.nearby.Kinds &^= mapdata.ChargerKinds() // chargers are alerts only if the request names their kinds
	}
	q.nearby.Center = q.car.At
	// The index finds a zone by its center, but the distance to it counts from its edge. A jam is found by its pin.
	q.nearby.Radius = max(alerts.DetourRange, alerts.Range+a.Nearby.Law.Widest()/2)
	q.nearby.Limit = nearby.MaxLimit
	q.nearby.Driving = true
	return q, a.parameterErrors(p, &q.nearby)
}

// entityIDs returns the ids of all entities that a pin stands for, its own first: the entity that is shown of several merged ones
// may change while driving.
func entityIDs(h *mapdata.Hit) []string {
	ids := []string{mapdata.EntityID(h.Source, string(h.ExternalID))}
	for i := range h.Merged {
		ids = append(ids, mapdata.EntityID(h.Merged[i].Source, string(h.Merged[i].ExternalID)))
	}
	return ids
}

// hasVoted reports whether the caller has a standing vote on a pin: a driver who voted knows about the pin and needs no
// announcement. If votes cannot be read, the pin is announced.
func (a *API) hasVoted(ctx context.Context, c *Caller, h *mapdata.Hit) bool {
	if c.Account == nil {
		return false
	}
	for _, id := range entityIDs(h) {
		v, err := a.Votes.Standing(ctx, id, c.ID())
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

// appendAlert appends the members of an alert after its entity, and its end.
func appendAlert(dst []byte, car *alerts.Car, pin *alerts.Pin, s *alerts.Alert, announce bool) []byte {
	dst = append(dst, `,"distance_m":`...)
	dst = appendTenths(dst, s.Distance)
	dst = append(dst, `,"seconds":`...)
	if seconds, known := alerts.Seconds(s.Distance, car.Speed); known {
		dst = appendTenths(dst, seconds)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"bearing":`...)
	dst = appendTenths(dst, math.Mod(math.Round(s.Bearing*10)/10, 360))
	dst = append(dst, `,"lead_m":`...)
	dst = appendTenths(dst, alerts.Lead(pin.Kind, car.Speed))
	dst = append(dst, `,"stage":"`...)
	dst = append(dst, s.Stage...)
	dst = append(dst, `","match":"`...)
	dst = append(dst, s.Match...)
	dst = append(dst, `","announce":`...)
	dst = strconv.AppendBool(dst, announce)
	return append(dst, '}')
}

func appendTenths(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, math.Round(v*10)/10, 'f', -1, 64)
}
