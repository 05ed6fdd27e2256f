package wire

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// TestAppendTime holds the own calendar against the standard library's.
func TestAppendTime(t *testing.T) {
	first := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	var days Calendar
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(first, last).Draw(t, "ms")
		if rapid.Bool().Draw(t, "same day") && days.made {
			ms = days.day*msPerDay + (ms%msPerDay+msPerDay)%msPerDay
		}
		if ms == 0 {
			return
		}
		want := `"` + time.UnixMilli(ms).UTC().Format(TimeLayout) + `"`
		if got := string(days.Append(nil, ms)); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	})
	if got := string(AppendTime(nil, 0)); got != "null" {
		t.Errorf("no time is %s", got)
	}
}

func BenchmarkAppendHit(b *testing.B) {
	h := &mapdata.Hit{
		Source: "feed:01a1fc6e-94d2-7baa-95f8-b1be3409b54e", Layer: "bench-0", Kind: 3, ExternalID: []byte("bench00:0020539"),
		Prepared:    EncodeEntity(nil, &mapdata.Entity{Point: geo.Point{Lat: 48.090176, Lng: 5.249039}, Properties: []byte(`{"street":"Street 22","city":"Town 139","maxspeed_kmh":120,"version":4}`)}),
		FirstSeenAt: 1795236468138, LastSeenAt: 1795236522048, ExpiresAt: 1795841322048,
	}
	var days [3]Calendar
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendHit(dst[:0], h, &days)
	}
	b.SetBytes(int64(len(dst)))
}
