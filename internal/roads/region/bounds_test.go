package region

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/roads/osmpbf"
)

// TestSectionsAreBounded checks that a region file has at most 256 sections, as it is written and as it is read.
func TestSectionsAreBounded(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "a.region"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWriter(file)
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for i := range 300 {
		if w.begin("section"+strconv.Itoa(i)) == nil {
			written++
		}
	}
	if written != 256 {
		t.Errorf("%d sections are written, want 256", written)
	}
	if err := errors.Join(w.finish(), file.Close()); err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	for claimed, want := range map[uint32]bool{256: false, 257: true, 2000: true} {
		binary.LittleEndian.PutUint32(head[atSections:], claimed)
		_, err := parseHeader(head[:headerSize], int64(len(head)))
		if got := err != nil && strings.Contains(err.Error(), "256 are allowed"); got != want {
			t.Errorf("%d sections: %v", claimed, err)
		}
	}
}

// TestNameOfTheCurrentRegionIsBounded checks that what follows the first 64 bytes of the file that names the region is not read.
func TestNameOfTheCurrentRegionIsBounded(t *testing.T) {
	folder := Folder(t.TempDir())
	const id = "0123456789abcdef"
	for spaces, want := range map[int]string{40: "", 100: id} {
		if err := os.WriteFile(filepath.Join(string(folder), currentFile), []byte(id+strings.Repeat(" ", spaces)+"more"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := folder.Current(); got != want {
			t.Errorf("%d spaces: %q, %v", spaces, got, err)
		}
	}
}

// TestTextsOfRowsAreBounded checks that a tag of more than 1020 bytes is left out, and that a text is cut at 200 characters.
func TestTextsOfRowsAreBounded(t *testing.T) {
	for bytes, want := range map[int]int{200: 200, 201: 200, 1020: 200, 1021: 0, 9000: 0} {
		if got := len(plain(strings.Repeat("a", bytes))); got != want {
			t.Errorf("%d bytes become %d characters, want %d", bytes, got, want)
		}
	}
}

// TestObjectsOfRowsAreBounded checks that cameras of relations with more than 1000 members, and chargers of ways with more than 2000 nodes, are
// left out.
func TestObjectsOfRowsAreBounded(t *testing.T) {
	members := func(n int) (all []osmpbf.Member) {
		for range n - 1 {
			all = append(all, member("from", 1))
		}
		return append(all, member("device", 2))
	}
	nodes := func(n int) (all []int64) {
		for i := range n {
			all = append(all, int64(1+i%5))
		}
		return all
	}
	rows, left := importRows(t, func(w *osmpbf.Writer) error {
		err := street(w)
		for i, n := range []int{2000, 2001} {
			err = errors.Join(err, w.Way(osmpbf.Way{ID: int64(10 + i), Refs: nodes(n), Tags: tags("amenity", "charging_station")}))
		}
		for i, n := range []int{1000, 1001} {
			err = errors.Join(err, w.Relation(osmpbf.Relation{ID: int64(20 + i), Tags: tags("type", "enforcement", "enforcement", "maxspeed"), Members: members(n)}))
		}
		return err
	})
	if len(rows) != 2 || left["enforcement_other"] != 1 || left["chargers_without_place"] != 1 {
		t.Errorf("%d rows, left out: %v", len(rows), left)
	}
}
