package tilemaker

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// openExtract opens a real extract.
func openExtract(t testing.TB, name string) *osmpbf.File {
	t.Helper()
	in, err := os.Open(filepath.Join(roadtest.Extracts(t), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := osmpbf.Open(in, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestExtracts checks the maps of real extracts: two runs are identical, and sizes are within the promised limits.
func TestExtracts(t *testing.T) {
	for _, name := range []string{"monaco-planetiler", "malta-gh", "milan-otp", "columbus-otp-nondense"} {
		t.Run(name, func(t *testing.T) {
			f := openExtract(t, name+".osm.pbf")
			began := time.Now()
			archive, counts, err := Make(context.Background(), []*osmpbf.File{f}, Options{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			t.Logf("%d tiles, %d bytes (%.2f of the extract), largest %d, %.2f s (%.2f s a MB), left out %v", counts.Tiles, len(archive),
				float64(len(archive))/float64(f.Size()), counts.Largest, took.Seconds(), took.Seconds()/float64(f.Size())*1e6, counts.LeftOut)
			if len(archive) > 2*int(f.Size()) || counts.Largest > 500_000 {
				t.Errorf("the archive has %d bytes and its largest tile %d", len(archive), counts.Largest)
			}
			again, _, err := Make(context.Background(), []*osmpbf.File{f}, Options{Name: name})
			if err != nil || !bytes.Equal(archive, again) {
				t.Errorf("the same extract gives other bytes, or %v", err)
			}
		})
	}
}
