package mapdata_test

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func TestLinesAreStoredExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) geo.Point {
			return geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		}), 2, mapdata.MaxLine).Draw(t, "line")
		stored := mapdata.AppendLine(nil, line)
		if len(stored) != mapdata.LineBytes(line) || !mapdata.ValidLine(line) {
			t.Fatalf("%d bytes, want %d", len(stored), mapdata.LineBytes(line))
		}
		got, err := mapdata.ParseLine(stored)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(line, got); diff != "" {
			t.Error(diff)
		}
	})
	if got := mapdata.AppendLine(nil, nil); got != nil || mapdata.LineBytes(nil) != 0 {
		t.Errorf("no line is stored as %x", got)
	}
	if got, err := mapdata.ParseLine(nil); got != nil || err != nil {
		t.Errorf("no line is read as %v, %v", got, err)
	}
}

func TestValidLine(t *testing.T) {
	at := func(lat, lng float64) []geo.Point { return []geo.Point{{Lat: 1, Lng: 1}, {Lat: lat, Lng: lng}} }
	for name, c := range map[string]struct {
		line []geo.Point
		want bool
	}{
		"none": {nil, false}, "one": {at(1, 1)[:1], false}, "two": {at(-90, 180), true}, "most": {make([]geo.Point, 500), true},
		"too many": {make([]geo.Point, 501), false}, "too far north": {at(90.1, 0), false}, "too far west": {at(0, -180.1), false},
		"not a number": {at(math.NaN(), 0), false}, "no longitude": {at(0, math.NaN()), false}, "infinite": {at(0, math.Inf(1)), false},
	} {
		if got := mapdata.ValidLine(c.line); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestParseLineRefusesAnythingElse checks that damaged bytes lead to an error, not to a line, and cost no memory.
func TestParseLineRefusesAnythingElse(t *testing.T) {
	good := mapdata.AppendLine(nil, []geo.Point{{Lat: 1, Lng: 2}, {Lat: 3, Lng: 4}})
	count := func(n uint32) []byte {
		edited := append([]byte(nil), good...)
		binary.LittleEndian.PutUint32(edited[5:], n)
		return edited
	}
	for name, stored := range map[string][]byte{
		"cut": good[:len(good)-1], "longer": append(append([]byte(nil), good...), 0), "header": good[:9], "byte": good[:1],
		"three": count(3), "one": count(1), "very many": count(math.MaxUint32), "big endian": append([]byte{0}, good[1:]...),
		"a point": append([]byte{1, 1}, good[2:]...), "501": mapdata.AppendLine(nil, make([]geo.Point, mapdata.MaxLine+1)),
	} {
		if line, err := mapdata.ParseLine(stored); err == nil || line != nil {
			t.Errorf("%s: a line of %d positions, %v", name, len(line), err)
		}
	}
}

// TestEndsBoundExpiry checks that expires_at is the earlier of last seen + lifetime and the end, confirms included
// (D17.3).
func TestEndsBoundExpiry(t *testing.T) {
	const hour = time.Hour
	for name, c := range map[string]struct {
		lifetime, end, kept time.Duration // 0: none
		want                time.Duration // 0: never
	}{
		"persistent": {0, 0, 0, 0}, "persistent with an end": {0, 3 * hour, 0, 3 * hour}, "decaying": {hour, 0, 0, hour},
		"ends first": {2 * hour, hour, 0, hour}, "expires first": {hour, 2 * hour, 0, hour}, "both": {hour, hour, 0, hour},
		"kept": {hour, 0, 2 * hour, 2 * hour}, "kept, ends later": {hour, 3 * hour, 2 * hour, 2 * hour},
		"kept, ends between": {hour, 90 * time.Minute, 2 * hour, 90 * time.Minute}, "kept, ends before": {hour, 30 * time.Minute, 2 * hour, 30 * time.Minute},
	} {
		e := mapdata.Entity{Kind: kind(t, "alert.police"), Lifetime: c.lifetime, FirstSeenAt: noon, SeenAt: noon}
		s := mapdata.Stored{Lifetime: c.lifetime, SeenAt: noon}
		v := mapdata.Voted{}
		if c.end != 0 {
			e.EndsAt, s.EndsAt = noon.Add(c.end), noon.Add(c.end)
		}
		if c.kept != 0 {
			s.KeptUntil, v.Tally.KeptUntil = noon.Add(c.kept), noon.Add(c.kept)
		}
		v.Entity = e
		at, expires := v.ExpiresAt(noon)
		if expires != (c.want != 0) || expires && !at.Equal(noon.Add(c.want)) || !expires && !at.IsZero() {
			t.Errorf("%s: expires %v at %v, want after %v", name, expires, at, c.want)
		}
		if own, ok := e.ExpiresAt(noon); c.kept == 0 && (ok != expires || !own.Equal(at)) {
			t.Errorf("%s: the entity by itself expires %v at %v", name, ok, own)
		}
		end := noon.Add(c.want)
		if c.want == 0 {
			end = noon.Add(1e6 * hour)
		}
		if !s.Alive(noon, end.Add(-time.Millisecond)) || c.want != 0 && s.Alive(noon, end) {
			t.Errorf("%s: a comparison has it alive otherwise", name)
		}
	}
}

// TestConfirmMovesExpiryNoFurtherThanTheEnd checks that a confirm does not move the expiry beyond the end (D9.6,
// D17.3).
func TestConfirmMovesExpiryNoFurtherThanTheEnd(t *testing.T) {
	f := mapdata.FeedID{1}
	for end, want := range map[time.Duration]time.Duration{0: 30 * time.Minute, 10 * time.Minute: 10 * time.Minute, time.Hour: 30 * time.Minute} {
		e := &mapdata.Entity{Feed: f, Kind: kind(t, "alert.police"), Lifetime: time.Minute, FirstSeenAt: noon, SeenAt: noon}
		if end != 0 {
			e.EndsAt = noon.Add(end)
		}
		var tally mapdata.Tally
		tally = tally.Cast(e, counted(mapdata.NoVote), counted(mapdata.Confirm), noon)
		if !tally.KeptUntil.Equal(noon.Add(want)) {
			t.Errorf("ends after %v: kept until %v, want after %v", end, tally.KeptUntil, want)
		}
	}
}
