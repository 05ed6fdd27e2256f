package bridge_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
)

// TestRealDocuments checks publishers' documents from the directory that WAYSIDE_TEST_FORMATS names, with a subdirectory for each format:
// every document is read to its end, and becomes the same each time, in whatever order its items stand. NAME-status.X is the second
// document of NAME-table.X.
func TestRealDocuments(t *testing.T) {
	root := os.Getenv("WAYSIDE_TEST_FORMATS")
	if root == "" {
		t.Skip("NOT TESTED: set WAYSIDE_TEST_FORMATS to a folder with documents of publishers, in a folder for each format")
	}
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range bridge.Formats() {
		files, err := filepath.Glob(filepath.Join(root, f.Name, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".mapping.json") || strings.Contains(filepath.Base(file), "-status.") {
				continue
			}
			o := format.Options{Now: time.Date(2023, 5, 22, 17, 40, 0, 0, time.UTC), Zone: amsterdam}
			if f.Mapping {
				if o.Mapping, err = os.ReadFile(strings.TrimSuffix(file, filepath.Ext(file)) + ".mapping.json"); err != nil {
					t.Errorf("%s: %v", file, err)
					continue
				}
			}
			t.Run(f.Name+"/"+filepath.Base(file), func(t *testing.T) {
				d := format.Document{Open: bridge.Unpacked(func() (io.ReadCloser, error) { return os.Open(file) })}
				if status := strings.Replace(file, "-table.", "-status.", 1); status != file {
					d.Status = bridge.Unpacked(func() (io.ReadCloser, error) { return os.Open(status) })
				}
				var bad *format.Error
				if _, err := f.Convert(d, &o, new(bridge.Skips), func(format.Item) error { return nil }); errors.As(err, &bad) {
					t.Fatal(bridge.Explain(err, f.Name))
				}
				text := golden(t, f, d, o)
				if golden(t, f, d, o) != text {
					t.Error("converting twice is not the same")
				}
				t.Log(text)
				holdsInAnyOrder(t, f, sample{file: file, doc: d, o: o})
			})
		}
	}
}
