package car

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// change returns the built-in figures with one member changed, given as a path such as rate.side_road, or removed if
// value is nil.
func change(t *testing.T, path string, value any) []byte {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(builtIn, &root); err != nil {
		t.Fatal(err)
	}
	at, steps := root, strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		at = at[step].(map[string]any)
	}
	last := steps[len(steps)-1]
	if value == nil {
		delete(at, last)
	} else {
		at[last] = value
	}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestMembersAreRequired checks that each member is required, except those of free tables.
func TestMembersAreRequired(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(builtIn, &root); err != nil {
		t.Fatal(err)
	}
	paths := slices.Sorted(maps.Keys(root))
	for _, object := range []string{"vehicle", "rate", "turn"} {
		for member := range root[object].(map[string]any) {
			paths = append(paths, object+"."+member)
		}
	}
	if len(paths) < 31+4+7+4 {
		t.Fatalf("only %d members were tried", len(paths))
	}
	for _, path := range paths {
		_, err := Parse(change(t, path, nil))
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("without %s: %v", path, err)
		}
	}
}

func TestBadMembersAreNamed(t *testing.T) {
	for path, values := range map[string][]any{
		"version":                 {2, 0, "1"},
		"units":                   {map[string]string{"speed": "mph", "time": "s", "length": "m", "weight": "kg"}},
		"highway_speed.primary":   {0, -1, 1e9},
		"route_speed.ferry":       {0},
		"movable_bridge_speed":    {0, -5, 1e9},
		"other_speed":             {-1},
		"never.highway":           {[]string{}, []string{""}, []string{"steps", "steps"}},
		"construction_open":       {[]string{}, "no"},
		"access_keys":             {[]string{}, []string{"access", "access"}},
		"access_open":             {[]string{"no"}, []string{"private"}},
		"access_local":            {[]string{"no"}},
		"oneway_forward":          {[]string{"-1"}},
		"oneway_implied.junction": {[]string{}},
		"vehicle.height":          {0, -2},
		"vehicle.width":           {0},
		"maxspeed_factor":         {0, 1.1, -0.8},
		"mph":                     {0},
		"maxspeed_zone.urban":     {-1},
		"maxspeed_named.DE:urban": {50},
		"surface_cap.mud":         {-1},
		"rate.service":            {map[string]float64{"alley": 0}},
		"rate.two_way_width":      {[]any{}, []any{[]float64{3}}, []any{[]float64{3, 0.5, 1}}, []any{[]float64{4, 0.5}, []float64{3, 0.6}}, []any{[]float64{3, 2}}},
		"rate.side_road":          {0, 1.5, -1},
		"barrier_delay.gate":      {0, -60},
		"node_delay.stop":         {-1},
		"turn.most":               {0},
		"turn.bias":               {0, -1},
		"local_turn_weight":       {-1},
		"no_such_member":          {1},
	} {
		for _, value := range values {
			_, err := Parse(change(t, path, value))
			last := path[strings.LastIndexByte(path, '.')+1:]
			if err == nil || !strings.Contains(err.Error(), last) {
				t.Errorf("%s = %v: %v", path, value, err)
			}
		}
	}
	for name, text := range map[string][]byte{
		"empty":      nil,
		"cut":        builtIn[:len(builtIn)/2],
		"two values": append(bytes.Clone(builtIn), "{}"...),
		"no object":  []byte("[]"),
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTooManyKeysAreRefused(t *testing.T) {
	var keys []string
	for i := range 40 {
		keys = append(keys, "access"+strings.Repeat("x", i))
	}
	if _, err := Parse(change(t, "access_keys", keys)); err == nil || !strings.Contains(err.Error(), "keys") {
		t.Errorf("40 access keys with their directions: %v", err)
	}
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.vocabulary); n < 50 || n > maxKeys {
		t.Errorf("the built-in profile reads %d keys", n)
	}
}

// TestFiguresCount checks that results follow changed figures, so that no figure exists a second time in the code.
func TestFiguresCount(t *testing.T) {
	way := func(tags Tags) func(*Profile) any {
		return func(p *Profile) any { w, _ := p.Way(tags); return w }
	}
	node := func(tags Tags) func(*Profile) any { return func(p *Profile) any { return p.Node(tags) } }
	turn := func(turn Turn) func(*Profile) any {
		return func(p *Profile) any { d, w := p.Turn(turn); return [2]float64{d, w} }
	}
	primary := func(key, value string) func(*Profile) any { return way(Tags{{"highway", "primary"}, {key, value}}) }
	before, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path  string
		value any
		ask   func(*Profile) any
	}{
		{"highway_speed.primary", 66, primary("a", "b")},
		{"route_speed.ferry", 6, way(Tags{{"route", "ferry"}})},
		{"movable_bridge_speed", 6, primary("bridge", "movable")},
		{"other_speed", 11, way(Tags{{"highway", "track"}, {"access", "yes"}})},
		{"never.area", []string{"no"}, primary("area", "yes")},
		{"construction_open", []string{"yes"}, primary("construction", "yes")},
		{"access_keys", []string{"car"}, primary("access", "no")},
		{"access_open", []string{"residents_only"}, way(Tags{{"highway", "track"}, {"access", "residents_only;no"}})},
		{"access_local", []string{"friends"}, primary("access", "friends")},
		{"access_closed", []string{"never"}, primary("access", "never")},
		{"local_turn_weight", 1, turn(Turn{Ends: 3, ToLocal: true})},
		{"oneway_keys", []string{"oneway:car"}, primary("oneway", "yes")},
		{"oneway_forward", []string{"y"}, primary("oneway", "y")},
		{"oneway_backward", []string{"reverse"}, primary("oneway", "reverse")},
		{"oneway_implied.junction", []string{"circle"}, primary("junction", "circle")},
		{"vehicle.height", 3, primary("maxheight", "2.5")},
		{"vehicle.width", 3, primary("maxwidth", "2.5")},
		{"vehicle.length", 6, primary("maxlength", "5")},
		{"vehicle.weight", 3000, primary("maxweight", "2.5")},
		{"maxspeed_keys", []string{"limit"}, primary("maxspeed", "30")},
		{"maxspeed_factor", 0.9, primary("maxspeed", "30")},
		{"mph", 1.6, primary("maxspeed", "30 mph")},
		{"maxspeed_zone.urban", 51, primary("maxspeed", "XX:urban")},
		{"maxspeed_named.none", 150, primary("maxspeed", "none")},
		{"surface_cap.mud", 11, primary("surface", "mud")},
		{"tracktype_cap.grade5", 21, primary("tracktype", "grade5")},
		{"smoothness_cap.impassable", 1, primary("smoothness", "impassable")},
		{"rate.service.alley", 0.6, primary("service", "alley")},
		{"rate.two_way_width", []any{[]float64{3, 0.4}}, primary("width", "3")},
		{"rate.two_way_one_lane", 0.6, primary("lanes", "1")},
		{"rate.two_way_no_markings", 0.6, primary("lane_markings", "no")},
		{"rate.alternating", 0.6, primary("oneway", "alternating")},
		{"rate.side_road", 0.6, primary("side_road", "yes")},
		{"rate.against_priority", 0.6, primary("priority", "forward")},
		{"barrier_open", []string{"wall"}, node(Tags{{"barrier", "wall"}})},
		{"barrier_delay.gate", 61, node(Tags{{"barrier", "gate"}})},
		{"node_delay.stop", 3, node(Tags{{"highway", "stop"}})},
		{"turn.most", 8, turn(Turn{Ends: 3})},
		{"turn.bias", 1.1, turn(Turn{Ends: 3, Angle: 90})},
		{"turn.u_turn", 21, turn(Turn{Back: true})},
		{"turn.look_ahead", 21, func(p *Profile) any { return p.LookAhead() }},
	} {
		after, err := Parse(change(t, row.path, row.value))
		if err != nil {
			t.Errorf("%s: %v", row.path, err)
		} else if was, is := row.ask(before), row.ask(after); was == is {
			t.Errorf("%s = %v changes nothing: %+v", row.path, row.value, is)
		}
	}
}
