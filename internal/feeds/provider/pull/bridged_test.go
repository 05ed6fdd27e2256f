package pull

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// workZones returns a WZDx feed of work zones with these ids, each with a line, and one more item, a detour, which has no kind.
func workZones(ids ...string) string {
	features := []string{workZone("detour", "detour")}
	for _, id := range ids {
		features = append(features, workZone(id, "work-zone"))
	}
	return `{"type":"FeatureCollection","feed_info":{"publisher":"DOT","license":"https://creativecommons.org/publicdomain/zero/1.0/","version":"4.2"},"features":[` +
		strings.Join(features, ",") + `]}`
}

func workZone(id, event string) string {
	return fmt.Sprintf(`{"id":%q,"type":"Feature","properties":{"core_details":{"event_type":%q,"road_names":["I-80"],"direction":"eastbound"},
		"vehicle_impact":"some-lanes-closed","start_date":"2020-01-01T00:00:00Z","end_date":"2090-01-01T00:00:00Z"},
		"geometry":{"type":"LineString","coordinates":[[-93.1,41.5],[-93.0,41.6]]}}`, id, event)
}

// bridgedFeed registers a feed of a format at a URL.
func (w *testService) bridgedFeed(url string, b mapdata.Bridge) mapdata.FeedID {
	w.t.Helper()
	id := w.register(url)
	w.edit(id, func(f *mapdata.Feed) { f.Bridge = b })
	return id
}

func (w *testService) edit(id mapdata.FeedID, change func(*mapdata.Feed)) {
	w.t.Helper()
	if _, err := w.db.UpdateFeed(w.t.Context(), id, func(f *mapdata.Feed) (mapdata.Side, error) {
		change(f)
		return mapdata.Side{}, nil
	}); err != nil {
		w.t.Fatal(err)
	}
}

// due makes a feed due and waits for the outcome of its next poll.
func (w *testService) due(p *Poller, id mapdata.FeedID) mapdata.Outcome {
	w.t.Helper()
	w.edit(id, func(f *mapdata.Feed) { f.Polling.NextFetchAt = time.Now().Add(-time.Second) })
	stop := run(w.t, p)
	defer stop()
	return <-w.polls
}

func (w *testService) entitiesOf(id mapdata.FeedID) (all []mapdata.Entity) {
	w.t.Helper()
	if err := w.db.FeedEntities(w.t.Context(), id, time.Now(), 100, func(e *mapdata.Entity) { all = append(all, *e) }); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// requests records the requests to a provider.
type requests struct {
	mu  sync.Mutex
	all []http.Header
}

func (r *requests) note(h http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, h.Clone())
}

func (r *requests) last() http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[len(r.all)-1]
}

// TestBridgedPoll checks that a document in another format becomes entities with lines and ends, and that skipped items are stored with the
// poll (D17.1 to D17.11).
func TestBridgedPoll(t *testing.T) {
	w := newTestService(t)
	var asked requests
	id := w.bridgedFeed(w.provider("dot", func(rw http.ResponseWriter, r *http.Request) {
		asked.note(r.Header)
		fmt.Fprint(rw, workZones("a", "b"))
	}), mapdata.Bridge{Format: "wzdx"})
	p := w.poller(nil)
	var skipped atomic.Int64
	p.ObserveSkips = func(format string, skips []mapdata.Skip) {
		if format == "wzdx" {
			skipped.Add(int64(mapdata.SkippedItems(skips)))
		}
	}
	if got := w.due(p, id); got != mapdata.OutcomeOK {
		t.Fatalf("%s: %s", got, w.feed(id).Polling.LastError)
	}
	all := w.entitiesOf(id)
	if len(all) != 2 || all[0].ExternalID != "a" || len(all[0].Line) != 2 || all[0].EndsAt.Year() != 2090 || all[0].Kind.ID() != "alert.construction" {
		t.Errorf("entities: %+v", all)
	}
	polling := w.feed(id).Polling
	if polling.LastRows != 2 || polling.LastSkipped != 1 || len(polling.Skips) != 1 || polling.Skips[0].Reason != "no_kind" ||
		len(polling.Skips[0].Words) != 1 || polling.Skips[0].Words[0] != (mapdata.SkipWord{Word: "detour", Items: 1}) || skipped.Load() != 1 {
		t.Errorf("polling: %+v, %d skips observed", polling, skipped.Load())
	}
	attempts, err := w.db.Timeline(t.Context(), id, time.Time{}, 10)
	if err != nil || len(attempts) != 1 || attempts[0].Skipped != 1 || attempts[0].Rows != 2 {
		t.Errorf("timeline: %+v, %v", attempts, err)
	}
	if got := asked.last().Get("Accept"); got != "application/json, */*;q=0.1" {
		t.Errorf("Accept: %s", got)
	}
}

