package console

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// The test row is the row of the command that a new provider pastes. Its pin is harmless on a real map: it closes no road, and it
// expires after ten minutes.
const (
	testRowID  = "delete-me"
	testRowTTL = 10 * time.Minute
)

// curl returns a command that pushes the test row.
func (c *Console) curl(token string) string {
	return `curl -H 'Content-Type: application/json' -d '[` + c.testRow(testRowTTL) + `]' ` + c.pushURL(token)
}

// pushURL returns the URL to which rows are pushed.
func (c *Console) pushURL(token string) string { return c.BaseURL + `/v2/feeds/` + token + `/entities` }

// testRow returns the test row with a lifetime; pushing it with a lifetime of one second removes it (D3.4).
func (c *Console) testRow(ttl time.Duration) string {
	at := c.home()
	return fmt.Sprintf(`{"external_id":"%s","kind":"%s","lat":%.4f,"lng":%.4f,"ttl_seconds":%d,"properties":{"description":"My first row"}}`,
		testRowID, mapdata.Hazard().ID(), at.Lat, at.Lng, int(ttl.Seconds()))
}

// home returns the position of example rows.
func (c *Console) home() geo.Point {
	if c.Home == (geo.Point{}) {
		return geo.Point{Lat: 52.3702, Lng: 4.8952}
	}
	return c.Home
}

// maxTestRowSearch bounds the entities that are searched for the test row. A provider whose feed has more is past the first row.
const maxTestRowSearch = 500

// testRowShown returns when the test row expires if the feed holds it and other entities; zero: otherwise. It reads entities only
// within the row's lifetime after a push.
func (c *Console) testRowShown(ctx context.Context, by mapdata.Actor, f *feed.View, now time.Time) (time.Time, error) {
	if f.Direction != mapdata.Push || f.Entities < 2 || f.Entities > maxTestRowSearch || now.Sub(f.LastPushAt) > testRowTTL {
		return time.Time{}, nil
	}
	held, err := c.Feeds.Contents(ctx, by, f.ID, maxTestRowSearch)
	if err != nil {
		return time.Time{}, err
	}
	for i := range held.Entities {
		if e := &held.Entities[i]; e.ExternalID == testRowID && e.Kind == mapdata.Hazard() {
			until, _ := e.ExpiresAt(f.SnapshotAt)
			return until, nil
		}
	}
	return time.Time{}, nil
}

// postRemoveTestRow removes the test row from the visitor's own feed.
func (c *Console) postRemoveTestRow(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	done := "test-row"
	return c.changeFeed(w, r, v, &done, func(_ mapdata.Actor, id mapdata.FeedID) error {
		batch, err := ingest.DecodeBatch([]byte(`[`+c.testRow(time.Second)+`]`), c.Now())
		if err != nil {
			return fmt.Errorf("make the row that removes the test row: %w", err)
		}
		if _, err := c.Push(r.Context(), id, batch); err != nil {
			return fmt.Errorf("remove the test row: %w", err)
		}
		return nil
	})
}
