package ingest_test

import (
	"testing"

	"wayside/internal/feeds/ingest"
)

func TestBreaks(t *testing.T) {
	for text, want := range map[string][2]int{
		`{"rows": [}`:                 {1, 11},
		"[\n  {\"kind\": \"é\"},\n]":  {3, 1},
		`[{"external_id":"1",]`:       {1, 21},
		`[{"external_id":"1"}] extra`: {1, 23},
		``:                            {},
		`[`:                           {1, 1},
		`[]`:                          {},
	} {
		line, column, known := ingest.Breaks([]byte(text))
		if got := [2]int{line, column}; got != want || known != (want != [2]int{}) {
			t.Errorf("%q: %v, %v, want %v", text, got, known, want)
		}
	}
}