// TestConditionalPolls checks that a server gets conditional requests, that its 304 is a good poll at which everything was seen, and that
// the skipped items are still stored (D17.12). An edit of the feed, or another way to read the document, requests it whole again. A feed of
// v1 rows never sends a condition.
func TestConditionalPolls(t *testing.T) {
	w := newTestService(t)
	var asked requests
	text := workZones("a")
	answer := func(rw http.ResponseWriter, r *http.Request) {
		asked.note(r.Header)
		rw.Header().Set("ETag", `"1"`)
		rw.Header().Set("Last-Modified", "Sat, 21 Nov 2026 08:00:00 GMT")
		if r.Header.Get("If-None-Match") == `"1"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(rw, text)
	}
	url := w.provider("dot", answer)
	id, other := w.bridgedFeed(url, mapdata.Bridge{Format: "wzdx"}), w.provider("plain", answer)
	p := w.poller(nil)
	for i, test := range []struct {
		name        string
		change      func(*mapdata.Feed)
		conditional bool
	}{
		{"the first", func(*mapdata.Feed) {}, false},
		{"the second", func(*mapdata.Feed) {}, true},
		{"the third", func(*mapdata.Feed) {}, true},
		{"after an edit of the zone", func(f *mapdata.Feed) { f.Bridge.TimeZone = "America/Chicago" }, false},
		{"after that", func(*mapdata.Feed) {}, true},
		{"after an edit of the name", func(f *mapdata.Feed) { f.Name = "Other" }, true},
		{"at another URL", func(f *mapdata.Feed) { f.PullURL = url + "?x" }, false},
	} {
		w.edit(id, test.change)
		if got := w.due(p, id); got != mapdata.OutcomeOK {
			t.Fatalf("%s: %s", test.name, got)
		}
		h := asked.last()
		if got := h.Get("If-None-Match") == `"1"` && h.Get("If-Modified-Since") == "Sat, 21 Nov 2026 08:00:00 GMT"; got != test.conditional || !got && len(h.Values("If-None-Match"))+len(h.Values("If-Modified-Since")) > 0 {
			t.Errorf("%s: conditional %v, want %v", test.name, got, test.conditional)
		}
		f := w.feed(id)
		if f.Snapshot != int64(i+1) || f.Polling.LastRows != 1 || f.Polling.LastSkipped != 1 || len(f.Polling.Skips) != 1 || len(w.entitiesOf(id)) != 1 {
			t.Errorf("%s: snapshot %d, %+v", test.name, f.Snapshot, f.Polling)
		}
	}
	text = "[" + goodRow + "]"
	plain := w.register(other)
	for range 3 {
		if got := w.due(p, plain); got != mapdata.OutcomeOK {
			t.Fatal(got)
		}
		for name := range asked.last() {
			if strings.HasPrefix(name, "If-") {
				t.Errorf("a feed of v1 rows sent %s", name)
			}
		}
	}
}

// TestBridgedFetch checks that a body may be a gzip file under the transport's own encoding, and that a server's request for a pause is
// respected (D17.12).
func TestBridgedFetch(t *testing.T) {
	w := newTestService(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, workZones("a"))
	z.Close()
	id := w.bridgedFeed(w.provider("file", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		_, _ = z.Write(packed.Bytes())
		z.Close()
	}), mapdata.Bridge{Format: "wzdx"})
	if got := w.due(w.poller(nil), id); got != mapdata.OutcomeOK || len(w.entitiesOf(id)) != 1 {
		t.Errorf("a gzip file: %s, %s", got, w.feed(id).Polling.LastError)
	}
	for _, test := range []struct {
		name, after string
		least, most time.Duration
		format      string
	}{
		{"seconds", "7200", time.Hour, time.Hour, "wzdx"},
		{"little", "1", 0, time.Hour, "wzdx"},
		{"date", time.Now().Add(40 * time.Minute).UTC().Format(http.TimeFormat), 39 * time.Minute, 41 * time.Minute, "wzdx"},
		{"nothing readable", "soon", 0, 5 * time.Minute, "wzdx"},
		{"v1", "1800", 0, 5 * time.Minute, ""},
	} {
		busy := w.bridgedFeed(w.provider("busy-"+strings.ReplaceAll(test.name, " ", "-"), func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", test.after)
			rw.WriteHeader(http.StatusServiceUnavailable)
		}), mapdata.Bridge{Format: test.format})
		w.edit(busy, func(f *mapdata.Feed) { f.PullInterval = time.Minute })
		got := w.due(w.poller(nil), busy)
		polling := w.feed(busy).Polling
		if wait := polling.NextFetchAt.Sub(polling.LastFetchedAt); got != mapdata.OutcomeHTTPStatus || wait < test.least || wait > test.most {
			t.Errorf("%s: %s, next in %v", test.name, got, wait)
		}
	}
}

// TestBridgedFailures checks that a bad document fails the poll with a reason and a place, and changes no entity (D17.15).
func TestBridgedFailures(t *testing.T) {
	w := newTestService(t)
	text := workZones("a")
	id := w.bridgedFeed(w.provider("dot", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, text) }), mapdata.Bridge{Format: "wzdx"})
	p := w.poller(nil)
	if got := w.due(p, id); got != mapdata.OutcomeOK {
		t.Fatal(got)
	}
	good := text
	for _, test := range []struct {
		name, text string
		outcome    mapdata.Outcome
		reason     mapdata.Reason
	}{
		{"cut off", good[:len(good)-20], mapdata.OutcomeParseError, mapdata.ReasonJSON},
		{"another format", `{"type":"Topology"}`, mapdata.OutcomeParseError, mapdata.ReasonFormat},
		{"too deep", strings.Repeat("[", 200_000), mapdata.OutcomeParseError, mapdata.ReasonTooDeep},
		{"no gzip", "\x1f\x8bnothing", mapdata.OutcomeParseError, mapdata.ReasonFormat},
	} {
		text = test.text
		if got := w.due(p, id); got != test.outcome {
			t.Errorf("%s: %s", test.name, got)
		}
		attempts, err := w.db.Timeline(t.Context(), id, time.Time{}, 1)
		if err != nil || test.reason != "" && attempts[0].Reason != test.reason || attempts[0].Reason == "" {
			t.Errorf("%s: %+v, %v", test.name, attempts, err)
		}
		if polling := w.feed(id).Polling; len(w.entitiesOf(id)) != 1 || polling.LastSkipped != 1 || !strings.HasPrefix(polling.LastError, string(attempts[0].Reason)) {
			t.Errorf("%s: %+v", test.name, polling)
		}
	}
	text = `{"type":"FeatureCollection","feed_info":{"version":"4.2"},"features":[]}`
	if got := w.due(p, id); got != mapdata.OutcomeOK || w.feed(id).Polling.LastSkipped != 0 {
		t.Errorf("an empty document: %s", got)
	}
}

// TestBridgedSnapshotShrinks checks that a snapshot that lost more than half of its rows to one reason is a shrunken one (issue 19).
func TestBridgedSnapshotShrinks(t *testing.T) {
	w := newTestService(t)
	text := workZones("a", "b", "c")
	id := w.bridgedFeed(w.provider("dot", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, text) }), mapdata.Bridge{Format: "wzdx"})
	p := w.poller(nil)
	if got := w.due(p, id); got != mapdata.OutcomeOK || w.feed(id).Polling.Shrank {
		t.Fatal(got, "shrank at the first poll")
	}
	text = strings.ReplaceAll(workZones("a", "b", "c", "d", "e", "f"), `"work-zone"`, `"workzone"`)
	text = strings.Replace(text, `"workzone"`, `"work-zone"`, 2)
	if got := w.due(p, id); got != mapdata.OutcomeOK || !w.feed(id).Polling.Shrank {
		t.Errorf("%s, %+v", got, w.feed(id).Polling)
	}
}
