package main

import (
	"slices"
	"testing"
)

// tableOf returns a table of one row with the given result.
func tableOf(got string, met bool) *table {
	t := new(table)
	t.add("reads", "≥ 60 %", got, met)
	t.note("profile", "none")
	return t
}

func TestMediansOfRuns(t *testing.T) {
	runs := []*table{tableOf("64.5 % (9 of 14/s)", true), tableOf("58 % (7 of 12/s)", false), tableOf("101 %", true)}
	got, err := medians(runs)
	want := []row{
		{"reads", "≥ 60 %", "64.5 % (9 of 14/s); 3 runs: 58 to 101", "met"},
		{what: "profile", got: "none"},
	}
	if err != nil || !slices.Equal(got.rows, want) {
		t.Errorf("got %v, %v; want %v", got.rows, err, want)
	}
	if got, err := medians(runs[:1]); err != nil || got != runs[0] {
		t.Errorf("one run became %v, %v", got, err)
	}
	if got, err := medians(nil); err != nil || len(got.rows) != 0 {
		t.Errorf("no run became %v, %v", got, err)
	}
}

// TestRunsOfDifferentRowsAreNotCompared checks that the rows of a run that ended early, which has fewer, are not taken for others.
func TestRunsOfDifferentRowsAreNotCompared(t *testing.T) {
	short := new(table)
	short.add("other", "", "1", true)
	last := tableOf("58 %", false)
	if got, err := medians([]*table{short, last}); err == nil || got != last {
		t.Errorf("got %v, %v", got, err)
	}
}
