package datex2energy

import (
	"strconv"
	"testing"
)

// TestNamesAreBounded checks that a tree keeps 1000 names of a document, and reads further ones all the same.
func TestNamesAreBounded(t *testing.T) {
	all := &tree{names: map[string]string{}}
	for i := range 3000 {
		name := strconv.Itoa(i)
		if got := all.plain("locName" + name); got != "name"+name {
			t.Fatalf("name %d is %q", i, got)
		}
	}
	if len(all.names) != 1000 {
		t.Errorf("%d names are kept, want 1000", len(all.names))
	}
}
