package console

import (
	"net/http"
	"net/url"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// MaxRoadEffects bounds the entities that a feed's page lists with their effects on roads.
const MaxRoadEffects = 50

// RoadEffects lists the effects of a feed's entities on the roads of the served region.
type RoadEffects struct {
	List      []RoadEffect // the gravest first, at most MaxRoadEffects
	More      bool         // there are more
	Unmatched int          // entities that would have an effect, but are on no road of the region
}

// RoadEffect is the effect of one entity on roads.
type RoadEffect struct {
	EntityID, ExternalID string
	KindID               string
	Effect               string        // closed, slower or delay
	Speed                float64       // the share of the usual speed that is left, where it is slower
	Delay                time.Duration // where it is delay
	Streets              []string      // none: the roads have no names
	Metres               float64
	Both                 bool // both directions
	InForce              bool // routes take it into account now
}

// roadsView is the part of a feed's page about roads.
type roadsView struct {
	RoadEffects
	Region *Region
	Rows   []roadRow
	Bound  int
}

// roadRow is an effect in words.
type roadRow struct {
	RoadEffect
	What, Length string
	Link         string // to the geometry
}

// roadsOf returns the part of a feed's page about roads; nil: there is none.
func (c *Console) roadsOf(r *http.Request, v *Visitor, id mapdata.FeedID) (*roadsView, error) {
	if c.RoadEffects == nil {
		return nil, nil //nolint:nilnil // nothing is said, which is no error
	}
	got, err := c.RoadEffects(r.Context(), v.ID(), id)
	if err != nil || got == nil || len(got.List)+got.Unmatched == 0 {
		return nil, err
	}
	view := &roadsView{RoadEffects: *got, Region: c.State().Region, Bound: MaxRoadEffects}
	for _, e := range got.List {
		view.Rows = append(view.Rows, roadRow{
			RoadEffect: e, What: effectText(v.Words, &e), Length: v.Words.Text("feed.roads.metres", int64(e.Metres+0.5)),
			Link: "/v2/navigation/conditions?entity=" + url.QueryEscape(e.EntityID),
		})
	}
	return view, nil
}

func effectText(w *words.Words, e *RoadEffect) string {
	const percent = 100
	switch e.Effect {
	case "slower":
		return w.Text("feed.roads.slower", int64(e.Speed*percent+0.5))
	case "delay":
		return w.Text("feed.roads.delay", int64(e.Delay/time.Second))
	}
	return w.Text("feed.roads.closed")
}
