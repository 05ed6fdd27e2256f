package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// bridge stores rows of a feed as a poll of a document in another format does, each with a line and an end beside it.
func (d *testService) bridge(id string, beside ingest.Beside, rows ...string) {
	d.t.Helper()
	feedID, _ := mapdata.ParseFeedID(id)
	f, err := d.db.Feed(d.t.Context(), feedID)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = d.ingester.Snapshot(d.t.Context(), feedID, ingest.Snapshot{
		Hash: []byte(fmt.Sprint(beside, rows)), At: d.time(), Lease: mapdata.Lease{Generation: f.Generation},
		Source: func(_ context.Context, yield func([]byte, ingest.Beside) error) (again time.Time, err error) {
			for _, row := range rows {
				if err := yield([]byte(row), beside); err != nil {
					return again, err
				}
			}
			return again, nil
		},
		Finish: func(r ingest.Result) (ingest.Record, error) {
			return ingest.Record{Polling: mapdata.Polling{LastRows: r.Rows}, Attempt: mapdata.Attempt{At: d.time(), OK: true, Outcome: mapdata.OutcomeOK}}, nil
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.waitForIndex()
}

// TestReadsShowLinesAndEnds checks that every read has the line of a stored entity where it shows geometries, and its end where it
// shows an expiry (D17.3).
func TestReadsShowLinesAndEnds(t *testing.T) {
	d := newTestService(t)
	owner, id := d.publish("Works", row("plain", "alert.police", 10))
	guest := d.browser()
	events := guest.openStream(streamQuery)
	events.wantEvents("snapshot plain")
	end := d.time().Add(30 * time.Minute)
	d.bridge(id, ingest.Beside{Line: []geo.Point{{Lat: 52, Lng: 5}, {Lat: 52.001, Lng: 5.0015}}, EndsAt: end}, row("closed", "alert.road_closed", 20))
	const line = `{"type":"LineString","coordinates":[[5,52],[5.0015,52.001]]}`
	const ends = `"expires_at":"2026-11-21T08:30:00.000Z"`
	closed := mapdata.EntityID(mapdata.SourceID("feed:"+id), "closed")

	d.updateStreams()
	if e := events.next(); e.summary(t) != "entity closed reported" || !strings.Contains(e.data, `"geom_line":`+line) || !strings.Contains(e.data, ends) {
		t.Errorf("the stream sends %s %s", e.name, e.data)
	}
	for path, want := range map[string]string{
		nearbyPath:                                           `"geom_line":` + line,
		nearbyPath + "&f=geojson&geometry=line":              `"geometry":` + line,
		nearbyPath + "&f=geojson":                            `"geometry":{"type":"Point"`,
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
		body := reader.send(http.MethodGet, address, "").want(t, http.StatusOK).body
		if compact := strings.ReplaceAll(body, `", "`, `","`); !strings.Contains(compact, want) || !strings.Contains(compact, ends) {
			t.Errorf("%s lacks %s or %s:\n%s", path, want, ends, body)
		}
	}
	for _, path := range []string{"/v2/sources/feed:" + id + "/entities", "/v2/feeds/" + id + "/entities"} {
		owner.send(http.MethodGet, path+"?geometry=area", "").want(t, http.StatusBadRequest)
	}
	var explained struct {
		Explain struct{ Ends map[string]any }
	}
	guest.send(http.MethodGet, "/v2/entities/"+closed, "").want(t, http.StatusOK).decode(t, &explained)
	want := map[string]any{"at": "2026-11-21T08:30:00.000Z", "rule": "end", "detail": "Its source says that it ends at this time."}
	if diff := cmp.Diff(want, explained.Explain.Ends); diff != "" {
		t.Errorf("explained as (-want +got):\n%s", diff)
	}

	voter := d.signedInAs("voter@example.org", mapdata.Driver)
	if got := voter.vote(closed, "confirm")["expires_at"]; got != "2026-11-21T08:30:00.000Z" {
		t.Errorf("after a confirm it expires at %v, want its end", got)
	}
	events.wantEvents("entity closed reported")
	// The end moves closer without a change of the geometry.
	d.bridge(id, ingest.Beside{EndsAt: end.Add(-10 * time.Minute)}, row("closed", "alert.road_closed", 20))
	d.updateStreams()
	if e := events.next(); !strings.Contains(e.data, `"geom_line":null`) || !strings.Contains(e.data, `"expires_at":"2026-11-21T08:20:00.000Z"`) {
		t.Errorf("the stream sends %s %s", e.name, e.data)
	}
	d.advance(20 * time.Minute)
	d.updateStreams()
	events.wantEvents("gone closed")
	guest.send(http.MethodGet, "/v2/entities/"+closed, "").want(t, http.StatusNotFound)
	var left struct{ Entities []json.RawMessage }
	guest.send(http.MethodGet, nearbyPath, "").want(t, http.StatusOK).decode(t, &left)
	if len(left.Entities) != 1 {
		t.Errorf("%d entities are left, want the plain one", len(left.Entities))
	}
}
