package pull

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
	_ "time/tzdata"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
)

// nightly is a CIFS feed of one closure, every night from 22:00 to 06:00.
const nightly = `{"incidents":[{"id":"a","type":"ROAD_CLOSED","polyline":"52 5 52.1 5.1","schedule":{"everyday":"22:00-06:00"}}]}`

// nextShortNight returns the date on which clocks of a zone next go forward.
func nextShortNight(t *testing.T, zone *time.Location) (year int, month time.Month, day int) {
	t.Helper()
	at := time.Now().In(zone)
	for range 4 {
		if _, at = at.ZoneBounds(); at.IsDST() {
			return at.Date()
		}
	}
	t.Fatal("clocks never go forward in", zone)
	return 0, 0, 0
}

// TestNightsOfASchedule checks that a document that never changes is requested whole when its hours begin or end, by the clocks of the
// feed's zone, and conditionally between these times, when nothing of its entities is written, although their end comes nearer (D17.3,
// D17.6).
func TestNightsOfASchedule(t *testing.T) {
	w := newTestService(t)
	var asked requests
	id := w.bridgedFeed(w.provider("city", func(rw http.ResponseWriter, r *http.Request) {
		asked.note(r.Header)
		rw.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(rw, nightly)
	}), mapdata.Bridge{Format: "cifs", TimeZone: "Europe/Amsterdam"})
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	year, month, day := nextShortNight(t, zone)
	var virtual atomic.Int64
	clock := func() time.Time { return time.Unix(virtual.Load(), 0) }
	client, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Hosts: w.hosts, RootCAs: w.roots, Timeout: fetchTimeout, MaxBody: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	p := newMemory(t).poller(client, func(o *Options) {
		o.Store, o.Ingest, o.Now = w.db, ingest.New(w.db, clock, signal.StoreChanged{}), clock
		o.Observe = func(outcome mapdata.Outcome, _ time.Duration) { w.polls <- outcome }
	})
	written := int64(0)
	for _, step := range []struct {
		day, hour, minute int // before or after the night of the change, by the clocks
		read              bool
		ends              int // the hour of that day; 0: nothing is shown
	}{
		{-1, 21, 30, true, 0},
		{-1, 21, 59, false, 0},
		{-1, 22, 0, true, 6},
		{-1, 23, 0, false, 6},
		{0, 1, 59, false, 6},
		{0, 3, 0, false, 6}, // a minute later
		{0, 5, 59, false, 6},
		{0, 6, 0, true, 0},
		{0, 12, 0, false, 0},
		{0, 22, 0, true, 30},
		{1, 5, 59, false, 30},
		{1, 6, 0, true, 0},
	} {
		now := time.Date(year, month, day+step.day, step.hour, step.minute, 0, 0, zone)
		virtual.Store(now.Unix())
		w.edit(id, func(f *mapdata.Feed) { f.Polling.NextFetchAt = now.Add(-time.Second) })
		stop := run(t, p)
		got := <-w.polls
		stop()
		if got != mapdata.OutcomeOK {
			t.Fatalf("%v: %s: %s", now, got, w.feed(id).Polling.LastError)
		}
		if read := asked.last().Get("If-None-Match") == ""; read != step.read {
			t.Errorf("%v: the document was asked for whole: %v", now, read)
		}
		var shown []mapdata.Entity
		if err := w.db.FeedEntities(t.Context(), id, now, 10, func(e *mapdata.Entity) { shown = append(shown, *e) }); err != nil {
			t.Fatal(err)
		}
		ends := time.Date(year, month, day, step.ends, 0, 0, 0, zone)
		if (step.ends > 0) != (len(shown) == 1) || len(shown) == 1 && (!shown[0].EndsAt.Equal(ends) || len(shown[0].Line) != 2) {
			t.Errorf("%v: %+v, want an end at %v", now, shown, ends)
		}
		mark, err := w.db.Mark(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if moved := mark.EntitiesRevision != written; moved && !step.read {
			t.Errorf("%v: an unchanged item was written", now)
		}
		written = mark.EntitiesRevision
	}
}
