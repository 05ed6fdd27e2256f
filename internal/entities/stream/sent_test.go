package stream_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/stream"
	"wayside/internal/ground/mapdata"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func hit(id string, edit func(*mapdata.Hit)) mapdata.Hit {
	h := mapdata.Hit{
		Source: "feed:x", Layer: "x", ExternalID: []byte(id), Prepared: []byte("prepared"), ChangedAt: noon.UnixMilli(),
		FirstSeenAt: noon.UnixMilli(), LastSeenAt: noon.UnixMilli(), Prior: mapdata.DefaultPrior,
	}
	if edit != nil {
		edit(&h)
	}
	return h
}

func expires(after time.Duration) func(*mapdata.Hit) {
	return func(h *mapdata.Hit) { h.ExpiresAt = noon.Add(after).UnixMilli() }
}

// testClient is one client's state.
type testClient struct {
	hub  *stream.Hub
	sent stream.Sent
	diff stream.Difference
}

func newTestClient() *testClient { return &testClient{hub: stream.New(stream.Config{Now: time.Now})} }

func (c *testClient) summary(hits []mapdata.Hit) []string {
	out := []string{}
	for _, g := range c.diff.Gone {
		out = append(out, "-"+string(g.ExternalID))
	}
	for _, i := range c.diff.Changed {
		out = append(out, string(hits[i].ExternalID))
	}
	return out
}

