package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// maxVoteBody is the largest body of a vote in bytes.
const maxVoteBody = 1 << 10

// vote returns the handler of the three requests that cast, change or withdraw the caller's standing vote (D9.1). The optional body
// contains the caller's position, because positions that were sent to other nodes do not reach this one.
func (a *API) vote(v mapdata.Vote) func(http.ResponseWriter, *http.Request, *Caller) error {
	return func(w http.ResponseWriter, r *http.Request, c *Caller) error {
		id, reader := r.PathValue("id"), &nearby.Query{Account: c.ID(), Tier: c.Tier(), Curator: c.IsCurator()}
		if err := a.Nearby.Allowed(r.Context(), id, reader); err != nil {
			return err
		}
		if r.ContentLength != 0 && v != mapdata.NoVote {
			place, err := readPlace(w, r)
			if err != nil {
				return err
			}
			a.Votes.Seen(c.ID(), place)
		}
		voted, feed, err := a.Votes.Cast(r.Context(), id, c.ID(), v)
		if err != nil {
			return err
		}
		a.FollowVote(w, r)
		hit := a.Nearby.Shown(&voted, feed, reader)
		return WriteJSON(w, r, http.StatusOK, map[string]any{"entity": entityJSON(&hit)})
	}
}

// readPlace reads the position of the caller.
func readPlace(w http.ResponseWriter, r *http.Request) (place geo.Point, err error) {
	f, err := ReadFieldsUpTo(w, r, maxVoteBody)
	if err != nil {
		return place, err
	}
	for _, member := range []struct {
		name string
		to   *float64
		most float64
	}{{"lat", &place.Lat, 90}, {"lng", &place.Lng, 180}} {
		switch v := f.Number(member.name); {
		case v == nil:
			f.AddError(member.name, "missing", "is required where there is a body")
		case math.Abs(*v) > member.most:
			f.AddError(member.name, "out_of_range", fmt.Sprintf("must be from -%[1]g to %[1]g", member.most))
		default:
			*member.to = *v
		}
	}
	return place, f.Check()
}

// entityJSON returns an entity in its read shape.
func entityJSON(h *mapdata.Hit) json.RawMessage {
	var encoder wire.Encoder
	return encoder.AppendHit(nil, h)
}

// entityAnswer is one entity with an explanation of its state.
type entityAnswer struct {
	Entity    json.RawMessage `json:"entity"`
	Explain   explainJSON     `json:"explain"`
	FetchedAt Timestamp       `json:"fetched_at_utc"`
}

type explainJSON struct {
	Votes         votesJSON      `json:"votes"`
	Ends          endsJSON       `json:"ends"`
	DisputedUntil Timestamp      `json:"disputed_until"`
	MergedInto    *mergedJSON    `json:"merged_into"`
	MergedFrom    []mergedJSON   `json:"merged_from"`
	Sources       []entitySource `json:"sources"`
}

// votesJSON are the votes on the entity itself, without those on entities that are merged with it.
type votesJSON struct {
	Confirms      int       `json:"confirms"`
	Disputes      int       `json:"disputes"`
	LastDisputeAt Timestamp `json:"last_dispute_at"`
	Yours         *string   `json:"yours"` // null: none, or the caller is a guest
}

type endsJSON struct {
	At     Timestamp `json:"at"`
	Rule   string    `json:"rule"`
	Detail string    `json:"detail"`
}

type mergedJSON struct {
	Source string `json:"source"`
	ID     string `json:"id"`
}

// entitySource is a source that contributes to the entity.
type entitySource struct {
	ID            string     `json:"id"`
	Label         string     `json:"label"`
	Attribution   string     `json:"attribution"`
	Licence       string     `json:"licence"`
	Status        string     `json:"status"`
	LastSuccessAt Timestamp  `json:"last_success_at"`
	Recent        recentJSON `json:"recent"`
}

type recentJSON struct {
	OK    int `json:"ok"`
	Fail  int `json:"fail"`
	Total int `json:"total"`
}

