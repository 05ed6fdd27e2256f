package mapdata_test

import (
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestMostLost checks that a snapshot that lost half its rows to one reason is a shrunken one, and that reasons that
// depend on time alone do not count (D6.9, issue 19).
func TestMostLost(t *testing.T) {
	skips := func(reason string, items int) []mapdata.Skip { return []mapdata.Skip{{Reason: reason, Items: items}} }
	for _, test := range []struct {
		name        string
		before, now []mapdata.Skip
		rows        int
		want        string
	}{
		{"none", nil, nil, 100, ""},
		{"half is not more than half", nil, skips("no_kind", 50), 100, ""},
		{"more than half", nil, skips("no_kind", 51), 100, "no_kind"},
		{"skipped before too", skips("no_kind", 51), skips("no_kind", 51), 100, ""},
		{"of another reason before", skips("no_id", 51), skips("no_kind", 51), 100, "no_kind"},
		{"ended", nil, skips("ended", 100), 100, ""},
		{"not yet", nil, skips("not_yet", 100), 100, ""},
		{"the first snapshot", nil, skips("no_kind", 100), 0, ""},
		{"two reasons share it", nil, append(skips("no_kind", 40), skips("no_id", 40)...), 100, ""},
	} {
		if got, lost := mapdata.MostLost(test.before, test.now, test.rows); got != test.want || lost != (test.want != "") {
			t.Errorf("%s: MostLost = %q, %v; want %q", test.name, got, lost, test.want)
		}
	}
}
