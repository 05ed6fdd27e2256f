package service

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/entities/law"
)

// TestReadLaw checks that the error names the file, the feature and the member for the operator.
func TestReadLaw(t *testing.T) {
	if l, err := readLaw(""); l != nil || err != nil {
		t.Errorf("no file: %v, %v", l, err)
	}
	if l, err := readLaw("../../../deploy/law/example.geojson"); err != nil || l.Areas() != 4 {
		t.Errorf("the example: %d areas, %v", l.Areas(), err)
	}
	path := filepath.Join(t.TempDir(), "law.geojson")
	for _, tt := range []struct {
		text []byte
		want string
	}{
		{nil, "law.file: open"},
		{[]byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"X","hide":["moose"]}}]}`), `law.geojson: feature 1 ("X"): properties.hide holds "moose"`},
		{bytes.Repeat([]byte(" "), law.MaxBytes+2), "has more than"},
	} {
		if tt.text != nil {
			if err := os.WriteFile(path, tt.text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readLaw(path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "law.file") {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
