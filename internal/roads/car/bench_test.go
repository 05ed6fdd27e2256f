package car_test

import (
	"testing"

	"wayside/internal/roads/car"
)

// benchWays are typical ways of a city's extract: most are not roads, and most roads have few tags.
var benchWays = []string{
	"building=yes, addr:street=Via Roma, addr:housenumber=12",
	"building=apartments, building:levels=6, roof:shape=flat, start_date=1962",
	"landuse=grass",
	"highway=residential, name=Via Roma, oneway=yes, surface=asphalt, lit=yes, maxspeed=30",
	"highway=residential, name=Via Verdi",
	"highway=service, service=parking_aisle",
	"highway=footway, footway=sidewalk, surface=paving_stones",
	"highway=primary, name=Viale Monza, lanes=3, lanes:forward=2, lanes:backward=1, turn:lanes:forward=left|through, maxspeed=50, surface=asphalt, lit=yes, sidewalk=both",
	"highway=motorway, ref=A4, int_ref=E 64, maxspeed=130, lanes=4, toll=yes, oneway=yes, operator=Autostrade, name=Autostrada Serenissima",
	"highway=track, tracktype=grade3, access=private",
	"highway=secondary, name=Via Torino, maxspeed:forward=50, maxspeed:backward=30, width=5.5, motor_vehicle=destination",
	"highway=cycleway, bicycle=designated, foot=no",
}

// BenchmarkWay measures reading ways as an import meets them, and BenchmarkWay/roads only those that cars may drive on.
func BenchmarkWay(b *testing.B) {
	p := profile(b)
	for _, part := range []struct {
		name  string
		roads bool
	}{{"all", false}, {"roads", true}} {
		b.Run(part.name, func(b *testing.B) {
			b.ReportAllocs()
			all := make([]car.Tags, 0, len(benchWays))
			for _, text := range benchWays {
				if _, ok := p.Way(tags(text)); ok || !part.roads {
					all = append(all, tags(text))
				}
			}
			i, found := 0, 0
			for b.Loop() {
				if _, ok := p.Way(all[i]); ok {
					found++
				}
				if i++; i == len(all) {
					i = 0
				}
			}
			if found == 0 {
				b.Fatal("no way was a road")
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mways/s")
		})
	}
}

// BenchmarkNode measures reading the tags of nodes on roads.
func BenchmarkNode(b *testing.B) {
	p := profile(b)
	b.ReportAllocs()
	all := []car.Tags{tags("highway=crossing, crossing=uncontrolled"), tags("highway=traffic_signals, traffic_signals:direction=forward"), tags("amenity=bench"), tags("barrier=gate, access=private")}
	i := 0
	for b.Loop() {
		p.Node(all[i&3])
		i++
	}
}
