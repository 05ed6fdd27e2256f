package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/roads/roadtest"
)

// The grid of random maps.
const (
	letters = "abcdefghijklmnopqrstuvwxy"
	columns = 5
)

func gridMap() string {
	var rows []string
	for i := 0; i < len(letters); i += columns {
		rows = append(rows, strings.Join(strings.Split(letters[i:i+columns], ""), "-"))
	}
	return strings.Join(rows, "\n")
}

// neighbors returns the letters next to a letter on the grid.
func neighbors(letter byte) []byte {
	i := strings.IndexByte(letters, letter)
	var all []byte
	if i%columns > 0 {
		all = append(all, letters[i-1])
	}
	if i%columns < columns-1 {
		all = append(all, letters[i+1])
	}
	if i >= columns {
		all = append(all, letters[i-columns])
	}
	if i+columns < len(letters) {
		all = append(all, letters[i+columns])
	}
	return all
}

// randomWays draws walks over the grid.
func randomWays(t *rapid.T) []string {
	ways := make([]string, rapid.IntRange(1, 25).Draw(t, "ways"))
	for i := range ways {
		at := letters[rapid.IntRange(0, len(letters)-1).Draw(t, "start")]
		ways[i] = string(at)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			at = rapid.SampledFrom(neighbors(at)).Draw(t, "step")
			ways[i] += string(at)
		}
	}
	return ways
}

// randomMap draws a map with random ways, restrictions, barriers and signs.
func randomMap(t *rapid.T, tb testing.TB) *drawn {
	ways := randomWays(t)
	var objects []roadtest.Object
	for _, way := range ways {
		objects = append(objects, roadtest.Way(way, rapid.SampledFrom([]string{road, road, road, road + ", oneway=yes", "route=ferry", "highway=service, access=private"}).Draw(t, "tags")))
	}
	for range rapid.IntRange(0, 3).Draw(t, "signs") {
		node := string(letters[rapid.IntRange(0, len(letters)-1).Draw(t, "node")])
		objects = append(objects, roadtest.Node(node, rapid.SampledFrom([]string{"highway=stop", "barrier=gate", "barrier=bollard", "highway=turning_circle"}).Draw(t, "sign")))
	}
	for range rapid.IntRange(0, 8).Draw(t, "restrictions") {
		value := rapid.SampledFrom([]string{"no_left_turn", "no_left_turn", "only_left_turn"}).Draw(t, "value")
		members := randomMembers(t, ways)
		objects = append(objects, roadtest.Restriction(value, members))
	}
	return draw(tb, 50, gridMap(), objects...)
}

// randomMembers draws ways and a node that are often connected.
func randomMembers(t *rapid.T, ways []string) string {
	var chain []string
	for range rapid.IntRange(2, 4).Draw(t, "members") {
		fitting := ways
		if len(chain) > 0 {
			last := chain[len(chain)-1]
			var near []string
			for _, way := range ways {
				if strings.ContainsAny(way[:1]+way[len(way)-1:], last[:1]+last[len(last)-1:]) {
					near = append(near, way)
				}
			}
			if len(near) > 0 {
				fitting = near
			}
		}
		chain = append(chain, rapid.SampledFrom(fitting).Draw(t, "member"))
	}
	first, last := chain[0], chain[len(chain)-1]
	if len(chain) == 2 {
		return first + " " + rapid.SampledFrom([]string{first[:1], first[len(first)-1:]}).Draw(t, "via") + " " + last
	}
	return first + " " + strings.Join(chain[1:len(chain)-1], ",") + " " + last
}

// TestRandomMaps checks on random maps the properties that every graph must have.
func TestRandomMaps(t *testing.T) {
	applied := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := randomMap(rt, t)
		applied += d.counts.Restrictions.Applied
		if _, err := fromSections(sectionsOf(d.Graph)); err != nil {
			rt.Fatal(err)
		}
		holdIslands(rt, d.Graph, d.counts)
		holdTurnsMeet(rt, d)
		holdCopiesNeeded(rt, d)
		holdExport(rt, d.Graph, 3, rand.New(rand.NewPCG(1, 2)))
	})
	if applied == 0 {
		t.Error("no restriction was ever applied")
	}
}

// holdTurnsMeet checks that turns lead from the end of an arc to the beginning of another, at nodes where pieces end.
func holdTurnsMeet(t rapid.TB, d *drawn) {
	t.Helper()
	for arc := range d.Arcs {
		a := d.Arcs[arc]
		name := d.name(uint32(arc))
		if int64(name[0]) != d.Graph.Nodes[a.From].OSM || int64(name[len(name)-1]) != d.Graph.Nodes[a.To].OSM {
			t.Fatalf("arc %s leads from node %c to %c", name, rune(d.Graph.Nodes[a.From].OSM), rune(d.Graph.Nodes[a.To].OSM))
		}
		for _, turn := range d.TurnsFrom(uint32(arc)) {
			if d.Arcs[turn.To].From != a.To {
				t.Fatalf("a turn from %s onto %s", name, d.name(turn.To))
			}
		}
	}
}

// holdCopiesNeeded checks that every copy can be reached, and allows other turns than its original.
func holdCopiesNeeded(t rapid.TB, d *drawn) {
	t.Helper()
	reached := make([]bool, len(d.Arcs))
	for _, turn := range d.Turns {
		reached[turn.To] = true
	}
	for arc := range d.Arcs {
		base := d.Arcs[arc].CopyOf
		if base == uint32(arc) {
			continue
		}
		if !reached[arc] {
			t.Fatalf("no turn leads to copy %d of %s", arc, d.name(base))
		}
		if fmt.Sprint(d.TurnsFrom(uint32(arc))) == fmt.Sprint(d.TurnsFrom(base)) {
			t.Fatalf("copy %d of %s allows what that one does", arc, d.name(base))
		}
	}
}

