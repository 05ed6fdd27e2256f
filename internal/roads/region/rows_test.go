package region

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/roads/osmpbf"
)

// tags returns tags from pairs of key and value.
func tags(pairs ...string) (all osmpbf.Tags) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, osmpbf.Tag{Key: pairs[i], Value: pairs[i+1]})
	}
	return all
}

// importRows imports an extract and returns the rows of its cameras and chargers by their ids, and the counts of what
// was left out.
func importRows(t *testing.T, draw func(w *osmpbf.Writer) error) (rows map[string]rowJSON, left map[string]int) {
	t.Helper()
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := draw(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "town.osm.pbf")
	if err := writeFile(path, out.Bytes()); err != nil {
		t.Fatal(err)
	}
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	done, err := Import(t.Context(), ImportOptions{Folder: folder, Files: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(t.Context(), folder.Path(done.ID))
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string]rowJSON{}
	for count, part := range map[int64]*Rows{r.Cameras: r.CameraRows, r.Chargers + 1<<32: r.ChargerRows} {
		var all []rowJSON
		if err := json.Unmarshal(part.JSON(), &all); err != nil {
			t.Fatal(err)
		}
		if int64(len(all)) != count&math.MaxUint32 || part.Len() != len(all) {
			t.Errorf("%d rows, counted as %d and %d", len(all), count&math.MaxUint32, part.Len())
		}
		for _, row := range all {
			rows[row.ExternalID] = row
		}
	}
	return rows, done.LeftOut
}

// street draws a one-way street to the east at the equator: nodes 1 to 5, 100 m apart, and the given nodes.
func street(w *osmpbf.Writer, more ...osmpbf.Node) error {
	for id := range int64(5) {
		if err := w.Node(osmpbf.Node{ID: id + 1, Lng: id * 1_000_000}); err != nil {
			return err
		}
	}
	for _, n := range more {
		if err := w.Node(n); err != nil {
			return err
		}
	}
	return w.Way(osmpbf.Way{ID: 1, Refs: []int64{1, 2, 3, 4, 5}, Tags: tags("highway", "primary", "oneway", "yes", "name", "Long Lane")})
}

func member(role string, node int64) osmpbf.Member {
	return osmpbf.Member{Ref: node, Role: role, Type: osmpbf.Nodes}
}

func TestCamerasOfAnExtract(t *testing.T) {
	enforcing := func(id int64, what string, members ...osmpbf.Member) osmpbf.Relation {
		return osmpbf.Relation{ID: id, Tags: tags("type", "enforcement", "enforcement", what, "maxspeed", "70"), Members: members}
	}
	rows, left := importRows(t, func(w *osmpbf.Writer) error {
		err := street(w,
			osmpbf.Node{ID: 10, Lng: 1_000_000, Lat: 100_000, Tags: tags("highway", "speed_camera", "maxspeed", "50 mph")},
			osmpbf.Node{ID: 11, Lng: 2_000_000, Lat: 100_000, Tags: tags("highway", "speed_camera", "maxspeed", "IT:urban", "direction", "270")},
			osmpbf.Node{ID: 12, Lng: 3_000_000, Tags: tags("highway", "speed_camera")}, // the device of two relations
			osmpbf.Node{ID: 13, Lng: 3_000_000, Lat: 900_000_000},
			osmpbf.Node{ID: 14, Lng: 3_000_000, Lat: 99_000_000_000, Tags: tags("highway", "speed_camera")},
		)
		for _, r := range []osmpbf.Relation{
			enforcing(1, "traffic_signals", member("device", 12), member("from", 5), member("to", 4)),
			enforcing(2, "maxspeed", member("device", 12), member("from", 4), member("to", 3)),
			enforcing(3, "average_speed", member("from", 1), member("to", 5), member("device", 2)),
			enforcing(4, "traffic_signals", member("from", 3)),
			enforcing(5, "access", member("device", 13)),
			enforcing(6, "maxspeed", member("device", 999)),
			enforcing(7, "maxspeed"),
		} {
			if err == nil {
				err = w.Relation(r)
			}
		}
		return err
	})
	for id, want := range map[string]string{
		"node/10":    `camera.speed {"bearing":90,"maxspeed_kmh":80,"street":"Long Lane"}`,
		"node/11":    `camera.speed {"bearing":270,"street":"Long Lane"}`,
		"node/12":    `camera.speed {"bearing":270,"maxspeed_kmh":70,"street":"Long Lane"}`,
		"relation/3": `camera.avg_speed {"bearing":90,"maxspeed_kmh":70,"section":{"from":[0,0],"to":[0.004,0]},"street":"Long Lane"}`,
		"relation/4": `camera.red_light {"bearing":90,"street":"Long Lane"}`,
	} {
		properties, _ := json.Marshal(rows[id].Properties)
		if got := rows[id].Kind + " " + string(properties); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
		delete(rows, id)
	}
	if len(rows) != 0 {
		t.Errorf("further cameras: %+v", rows)
	}
	if left["enforcement_other"] != 1 || left["cameras_without_place"] != 2 {
		t.Errorf("left out: %v", left)
	}
}

func TestChargersOfAnExtract(t *testing.T) {
	station := func(pairs ...string) osmpbf.Tags { return tags(append(pairs, "amenity", "charging_station")...) }
	rows, left := importRows(t, func(w *osmpbf.Writer) error {
		err := street(w,
			osmpbf.Node{ID: 20, Tags: station("operator", "Ön  Charge & Co.", "network", "Other", "socket:type2", "2", "socket:type2:output", "22 kW", "capacity", "2",
				"addr:street", "Long Lane", "addr:housenumber", "7", "addr:city", "Town")},
			osmpbf.Node{ID: 21, Tags: station("network", "Fast", "socket:chademo", "1", "socket:type2_combo", "2", "socket:tesla_unheard_of", "1", "socket:nacs", "no")},
			osmpbf.Node{ID: 22, Tags: station("charging_station:output", "7,4 kW; 150000 W", "socket:schuko", "0")},
			osmpbf.Node{ID: 23, Tags: station("access", "private")},
			osmpbf.Node{ID: 24, Tags: station("motorcar", "no", "bicycle", "yes")},
			osmpbf.Node{ID: 25, Tags: tags("amenity", "fuel")},
		)
		for _, way := range []osmpbf.Way{
			{ID: 30, Refs: []int64{1, 5, 13, 1}, Tags: station("name", "Park")},
			{ID: 31, Refs: []int64{77, 78}, Tags: station()},
		} {
			if err == nil {
				err = w.Way(way)
			}
		}
		return err
	})
	for id, want := range map[string]string{
		"node/20": `charger.destination {"city":"Town","evses":2,"max_kw":22,"network":"n-charge-co","operator":"Ön Charge & Co.","plugs":["type2"],"street":"Long Lane 7"}`,
		"node/21": `charger.supercharger {"network":"fast","operator":"Fast","plugs":["ccs","chademo","other"]}`,
		"node/22": `charger.supercharger {"max_kw":150}`,
		"way/30":  `charger.destination {"name":"Park"}`,
	} {
		properties, _ := json.Marshal(rows[id].Properties)
		if got := rows[id].Kind + " " + strings.ReplaceAll(string(properties), `\u0026`, "&"); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if at := rows["way/30"]; at.Lat != 0 || at.Lng != 0.002 {
		t.Errorf("the middle of the area: %+v", at)
	}
	if len(rows) != 4 || left["chargers_not_public"] != 2 || left["chargers_without_place"] != 1 {
		t.Errorf("%d rows, left out %v", len(rows), left)
	}
}

// TestHostileTextsOfRows checks the names that readers get of stations with hostile names.
func TestHostileTextsOfRows(t *testing.T) {
	names := []string{
		strings.Repeat("x", 40<<10), strings.Repeat("é", 500), "a\x00b\x1b[31mc\u202ed", "<script>alert(1)</script>", "\xff\xfe", "  ", "שלום", "a\tb\n\nc",
	}
	rows, left := importRows(t, func(w *osmpbf.Writer) error {
		err := street(w)
		for i, name := range names {
			if err == nil {
				err = w.Node(osmpbf.Node{ID: int64(100 + i), Tags: tags("amenity", "charging_station", "name", name)})
			}
		}
		return err
	})
	for id, want := range map[string]any{
		"node/100": nil, "node/101": strings.Repeat("é", 200), "node/102": "a b [31mcd", "node/103": "<script>alert(1)</script>", // text, which pages escape
		"node/104": nil, "node/105": nil, "node/106": "שלום", "node/107": "a b c",
	} {
		if got := rows[id].Properties["name"]; rows[id].Kind == "" || got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if left["row_texts"] != 3 {
		t.Errorf("left out: %v", left)
	}
}

func writeFile(path string, content []byte) error { return os.WriteFile(path, content, 0o600) }

func TestVersionsAreOrderedByDay(t *testing.T) {
	ordered := []string{"", "0123456789abcdef", "ffffffffffffffff", "20161109-ffffffffffffffff", "20261120-0123456789abcdef"}
	for i := range ordered {
		for j := range ordered {
			if got := CompareVersions(ordered[i], ordered[j]); got != cmp.Compare(i, j) {
				t.Errorf("%q and %q: %d", ordered[i], ordered[j], got)
			}
		}
	}
}
