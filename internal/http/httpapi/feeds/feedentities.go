package feeds

import (
	"encoding/json"
	"fmt"
	"net/http"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/http/httpapi"
)

// feedEntitiesPath is also the path of pushes, which have the token in the place of the feed's id.
const feedEntitiesPath = "/v2/feeds/{token}/entities"

// Number of a feed's entities in one response.
const (
	defaultFeedEntities = 1000
	maxFeedEntities     = 5000
)

// The entities of a feed as GeoJSON (RFC 7946), which map libraries draw directly:
type (
	featureCollection struct {
		Type      string    `json:"type"`
		Features  []feature `json:"features"`
		Truncated bool      `json:"truncated"`
	}
	feature struct {
		Type       string            `json:"type"`
		ID         string            `json:"id"`
		Geometry   geometryJSON      `json:"geometry"`
		Properties featureProperties `json:"properties"`
	}
	geometryJSON struct {
		Type        string `json:"type"`
		Coordinates any    `json:"coordinates"` // [2]float64 of a Point, [][2]float64 of a LineString
	}
	featureProperties struct {
		ExternalID  string            `json:"external_id"`
		KindID      string            `json:"kind_id"`
		FirstSeenAt httpapi.Timestamp `json:"first_seen_at"`
		LastSeenAt  httpapi.Timestamp `json:"last_seen_at"`
		ExpiresAt   httpapi.Timestamp `json:"expires_at"`
		Properties  json.RawMessage   `json:"properties"`
	}
)

// getFeedEntities answers GET /v2/feeds/{id}/entities with a feed's entities, for its owner and for curators.
func (a *api) getFeedEntities(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, ok := mapdata.ParseFeedID(r.PathValue("token"))
	if !ok {
		return mapdata.ErrNotFound
	}
	p, err := httpapi.ReadParams(r)
	if err != nil {
		return err
	}
	limit, lines := p.LimitUpTo(defaultFeedEntities, maxFeedEntities), p.Lines()
	if p.Problem != nil {
		return p.Problem
	}
	if err := a.Hold(w, r, a.Memory.Reads, c, limit*httpapi.HitBytes); err != nil {
		return err
	}
	contents, err := a.Feeds.Contents(r.Context(), mapdata.ActorOf(c.Account), id, limit)
	if err != nil {
		return err
	}
	return a.writeFeatures(w, r, c, newFeatures(contents, lines))
}

// writeFeatures answers with GeoJSON, or with 304.
func (a *api) writeFeatures(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, all featureCollection) error {
	body, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode entities: %w", err)
	}
	w.Header()["Vary"] = []string{a.Vary()}
	if a.WriteCacheHeaders(w, r, c, body) {
		return nil
	}
	body = append(body, '\n')
	httpapi.HoldBody(w, body)
	response.Write(w, r, http.StatusOK, "application/geo+json", body)
	return nil
}

// newGeometry returns an entity's point, or its line if lines are requested and it has one.
func newGeometry(at geo.Point, line []geo.Point, lines bool) geometryJSON {
	if !lines || len(line) == 0 {
		return geometryJSON{"Point", [2]float64{at.Lng, at.Lat}}
	}
	positions := make([][2]float64, len(line))
	for i, p := range line {
		positions[i] = [2]float64{p.Lng, p.Lat}
	}
	return geometryJSON{"LineString", positions}
}

func newFeatures(c *feed.Contents, lines bool) featureCollection {
	all := featureCollection{Type: "FeatureCollection", Features: make([]feature, len(c.Entities)), Truncated: c.Truncated}
	for i := range c.Entities {
		e := &c.Entities[i]
		expires, _ := e.ExpiresAt(c.Feed.SnapshotAt)
		all.Features[i] = feature{
			Type: "Feature", ID: mapdata.EntityID(e.Feed.SourceID(), e.ExternalID),
			Geometry: newGeometry(e.Point, e.Line, lines),
			Properties: featureProperties{
				ExternalID: e.ExternalID, KindID: e.Kind.ID(), FirstSeenAt: httpapi.Timestamp(e.FirstSeenAt),
				LastSeenAt: httpapi.Timestamp(e.LastSeenAt(c.Feed.SnapshotAt)), ExpiresAt: httpapi.Timestamp(expires), Properties: e.Properties,
			},
		}
	}
	return all
}
