package feeds

import (
	"encoding/json"
	"net/http"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// getSourceEntities answers GET /v2/sources/{id}/entities with the entities of a source that a guest sees around the center of its
// data, for the map on its page. Votes, restrictions and the guests' limits apply as on any read.
func (a *api) getSourceEntities(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, ok := mapdata.SourceID(r.PathValue("id")).FeedID()
	if !ok {
		return mapdata.ErrNotFound
	}
	p, err := httpapi.ReadParams(r)
	if err != nil {
		return err
	}
	lines := p.Lines()
	if p.Problem != nil {
		return p.Problem
	}
	sketch, err := a.Feeds.Sketch(r.Context(), id)
	if err != nil {
		return err
	}
	all := featureCollection{Type: "FeatureCollection", Features: []feature{}}
	if sketch.Middle != nil {
		if err := a.Hold(w, r, a.Memory.Reads, c, nearby.MaxLimit*httpapi.HitBytes); err != nil {
			return err
		}
		q := nearby.Query{
			Center: sketch.Middle.Point, Radius: nearby.MaxRadius, Sources: []string{string(id.SourceID())}, Kinds: mapdata.AllKinds,
			Limit: nearby.MaxLimit, Tier: mapdata.TierGuest, Driving: true, Turn: a.Turn(w, c, nearby.MaxLimit),
		}
		var answer nearby.Answer
		if err := a.Nearby.Near(r.Context(), &q, &answer); err != nil {
			return httpapi.SourcesProblem(err)
		}
		all.Truncated = answer.Truncated
		for i := range answer.Hits {
			all.Features = append(all.Features, featureOf(&answer.Hits[i], lines))
		}
	}
	return a.writeFeatures(w, r, c, all)
}

// featureOf converts a hit to GeoJSON.
func featureOf(h *mapdata.Hit, lines bool) feature {
	properties := wire.Properties(h)
	at := func(ms int64) httpapi.Timestamp {
		if ms == 0 {
			return httpapi.Timestamp{}
		}
		return httpapi.Timestamp(time.UnixMilli(ms).UTC())
	}
	return feature{
		Type: "Feature", ID: mapdata.EntityID(h.Source, string(h.ExternalID)),
		Geometry: newGeometry(h.Point, wire.AppendLine(nil, h), lines),
		Properties: featureProperties{
			ExternalID: string(h.ExternalID), KindID: h.Kind.ID(), FirstSeenAt: at(h.FirstSeenAt), LastSeenAt: at(h.LastSeenAt),
			ExpiresAt: at(h.ExpiresAt), Properties: json.RawMessage(wire.AppendProperties(nil, h, properties)),
		},
	}
}
