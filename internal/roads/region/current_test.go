package region

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
	"wayside/internal/roads/osmpbf"
)

// drawStreet writes an extract of a street with the given number of nodes, and returns its path.
func drawStreet(t testing.TB, nodes int) string {
	t.Helper()
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var refs []int64
	for id := range int64(nodes) {
		err = errors.Join(err, w.Node(osmpbf.Node{ID: id + 1, Lat: 52_000_000_000 + id*100_000, Lng: 5_000_000_000}))
		refs = append(refs, id+1)
	}
	err = errors.Join(err, w.Way(osmpbf.Way{ID: 1, Refs: refs, Tags: osmpbf.Tags{{Key: "highway", Value: "residential"}}}), w.Close())
	path := filepath.Join(t.TempDir(), "street.osm.pbf")
	if err := errors.Join(err, os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func importStreet(t testing.TB, folder Folder, nodes int) *Imported {
	t.Helper()
	done, err := Import(t.Context(), ImportOptions{Folder: folder, Files: []string{drawStreet(t, nodes)}})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// clock is a clock that a test can set.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func openCurrent(folder Folder, choice string, log *testenv.Output) (*Current, *clock) {
	c := new(clock)
	return Open(context.Background(), CurrentOptions{Folder: folder, Choice: choice, Now: c.now, Log: slog.New(slog.NewTextHandler(log, nil))}), c
}

// TestCurrentFollowsImports checks each change that can happen to the region of a service.
func TestCurrentFollowsImports(t *testing.T) {
	folder, log := Folder(filepath.Join(t.TempDir(), "data", "region")), new(testenv.Output)
	c, time := openCurrent(folder, "", log)
	look := func() *Region { c.look(t.Context()); return c.Region() }
	if look() != nil || c.Problem() != nil {
		t.Error("a region where there is none")
	}
	first := importStreet(t, folder, 10)
	r := look()
	if r == nil || r.ID != first.ID || r.DataVersion != first.DataVersion || len(r.Graph.Arcs) != int(first.Arcs) || r.Index == nil {
		t.Fatalf("the region is %+v, imported %+v", r, first)
	}
	if look() != r {
		t.Error("the same region was opened again")
	}
	importStreet(t, folder, 10)
	if again := look(); again == r || again.DataVersion != r.DataVersion {
		t.Error("a file that was replaced is not taken over")
	}
	second := importStreet(t, folder, 20)
	damage(t, folder.Path(second.ID))
	if kept := look(); kept == nil || kept.ID != first.ID {
		t.Errorf("with a damaged region: %v", kept)
	}
	if p := c.Problem(); p == nil || p.Reason != Damaged {
		t.Errorf("the problem is %+v", p)
	}
	look()
	tried := c.tried
	time.ahead.Add(30e9) // 30 seconds
	if look(); c.tried != tried {
		t.Error("a damaged region is tried again within half a minute")
	}
	time.ahead.Add(31e9)
	if look(); c.tried == tried {
		t.Error("a damaged region is not tried again after a minute")
	}
	if n := strings.Count(log.String(), "the current region is not served"); n != 1 {
		t.Errorf("logged %d times: %s", n, log)
	}
	importStreet(t, folder, 20)
	if now := look(); now == nil || now.ID != second.ID || c.Problem() != nil {
		t.Errorf("after the repair: %v, %+v", now, c.Problem())
	}
	if _, err := folder.Remove(second.ID); err != nil {
		t.Fatal(err)
	}
	if look() != nil || c.Problem() != nil {
		t.Errorf("after the removal: %v, %+v", c.Region(), c.Problem())
	}
	if err := os.WriteFile(filepath.Join(string(folder), currentFile), []byte("../../../etc/passwd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if look() != nil || c.Problem() == nil || c.Problem().Reason != Unreadable {
		t.Errorf("with a name that is no ID: %+v", c.Problem())
	}
}

// damage changes a byte in the middle of a file, as a failing disk does, without changing its name or time.
func damage(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCurrentOfAFile checks navigation.region with a path, and with off.
func TestCurrentOfAFile(t *testing.T) {
	folder, log := Folder(filepath.Join(t.TempDir(), "region")), new(testenv.Output)
	path := filepath.Join(t.TempDir(), "elsewhere.region")
	c, _ := openCurrent(folder, path, log)
	if c.Region() != nil || c.Problem() == nil || c.Problem().Reason != Unreadable {
		t.Errorf("a file that is not there: %+v", c.Problem())
	}
	done := importStreet(t, folder, 10)
	text, err := os.ReadFile(folder.Path(done.ID))
	if err := errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	c.look(t.Context())
	if r := c.Region(); r == nil || r.ID != done.ID || c.Problem() != nil {
		t.Errorf("the file is %v, %+v", r, c.Problem())
	}
	if off, _ := openCurrent(folder, Off, log); off.Region() != nil || off.Problem() != nil {
		t.Error("a region where it is turned off")
	}
}

// TestMemoryStaysMappedWhileAPartIsHeld checks that a region stays mapped while one of its parts is reachable, and not
// afterwards.
func TestMemoryStaysMappedWhileAPartIsHeld(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	importStreet(t, folder, 10)
	c, time := openCurrent(folder, "", new(testenv.Output))
	held := c.Region().Graph
	importStreet(t, folder, 20)
	c.look(t.Context())
	waiting := func() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.retired) }
	for range 5 {
		runtime.GC()
	}
	if waiting() != 0 {
		t.Fatal("memory of which a part is held was retired")
	}
	if held.Arcs[0].To == held.Arcs[0].From { // reads the mapping
		t.Error("the graph is damaged")
	}
	runtime.KeepAlive(held)
	held = nil
	for waiting() == 0 {
		runtime.GC()
		runtime.Gosched()
	}
	c.unmap()
	if waiting() != 1 {
		t.Error("memory was unmapped immediately")
	}
	time.ahead.Add(int64(unmapAfter))
	c.unmap()
	if waiting() != 0 {
		t.Error("memory stays mapped")
	}
}

// TestReadersWhileRegionsChange reads all of every region while two take ten turns (a hundred if WAYSIDE_TEST_FULL is set), with
// collections in between.
func TestReadersWhileRegionsChange(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	want := sync.Map{}
	for _, nodes := range []int{10, 20} {
		done := importStreet(t, folder, nodes)
		want.Store(done.DataVersion, int(done.Arcs))
	}
	c, time := openCurrent(folder, "", new(testenv.Output))
	stop := make(chan struct{})
	var reading sync.WaitGroup
	for range 3 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r := c.Region()
				arcs, _ := want.Load(r.DataVersion)
				sum := uint32(0)
				for i := range r.Graph.Arcs {
					sum += r.Graph.Arcs[i].Weight
				}
				if len(r.Graph.Arcs) != arcs || sum == 0 {
					t.Errorf("region %s has %d arcs, want %v", r.ID, len(r.Graph.Arcs), arcs)
				}
				runtime.KeepAlive(r)
			}
		})
	}
	turns := 10
	if os.Getenv("WAYSIDE_TEST_FULL") != "" {
		turns = 100
	}
	for turn := range turns {
		importStreet(t, folder, 10+10*(turn%2))
		c.look(t.Context())
		runtime.GC()
		time.ahead.Add(int64(unmapAfter))
		c.unmap()
	}
	close(stop)
	reading.Wait()
}

// TestLeftoversAreRemoved checks that the next start removes the files of a killed import, unless an import is running.
func TestLeftoversAreRemoved(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	done := importStreet(t, folder, 10)
	for _, name := range []string{importing + "123", switching + "9", lockFile, "notes.txt"} {
		if err := os.WriteFile(filepath.Join(string(folder), name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release, err := folder.lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.lock(); !errors.Is(err, ErrBusy) {
		t.Errorf("a second lock: %v", err)
	}
	if err := errors.Join(folder.Sweep(), release(), folder.Sweep()); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(string(folder))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{done.ID + suffix, currentFile, "notes.txt"}
	slices.Sort(want)
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q, %v", left, want, err)
	}
}
