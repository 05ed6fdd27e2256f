package relay

import (
	"testing"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/ground/mapdata"
)

// FuzzAnswer checks that any answer of an upstream, in either form, becomes pins that can be shown to readers, or an
// error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"entities":[{"external_id":"a","kind":"alert.police","lat":52,"lng":5,"properties":{"street":"A"}}],"fetched_at_utc":"2026-11-21T08:00:00Z"}`,
		`{"entities":[],"entities":[]}`, `{"entities":{}}`, `[]`, `null`, `{}`, ``, `{"fetched_at_utc":"\ud800","entities":[]}`,
		`{"alerts":[{"uuid":"u","type":"POLICE","location":{"x":5,"y":52},"pubMillis":1795248000000,"reliability":9}],"jams":[{"uuid":"j","line":[{"x":5,"y":52},{"x":5.01,"y":52}]}]}`,
		`{"alerts":[{"uuid":1,"type":[]}],"jams":null}`, "\xEF\xBB\xBF" + `{"entities":[]}`, `{"entities":[{"external_id":"a","kind":"alert.police","lat":52,"lng":5,"properties":{},"ttl_seconds":1e300}]}`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	s := New(Config{Now: func() time.Time { return now }})
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, raw := range []bool{false, true} {
			pins, _, err := s.decode(&upstream{Upstream: Upstream{Name: "u", Raw: raw}}, body)
			if err != nil && len(pins) > 0 {
				t.Fatal("an error, and pins")
			}
			for i := range pins {
				p := &pins[i]
				if !p.Point.Valid() || p.ExternalID == "" || !mapdata.IncidentKinds().Has(p.Kind) || len(p.Properties) < 2 ||
					p.Lifetime <= 0 || p.Lifetime > live.Freshness || !(p.Prior >= 0 && p.Prior <= 1) || p.FirstSeenAt.After(now) {
					t.Fatalf("pin %+v", p)
				}
				for _, q := range p.Line {
					if !q.Valid() {
						t.Fatalf("line %v", p.Line)
					}
				}
			}
		}
	})
}
