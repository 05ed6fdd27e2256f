package jsondoc

import (
	"fmt"
	"strings"
	"testing"
)

// TestNamesOfManyItems checks that a reader keeps at most 1000 names of members between items, and no long ones.
func TestNamesOfManyItems(t *testing.T) {
	var text strings.Builder
	fmt.Fprintf(&text, `[{"%s":1}`, strings.Repeat("x", 65))
	for i := range 3000 {
		fmt.Fprintf(&text, `,{"name%d":1}`, i)
	}
	text.WriteString("]")
	r := New(strings.NewReader(text.String()), nil)
	v, err := r.Value()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for item := range v.Elements() {
		for range item.Members() {
			seen++
		}
	}
	if kept := len(v.t.names); seen != 3001 || kept != 1000 {
		t.Errorf("of %d names %d are kept, want 1000", seen, kept)
	}
	for name := range v.t.names {
		if len(name) > 64 {
			t.Errorf("a name of %d bytes is kept", len(name))
		}
	}
}
