package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/mapdata"
)

// TestClientAddr checks which address limits count: the headers of a client that is not a trusted proxy are not believed.
func TestClientAddr(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tt := range []struct {
		name, peer, want string
		trusted          []netip.Prefix
		forwarded        []string
	}{
		{"no proxy is trusted", "192.0.2.1:1000", "192.0.2.1", nil, []string{"203.0.113.9"}},
		{"the peer is no trusted proxy", "192.0.2.1:1000", "192.0.2.1", proxies, []string{"203.0.113.9"}},
		{"a trusted proxy", "10.0.0.1:1000", "203.0.113.9", proxies, []string{"203.0.113.9"}},
		{"an IPv4 peer on an IPv6 socket", "[::ffff:10.0.0.1]:1000", "203.0.113.9", proxies, []string{"::ffff:203.0.113.9"}},
		{"a forged first hop", "10.0.0.1:1000", "192.0.2.7", proxies, []string{"203.0.113.9, 192.0.2.7"}},
		{"two proxies", "10.0.0.1:1000", "192.0.2.7", proxies, []string{"203.0.113.9, 192.0.2.7, 10.0.0.2"}},
		{"two headers", "10.0.0.1:1000", "192.0.2.7", proxies, []string{"203.0.113.9", "192.0.2.7,fd00::1"}},
		{"proxies only", "10.0.0.1:1000", "10.0.0.3", proxies, []string{"10.0.0.3, 10.0.0.2"}},
		{"no header", "10.0.0.1:1000", "10.0.0.1", proxies, nil},
		{"text in place of an address", "10.0.0.1:1000", "10.0.0.2", proxies, []string{"203.0.113.9, unknown, 10.0.0.2"}},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = tt.peer
		for _, line := range tt.forwarded {
			r.Header.Add("X-Forwarded-For", line)
		}
		a := &API{Deps: Deps{TrustedProxies: tt.trusted, Log: slog.New(slog.DiscardHandler)}}
		if got := a.clientAddr(r); got.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestFingerprint checks that a stream is not resumed after a change of any parameter, of the caller, or of anything else besides
// the entities that decides on the answer.
func TestFingerprint(t *testing.T) {
	a := &API{processID: "one"}
	seen := map[uint64]string{}
	add := func(name string, a *API, change func(q *nearby.Query, answer *nearby.Answer)) {
		q, answer := &nearby.Query{}, &nearby.Answer{}
		q.Center.Lat, q.Center.Lng, q.Radius, q.Kinds, q.Limit = 52, 4, 1000, mapdata.AllKinds, 100
		change(q, answer)
		print := a.fingerprint(q, answer)
		if other, known := seen[print]; known {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[print] = name
	}
	add("the query", a, func(*nearby.Query, *nearby.Answer) {})
	add("another process", &API{processID: "two"}, func(*nearby.Query, *nearby.Answer) {})
	for name, change := range map[string]func(q *nearby.Query, answer *nearby.Answer){
		"latitude":         func(q *nearby.Query, _ *nearby.Answer) { q.Center.Lat = 53 },
		"longitude":        func(q *nearby.Query, _ *nearby.Answer) { q.Center.Lng = 5 },
		"radius":           func(q *nearby.Query, _ *nearby.Answer) { q.Radius = 2000 },
		"kinds":            func(q *nearby.Query, _ *nearby.Answer) { q.Kinds = 1 },
		"limit":            func(q *nearby.Query, _ *nearby.Answer) { q.Limit = 101 },
		"no source":        func(q *nearby.Query, _ *nearby.Answer) { q.Sources = []string{} },
		"a source":         func(q *nearby.Query, _ *nearby.Answer) { q.Sources = []string{"a"} },
		"two sources":      func(q *nearby.Query, _ *nearby.Answer) { q.Sources = []string{"a", "b"} },
		"layers":           func(q *nearby.Query, _ *nearby.Answer) { q.Layers = []string{"a"} },
		"networks":         func(_ *nearby.Query, answer *nearby.Answer) { answer.Networks = []string{"a"} },
		"account":          func(q *nearby.Query, _ *nearby.Answer) { q.Account = mapdata.AccountID{1} },
		"by layer":         func(q *nearby.Query, _ *nearby.Answer) { q.ByLayer = true },
		"curator":          func(q *nearby.Query, _ *nearby.Answer) { q.Curator = true },
		"driving":          func(q *nearby.Query, _ *nearby.Answer) { q.Driving = true },
		"incidents":        func(_ *nearby.Query, answer *nearby.Answer) { answer.Live = true },
		"truncated":        func(_ *nearby.Query, answer *nearby.Answer) { answer.Truncated = true },
		"a source is read": func(_ *nearby.Query, answer *nearby.Answer) { answer.Sources = []mapdata.SourceHealth{{ID: "a"}} },
		"a merged pin": func(_ *nearby.Query, answer *nearby.Answer) {
			answer.Hits = []mapdata.Hit{{Merged: []mapdata.MergedID{{Source: "a", ExternalID: []byte("b")}}}}
		},
	} {
		add(name, a, change)
	}
}
