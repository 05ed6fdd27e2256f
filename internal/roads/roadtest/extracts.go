package roadtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Extracts is the folder of real extracts that WAYSIDE_TEST_OSM names. Without it the test is skipped.
func Extracts(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("WAYSIDE_TEST_OSM")
	if folder == "" {
		t.Skip("NOT TESTED: set WAYSIDE_TEST_OSM to a folder with OpenStreetMap extracts")
	}
	return folder
}

// Extract is the content of one of them. If it is not there, the test is skipped.
func Extract(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Extracts(t), name))
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	return content
}
