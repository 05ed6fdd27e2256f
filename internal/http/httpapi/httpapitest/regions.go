package httpapitest

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
)

// HeldRegionID is the region that HeldRegion makes.
const HeldRegionID = "0123456789abcdef"

// newImports returns a service that imports nothing, because nothing runs it.
func (d *Service) newImports(log *slog.Logger) *imports.Service {
	return imports.New(imports.Config{
		Folder: region.Folder(filepath.Join(d.Dir, "region")), Extracts: filepath.Join(d.Dir, "extracts"), Audit: d.DB, Now: d.Time, Log: log,
	})
}

// HeldRegion writes a region file, which cannot be read.
func (d *Service) HeldRegion(t *testing.T) string {
	t.Helper()
	d.Write(t, "region/"+HeldRegionID+".region", "no region")
	return HeldRegionID
}

// Write writes a file into the folder of region files and extracts.
func (d *Service) Write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(d.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
