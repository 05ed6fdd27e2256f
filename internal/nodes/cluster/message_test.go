package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func TestMessagesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &message{everywhere: rapid.Bool().Draw(t, "everywhere"), calls: make(map[string]mapdata.UpstreamCall)}
		copy(m.node[:], rapid.SliceOfN(rapid.Byte(), nodeSize, nodeSize).Draw(t, "node"))
		for range rapid.IntRange(0, 20).Draw(t, "moved") {
			m.moved = append(m.moved, geo.Circle{
				Center: geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")},
				Radius: rapid.Float64Range(0, maxRadius).Draw(t, "radius"),
			})
		}
		for range rapid.IntRange(0, 5).Draw(t, "calls") {
			m.calls[rapid.String().Draw(t, "name")] = mapdata.UpstreamCall{
				OK: rapid.Bool().Draw(t, "ok"), TimedOut: rapid.Bool().Draw(t, "hung"), Refused: rapid.Bool().Draw(t, "refused"),
			}
		}
		got, err := decode(m.encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got, cmp.AllowUnexported(message{})); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	full := message{
		moved: []geo.Circle{{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1}},
		calls: map[string]mapdata.UpstreamCall{"a": {OK: true}},
	}
	f.Add(full.encode())
	f.Add([]byte{version})
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := decode(in)
		if err != nil {
			return
		}
		for _, c := range m.moved {
			if !c.Center.Valid() || !(c.Radius >= 0 && c.Radius <= maxRadius) {
				t.Errorf("%+v is nowhere", c)
			}
		}
		again, err := decode(m.encode())
		if diff := cmp.Diff(m, again, cmp.AllowUnexported(message{})); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
	})
}

// TestNoMessageTellsWhoAsked checks D13.1: the published circle of a request is rounded to a tenth of a degree, and contains the
// circle of the request.
func TestNoMessageTellsWhoAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		area := geo.Circle{
			Center: geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")},
			Radius: rapid.Float64Range(100, 50_000).Draw(t, "radius"),
		}
		told := blur(area)
		if told.Radius < area.Radius+geo.Distance(area.Center, told.Center) {
			t.Errorf("%+v does not hold %+v", told, area)
		}
		for _, degrees := range []float64{told.Center.Lat, told.Center.Lng} {
			if off := degrees*10 - float64(int(degrees*10+0.5*sign(degrees))); off > 1e-6 || off < -1e-6 {
				t.Errorf("%+v is told too well: %+v", area, told)
			}
		}
	})
}

func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}
