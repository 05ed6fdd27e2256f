package mapdata_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
)

// TestSessionAlive checks that a session ends 30 days after its last use and 180 days after it began (D11.2).
func TestSessionAlive(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name          string
		created, used time.Duration // durations before now
		alive         bool
	}{
		{"new", 0, 0, true},
		{"unused for almost 30 days", 40 * day, 30*day - time.Second, true},
		{"unused for 30 days", 40 * day, 30 * day, false},
		{"in use for almost 180 days", 180*day - time.Second, 0, true},
		{"in use for 180 days", 180 * day, 0, false},
	} {
		s := mapdata.Session{CreatedAt: noon.Add(-tt.created), SeenAt: noon.Add(-tt.used)}
		if got := s.Alive(noon); got != tt.alive {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestRetention checks the promises of docs and decisions about how long, and how much, is kept.
func TestRetention(t *testing.T) {
	const day = 24 * time.Hour
	if mapdata.AuditKept != 730*day {
		t.Errorf("the audit log is kept for %v, want two years", mapdata.AuditKept)
	}
	if mapdata.TimelineLength != 100 || mapdata.TimelineSpan != 7*day {
		t.Errorf("%d attempts of %v are kept, want 100 of a week", mapdata.TimelineLength, mapdata.TimelineSpan)
	}
}

func TestAcceptedRows(t *testing.T) {
	if got := (&mapdata.Attempt{Rows: 10, Rejected: 3}).Accepted(); got != 7 {
		t.Errorf("%d of 10 rows are accepted, of which 3 are rejected", got)
	}
}

// TestReviewedSince checks that a curator is shown each field that differs, and no other.
func TestReviewedSince(t *testing.T) {
	earlier := mapdata.Reviewed{Name: "Roads", Description: "of Ghent", Licence: "CC0-1.0"}
	later := earlier
	if got := later.Since(&earlier); len(got) != 0 {
		t.Errorf("without a change: %v", got)
	}
	later.Name, later.Licence = "Streets", ""
	want := []mapdata.FieldChange{{Field: "name", Was: "Roads", Is: "Streets"}, {Field: "licence", Was: "CC0-1.0", Is: ""}}
	if diff := cmp.Diff(want, later.Since(&earlier)); diff != "" {
		t.Error(diff)
	}
}