// simpleTown is a town with streets between neighbours on the grid, each a way, and restrictions along walks over them.
// It computes the allowed turns from a whole trip.
type simpleTown struct {
	open     map[string]bool // by "ab": a car may drive from a to b
	ends     map[byte]int
	forbids  []string // walks over letters: a car that drove all but the last letter must not drive on to it
	requires []string // walks after which a car must drive on to the last letter
}

func randomTown(t *rapid.T) (*simpleTown, []roadtest.Object) {
	town := &simpleTown{open: map[string]bool{}, ends: map[byte]int{}}
	var objects []roadtest.Object
	named := map[string]string{} // the way between two nodes
	for i := range letters {
		for _, other := range neighbors(letters[i]) {
			if other < letters[i] || rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
				continue
			}
			way, reverse := string([]byte{letters[i], other}), string([]byte{other, letters[i]})
			oneway := rapid.IntRange(0, 4).Draw(t, "oneway") == 0
			objects = append(objects, roadtest.Way(way, map[bool]string{true: road + ", oneway=yes", false: road}[oneway]))
			named[way], named[reverse] = way, way
			town.open[way], town.open[reverse] = true, !oneway
			town.ends[letters[i]]++
			town.ends[other]++
		}
	}
	for range rapid.IntRange(1, 30).Draw(t, "restrictions") {
		walk := randomWalk(t, named)
		if len(walk) < 3 {
			continue
		}
		var ways []string
		drivable := true
		for i := range len(walk) - 1 {
			ways = append(ways, named[walk[i:i+2]])
			drivable = drivable && town.open[walk[i:i+2]]
		}
		via := walk[1:2]
		if len(ways) > 2 {
			via = strings.Join(ways[1:len(ways)-1], ",")
		}
		only := rapid.IntRange(0, 3).Draw(t, "only") == 0
		objects = append(objects, roadtest.Restriction(map[bool]string{true: "only_x", false: "no_x"}[only], ways[0]+" "+via+" "+ways[len(ways)-1]))
		switch {
		case drivable && only:
			town.requires = append(town.requires, walk)
		case drivable:
			town.forbids = append(town.forbids, walk)
		}
	}
	return town, objects
}

// randomWalk draws a walk that visits no node twice.
func randomWalk(t *rapid.T, named map[string]string) string {
	walk := string(letters[rapid.IntRange(0, len(letters)-1).Draw(t, "start")])
	for range rapid.IntRange(2, 5).Draw(t, "steps") {
		next := rapid.SampledFrom(neighbors(walk[len(walk)-1])).Draw(t, "step")
		if named[string([]byte{walk[len(walk)-1], next})] == "" || strings.IndexByte(walk, next) >= 0 {
			break
		}
		walk += string(next)
	}
	return walk
}

// onto returns where a car may drive on to after a trip.
func (town *simpleTown) onto(trip string) string {
	at, before := trip[len(trip)-1], trip[len(trip)-2]
	allowed := func(next byte) bool {
		if !town.open[string([]byte{at, next})] {
			return false
		}
		for _, walk := range town.forbids {
			if strings.HasSuffix(trip+string(next), walk) {
				return false
			}
		}
		for _, walk := range town.requires {
			if strings.HasSuffix(trip, walk[:len(walk)-1]) && next != walk[len(walk)-1] {
				return false
			}
		}
		return true
	}
	var all []byte
	twoWay := 0
	for _, next := range neighbors(at) {
		if town.open[string([]byte{at, next})] && town.open[string([]byte{next, at})] {
			twoWay++
		}
		if next != before && allowed(next) {
			all = append(all, next)
		}
	}
	if allowed(before) && (town.ends[at] == 1 || len(all) == 0 || twoWay <= 1) {
		all = append(all, before)
	}
	slices.Sort(all)
	return string(all)
}

// TestD15_9RandomTrips checks on random trips that at every node exactly the turns that the trip so far permits are
// allowed.
func TestD15_9RandomTrips(t *testing.T) {
	copies, nodes := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		town, objects := randomTown(rt)
		d := draw(t, 50, gridMap(), objects...)
		copies += strings.Count(export(t, d.Graph), "\te\t")
		for range 30 {
			if len(d.Arcs) == 0 {
				return
			}
			arc := d.Arcs[rapid.IntRange(0, len(d.Arcs)-1).Draw(rt, "arc")].CopyOf
			trip := d.name(arc)
			for range 15 {
				var got []byte
				for _, turn := range d.TurnsFrom(arc) {
					got = append(got, d.name(turn.To)[1])
				}
				slices.Sort(got)
				if want := town.onto(trip); string(got) != want {
					rt.Fatalf("after %s onto %q, want %q", trip, got, want)
				}
				nodes++
				if len(got) == 0 {
					break
				}
				arc = d.TurnsFrom(arc)[rapid.IntRange(0, len(got)-1).Draw(rt, "turn")].To
				trip += d.name(arc)[1:]
			}
		}
	})
	if copies == 0 || nodes == 0 {
		t.Errorf("%d copies at %d nodes", copies, nodes)
	}
}