func (c *testClient) update(after time.Duration, hits ...mapdata.Hit) []string {
	c.hub.Diff(&c.sent, hits, noon.Add(after), &c.diff)
	return c.summary(hits)
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// TestDiffComparesWhatReadersSee checks that a change to any part of an entity that readers see is in the difference, and no other
// change.
func TestDiffComparesWhatReadersSee(t *testing.T) {
	c := newTestClient()
	want(t, "at first", c.update(0, hit("b", nil), hit("a", nil)), "b", "a")
	want(t, "again, in another order", c.update(0, hit("a", nil), hit("b", nil)))
	for name, edit := range map[string]func(*mapdata.Hit){
		"content":    func(h *mapdata.Hit) { h.Prepared = []byte("prepared anew") },
		"kind":       func(h *mapdata.Hit) { h.Kind = 3 },
		"layer":      func(h *mapdata.Hit) { h.Layer = "y" },
		"first seen": func(h *mapdata.Hit) { h.FirstSeenAt++ },
		"confirm":    func(h *mapdata.Hit) { h.Confirms = 1 },
		"dispute":    func(h *mapdata.Hit) { h.Disputes = 1 },
		"hidden":     func(h *mapdata.Hit) { h.DisputedUntil = 1 },
		"prior":      func(h *mapdata.Hit) { h.Prior = 0.7 },
		"merged":     func(h *mapdata.Hit) { h.Merged = []mapdata.MergedID{{Source: "feed:y", ExternalID: []byte("z")}} },
		"zone":       func(h *mapdata.Hit) { h.Zone = 300 },
		"decays":     expires(time.Hour),
	} {
		want(t, name, c.update(0, hit("a", edit), hit("b", nil)), "a")
		want(t, name+" again", c.update(0, hit("a", edit), hit("b", nil)))
		want(t, name+" back", c.update(0, hit("a", nil), hit("b", nil)), "a")
	}
	for name, edit := range map[string]func(*mapdata.Hit){
		"seen again": func(h *mapdata.Hit) { h.LastSeenAt++ },
		"distance":   func(h *mapdata.Hit) { h.Chord = 1 },
	} {
		want(t, name, c.update(0, hit("a", edit), hit("b", nil)))
	}
	want(t, "gone", c.update(0, hit("b", nil)), "-a")
	want(t, "another source's", c.update(0, hit("b", nil), hit("b", func(h *mapdata.Hit) { h.Source = "feed:y" })), "b")
	want(t, "all gone", c.update(0), "-b", "-b")
}

// TestLaterExpiryIsSentBeforeTheOldOne checks that a client gets a later expiry shortly before the one that it knows, and a sooner
// one immediately, and that the next update is due in time.
func TestLaterExpiryIsSentBeforeTheOldOne(t *testing.T) {
	c := newTestClient()
	want(t, "at first", c.update(0, hit("a", expires(time.Minute)), hit("p", nil)), "a", "p")
	due := func(after time.Duration) {
		t.Helper()
		if late := c.diff.Next.Sub(noon.Add(after)); late < 0 || late > 250*time.Millisecond {
			t.Errorf("the next update is %v late", late)
		}
	}
	due(58 * time.Second)
	want(t, "every poll moves it", c.update(30*time.Second, hit("a", expires(90*time.Second)), hit("p", nil)))
	due(58 * time.Second)
	want(t, "about to go for the client", c.update(58*time.Second, hit("a", expires(118*time.Second)), hit("p", nil)), "a")
	due(116 * time.Second)
	want(t, "not seen again", c.update(116*time.Second+200*time.Millisecond, hit("a", expires(118*time.Second)), hit("p", nil)))
	due(118 * time.Second)
	want(t, "expired", c.update(118*time.Second+200*time.Millisecond, hit("p", nil)), "-a")
	if !c.diff.Next.IsZero() {
		t.Errorf("an update is due at %v although the rest persists", c.diff.Next)
	}
	c.update(0, hit("a", expires(time.Minute)))
	want(t, "sooner", c.update(0, hit("a", expires(30*time.Second))), "a")
}

// TestEarliestExpiry checks that EarliestExpiry returns the earliest expiry that the client was sent, and zero without one.
func TestEarliestExpiry(t *testing.T) {
	c := newTestClient()
	c.update(0, hit("never", nil))
	if got := c.sent.EarliestExpiry(); !got.IsZero() {
		t.Errorf("%v, though nothing expires", got)
	}
	c.update(0, hit("never", nil), hit("late", expires(time.Hour)), hit("early", expires(10*time.Minute)), hit("between", expires(30*time.Minute)))
	if got := c.sent.EarliestExpiry(); got.Sub(noon.Add(10*time.Minute)).Abs() > time.Second {
		t.Errorf("%v, want ten minutes after noon", got)
	}
}

// TestResumeSendsWhatChanged checks that a client that reconnects gets the changes, and later the expiries that it may not know.
func TestResumeSendsWhatChanged(t *testing.T) {
	before := newTestClient()
	before.update(0, hit("old", nil), hit("decays", expires(10*time.Minute)), hit("later", expires(20*time.Minute)))
	floor := before.sent.EarliestExpiry()
	if !floor.Equal(noon.Add(10 * time.Minute)) {
		t.Fatalf("floor %v", floor)
	}
	c := newTestClient()
	now := []mapdata.Hit{
		hit("old", nil), hit("new", func(h *mapdata.Hit) { h.ChangedAt = noon.Add(time.Minute).UnixMilli() }),
		hit("decays", expires(15*time.Minute)), hit("later", expires(25*time.Minute)),
	}
	c.hub.Resume(&c.sent, now, noon.Add(30*time.Second), floor, noon.Add(5*time.Minute), &c.diff)
	want(t, "resumed", c.summary(now), "new")
	want(t, "looked at once", c.update(5*time.Minute, now...))
	want(t, "before the floor", c.update(10*time.Minute-time.Second, now...), "decays", "later")
	want(t, "then", c.update(10*time.Minute, now...))
}

// TestResumeWithoutExpiries checks that an entity without an expiry known to the client is not sent again before it expires.
func TestResumeWithoutExpiries(t *testing.T) {
	c := newTestClient()
	now := []mapdata.Hit{hit("decays", expires(15*time.Minute))}
	c.hub.Resume(&c.sent, now, noon.Add(30*time.Second), time.Time{}, noon.Add(5*time.Minute), &c.diff)
	want(t, "resumed", c.summary(now))
	want(t, "looked at immediately", c.update(5*time.Minute, now...))
}

// TestDiffDoesNotAllocate checks that an update without changes allocates nothing.
func TestDiffDoesNotAllocate(t *testing.T) {
	c := newTestClient()
	var hits []mapdata.Hit
	for i := range 200 {
		hits = append(hits, hit(fmt.Sprint(i), expires(time.Hour)))
	}
	c.update(0, hits...)
	if got := testing.AllocsPerRun(100, func() { c.hub.Diff(&c.sent, hits, noon, &c.diff) }); got > 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkDiff(b *testing.B) {
	c := newTestClient()
	var hits []mapdata.Hit
	for i := range 200 {
		hits = append(hits, hit(fmt.Sprint(i), expires(time.Hour)))
	}
	for b.Loop() {
		c.hub.Diff(&c.sent, hits, noon, &c.diff)
	}
}
