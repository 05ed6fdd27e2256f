package roadtest

import (
	"os"
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
