package osm

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/region"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// drawRegion imports a street with the given number of cameras.
func drawRegion(t *testing.T, cameras int) *region.Region {
	t.Helper()
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{})
	err = errors.Join(err, w.Node(osmpbf.Node{ID: 1}), w.Node(osmpbf.Node{ID: 2, Lng: 1_000_000}))
	for id := range int64(cameras) {
		err = errors.Join(err, w.Node(osmpbf.Node{ID: 10 + id, Lng: 10_000 * id, Tags: osmpbf.Tags{{Key: "highway", Value: "speed_camera"}}}))
	}
	err = errors.Join(err, w.Way(osmpbf.Way{ID: 1, Refs: []int64{1, 2}, Tags: osmpbf.Tags{{Key: "highway", Value: "primary"}}}), w.Close())
	path := filepath.Join(t.TempDir(), "x.osm.pbf")
	if err := errors.Join(err, os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	folder := region.Folder(filepath.Join(t.TempDir(), "region"))
	done, err := region.Import(t.Context(), region.ImportOptions{Folder: folder, Files: []string{path}, Without: []string{"chargers"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := region.Read(t.Context(), folder.Path(done.ID))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cameras returns the number of cameras in the store, and whether their source is active.
func cameras(t *testing.T, db *sqlite.DB) string {
	t.Helper()
	f, err := db.Feed(t.Context(), mapdata.OSMCamerasID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	text := strconv.Itoa(f.Holds.Entities)
	if !f.Active {
		text += " hidden"
	}
	return text
}

// TestTheNewestRegionOfAllNodesDecides checks one node beside others, whose data versions it knows.
func TestTheNewestRegionOfAllNodesDecides(t *testing.T) {
	two, three := drawRegion(t, 2), drawRegion(t, 3)
	for _, tt := range []struct {
		name   string
		own    *region.Region
		others string // greatest data version; "own": that of own
		want   string
	}{
		{"alone", two, "", "2"},
		{"beside one with the same", two, "own", "2"},
		{"beside a newer one", two, "99991231-ffff", "none"},
		{"beside an older one", two, "0", "2"},
		{"without a region beside one that has one", nil, "0", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := openStore(t)
			others := tt.others
			if others == "own" {
				others = tt.own.DataVersion
			}
			if got := runNode(t, db, func() *region.Region { return tt.own }, func() string { return others }); got != tt.want {
				t.Errorf("it stored %s, want %s", got, tt.want)
			}
		})
	}

	// A node without a region, or with an older one, does not undo the rows that a node with a newer region stored;
	// without other nodes it does.
	db := openStore(t)
	if got := runNode(t, db, func() *region.Region { return three }, nil); got != "3" {
		t.Fatalf("stored %s", got)
	}
	for _, step := range []struct {
		own    *region.Region
		others string
		want   string
	}{{nil, "99991231-ffff", "3"}, {two, "99991231-ffff", "3"}, {two, "", "2"}, {nil, "", "0 hidden"}, {three, "", "3"}} {
		if got := runNode(t, db, func() *region.Region { return step.own }, func() string { return step.others }); got != step.want {
			t.Errorf("beside %q the store holds %s, want %s", step.others, got, step.want)
		}
	}
}

// openStore opens a separate store.
func openStore(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// runNode starts a node, which knows the others' versions, and returns the resulting state of the store.
func runNode(t *testing.T, db *sqlite.DB, own func() *region.Region, newest func() string) string {
	t.Helper()
	signals, now := signal.NewSet(), time.Now()
	s := New(Options{
		Store: db, Ingest: ingest.New(db, time.Now, signals.StoreChanged), Region: own, Newest: newest, StoreChanged: signals.StoreChanged,
		Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	s.since = now
	before := cameras(t, db)
	for _, wait := range []time.Duration{0, settleAfter} {
		now = s.since.Add(wait)
		if err := s.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := cameras(t, db); newest != nil && wait == 0 && got != before {
			t.Errorf("it did not wait to hear of the others: %s, before %s", got, before)
		}
	}
	return cameras(t, db)
}
