package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestReadsShowLinesAndEnds checks that every read has the line of a stored entity where it shows geometries, and its end where it
// shows an expiry (D17.3).
func TestReadsShowLinesAndEnds(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, id := d.Publish("Works", httpapitest.Row("plain", "alert.police", 10))
	guest := d.Browser()
	events := guest.OpenStream(httpapitest.StreamQuery)
	events.WantEvents("snapshot plain")
	end := d.Time().Add(30 * time.Minute)
	d.Bridge(id, ingest.Beside{Line: []geo.Point{{Lat: 52, Lng: 5}, {Lat: 52.001, Lng: 5.0015}}, EndsAt: end}, httpapitest.Row("closed", "alert.road_closed", 20))
	const line = `{"type":"LineString","coordinates":[[5,52],[5.0015,52.001]]}`
	const ends = `"expires_at":"2026-11-21T08:30:00.000Z"`
	closed := mapdata.EntityID(mapdata.SourceID("feed:"+id), "closed")

	d.UpdateStreams()
	if e := events.Next(); e.Summary(t) != "entity closed reported" || !strings.Contains(e.Data, `"geom_line":`+line) || !strings.Contains(e.Data, ends) {
		t.Errorf("the stream sends %s %s", e.Name, e.Data)
	}
	for path, want := range map[string]string{
		httpapitest.NearbyPath:                               `"geom_line":` + line,
		httpapitest.NearbyPath + "&f=geojson&geometry=line":  `"geometry":` + line,
		httpapitest.NearbyPath + "&f=geojson":                `"geometry":{"type":"Point"`,
		"/v2/entities/" + closed:                             `"geom_line":` + line,
		"/v2/sources/feed:" + id + "/entities?geometry=line": `"geometry":` + line,
		"/v2/sources/feed:" + id + "/entities":               `"geometry":{"type":"Point"`,
		"owner:/v2/feeds/" + id + "/entities?geometry=line":  `"geometry":` + line,
		"owner:/v2/feeds/" + id + "/entities":                `"geometry":{"type":"Point"`,
	} {
		reader, address := guest, path
		if rest, ok := strings.CutPrefix(path, "owner:"); ok {
			reader, address = owner, rest
		}
		body := reader.Send(http.MethodGet, address, "").Want(t, http.StatusOK).Body
		if compact := strings.ReplaceAll(body, `", "`, `","`); !strings.Contains(compact, want) || !strings.Contains(compact, ends) {
			t.Errorf("%s lacks %s or %s:\n%s", path, want, ends, body)
		}
	}
	for _, path := range []string{"/v2/sources/feed:" + id + "/entities", "/v2/feeds/" + id + "/entities"} {
		owner.Send(http.MethodGet, path+"?geometry=area", "").Want(t, http.StatusBadRequest)
	}
	var explained struct {
		Explain struct{ Ends map[string]any }
	}
	guest.Send(http.MethodGet, "/v2/entities/"+closed, "").Want(t, http.StatusOK).Decode(t, &explained)
	want := map[string]any{"at": "2026-11-21T08:30:00.000Z", "rule": "end", "detail": "Its source says that it ends at this time."}
	if diff := cmp.Diff(want, explained.Explain.Ends); diff != "" {
		t.Errorf("explained as (-want +got):\n%s", diff)
	}

	voter := d.SignedInAs("voter@example.org", mapdata.Driver)
	if got := voter.Vote(closed, "confirm")["expires_at"]; got != "2026-11-21T08:30:00.000Z" {
		t.Errorf("after a confirm it expires at %v, want its end", got)
	}
	events.WantEvents("entity closed reported")
	// The end moves closer without a change of the geometry.
	d.Bridge(id, ingest.Beside{EndsAt: end.Add(-10 * time.Minute)}, httpapitest.Row("closed", "alert.road_closed", 20))
	d.UpdateStreams()
	if e := events.Next(); !strings.Contains(e.Data, `"geom_line":null`) || !strings.Contains(e.Data, `"expires_at":"2026-11-21T08:20:00.000Z"`) {
		t.Errorf("the stream sends %s %s", e.Name, e.Data)
	}
	d.Advance(20 * time.Minute)
	d.UpdateStreams()
	events.WantEvents("gone closed")
	guest.Send(http.MethodGet, "/v2/entities/"+closed, "").Want(t, http.StatusNotFound)
	var left struct{ Entities []json.RawMessage }
	guest.Send(http.MethodGet, httpapitest.NearbyPath, "").Want(t, http.StatusOK).Decode(t, &left)
	if len(left.Entities) != 1 {
		t.Errorf("%d entities are left, want the plain one", len(left.Entities))
	}
}