// getEntity answers GET /v2/entities/{id} with the reasons why the entity is shown, and what ends it.
func (a *API) getEntity(w http.ResponseWriter, r *http.Request, c *Caller) error {
	id := r.PathValue("id")
	e, err := a.Nearby.Entity(r.Context(), id, &nearby.Query{Account: c.ID(), Tier: c.Tier(), Curator: c.IsCurator()})
	if err != nil {
		return err
	}
	answer := entityAnswer{Entity: entityJSON(&e.Hit), FetchedAt: Timestamp(e.At), Explain: a.explain(e, c)}
	if c.Account != nil {
		v, err := a.Votes.Standing(r.Context(), id, c.ID())
		if err != nil && !errors.Is(err, mapdata.ErrNotFound) {
			return err
		}
		answer.Explain.Votes.Yours = VoteName(v)
	}
	w.Header().Set("Cache-Control", "no-store")
	return WriteJSON(w, r, http.StatusOK, answer)
}

// VoteName returns the name of a vote; nil: there is none.
func VoteName(v mapdata.Vote) *string {
	name := ""
	switch v {
	case mapdata.Confirm:
		name = "confirm"
	case mapdata.Dispute:
		name = "dispute"
	case mapdata.NoVote:
		return nil
	}
	return &name
}

// endDetails explains each rule to people.
var endDetails = map[nearby.End]string{
	nearby.EndLifetime:  "Removed at this time unless its source shows it again before.",
	nearby.EndKept:      "Drivers confirmed it: it stays until this time at least, and longer if its source shows it again.",
	nearby.EndFreshness: "Removed at this time unless an upstream shows it again before; sooner if an upstream's newer response for its area lacks it.",
	nearby.EndStated:    "Its source says that it ends at this time.",
	nearby.EndRetired:   "Kept until its provider removes it.",
	nearby.EndAbsent:    "Kept until its provider removes it, or three successful snapshots in a row lack it.",
}

func (a *API) explain(e *nearby.Entity, c *Caller) explainJSON {
	t := &e.Voted.Tally
	x := explainJSON{
		Ends:       endsJSON{At: Timestamp(e.Goes), Rule: string(e.End), Detail: endDetails[e.End]},
		MergedFrom: []mergedJSON{}, Sources: []entitySource{},
		DisputedUntil: TimestampOf(e.Hit.DisputedUntil),
	}
	if e.Hit.Hidden != nil {
		x.DisputedUntil = Timestamp{} // a curator hides it: the entity's properties contain the end and the reason
	}
	if t.Counts(e.Voted.Entity.Kind, e.Voted.Entity.FirstSeenAt, e.At) {
		confirms, disputes := t.Shown()
		x.Votes = votesJSON{Confirms: int(confirms), Disputes: int(disputes), LastDisputeAt: Timestamp(t.LastDisputeAt)}
	}
	for i := range e.Hit.Merged {
		x.MergedFrom = append(x.MergedFrom, newMergedJSON(&e.Hit.Merged[i]))
	}
	if e.MergedInto != nil {
		into := newMergedJSON(e.MergedInto)
		x.MergedInto = &into
	}
	for i := range e.Sources {
		x.Sources = append(x.Sources, a.entitySource(&e.Sources[i], c))
	}
	return x
}

func newMergedJSON(m *mapdata.MergedID) mergedJSON {
	return mergedJSON{Source: string(m.Source), ID: mapdata.EntityID(m.Source, string(m.ExternalID))}
}

func (a *API) entitySource(h *mapdata.SourceHealth, c *Caller) entitySource {
	s := entitySource{
		ID: string(h.ID), Status: string(h.Status), LastSuccessAt: Timestamp(h.LastSuccessAt),
		Recent: recentJSON{OK: h.OK, Fail: h.Fail, Total: h.OK + h.Fail},
	}
	if id, ok := h.ID.FeedID(); ok {
		if f := a.Sources.Feed(id, c.ID()); f != nil {
			s.Label, s.Attribution, s.Licence = f.Name, f.Attribution, f.Licence
		}
		return s
	}
	s.Label = incidentsLabel
	if a.Incidents != nil {
		s.Attribution = a.Incidents.Attribution
	}
	return s
}
