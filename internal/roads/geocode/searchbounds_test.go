package geocode

import (
	"strings"
	"testing"
)

// TestDivideIsBounded holds that a query is divided at three places at most.
func TestDivideIsBounded(t *testing.T) {
	for _, query := range []string{strings.Repeat("a and ", 40), strings.Repeat("and et ", 40)} {
		tried := 0
		divide(query, func(string, string) { tried++ })
		if tried != 3 {
			t.Errorf("%.20q… was divided at %d places, want 3", query, tried)
		}
	}
}
