package roadtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Extracts returns the folder of real extracts that WAYSIDE_TEST_OSM names, or skips the test.
func Extracts(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("WAYSIDE_TEST_OSM")
	if folder == "" {
		t.Skip("NOT TESTED: set WAYSIDE_TEST_OSM to a folder with OpenStreetMap extracts")
	}
	return folder
}

// Extract returns the content of a real extract, or skips the test if it does not exist.
func Extract(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Extracts(t), name))
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	return content
}
