package live

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func someRecords() []record {
	at := time.Date(2026, 11, 20, 8, 0, 0, 123_000_000, time.UTC)
	p := Pin{
		Entity: mapdata.Entity{
			ExternalID: "a/\x00é", Kind: 2, Point: geo.Point{Lat: 52.1, Lng: -4.25}, Network: "net",
			Line:       []geo.Point{{Lat: 1, Lng: 2}, {Lat: -90, Lng: 180}},
			Properties: []byte(`{"a":1}`), Digest: 1<<63 + 5,
			FirstSeenAt: at.Add(-time.Hour), SeenAt: at, ChangedAt: at.Add(-time.Minute), Lifetime: time.Minute,
		},
		Upstream: "north", Prior: 0.7, Stamp: at.Add(-time.Second),
	}
	p.At = p.Point.Vector()
	bare := Pin{Entity: mapdata.Entity{ExternalID: "b", SeenAt: at, Lifetime: Freshness}, Upstream: "north"}
	bare.At = bare.Point.Vector()
	return []record{{p, at.UnixMilli(), at.UnixMilli() - 1, false}, {bare, at.UnixMilli(), noTime, true}}
}

func TestTilesAreReadAsWritten(t *testing.T) {
	want := someRecords()
	value := writeTile(want)
	got, err := readTile("north", value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(record{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if bytes.Equal(value, writeTile(want)) {
		t.Error("two writings are alike: a swap could not tell them apart")
	}
	if got, err := readTile("north", writeTile(nil)); err != nil || len(got) != 0 {
		t.Errorf("an empty tile: %d records, %v", len(got), err)
	}
}

// TestCorruptTilesCountAsAbsent checks that no byte can change, and none can be missing.
func TestCorruptTilesCountAsAbsent(t *testing.T) {
	value := writeTile(someRecords())
	for i := range value {
		spoilt := bytes.Clone(value)
		spoilt[i] ^= 0x10
		if _, err := readTile("north", spoilt); err == nil && (i == 0 || i >= sumAt) { // the bytes between are random
			t.Errorf("byte %d may change", i)
		}
		if _, err := readTile("north", value[:i]); err == nil {
			t.Errorf("it may end after %d bytes", i)
		}
	}
}

func TestUnknownKindsAreSkipped(t *testing.T) {
	body := appendRecords(nil, someRecords())
	id := mapdata.Kind(2).ID()
	body = bytes.Replace(body, []byte(id), bytes.Repeat([]byte("x"), len(id)), 1)
	got, err := readRecords("north", body)
	if err != nil || len(got) != 1 || got[0].pin.ExternalID != "b" {
		t.Errorf("%d records, %v", len(got), err)
	}
}

func FuzzReadTile(f *testing.F) {
	f.Add(writeTile(someRecords()))
	f.Add([]byte{tileVersion})
	f.Fuzz(func(t *testing.T, value []byte) {
		records, err := readTile("north", value)
		if err != nil && records != nil {
			t.Error("both records and an error")
		}
		readPlaces(value)
	})
}

// FuzzReadRecords fuzzes the records without the checksum.
func FuzzReadRecords(f *testing.F) {
	f.Add(appendRecords(nil, someRecords()))
	f.Add(appendRecords(nil, nil))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, body []byte) {
		records, err := readRecords("north", body)
		if err != nil {
			return
		}
		once := appendRecords(nil, records)
		again, err := readRecords("north", once)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once, appendRecords(nil, again)) {
			t.Error("what was read is not what is written")
		}
		for i := range records {
			if records[i].pin.Lifetime > Freshness {
				t.Error("fresh for longer than anything is")
			}
		}
	})
}

func TestPlacesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []place
		for range rapid.IntRange(0, maxPlaces).Draw(t, "places") {
			want = append(want, place{
				geo.Cell{Band: rapid.Int32().Draw(t, "band"), Column: rapid.Int32().Draw(t, "column")}, rapid.Int64().Draw(t, "seen"),
			})
		}
		got := readPlaces(appendPlaces(nil, want))
		if len(want) != len(got) || len(want) > 0 && !cmp.Equal(want, got, cmp.AllowUnexported(place{}, geo.Cell{})) {
			t.Errorf("%v became %v", want, got)
		}
	})
	for _, bad := range [][]byte{nil, {}, {locatorVersion + 1}, append([]byte{locatorVersion}, make([]byte, 15)...), append([]byte{locatorVersion}, make([]byte, 80)...)} {
		if got := readPlaces(bad); len(got) > 0 {
			t.Errorf("%v gives %v", bad, got)
		}
	}
}
